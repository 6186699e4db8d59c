"""What is known of pids: found in the background, kept as long as it is the same process."""

from __future__ import annotations

import logging
import os

import played_machines as machines
import pytest
from played_machines import CONTAINER, POD

from emitter.owners.lookup import (
    AGAIN_S,
    FIRST_RETRY_S,
    KEPT_S,
    MAX_PROCESSES,
    START_SLACK_S,
    OwnerLookup,
)
from emitter.owners.process import MAX_PID, ProcessReader

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


class Clock:
    """Seconds since the boot, as a test sets them."""

    def __init__(self):
        self.now_s = 1000.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    """1,000 s after the boot."""
    return Clock()


@pytest.fixture
def owners(played, clock):
    """A lookup whose thread is the test."""
    return OwnerLookup(played.places, clock=clock, is_background=False)


def name(owners, pid=42):
    """Its name, as it is known by now."""
    owner = owners.owner_of(pid)
    return owner and owner.name


def of(owners, pid=42):
    """Who owns a pid that a report names now."""
    owners.note_pids([pid])
    owners.look_up_pending()
    return name(owners, pid)


def test_a_name_is_known_after_somebody_has_looked(played, owners):
    """Before, there is none; nothing is waited for."""
    played.process()
    owners.note_pids([42])
    assert name(owners, 42) is None
    owners.look_up_pending()
    assert "process:python3 ada" == name(owners, 42)
    assert name(owners, 43) is None


def test_a_process_is_looked_up_once(played, owners, monkeypatch):
    """However often reports name it, and also when it is looked at again."""
    played.process()
    assert "process:python3 ada" == of(owners)
    monkeypatch.setattr(ProcessReader, "control_groups", never)
    for _ in range(3):
        assert "process:python3 ada" == of(owners)
        owners.recheck_processes()
    assert "process:python3 ada" == name(owners, 42)


def never(*_arguments):
    """Nobody should ask."""
    raise AssertionError


def test_a_pid_with_another_start_is_another_process(played, owners, clock):
    """The number came again: the name of the first would be wrong."""
    played.process(command="first", ticks=1000)
    assert "process:first ada" == of(owners)
    played.process(command="second", ticks=int(clock.now_s * TICKS_A_SECOND))
    owners.note_pids([42])
    owners.recheck_processes()
    assert "process:second ada" == name(owners, 42)


@pytest.mark.parametrize(
    ("after_s", "expected"), [(START_SLACK_S, "process:python3 ada"), (START_SLACK_S + 0.01, None)]
)
def test_a_process_younger_than_the_report_is_not_the_one_it_named(
    played, owners, clock, after_s, expected
):
    """The runtime ended before anybody looked, and something else has its pid."""
    owners.note_pids([42])
    played.process(ticks=round((clock.now_s + after_s) * TICKS_A_SECOND))
    owners.look_up_pending()
    assert expected == name(owners, 42)


def test_what_came_after_the_runtime_had_ended_takes_no_name(played, owners, clock):
    """A known pid is another's, and no report names it any more."""
    played.process()
    of(owners)
    clock.now_s += 30
    played.process(command="other", ticks=int(clock.now_s * TICKS_A_SECOND))
    owners.recheck_processes()
    assert name(owners, 42) is None


@pytest.mark.parametrize("reads", range(5))
@pytest.mark.parametrize("form", ["BARE", "ECS_V2", "EKS_SYSTEMD_V2", "SLURM_V2", "USER_UNIT"])
def test_a_process_that_ends_midway_has_no_name(
    played, owners, monkeypatch, caplog, *, form, reads
):
    """Between any two of its reads; nothing is said, because it happens all the time."""
    played.process(groups=getattr(machines, form))
    read, left = ProcessReader._read, [reads]

    def reading(self, *arguments):
        if not left[0]:
            played.end(42)
        left[0] -= 1
        return read(self, *arguments)

    monkeypatch.setattr(ProcessReader, "_read", reading)
    with caplog.at_level(logging.DEBUG, "emitter"):
        name = of(owners)
    has_ended = left[0] < 0
    assert has_ended == (name is None)
    assert [] == caplog.messages


def test_who_ended_is_forgotten(played, owners):
    """At the next look, with no name left behind."""
    played.process()
    of(owners)
    played.end(42)
    owners.recheck_processes()
    assert name(owners, 42) is None


