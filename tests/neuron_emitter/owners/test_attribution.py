"""Owners in lines of `run` and `replay`, and the cases in which they have no name."""

from __future__ import annotations

import json

import pytest

from neuron_emitter.instance.instance_facts import InstanceFacts
from neuron_emitter.owners import places
from neuron_emitter.owners.assignments import RuntimeOwner
from neuron_emitter.owners.lookup import owners_of
from neuron_emitter.owners.places import FIRST_NAMESPACE, Places, Reach, reach
from neuron_emitter.replay import replay
from neuron_emitter.settings import ReplaySettings
from neuron_wire import parse
from tests.neuron_emitter.loop_rig import records, run
from tests.neuron_emitter.neuron_reports import counters, kubernetes, report, runtime, written
from tests.neuron_emitter.owners.fake_machine import UNIT_GROUPS, reports_of

# --- the reading loop ---


class AttributionLookup:
    """A lookup that names every PID at once."""

    def __init__(self):
        self.pids = []

    def note_pids(self, pids):
        self.pids += pids

    def owner_of(self, pid):
        return RuntimeOwner(f"unit:of-{pid}", started="2026-11-22T02:10Z", command="python3")


def owners_in(lines):
    """Return the owners in runtime lines, by PID."""
    documents = map(json.loads, lines)
    return {line["Pid"]: line.get("Owner") for line in documents if line["Kind"] == "runtime"}


@pytest.mark.parametrize(
    ("instance_id", "expected"), [("i-0fedcba9876543210", None), (None, "unit:of-7")]
)
def test_reports_of_another_instance_have_no_owners(instance_id, expected):
    """Reports of another instance name no owners, because their PIDs are not of this host."""
    chunks = [(second, written(reports_of(7)) + b"\n") for second in (1, 6)]
    facts = InstanceFacts(instance_id=instance_id)
    (minute,) = records(
        chunks, until_s=30, owners=AttributionLookup(), facts=lambda _timeout_s: facts
    )
    assert [expected] == [holder.name for holder in minute.holders]


def test_each_runtime_of_a_minute_is_named():
    """Every runtime of a minute is looked up, also without cores or if it ends in the minute."""
    lookup = AttributionLookup()
    first = report(runtime(counters([0, 0]), pid=9, tag="1"), runtime(pid=10, tag="1"))
    chunks = [(1, written(first) + b"\n"), (6, written(reports_of(9)) + b"\n")]
    lines, _ = run(chunks, until_s=30, owners=lookup, runtime_lines="all")
    assert [9, 10] == lookup.pids[:2]
    assert {9: "unit:of-9", 10: "unit:of-10"} == owners_in(lines)


def test_a_holder_named_by_its_cores_keeps_its_start_and_command():
    """A holder with the name of its cores' pod keeps the start and command of its process."""
    pods = kubernetes({0: "ml/llama-0"})
    whole = report(*reports_of(7)["neuron_runtime_data"], neuron_k8s_info=pods)
    chunks = [(second, written(whole) + b"\n") for second in (1, 6)]
    (minute,) = records(chunks, until_s=30, owners=AttributionLookup())
    (holder,) = minute.holders
    assert "ml/llama-0/main" == holder.name
    assert "2026-11-22T02:10Z" == holder.started
    assert "python3" == holder.command


# --- saved reports ---


def saved_holder(folder, saved_proc=None):
    """Return the holder's name in three saved reports with one process that holds a core."""
    reports = folder / "reports.json"
    reports.write_bytes((written(reports_of(4242)) + b"\n") * 3)
    settings = ReplaySettings(
        cluster="blue",
        interval=5.0,
        start="2026-01-01T00:00:00Z",
        runtime_lines="none",
        saved_proc=saved_proc,
    )
    (line,) = replay([reports], settings)
    (holder,) = parse(line).holders
    return holder.name


@pytest.mark.parametrize(
    ("groups", "expected"),
    [(UNIT_GROUPS, "unit:llama"), (f"0::/kubepods/pod{'a' * 32}/{'b' * 64}\n", f"pod:{'a' * 32}")],
)
def test_replay_names_owners_by_saved_files(machine, tmp_path, monkeypatch, groups, expected):
    """Replay names owners by saved files, and asks no service about today's processes."""
    # a request would log a TypeError
    monkeypatch.setattr("neuron_emitter.owners.places.exchange", None)
    machine.process(4242, groups=groups, ticks=1)
    assert expected == saved_holder(tmp_path, machine.proc)


def test_replay_without_processes_names_no_owner(tmp_path, caplog):
    """Replay without saved processes names no owner, and logs a mistyped folder."""
    assert [None, None] == [saved_holder(tmp_path), saved_holder(tmp_path, tmp_path)]
    assert f"no processes in {tmp_path}" in caplog.text


# --- cases without names ---


@pytest.mark.parametrize(
    ("target", "capabilities", "why_not", "advice"),
    [
        (FIRST_NAMESPACE, "000001ffffffffff", "", ""),
        *(
            (FIRST_NAMESPACE, capabilities, "", "CAP_SYS_PTRACE")
            for capabilities in ("0", "000001fffff7ffff", "x", "")
        ),
        *(
            (target, "000001ffffffffff", "reports have the host's process IDs", "hostPID")
            for target in ("pid:[4026532567]", "pid:[]", "x")
        ),
    ],
)
def test_owners_are_named_where_pids_are_those_of_reports(
    tmp_path, target, capabilities, why_not, advice
):
    """
    Owners are named only in the namespace of the reports' PIDs.

    Environments of processes also need a capability.
    """
    (tmp_path / "ns").mkdir()
    (tmp_path / "ns" / "pid").symlink_to(target)
    (tmp_path / "status").write_text(f"Name:\tx\nCapPrm:\t0\nCapEff:\t{capabilities}\n")
    reached = reach(Places(), own=tmp_path)
    assert why_not in reached.why_not
    assert advice in reached.advice
    assert (reached == Reach()) == (not advice)


def test_other_users_processes_may_be_hidden(monkeypatch, tmp_path):
    """A /proc with hidepid limits the names, and the advice names hidepid."""
    (tmp_path / "ns").mkdir()
    (tmp_path / "ns" / "pid").symlink_to(FIRST_NAMESPACE)
    monkeypatch.setattr(places, "read_text", lambda _path: None)
    reached = reach(Places(), own=tmp_path)
    assert "" == reached.why_not
    assert ("the hidden processes of other users",) == reached.limits
    assert "hidepid" in reached.advice


@pytest.mark.parametrize(
    ("attribution", "source", "expected"),
    [
        ("auto", "monitor", True),
        ("auto", "-", True),
        ("auto", "/reports.json", False),
        ("none", "monitor", False),
        ("none", "-", False),
    ],
)
def test_only_pids_of_this_machine_are_looked_up(machine, attribution, source, expected):
    """Owners are looked up for reports of this machine, not for reports from a file."""
    assert Reach() == reach(machine.places)
    lookup = owners_of(attribution, source, machine.proc)
    assert expected == (lookup is not None)
    if lookup is not None:
        lookup.close()
