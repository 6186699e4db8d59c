"""The background lookup of PIDs' owners, kept as long as the process lives."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from unittest.mock import Mock

import pytest

from neuron_emitter.owners import lookup
from neuron_emitter.owners.lookup import (
    AGAIN_S,
    GONE_AFTER_S,
    MAX_PROCESSES,
    PROCESS_KEPT_S,
    START_SLACK_S,
    OwnerLookup,
)
from neuron_emitter.owners.places import Places
from neuron_emitter.owners.process import MAX_PID, ProcessReader
from proof.emitter_process import wait_until
from tests.neuron_emitter.owners import fake_machine as machines
from tests.neuron_emitter.owners.fake_machine import CONTAINER, POD_ID

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


@pytest.fixture
def owners(machine, clock):
    """Return a lookup without a thread."""
    return OwnerLookup(machine.places, clock=clock, is_background=False)


def known_name(owners, pid=42):
    """Return the name that is known now."""
    owner = owners.owner_of(pid)
    return owner and owner.name


def look_up(owners, pid=42):
    """Return the name of a PID after a report and a lookup."""
    owners.note_pids([pid])
    owners.look_up_pending()
    return known_name(owners, pid)


@pytest.mark.parametrize(("is_reported", "expected"), [(True, "process:second ada"), (False, None)])
def test_a_pid_with_another_start_is_another_process(machine, owners, clock, is_reported, expected):
    """A PID with another start time is another process, which has a name only after a report."""
    machine.process(command="first", ticks=1000)
    assert "process:first ada" == look_up(owners)
    clock.now_s += 30
    machine.process(command="second", ticks=int(clock.now_s * TICKS_A_SECOND))
    if is_reported:
        owners.note_pids([42])
    owners.recheck_processes()
    assert expected == known_name(owners)


@pytest.mark.parametrize(
    ("statistics", "expected"),
    [
        ("cpu  1 2\nintr 3\nbtime 1795313400\nprocesses 9\n", "2026-11-22T02:11Z"),
        ("cpu  1 2\n", None),
        ("btime -1\n", None),
        ("btime 99999999999999999999\n", None),
        (None, None),
    ],
)
def test_a_process_has_its_start_and_its_command_name(machine, owners, statistics, expected):
    """A process has its start minute, from boot time and ticks, and its command name."""
    if statistics is not None:
        machine.file("proc/stat", statistics)
    machine.process(command="VLLM::EngineCor", ticks=61 * TICKS_A_SECOND)
    look_up(owners)
    owner = owners.owner_of(42)
    assert expected == owner.started
    assert "VLLM::EngineCor" == owner.command


def test_the_start_of_a_process_does_not_move_with_the_clock(machine, owners, clock):
    """The start minute does not change if the clock, and so the boot time, is corrected."""
    machine.file("proc/stat", "btime 1795313400\n")
    machine.process(groups=machines.EKS_SYSTEMD_V2, ticks=0)
    look_up(owners)
    machine.file("proc/stat", "btime 1795313399\n")
    clock.now_s += 3600
    owners.note_pids([42])
    owners.recheck_processes()
    assert "2026-11-22T02:10Z" == owners.owner_of(42).started


@pytest.mark.parametrize(
    ("after_s", "expected"), [(START_SLACK_S, "process:python3 ada"), (START_SLACK_S + 0.01, None)]
)
def test_a_process_younger_than_the_report_has_no_name(machine, owners, clock, after_s, expected):
    """A process that started after the report has no name: the reported one has ended."""
    owners.note_pids([42])
    machine.process(ticks=round((clock.now_s + after_s) * TICKS_A_SECOND))
    owners.look_up_pending()
    assert expected == known_name(owners)


def test_a_process_that_no_report_names_is_forgotten(machine, owners, clock):
    """A process that no report names is forgotten after a while, and soon if it was not found."""
    machine.process()
    look_up(owners)
    look_up(owners, 4001)
    for after_s, name, kept in (
        (AGAIN_S, "process:python3 ada", {42, 4001}),
        (0.1, "process:python3 ada", {42}),
        (PROCESS_KEPT_S - AGAIN_S - 0.1, "process:python3 ada", {42}),
        (1, None, set()),
    ):
        clock.now_s += after_s
        owners.recheck_processes()
        assert name == known_name(owners)
        assert kept == set(owners._seen)
    assert "process:python3 ada" == look_up(owners)


def test_the_processes_are_bounded(owners, caplog):
    """The number of looked-up processes is bounded, and the limit is logged once."""
    owners.note_pids([None, 0, -1, MAX_PID + 1, 1 << 80])
    assert not owners._seen
    owners.note_pids(range(1, 3 * MAX_PROCESSES))
    owners.note_pids(range(1, 3 * MAX_PROCESSES))
    assert MAX_PROCESSES == len(owners._seen)
    assert [f"No owner is named for more than {MAX_PROCESSES} processes."] == caplog.messages
    owners.look_up_pending()
    assert "process:systemd root" == known_name(owners, 1)


@pytest.mark.parametrize(
    ("method", "error", "names", "message"),
    [
        ("command_and_start", PermissionError, (None, None), "--attribution none"),
        ("variables", PermissionError, ("process:python3 ada", f"pod:{POD_ID}"), "ECS services"),
        (
            "variables",
            ZeroDivisionError("PASSWORD=secret"),
            (None, f"pod:{POD_ID}"),
            "Looking up an owner failed: ZeroDivisionError.",
        ),
    ],
)
def test_a_failed_read_is_logged_once(
    machine, owners, caplog, monkeypatch, *, method, error, names, message
):
    """A failed read costs only names that need it, and is logged once, without its content."""
    machine.process(7)
    machine.process(8, groups=machines.EKS_SYSTEMD_V2)
    monkeypatch.setattr(ProcessReader, method, Mock(side_effect=error))
    for _ in range(3):
        assert names == (look_up(owners, 7), look_up(owners, 8))
    (logged,) = set(caplog.messages)
    assert message in logged
    assert "secret" not in logged


def test_a_process_is_gone_when_its_pod_was_missing_for_ten_minutes(machine, owners, clock):
    """
    A process is gone after its pod was missing for ten minutes in a readable list.

    It is no longer gone if the pod is back.
    """
    logs = f"var/log/pods/search_llama-0_{POD_ID}/server/0.log"
    other = "var/log/pods/kube-system_aws-node-x_00000000-0000-0000-0000-000000000001/a/0.log"
    machine.process(groups=machines.EKS_SYSTEMD_V2)
    machine.file(logs, "")
    machine.file(other, "")

    def gone_after(seconds):
        clock.now_s += seconds
        look_up(owners)
        owners.recheck_processes()
        return owners.owner_of(42).gone

    assert not gone_after(0)
    shutil.rmtree((machine.root / logs).parents[1])
    assert [False, False, True] == [gone_after(seconds) for seconds in (1, GONE_AFTER_S - 1, 1)]
    assert gone_after(3600), "a repeated lookup keeps the gone process"
    shutil.rmtree((machine.root / other).parents[2])
    assert not gone_after(20)
    machine.file(other, "")
    assert [False, True] == [gone_after(seconds) for seconds in (1, GONE_AFTER_S)]
    machine.file(logs, "")
    assert not gone_after(20)
    machine.end(42)
    machine.process(groups=machines.EKS_SYSTEMD_V2, ticks=100_000)
    assert not gone_after(20), "the PID is another process now"


# --- the thread ---


def test_a_service_that_hangs_delays_no_report(machine, play):
    """Reports are not delayed while the thread waits for a service that hangs."""
    agent = play()
    agent.routes[f"/v1/tasks?dockerid={CONTAINER}"] = agent.never
    machine.urls["ecs_agent_url"] = agent.url
    machine.process(groups=machines.ECS_V2)
    owners = OwnerLookup(machine.places)
    try:
        owners.note_pids([42])
        wait_until(lambda: agent.asked)
        for pid in range(2, 2000):
            owners.note_pids([42, pid])
            assert owners.owner_of(42) is owners.owner_of(pid) is None
    finally:
        owners.close()


def test_the_thread_finds_a_real_process_and_its_end(monkeypatch):
    """The thread finds a real process and its end in this machine's /proc."""
    monkeypatch.setattr(lookup, "AGAIN_S", 0.05)
    child = subprocess.Popen(["sleep", "60"])
    owners = OwnerLookup(Places())
    try:
        owners.note_pids([child.pid, os.getpid()])
        wait_until(lambda: owners.owner_of(child.pid) and owners.owner_of(os.getpid()))
        child.kill()
        child.wait()
        wait_until(lambda: owners.owner_of(child.pid) is None)
        assert owners.owner_of(os.getpid())
    finally:
        child.kill()
        child.wait()
        owners.close()
    wait_until(lambda: "owners" not in {thread.name for thread in threading.enumerate()})