def test_who_is_named_no_more_is_forgotten(played, owners, clock):
    """After a while without a report that names it, so that pids do not add up for ever."""
    played.process()
    of(owners)
    clock.now_s += KEPT_S
    owners.recheck_processes()
    assert "process:python3 ada" == name(owners, 42)
    clock.now_s += 1
    owners.recheck_processes()
    assert name(owners, 42) is None
    assert not owners._seen
    assert "process:python3 ada" == of(owners)


def test_who_was_never_found_is_forgotten_soon(owners, clock):
    """A shell that starts a thousand short runtimes leaves room for the next thousand."""
    owners.note_pids([4001])
    owners.look_up_pending()
    for after_s, expected in ((AGAIN_S, True), (0.1, False)):
        clock.now_s += after_s
        owners.recheck_processes()
        assert expected == (4001 in owners._seen)


def test_a_name_that_may_get_better_is_asked_for_again(played, owners, clock):
    """
    The kubelet's folder came later; asked less and less often, until the name is the last word.
    """
    played.process(groups=machines.EKS_SYSTEMD_V2)
    assert f"pod:{machines.POD}" == of(owners)
    played.file(f"var/log/containers/llama-0_search_server-{CONTAINER}.log", "")
    clock.now_s += FIRST_RETRY_S - 1
    owners.recheck_processes()
    assert f"pod:{machines.POD}" == of(owners)
    clock.now_s += 1
    owners.recheck_processes()
    assert "search/llama-0/server" == name(owners, 42)


def test_what_stays_unknown_is_asked_for_less_and_less(played, owners, clock, monkeypatch):
    """A day costs fewer questions than an hour of asking each time."""
    played.process(groups=machines.EKS_SYSTEMD_V2)
    of(owners)
    asked = []
    groups = ProcessReader.control_groups
    monkeypatch.setattr(
        ProcessReader, "control_groups", lambda self: asked.append(clock.now_s) or groups(self)
    )
    for _ in range(24 * 3600 // 15):
        clock.now_s += 15
        owners.note_pids([42])
        owners.recheck_processes()
    assert 24 <= len(asked) <= 34


@pytest.mark.parametrize("pid", [None, 0, -1, MAX_PID + 1, 1 << 80])
def test_a_number_that_is_no_pid_is_not_looked_for(owners, pid):
    """Reports are other programs' output."""
    owners.note_pids([pid])
    assert not owners._seen
    owners.look_up_pending()


def test_the_processes_are_bounded(owners, caplog):
    """A report of a million pids costs what there are cores; said once."""
    owners.note_pids(range(1, 3 * MAX_PROCESSES))
    owners.note_pids(range(1, 3 * MAX_PROCESSES))
    assert MAX_PROCESSES == len(owners._seen)
    assert [f"No owner is named for more than {MAX_PROCESSES} processes."] == caplog.messages
    owners.look_up_pending()
    assert "process:systemd root" == name(owners, 1)


def test_no_permission_is_said_once(played, owners, caplog, monkeypatch):
    """And is no failure."""
    played.process(7)
    played.process(8)

    def refused(*_arguments):
        raise PermissionError

    monkeypatch.setattr(ProcessReader, "command_and_start", refused)
    owners.note_pids([7, 8])
    for _ in range(3):
        owners.look_up_pending()
        owners.recheck_processes()
    assert (None, None) == (name(owners, 7), name(owners, 8))
    (said,) = caplog.messages
    assert "--attribution none" in said


def test_an_environment_out_of_reach_is_said_once(played, owners, caplog, monkeypatch):
    """The name is there without it."""

    def refused(*_arguments):
        raise PermissionError

    monkeypatch.setattr(ProcessReader, "variables", refused)
    for pid in (7, 8):
        played.process(pid)
        assert "process:python3 ada" == of(owners, pid)
    (said,) = caplog.messages
    assert "ECS services" in said


def test_a_fault_of_ours_costs_one_name(played, owners, caplog, monkeypatch):
    """Not the thread, and the message has nothing of what was read."""

    def broken(*_arguments):
        msg = "PASSWORD=secret"
        raise ZeroDivisionError(msg)

    monkeypatch.setattr(ProcessReader, "variables", broken)
    played.process(7)
    played.process(8, groups=machines.EKS_SYSTEMD_V2)
    assert (None, f"pod:{POD}") == (of(owners, 7), of(owners, 8))
    assert ["Looking up an owner failed: ZeroDivisionError."] == caplog.messages


def test_what_was_closed_looks_no_more(played, owners):
    """Neither for those it was asked for, nor again."""
    played.process()
    owners.note_pids([42])
    owners.close()
    owners.recheck_processes()
    assert name(owners, 42) is None
