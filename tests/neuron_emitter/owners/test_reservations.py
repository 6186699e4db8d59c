"""Assignments from the sources of all schedulers, and log lines while they are unknown."""

from __future__ import annotations

import logging
import threading
from functools import partial
from typing import Any

import pytest

from neuron_emitter.owners.assignments import Allocation, Assignments, UnknownAssignmentsError
from neuron_emitter.owners.reservations import (
    READ_EVERY_S,
    RESERVATIONS_KEPT_S,
    Reservations,
    Scheduler,
    reservations_reader_of,
    saved_reservations,
    schedulers_of,
)
from proof.emitter_process import wait_until
from tests.neuron_emitter.owners.fake_machine import CORE, POD_ID, TRAINER, answers, listed
from tests.neuron_emitter.owners.test_kubelet import checkpoint, entry

JOB_ALLOCATION = Allocation("slurm:4711 ada", "physics", devices=frozenset({0}), is_exact=True)
POD_A = Allocation("ml/a/main", "ml", cores=frozenset({2}))
UNKNOWN_ASSIGNMENTS = Assignments("unknown")


class ReservationSource:
    """A source that has allocations, fails or hangs."""

    def __init__(self, name, *allocations):
        self.name = name
        self.answer: Any = allocations
        self.asked = 0
        self.is_released = threading.Event()
        self.is_released.set()

    def read_allocations(self):
        self.asked += 1
        self.is_released.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def fail(self, reason="it hangs"):
        self.answer = UnknownAssignmentsError(reason, "Repair it")


def reservations(clock, *sources, is_here=True):
    """Return the reservations of one scheduler with *sources*, read once."""
    reader = Reservations([Scheduler(lambda: is_here, sources)], clock=clock, is_background=False)
    reader.read_schedulers()
    return reader


def test_the_first_source_that_answers_counts(clock):
    """
    The first source that answers counts, even with an empty list. Later sources are not read.

    Without a scheduler, the status is none.
    """
    first = ReservationSource("first")
    second = ReservationSource("second", POD_A)
    assert Assignments("none") == reservations(clock, first, is_here=False).current_assignments()
    assert (
        Assignments("known", (), ("first",))
        == reservations(clock, first, second).current_assignments()
    )
    assert 1 == first.asked
    assert 0 == second.asked
    first.fail()
    assert Assignments("known", (POD_A,), ("second",)) == (
        reservations(clock, first, second).current_assignments()
    )


def test_every_scheduler_must_answer(clock):
    """
    If one scheduler is unknown or partly known, no core counts as free.

    The known allocations count.
    """
    pods = ReservationSource("kubelet", POD_A)
    jobs = ReservationSource("slurm", JOB_ALLOCATION)
    schedulers = [Scheduler(lambda: True, [source]) for source in (pods, jobs)]
    both = (POD_A, JOB_ALLOCATION), ("kubelet", "slurm")
    part = UnknownAssignmentsError("a job is unknown", "Wait", [JOB_ALLOCATION])
    for answer, expected in (
        ((JOB_ALLOCATION,), Assignments("known", *both)),
        (part, Assignments("unknown", *both)),
        (
            UnknownAssignmentsError("it hangs", "Repair it"),
            Assignments("unknown", (POD_A,), ("kubelet",)),
        ),
    ):
        jobs.answer = answer
        reader = Reservations(schedulers, clock=clock, is_background=False)
        reader.read_schedulers()
        assert expected == reader.current_assignments()


def test_the_last_answer_counts_for_two_minutes(clock):
    """The last answer counts for two minutes, before the answer of another source."""
    first = ReservationSource("first", POD_A)
    second = ReservationSource("second")
    reader = reservations(clock, first, second)
    first.fail()
    for _ in range(int(RESERVATIONS_KEPT_S / READ_EVERY_S)):
        clock.now_s += READ_EVERY_S
        reader.read_schedulers()
        assert Assignments("known", (POD_A,), ("first",)) == reader.current_assignments()
    clock.now_s += READ_EVERY_S
    assert UNKNOWN_ASSIGNMENTS == reader.current_assignments(), (
        "the answer expires even if the thread hangs"
    )
    reader.read_schedulers()
    assert Assignments("known", (), ("second",)) == reader.current_assignments()


