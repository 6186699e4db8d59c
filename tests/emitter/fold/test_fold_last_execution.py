"""When a holder last ended an execution: kept over restarts, never that of another process."""

from __future__ import annotations

import json

import pytest
from neuron_reports import START_S, add, closed, counters, executions, memory, nobody, runtime
from neuron_reports import two_cores as instance

from emitter.fold import Fold, FoldSettings, RuntimeOwner
from emitter.fold.state import RuntimeHistories, read_state

PERIOD_S = 15.0
FIRST = "2027-01-15T08:00Z"


def entry(completed=0, pid=7, tag="7"):
    """What a report says of a runtime that holds core 0 and uses none."""
    return runtime(
        counters([0, 0], PERIOD_S), memory({0: 1}), executions(completed, period=PERIOD_S),
        pid=pid, tag=tag,
    )  # fmt: skip


def started(state=None, owner="slurm:7 ann"):
    """An emitter, of which *state* is left."""
    named = None if owner is None else RuntimeOwner(owner)
    return Fold(FoldSettings(period_s=PERIOD_S), state, owner_of=lambda _pid: named)


def last(fold, minute, *runtimes):
    """The last executions that the holders of a minute with one report have."""
    add(fold, instance(*(runtimes or [entry()])), START_S + 60 * minute)
    return [one.last_execution for one in closed(fold, seq=minute + 1).holders]


def executed(minute=0):
    """An emitter in whose last minute its runtime ended executions."""
    fold = started()
    last(fold, minute, entry(5))
    return fold


def test_a_restart_keeps_when_it_last_executed():
    """The minute as it was, not that of the restart."""
    assert [FIRST] == last(executed(), 1)
    assert [FIRST] == last(started(executed().encode_state()), 1)


def test_a_clock_that_was_ahead_leaves_no_execution_in_the_future():
    """What was counted then counts once the clock has come there again."""
    fold = started(executed(5).encode_state())
    assert [[None], [None], ["2027-01-15T08:05Z"]] == [last(fold, 3 + n) for n in range(3)]


@pytest.mark.parametrize("missing", [instance(entry(pid=8)), nobody(PERIOD_S)])
def test_who_is_not_listed_has_ended(missing):
    """What has its pid and tag afterwards may be another process."""
    fold = executed()
    add(fold, missing, START_S + 60)
    closed(fold)
    assert [None] == last(fold, 2)


@pytest.mark.parametrize(("minute", "expected"), [(10, FIRST), (11, None), (-11, None)])
def test_what_nobody_watched_for_ten_minutes_is_forgotten(minute, expected):
    """While the emitter was down, or by a clock that was far ahead."""
    assert [expected] == last(started(executed().encode_state()), minute)


def test_another_owner_is_another_process():
    """Pids and tags come again; one whose owner is not known yet may be the same."""
    told, state = [], None
    for minute, owner in enumerate(["slurm:7 ann", None, "slurm:7 ann", "slurm:8 ann"]):
        fold = started(state, owner)
        told += last(fold, minute, entry(0 if state else 1))
        state = fold.encode_state()
    assert [FIRST, FIRST, FIRST, None] == told


@pytest.mark.parametrize("damage", [
    {"runtimes": [{"pid": "7"}]}, {"runtimes": [{"executed": -1}]}, {"runtimes": [{}] * 513},
    {"runtimes": [{"tag": "x" * 129}]}, {"watched": "now"}, [], 7, None,
])  # fmt: skip
def test_a_state_that_cannot_be_read_begins_again(damage):
    """Alone: what else the emitter remembers stays."""
    state = json.loads(executed().encode_state())
    found = read_state(json.dumps({**state, "histories": damage}).encode())
    assert (RuntimeHistories(), 2) == (found.histories, found.cores)


def test_tags_alike_in_as_much_as_a_line_has_are_one_runtime():
    """Its executions add up, and a restart keeps when it last executed."""
    fold, tag = started(), "x" * 128
    runtimes = [entry(1, tag=f"{tag}{end}") for end in ("", "a", "b")]
    for _ in range(2):
        add(fold, instance(*runtimes), START_S)
        record = closed(fold)
        (holder,) = record.holders
        assert (3, tag, FIRST) == (record.executions, holder.tag, holder.last_execution)
        fold = started(fold.encode_state())
