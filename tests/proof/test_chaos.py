"""
The chaos of the stack's half alone: synthetic lines through every kind of trouble.

The chaos must also find planted faults of the functions, because a proof is worth what it finds.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from aggregator import runtime
from aggregator.close import reduction, run
from aggregator.close.run import CloseRun
from aggregator.environment import Environment, Rules
from aggregator.ingest import intake
from aggregator.reading import bucket_reader
from aggregator.rollups.rollup_line import due
from neuron_wire import merging
from proof.chaos import chaos_truth, functions
from proof.chaos.__main__ import main
from proof.chaos.chaos_fleet import fleet
from proof.chaos.chaos_stack import ChaosStack

PLANTED_FAULTS = {}
CHAOS_RUNS = ((0, 8), (1, 4), (2, 8), (4, 4))  # pairs of seed and number of hosts


def fault(planted):
    """Register a fault of the functions; its docstring names the effect for a user."""
    PLANTED_FAULTS[planted.__name__] = planted
    return planted


def compared(seed, hosts, minutes):
    """Return the differences between a fleet's rollups and the truth, and the stack."""
    lived = fleet(seed, hosts, minutes)
    records = [line.record for line in lived]
    stack = ChaosStack(seed, {record.cluster for record in records})
    stack.run(lived)
    return *chaos_truth.compare(records, stack.printed, stack.restated, stack.closed), stack


def test_every_trouble_happens_and_no_rollup_is_wrong():
    """
    Every kind of trouble happens to 20 instances in half an hour, close dies before and after four
    of five of its steps, and all rollups are right.
    """
    rollups, problems, stack = compared(1, 20, 30)
    assert [] == problems
    assert [] == stack.complaints
    assert [] == stack.missing()
    assert 4 == len(rollups)
    assert rollups.total() >= 4 * 30
    hit, steps = stack.killed_at
    assert steps >= 2 * (32 + 20)
    assert hit >= 0.8 * steps


def test_the_command_prints_the_result_and_ends_with_0(capsys):
    """The command reports every kind of trouble within its default time and ends with 0."""
    assert 0 == main(["--seed", "3"])
    summary, happened, *problems = capsys.readouterr().out.splitlines()
    assert summary.endswith(" 0 differences")
    assert "close killed" in happened
    assert [] == problems
    with pytest.raises(SystemExit, match="2"):
        main(["--seed", "three"])


@fault
def a_copy_counts_again(patch):
    """A record that is in two items counts twice."""
    patch.setattr(bucket_reader, "_is_copy", lambda *_: False)


@fault
def late_records_leave_no_marker(patch):
    """A record that arrives after its minute closed is never counted."""
    patch.setattr(intake, "_mark_late", lambda *_: None)


@fault
def each_publication_adds_the_whole(patch):
    """A restated minute counts its tallies again."""
    patch.setattr(
        run,
        "due",
        lambda rollup, before: due(rollup, before and replace(before, tallies={})),
    )


@fault
def progress_goes_ahead_of_the_lines(patch):
    """A run that dies has closed a minute that it never printed."""
    reduce_due = CloseRun._reduce_due

    def hurried(self, due, now_s):
        progress = self.table.read_progress()
        self.table.write_progress(
            replace(progress, next_minute=max([*due.open_minutes, progress.next_minute - 1]) + 1)
        )
        reduce_due(self, due, now_s)

    patch.setattr(CloseRun, "_reduce_due", hurried)


@fault
def silence_begins_a_minute_early(patch):
    """An instance counts as silent although only its network is slow."""
    patch.setattr(functions, "Rules", lambda: Rules(silent_after_minutes=4))


@fault
def clean_shutdown_is_not_counted(patch):
    """A clean shutdown fires the alarm on silent instances."""
    merge = merging.merge_records
    patch.setattr(merging, "merge_records", lambda records: merge(records)._replace(gone=False))


@fault
def the_stack_reads_its_own_lines(patch):
    """Ingest reads the rollups' log group as if it were the emitters'."""

    def trusting(**members):
        return Environment(**{**members, "own_log_groups": frozenset()})

    patch.setattr(functions, "Environment", trusting)


@fault
def control_messages_are_read(patch):
    """A control message, which only tests the subscription, counts as a line."""
    patch.setattr(runtime, "_CONTROL", "")


@fault
def unseen_owners_are_idle(patch):
    """A waiting rank has an avoidable cost, although stopping it saves nothing."""
    patch.setattr(reduction, "read_last_records", lambda *_: ())


@fault
def the_second_line_of_an_instance_is_dropped(patch):
    """An emitter that restarts within a minute loses half of the minute."""
    merge = merging.merge_records
    patch.setattr(merging, "merge_records", lambda records: merge(list(records)[:1]))


@pytest.mark.parametrize("name", PLANTED_FAULTS)
def test_a_fault_of_the_functions_is_found(name, monkeypatch):
    """Each fault is found, as a difference between rollups and truth or in ingest's own counts."""
    PLANTED_FAULTS[name](monkeypatch)
    assert any(is_wrong(*run) for run in CHAOS_RUNS)


def test_without_a_fault_these_runs_are_right():
    """The runs are right without a fault, so that the planted fault is what was found."""
    assert not any(is_wrong(*run) for run in CHAOS_RUNS)


def is_wrong(seed, hosts):
    """Return True if this run of six minutes finds a difference."""
    _, problems, stack = compared(seed, hosts, 6)
    return bool(problems or stack.complaints)
