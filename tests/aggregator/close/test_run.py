"""The minutes that close publishes: their order and their records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aggregator.close.reduction import CloseOutcome
from aggregator.close.registry import Registry
from aggregator.reading.bucket_reader import BucketReader
from aggregator.reading.workers import RunClock
from aggregator.storage.record_items import item_of, packs_of, records_of
from proof.factories.records import MINUTE, full_record, record, some_holders
from proof.memory_table import KillableProcess, KilledError, MemoryTable
from tests.aggregator.memory_stack import MINUTE_END_S, STACK_RULES, MemoryStack, on_time

# --- when a minute closes ---


@pytest.mark.parametrize(("after_s", "published"), [(44.9, []), (45.0, [(0, 1)])])
def test_no_minute_closes_before_45_seconds_after_its_end(after_s, published):
    """
    No minute closes before 45 seconds after its end, because emitters spread sends over 30 seconds.
    """
    stack = MemoryStack()
    on_time(stack, 0)
    stack.close(MINUTE_END_S + after_s)
    assert published == stack.published()


@pytest.mark.parametrize(("after_s", "published"), [(119.9, []), (120.0, [(1, 1)])])
def test_a_minute_waits_for_live_instances_until_grace_is_over(after_s, published):
    """
    Close waits for an instance that has not reported yet, at most until GraceSeconds are over.
    """
    stack = MemoryStack()
    on_time(stack, 0, instance_id="i-1")
    on_time(stack, 0, 1, instance_id="i-2")
    stack.close(MINUTE_END_S + 46)
    stack.published()
    outcome = stack.close(MINUTE_END_S + 60 + after_s)
    assert published == stack.published()[:1]
    assert len(published) == outcome.minutes_closed


def test_a_newer_minute_does_not_wait_for_an_older_one():
    """
    A minute in which every instance has reported closes before an older minute that still waits.
    """
    stack = MemoryStack()
    on_time(stack, -1, 0, 1, instance_id="i-1")
    on_time(stack, -1, 1, instance_id="i-2")
    stack.close(MINUTE_END_S - 60 + 46)
    stack.published()
    stack.close(MINUTE_END_S + 60 + 45.5)
    assert [(1, 2)] == stack.published()
    stack.close(MINUTE_END_S + 60 + 61)
    assert [(0, 1)] == stack.published()


# --- first start, missed runs, long pauses ---


def test_the_first_run_closes_the_last_minutes_and_the_marked_history():
    """
    The first run closes the last minutes, also those from before its deployment, and minutes with a
    marker.
    """
    stack = MemoryStack()
    stack.deliver(
        MINUTE_END_S + 41 * 60, *(record(minute=MINUTE + offset) for offset in (-60, -30))
    )
    on_time(stack, 41, 42)
    outcome = stack.close(MINUTE_END_S + 43 * 60)
    assert [(41, 1), (42, 1), (-60, 1), (-30, 1)] == [
        minute for minute in stack.published() if minute[1]
    ]
    assert {} == stack.table.markers
    assert 2 == outcome.minutes_restated


@pytest.mark.parametrize("killed_at", [4, 10, 100])
def test_a_first_run_that_was_killed_is_where_the_next_one_starts(killed_at):
    """
    The run after a killed first run starts at the minute of the first one, even half an hour later.
    Records that came in time leave no marker.
    """
    stack = MemoryStack()
    on_time(stack, 0)
    with pytest.raises(KilledError):
        stack.close(
            MINUTE_END_S + 50,
            table=KillableProcess(stack.table, stack.printed, killed_at=killed_at),
        )
    assert [] == stack.published()
    stack.close(MINUTE_END_S + 50 + 30 * 60)
    assert (0, 1) == stack.published()[0]


def test_a_run_stops_before_its_time_is_over_and_the_next_goes_on():
    """
    Several runs with time for a few minutes each close the minutes that one long run would close.
    """
    stack = MemoryStack()
    on_time(stack, 0)
    stack.close(MINUTE_END_S + 50)
    stack.published()
    on_time(stack, *range(1, 11))
    published = []
    runs = 0
    while len(published) < 10:
        looks = iter(range(100))
        outcome = stack.close(
            MINUTE_END_S + 720 + runs,
            lambda looks=looks: 50.0 if next(looks, None) is not None else 4.9,
        )
        published += stack.published()
        runs += 1
        assert 10 - len(published) == outcome.minutes_waiting
        assert outcome.out_of_time or not outcome.minutes_waiting
        assert runs < 10
    assert [(offset, 1) for offset in range(1, 11)] == published


def test_what_is_due_comes_before_what_is_late():
    """
    The newest minute is published before late records, however many. The next run restates what
    this run has no time for.
    """
    stack = MemoryStack()
    on_time(stack, 0)
    stack.close(MINUTE_END_S + 50)
    stack.published()
    on_time(stack, *range(1, 31), instance_id="i-2")
    stack.close(MINUTE_END_S + 30 * 60 + 125)
    stack.published()
    late = [record(minute=MINUTE + offset, instance_id="i-3") for offset in range(20)]
    stack.deliver(MINUTE_END_S + 31 * 60 + 10, *late)
    on_time(stack, 31, instance_id="i-2")
    looks = iter(range(33 * 3))
    stack.close(
        MINUTE_END_S + 31 * 60 + 125, lambda: 50.0 if next(looks, None) is not None else 0.0
    )
    published = stack.published()
    assert (31, 1) == published[0]
    assert 1 < len(published) < 20
    stack.close(MINUTE_END_S + 32 * 60)
    published += stack.published()
    assert set(range(20)) <= {offset for offset, _ in published}
    assert {} == stack.table.markers


def test_after_a_pause_of_days_the_lost_minutes_are_counted():
    """
    Minutes older than a day, the time for which the table keeps records, are counted as dropped.
    """
    stack = MemoryStack()
    on_time(stack, 0)
    stack.close(MINUTE_END_S + 50)
    pause_minutes = 2 * 24 * 60
    outcome = stack.close(MINUTE_END_S + 50 + 60 * pause_minutes)
    assert pause_minutes == outcome.minutes_dropped + outcome.minutes_closed
    assert 24 * 60 + STACK_RULES.late_minutes == outcome.minutes_closed


def test_a_marker_set_while_close_did_not_run_is_found_after_the_pause():
    """A marker that was set during a pause of ten hours is found after the pause."""
    stack = MemoryStack()
    on_time(stack, 0)
    stack.close(MINUTE_END_S + 50)
    stack.published()
    stack.deliver(MINUTE_END_S + 3600, record(instance_id="i-2"))
    stack.close(MINUTE_END_S + 10 * 3600)
    assert (0, 2) in stack.published()


def test_an_empty_stack_closes_its_minutes_too():
    """
    A stack without instances closes its minutes, so that the alarm for missing runs does not fire.
    """
    stack = MemoryStack()
    stack.close(MINUTE_END_S + 50)
    outcome = stack.close(MINUTE_END_S + 110)
    assert 1 == outcome.minutes_closed
    assert 0 == outcome.lines_printed
    assert [] == stack.printed


@pytest.mark.parametrize(
    ("remaining_s", "longest_s", "allowed"),
    [(10.1, 0.0, True), (10.0, 0.0, False), (25.0, 20.0, True), (24.9, 20.0, False)],
)
def test_a_minute_is_restated_in_45_seconds_and_where_it_has_time(remaining_s, longest_s, allowed):
    """A run restates a minute only in its first 45 seconds, and only if the time left is enough."""
    assert allowed == RunClock(lambda: 55.0).allows_restating(remaining_s, longest_s)


# --- one at a time ---


def test_the_lease_of_a_killed_run_expires_with_its_time():
    """
    The lease of a killed run expires after its remaining time, 50 s, plus 2 s for clock
    differences.
    """
    stack = MemoryStack()
    process = KillableProcess(stack.table, stack.printed, killed_at=5)
    with pytest.raises(KilledError):
        stack.close(MINUTE_END_S, table=process)
    assert [True, False] == [stack.close(MINUTE_END_S + after_s).left for after_s in (52.0, 52.1)]


def test_a_run_that_was_overtaken_writes_nothing_more():
    """
    If another run stored the same publication, this run writes neither progress nor registry, and
    the next run has nothing to add.
    """

    class Overtaken(MemoryTable):
        def write_publication(self, minute, cluster, publication, expires_s):
            super().write_publication(minute, cluster, publication, expires_s)
            return False

    stack = MemoryStack()
    stack.table = Overtaken()
    stack.close(MINUTE_END_S - 10)
    before = stack.table.progress
    on_time(stack, 0)
    assert stack.close(MINUTE_END_S + 50).superseded
    assert before == stack.table.progress
    assert {} == stack.table.registry
    assert stack.table.lease is None
    assert [(0, 1)] == stack.published()


def test_of_two_copies_that_with_more_holders_counts():
    """Close uses the copy of a record with more holders, which is the copy in a pack."""
    stored = replace(
        full_record(64, seed=1),
        is_clean_shutdown=False,
        holders=some_holders(64, seed=1),
        holders_more=1,
    )
    (item,) = [item_of(stored, 0)]
    (pack,) = packs_of([stored], 120)
    closings = []
    for order in ((item, pack), (pack, item)):
        stack = MemoryStack()
        stack.table.put_records(order)
        stack.table.records[MINUTE, item.bucket] = {
            f"{place}": copy.payload for place, copy in enumerate(order)
        }
        reading = BucketReader(stack.table, Registry(5), CloseOutcome(), lambda: None, MINUTE)
        ((_, (read,)),) = reading.read_bucket(item.bucket).items()
        closings.append(read)
    assert 1 < records_of(item.payload, MINUTE)[0][0].holders_more
    assert [stored, stored] == closings
