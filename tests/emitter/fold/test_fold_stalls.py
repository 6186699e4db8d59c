"""Runtimes that end no execution: which are suspected, since when, and what ends it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neuron_reports import START_S, add, closed, nobody, two_cores
from one_service import ANY_UNKNOWN, HUNG, SILENT, STEADY, UNKNOWN, Service, entry, stalled

from emitter.fold import Fold, FoldSettings, RuntimeOwner
from emitter.fold.runtime_history import RuntimeHistories, RuntimeHistory
from emitter.fold.state import read_state
from neuron_wire.stalls import MAX_STALLS

PERIOD = 15.0
NOT_YET = ([], [("timeouts", 1)], [("timeouts", 2)])


@settings(max_examples=100)
@given(
    st.lists(st.tuples(STEADY | ANY_UNKNOWN, st.booleans()), max_size=12),
    st.lists(st.tuples(SILENT | ANY_UNKNOWN, st.booleans()), max_size=90),
)
def test_a_steady_service_that_falls_silent_is_never_suspected(works, rests):
    """
    However busy it was, with timeouts among its executions, with minutes that nobody knows
    and restarts of the emitter anywhere.
    """
    service = Service.after_work()
    for does, is_restart in (*works, *rests):
        assert () == service.pass_minute(is_restart=is_restart, **does).stalls


@settings(max_examples=100)
@given(
    st.lists(st.tuples(STEADY | SILENT | HUNG | ANY_UNKNOWN, st.booleans()), max_size=30),
    st.sampled_from([0, 30]),
)
def test_restarts_between_minutes_change_nothing(minutes, worked):
    """A fold that is stored and restored after any minute remembers as one that never stopped."""
    steady, restarted = Service.after_work(worked), Service.after_work(worked)
    for does, is_restart in minutes:
        expected = steady.pass_minute(**does)
        record = restarted.pass_minute(is_restart=is_restart, **does)
        assert (expected.stalls, expected.holders) == (record.stalls, record.holders)


@pytest.mark.parametrize(("worked", "percent", "expected"), [
    (30, 90.0, [("busy", 1)]), (29, 90.0, []), (30, 89.99, []), (45, 100, [("busy", 1)]),
])  # fmt: skip
def test_cores_at_work_are_suspect_after_30_minutes_with_executions(worked, percent, expected):
    """At 90 percent or more; a minute below begins anew, and takes 30 minutes again."""
    service = Service()
    service.work(worked)
    assert expected == stalled(service.pass_minute(percent=percent))
    assert [] == stalled(service.pass_minute(percent=89))
    service.work(29)
    assert [] == stalled(service.pass_minute(percent=95))


def test_a_minute_with_timeouts_and_no_execution_begins_a_stall():
    """Counted from the minute after; an execution, also a failed one, ends it."""
    service = Service()
    service.pass_minute(completed=5, timed_out=3)
    assert [] == stalled(service.pass_minute())
    for expected in NOT_YET:
        assert expected == stalled(service.pass_minute(timed_out=1))
    assert [] == stalled(service.pass_minute(completed=1))
    assert [] == stalled(service.pass_minute())


@pytest.mark.parametrize("how", UNKNOWN)
@pytest.mark.parametrize("does", [{"percent": 95}, {"timed_out": 2, "percent": 95}])
def test_an_unknown_minute_neither_adds_nor_resets(how, does):
    """A minute without the group of executions, or less than 45 s of it, says nothing."""
    service = Service()
    service.work()
    service.pass_minute(**does)
    before = stalled(service.pass_minute(**does))
    unknown = service.pass_minute(**{**does, "how": how})
    assert [(cause, minutes + 1) for cause, minutes in before] == stalled(
        service.pass_minute(**does)
    )
    assert (before if unknown.reports else []) == stalled(unknown)


@pytest.mark.parametrize("seen", [0, 2])
def test_cores_that_were_not_seen_for_a_whole_minute_are_not_known(seen):
    """Neither at work nor idle, although it is known that no execution ended."""
    service = suspected()
    unseen = entry(percent=95)
    del unseen["report"]["neuroncore_counters"]
    reports = [[entry(percent=95)]] * seen + [[unseen]] * (3 - seen)
    assert [("busy", 1)] == stalled(service.pass_reports(reports))
    service.minute += 1
    assert [("busy", 2)] == stalled(service.pass_minute(percent=95))


def test_unknown_minutes_do_not_break_thirty_with_executions():
    """What nobody knows is no minute without an execution."""
    service = Service()
    for _ in range(30):
        service.pass_minute(completed=1)
        service.pass_minute(how="group missing", percent=95)
    assert [("busy", 1)] == stalled(service.pass_minute(percent=95))


def test_a_minute_counts_once_however_often_the_emitter_starts():
    """Neither the second whole part of a minute, nor the part after one with executions."""
    service = Service()
    service.work()
    parts = []
    for report in ([entry(percent=95)], [entry(percent=95)]):
        parts.append(stalled(service.pass_reports([report] * 3)))
        service.restart()
    assert [[("busy", 1)]] * 2 == parts
    service.minute += 1
    service.pass_reports([[entry(completed=1)]])
    service.restart()
    assert [] == stalled(service.pass_reports([[entry(timed_out=1)]] * 3))
    service.minute += 1
    assert [] == stalled(service.pass_minute())


def test_a_part_of_a_minute_that_tells_too_little_leaves_it_to_the_next_part():
    """15 seconds say nothing, and the 45 after the restart say all."""
    service = Service()
    service.work()
    assert [] == stalled(service.pass_reports([[entry(percent=95)]]))
    service.restart()
    assert [("busy", 1)] == stalled(service.pass_reports([[entry(percent=95)]] * 3))


def test_an_execution_in_any_part_of_a_minute_resets():
    """However short the part."""
    service = Service()
    service.work()
    for _ in range(5):
        service.pass_minute(percent=95)
    assert [] == stalled(service.pass_minute(how="a part", completed=1, percent=95))


def test_the_load_is_the_runtimes_own():
    """Another runtime may be at work on the core that it holds."""
    service = Service()
    for _ in range(30):
        service.pass_minute(completed=1, others=[entry(completed=1, pid=8)])
    record = service.pass_minute(percent=40, others=[entry(percent=95, pid=8)])
    assert [("busy", 1, 8)] == [(one.cause, one.minutes, one.pid) for one in record.stalls]


def test_a_collective_that_hangs_is_told_at_once():
    """In the minute of the message; where executions ended in it, the next one decides."""
    service = Service()
    assert [("collectives", 1)] == stalled(service.pass_minute(hangs=[0]))
    assert [("collectives", 2)] == stalled(service.pass_minute(hangs=[0]))
    assert [] == stalled(service.pass_minute(completed=1))
    assert [] == stalled(service.pass_minute(completed=1, hangs=[None]))
    assert [("collectives", 1)] == stalled(service.pass_minute())
    assert [] == stalled(service.pass_minute(completed=1, hangs=[0]))
    assert [[], []] == [
        stalled(service.pass_minute(completed=1)), stalled(service.pass_minute()),
    ]  # fmt: skip


def test_a_message_about_another_device_or_without_a_report_waits_or_means_nobody():
    """The next report tells whom it meant; nobody holds a core of device 1."""
    service = Service()
    assert [] == stalled(service.pass_minute(hangs=[1]))
    service.pass_minute(how="no report", hangs=[0])
    assert [("collectives", 1)] == stalled(service.pass_minute())
    service = Service()
    assert [] == stalled(service.pass_minute(how="group missing", hangs=[0]))
    assert [] == stalled(service.pass_minute(how="group missing"))
    assert [("collectives", 1)] == stalled(service.pass_minute())


def test_an_execution_of_one_runtime_frees_all_of_its_device():
    """The message does not say whose collective hangs: one that is silent may just be silent."""
    service = Service()
    other = {"pid": 8, "cores": (1,)}
    both = service.pass_minute(hangs=[0], others=[entry(**other)])
    assert [("collectives", 1)] * 2 == stalled(both)
    assert [] == stalled(service.pass_minute(others=[entry(completed=1, **other)]))
    assert [] == stalled(service.pass_minute(hangs=[0], others=[entry(completed=1, **other)]))
    assert [] == stalled(service.pass_minute(others=[entry(completed=1, **other)]))


def test_of_each_cause_the_longest_is_among_the_eight():
    """Many of one cause hide no other."""
    histories = RuntimeHistories(
        runtimes=[
            *(RuntimeHistory(pid, executed=1, busy=100 + pid) for pid in range(9)),
            RuntimeHistory(10, timed_out=10), RuntimeHistory(11, timed_out=11),
            RuntimeHistory(12, hanging=1), RuntimeHistory(13, hanging=0),
        ]
    )  # fmt: skip
    stalls = histories.stalls({(pid, None): {pid} for pid in range(14)}, {})
    assert MAX_STALLS == len(stalls)
    assert [("collectives", 1), ("timeouts", 11), ("busy", 108), ("timeouts", 10)] == [
        (one.cause, one.minutes) for one in stalls[:4]
    ]
    held = {(pid, None): {pid} for pid in range(14) if pid != 12}  # who holds none is left out
    rest = histories.stalls(held, {})
    assert (MAX_STALLS, ["timeouts", "busy"]) == (len(rest), [one.cause for one in rest[:2]])


# --- whose it is ---


def suspected():
    """A service that has hung for a minute."""
    service = Service()
    service.work()
    assert [("busy", 1)] == stalled(service.pass_minute(percent=95))
    return service


def said(service, **does):
    """What the next minute says: its stalls, and when its holder last executed."""
    record = service.pass_minute(**does)
    return stalled(record), [one.last_execution for one in record.holders]


def test_a_restart_keeps_when_it_last_executed():
    """The minute as it was, not that of the restart."""
    service = Service()
    service.pass_minute(completed=1)
    service.restart()
    assert ([], ["2027-01-15T08:00Z"]) == said(service)


def test_a_clock_that_was_ahead_leaves_no_execution_in_the_future():
    """What was counted then counts once the clock has come there again."""
    service = Service(minute=5)
    service.pass_minute(completed=1)
    service.minute = 3
    service.restart()
    assert [[None], [None], ["2027-01-15T08:05Z"]] == [said(service)[1] for _ in range(3)]


def test_a_clock_that_was_far_ahead_holds_up_no_count():
    """What was counted then is forgotten, and minutes count again at once."""
    service = Service(minute=90)
    service.work(1)
    service.minute = 3
    service.restart()
    service.work()
    assert [("busy", 1)] == stalled(service.pass_minute(percent=95))


def test_who_is_not_listed_has_ended():
    """What has its pid and tag afterwards may be another process."""
    for missing in ([two_cores(entry(pid=8))], [nobody(PERIOD)]):
        service = suspected()
        at_s = START_S + 60 * service.minute
        for document in missing * 3:
            add(service.fold, document, at_s)
        closed(service.fold)
        service.minute += 1
        assert ([], [None]) == said(service)


@pytest.mark.parametrize(("unwatched", "is_kept"), [(9, True), (10, False)])
@pytest.mark.parametrize("is_restart", [False, True])
def test_what_nobody_watched_for_ten_minutes_is_forgotten(unwatched, is_kept, is_restart):
    """While the emitter was down, or no report came."""
    service = suspected()
    if is_restart:
        service.minute += unwatched
        service.restart()
    else:
        for _ in range(unwatched):
            service.pass_minute(how="no report")
    expected = [("busy", 2)] if is_kept else []
    assert expected == stalled(service.pass_minute(percent=95))


def test_another_owner_is_another_process():
    """Pids and tags come again; one whose owner is not known yet may be the same."""
    told = []
    state = None
    for number, owner in enumerate(["slurm:7 ann", None, "slurm:7 ann", "slurm:8 ann"]):
        named = None if owner is None else RuntimeOwner(owner)
        fold = Fold(FoldSettings(period_s=PERIOD), state, owner_of=lambda _pid, named=named: named)
        completed = 0 if state else 1
        add(fold, two_cores(entry(completed)), START_S + 60 * number)
        (holder,) = closed(fold).holders
        told.append(holder.last_execution)
        state = fold.state()
    first = "2027-01-15T08:00Z"
    assert [first, first, first, None] == told


@pytest.mark.parametrize("damage", [
    {"runtimes": [{"pid": "7"}]}, {"runtimes": [{"busy": -1}]}, {"runtimes": [{}] * 513},
    {"runtimes": [{"tag": "x" * 129}]}, {"label": "now"}, [], 7, None,
])  # fmt: skip
def test_a_state_that_cannot_be_read_begins_again(damage):
    """Alone: what else the emitter remembers stays."""
    state = json.loads(suspected().fold.state())
    found = read_state(json.dumps({**state, "histories": damage}).encode())
    assert (RuntimeHistories(), 2) == (found.histories, found.cores)


def test_no_state_of_ours_cannot_be_read():
    """A runtime with a tag that is too long is not remembered."""
    service = Service()
    long = entry(completed=1)
    long["neuron_runtime_tag"] = "x" * 129
    longest = entry(completed=1, pid=8)
    longest["neuron_runtime_tag"] = "x" * 128
    service.pass_reports([[long, longest, entry(completed=1, pid=-(1 << 62))]])
    kept = read_state(service.fold.state()).histories.runtimes
    assert [8, -(1 << 62)] == [one.pid for one in kept]