def test_a_failure_is_logged_once_until_it_has_cleared(clock, caplog):
    """A failure is logged once with its remedy, each reason separately, and so is its end."""
    caplog.set_level(logging.INFO)
    source = ReservationSource("the socket")
    reader = reservations(clock, source)
    for reason in ("it hangs", "it hangs", "it lies", "it hangs", None, None, "it hangs"):
        source.fail(reason) if reason else setattr(source, "answer", ())
        reader.read_schedulers()
    hangs = "Cannot read reserved cores from the socket: it hangs. Repair it."
    again = "Reserved cores are read from the socket again."
    assert [hangs, hangs.replace("hangs", "lies"), again, hangs] == caplog.messages


def test_a_source_that_breaks_leaves_reservations_unknown(clock, caplog):
    """An unexpected error makes reservations unknown. Only its type is logged, not its text."""
    source = ReservationSource("broken")
    source.answer = KeyError("a secret")
    assert UNKNOWN_ASSIGNMENTS == reservations(clock, source).current_assignments()
    assert "KeyError" in caplog.text
    assert "secret" not in caplog.text


def test_names_are_printable_and_dropped_ids_are_logged_once(clock, caplog):
    """Names are printable and bounded. Dropped IDs are counted and logged once."""
    long = POD_A._replace(name="ml/" + "a\x1b" * 99, team="t" * 99, odd_ids=2)
    reader = reservations(
        clock, ReservationSource("the socket", long, JOB_ALLOCATION._replace(odd_ids=1))
    )
    reader.read_schedulers()
    allocation, _ = reader.current_assignments().allocations
    assert "ml/" + "a?" * 62 + "a" == allocation.name
    assert "t" * 63 == allocation.team
    (message,) = caplog.messages
    assert message.startswith("Dropped 3 IDs from the socket: ")


def test_a_source_that_hangs_delays_no_line(caplog):
    """A source that hangs delays no line, and a single failure in the background is not logged."""
    source = ReservationSource("hanging", POD_A)
    source.is_released.clear()
    reader = Reservations([Scheduler(lambda: True, [source])])
    try:
        wait_until(lambda: source.asked)
        assert UNKNOWN_ASSIGNMENTS == reader.current_assignments()
        source.is_released.set()
        wait_until(lambda: reader.current_assignments().allocations == (POD_A,))
        source.fail()
        reader.read_schedulers()
        assert [] == caplog.messages
        reader.read_schedulers()
        assert 1 == len(caplog.messages)
    finally:
        source.is_released.set()
        reader.close()
    wait_until(lambda: "reservations" not in {thread.name for thread in threading.enumerate()})


# --- on a machine ---


def test_sources_are_asked_in_their_order(machine):
    """The kubelet's sources are, in order: a container that hands over, socket, checkpoint."""

    def names():
        return [
            [source.name for source in scheduler.sources]
            for scheduler in schedulers_of(machine.places)
        ]

    own = ["the kubelet's pod-resources socket", "the kubelet's checkpoint"]
    handed_over = ["the container reservations of this pod"]
    assert [own, ["the bundles of containers"], ["scontrol"]] == names()
    machine.file("run/neuron-emf/reservations.json", "{}")
    assert handed_over == names()[0], "the chart mounts only this source"
    (machine.root / "var/lib/kubelet").mkdir(parents=True)
    assert handed_over + own == names()[0]


def has_status(reader, status):
    """Return True if the reader has this status now."""
    return reader.current_assignments().status == status


@pytest.mark.parametrize(("attribution", "expected"), [("auto", "known"), ("none", "unknown")])
def test_without_attribution_only_the_presence_of_a_scheduler_is_known(
    machine, attribution, expected
):
    """Without attribution, reservations are none without a scheduler, otherwise unknown."""
    for status in ("none", expected):
        reader = reservations_reader_of(attribution, "monitor", machine.proc)
        wait_until(partial(has_status, reader, status))
        reader.close()
        checkpoint(machine)
    assert reservations_reader_of(attribution, "/reports.json", machine.proc) is None, (
        "the file may be of another machine"
    )


def test_of_a_saved_machine_only_files_are_read(machine, kubelet):
    """A saved machine's files are read, but no saved socket and nothing of this machine."""
    kubelet(answers(listed(TRAINER)))
    machine.file(f"var/log/pods/ml_trainer-0_{POD_ID}/main/0.log", "")
    checkpoint(machine, entry(CORE, ["0", "1"]))
    assignments = saved_reservations(machine.proc).current_assignments()
    assert "known" == assignments.status
    assert ("the kubelet's checkpoint",) == assignments.sources
    assert saved_reservations(None) is None
