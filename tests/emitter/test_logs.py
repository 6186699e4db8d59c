"""Standard error, waiting events and waits after failures: bounded, and what is lost is counted."""

from __future__ import annotations

import logging
import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.logs import (
    GROWTH,
    LONGEST_S,
    MAX_WAITING,
    SHORTEST_S,
    Backoff,
    Event,
    EventQueue,
    Repeats,
    log_to_stderr,
)
from tests.emitter.emitter_command import logging_restored


@pytest.fixture(autouse=True)
def restored():
    """Every test sets logging up for itself."""
    with logging_restored():
        yield


def test_an_event_is_one_line_with_its_values(capsys):
    """Level in lower case, event, then what was given as extra."""
    log_to_stderr(verbose=False)
    extra = {"count": 12, "reason": "too_old", "stage": "sending"}
    logging.getLogger("emitter.delivery.delivery").warning("records dropped", extra=extra)
    expected = "neuron-emf: warning: records dropped count=12 reason=too_old stage=sending\n"
    assert ("", expected) == capsys.readouterr()


def test_what_is_not_for_everybody_is_said_with_verbose(capsys):
    """Debug events only then; those of libraries from warnings on, always."""
    for verbose in (False, True):
        log_to_stderr(verbose=verbose)
        logging.getLogger("emitter.x").debug("detail")
        logging.getLogger("emitter.x").info("event")
        logging.getLogger("botocore").info("chatter")
        logging.getLogger("botocore").warning("trouble")
        said = capsys.readouterr().err.splitlines()
        expected = ["info: event", "warning: trouble"]
        assert ["debug: detail"] * verbose + expected == [
            line.removeprefix("neuron-emf: ") for line in said
        ]


def test_the_journal_gets_a_priority_with_each_line(capfd, monkeypatch):
    """Those of syslog, also for the lines of a trace; `journalctl -p warning` then finds them."""
    monkeypatch.setenv("JOURNAL_STREAM", journal_of(2))
    log_to_stderr(verbose=True)
    log = logging.getLogger("emitter.x")
    log.debug("detail")
    log.info("event")
    log.warning("trouble", extra={"count": 2})
    log.error("failure\nof two lines")
    expected = [
        "<7>neuron-emf: debug: detail",
        "<6>neuron-emf: info: event",
        "<4>neuron-emf: warning: trouble count=2",
        "<3>neuron-emf: error: failure",
        "<3>of two lines",
    ]
    assert expected == capfd.readouterr().err.splitlines()


@pytest.mark.parametrize("given", ["", "0:0", "x", "1"])
def test_only_the_journal_gets_priorities(given, capfd, monkeypatch):
    """A terminal, a file, or a journal that standard error was turned away from."""
    monkeypatch.setenv("JOURNAL_STREAM", given)
    log_to_stderr(verbose=False)
    logging.getLogger("emitter.x").info("event")
    assert "neuron-emf: info: event\n" == capfd.readouterr().err


def journal_of(descriptor):
    """The variable as systemd sets it for what is open there."""
    found = os.fstat(descriptor)
    return f"{found.st_dev}:{found.st_ino}"


def test_what_repeats_is_said_with_its_number():
    """
    At once, then once per interval; the interval is inclusive, a clock set back does not silence.
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


@given(st.lists(st.integers(0, 3 * MAX_WAITING), max_size=6))
def test_nothing_is_lost_that_is_not_counted(counts):
    """Whatever is added between two looks: taken in order, once, or counted as dropped."""
    queue = EventQueue()
    added, taken, dropped = [], [], 0
    for count in counts:
        batch = [
            Event("MonitorDied", float(len(added) + place), "It ended.") for place in range(count)
        ]
        added += batch
        for event in batch:
            queue.add_event(event)
        found = queue.take_events()
        assert batch[-MAX_WAITING:] == found
        taken += found
        assert queue.dropped == len(added) - len(taken) >= dropped
        dropped = queue.dropped
    assert [] == queue.take_events()


@given(st.integers())
def test_waits_stay_within_their_bounds(seed):
    """Never under 0.2 s, never above 60 s, each from the upper half of its step."""
    backoff = Backoff(rng=random.Random(seed))
    step_s = 2 * SHORTEST_S
    for _ in range(30):
        wait_s = backoff.next_s()
        assert SHORTEST_S <= step_s / 2 <= wait_s <= step_s <= LONGEST_S
        step_s = min(LONGEST_S, GROWTH * step_s)
    assert LONGEST_S == step_s
    backoff.reset()
    assert backoff.next_s() <= 2 * SHORTEST_S


@given(st.integers())
def test_instances_that_failed_together_do_not_retry_together(seed):
    """Not in the first second, and not when all wait the longest."""
    fleet = [Backoff(rng=random.Random(f"{seed} {number}")) for number in range(40)]
    for _ in range(20):
        waits_s = [backoff.next_s() for backoff in fleet]
        assert max(waits_s) - min(waits_s) > 0.2 * max(waits_s)
