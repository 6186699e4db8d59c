"""The output that the settings ask for: the right destination, or one sentence at the start."""

from __future__ import annotations

import io
import os
import sys

import pytest
from scripted import NOW_MS, fill

from emitter.delivery.delivery import Flushed
from emitter.delivery.outputs import Output, StreamDestination
from emitter.errors import DeliveryError, SettingsError
from emitter.settings import RunSettings
from emitter.spool import NewRecord


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"log_group": "a b"}, "Invalid --log-group"),
        ({"log_stream": "{host}"}, "unknown placeholder {host}"),
        ({"log_stream": "a:b"}, "--log-stream"),
        ({"log_stream": "{region}"}, "Use --region"),
    ],
)
@pytest.mark.usefixtures("no_aws")
def test_a_setting_that_cannot_be_is_found_before_the_first_record(changes, words):
    """With the name of the option."""
    with pytest.raises(SettingsError) as caught:
        Output(RunSettings(**changes), "blue")
    assert words in str(caught.value)


def test_a_stream_that_is_not_used_is_not_looked_at():
    """One configuration file may serve outputs that have no log stream."""
    Output(RunSettings(output="stdout", log_stream="{host}"), "blue")


def test_the_region_of_a_stream_may_come_from_the_environment(no_aws):
    """As the SDK finds it; else it is the one the instance is in."""
    no_aws.setenv("AWS_DEFAULT_REGION", "us-west-2")
    output = Output(RunSettings(log_stream="{region}/{instance}"), "blue")
    assert "us-west-2/i-1" == output.destination("i-1")._stream
    no_aws.delenv("AWS_DEFAULT_REGION")
    output = Output(RunSettings(log_stream="{region}/{instance}"), "blue", "eu-west-3")
    assert "eu-west-3/i-1" == output.destination("i-1")._stream


def test_a_closed_standard_output_is_found_before_the_first_record(monkeypatch):
    """Python has no sys.stdout then."""
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(DeliveryError, match="Standard output is closed"):
        Output(RunSettings(output="stdout"), "blue")


@pytest.mark.parametrize("instance_id", ["i-1", "arn:aws:x*y", "a b"])
def test_by_default_the_stream_is_named_after_the_instance(instance_id):
    """What a stream's name cannot have becomes a hyphen."""
    expected = instance_id.replace(":", "-").replace("*", "-").replace(" ", "-")
    assert expected == Output(RunSettings(), "blue").destination(instance_id)._stream


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
