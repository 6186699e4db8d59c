"""Standard error, waiting events and repeated messages are bounded, and losses are counted."""

from __future__ import annotations

import logging
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.logs import (
    MAX_WAITING_EVENTS,
    Event,
    EventQueue,
    Repeats,
    log_to_stderr,
)
from tests.neuron_emitter.emitter_command import logging_restored


@pytest.fixture(autouse=True)
def restored():
    """Restore logging after each test."""
    with logging_restored():
        yield


LOGGED_EVENTS = """
debug: detail
info: event
warning: records dropped count=12 reason=too_old
error: failure
of two lines
warning: trouble
"""


def logged(capfd, *, verbose):
    """Return what the logger writes for a set of events."""
    log_to_stderr(verbose=verbose)
    log = logging.getLogger("neuron_emitter.x")
    library = logging.getLogger("botocore")
    log.debug("detail")
    log.info("event")
    log.warning("records dropped", extra={"count": 12, "reason": "too_old"})
    log.error("failure\nof two lines")
    library.info("chatter")
    library.warning("trouble")
    return "\n" + capfd.readouterr().err.replace("neuron-emf: ", "")


@pytest.mark.parametrize("journal", ["", "0:0", "x", "1"])
def test_an_event_is_one_line_with_its_values(journal, capfd, monkeypatch):
    """
    Each event is one line with its values. Debug events need --verbose.

    Libraries log warnings and errors. A terminal, a file or another journal gets no priorities.
    """
    monkeypatch.setenv("JOURNAL_STREAM", journal)
    assert LOGGED_EVENTS == logged(capfd, verbose=True)
    assert LOGGED_EVENTS.replace("debug: detail\n", "") == logged(capfd, verbose=False)


def test_the_journal_gets_a_priority_with_each_line(capfd, monkeypatch):
    """Each line for the journal has a syslog priority, also in a trace, for `journalctl -p`."""
    error = os.fstat(2)
    monkeypatch.setenv("JOURNAL_STREAM", f"{error.st_dev}:{error.st_ino}")
    lines = logged(capfd, verbose=True).split()
    assert list("764334") == [word[1] for word in lines if word.startswith("<")]
    assert "<3>of" in lines


def test_repeats_are_limited_and_counted():
    """
    A repeat is logged once per interval, inclusive, with the count since the last log line.

    A clock that was set back does not silence it.
    """
    times_s = [1000.0]
    repeats = Repeats(10, lambda: times_s[0])
    assert 3 == repeats.due("a", 3)
    assert 0 == repeats.due("a", 4)
    assert 1 == repeats.due("b")
    times_s[0] += 10
    assert 5 == repeats.due("a")
    times_s[0] -= 5
    assert 1 == repeats.due("a")


@given(st.lists(st.integers(0, 3 * MAX_WAITING_EVENTS), max_size=6))
def test_every_lost_event_is_counted(counts):
    """Each event is taken once, in order, or counted as dropped."""
    queue = EventQueue()
    added = []
    taken = []
    dropped = 0
    for count in counts:
        batch = [
            Event("MonitorDied", float(len(added) + place), "It ended.") for place in range(count)
        ]
        added += batch
        for event in batch:
            queue.add_event(event)
        events = queue.take_events()
        assert batch[-MAX_WAITING_EVENTS:] == events
        taken += events
        assert queue.dropped == len(added) - len(taken) >= dropped
        dropped = queue.dropped
    assert [] == queue.take_events()
