"""Lines to a text stream: in the order they came, and what a reader that has gone means."""

from __future__ import annotations

import io
import os

import pytest
from scripted import NOW_MS, fill

from emitter.delivery.delivery import Flushed
from emitter.delivery.outputs import StreamDestination
from emitter.spool import NewRecord


def test_lines_go_to_a_stream_in_order_of_arrival(spool, deliver_to):
    """One per line, flushed; old ones too: a stream has no limit on age."""
    stream = io.StringIO()
    spool.append([NewRecord(NOW_MS, "later"), NewRecord(NOW_MS - 86_400_000, "earlier")])
    assert Flushed(2, 0) == deliver_to(StreamDestination(stream)).flush(5)
    assert "later\nearlier\n" == stream.getvalue()


def test_a_closed_pipe_is_a_refusal(spool, deliver_to):
    """`neuron-emf ... | head`: the records are kept, the sentence says what happened."""
    reading, writing = os.pipe()
    os.close(reading)
    fill(spool, "a")
    stream = os.fdopen(writing, "w")
    flushed = deliver_to(StreamDestination(stream)).flush(5)
    with pytest.raises(BrokenPipeError):
        stream.close()
    assert "closed_pipe" == flushed.problem.reason
    assert "has exited" in flushed.problem.sentence
    assert 1 == flushed.remaining


def test_a_closed_stream_is_a_refusal(spool, deliver_to):
    """A file that was closed under us takes nothing more."""
    stream = io.StringIO()
    stream.close()
    fill(spool, "a")
    assert "not_writable" == deliver_to(StreamDestination(stream)).flush(5).problem.reason
