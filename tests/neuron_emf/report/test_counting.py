"""Minute records become idle time: the same that the stack's rollups tell, owner by owner."""

from __future__ import annotations

import itertools
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.errors import SettingsError
from neuron_emf.payment import Saving
from neuron_emf.reading.periods import Period
from neuron_emf.report import buffer
from neuron_wire.core_owners import MICRO
from neuron_wire.prices import USD_PER_HOUR, Prices
from tests.neuron_emf.report.minutes import (
    MINUTE_MS,
    START_MS,
    counted,
    fleets,
    minute,
    rollups_of,
    the_one,
)

# --- laws ---


@given(fleets(), st.sampled_from([1, 15, 16]))
def test_it_counts_what_the_rollups_tell(records, idle_after):
    """
    Minute by minute, in core minutes and in USD, and by owner; the two halves share how minutes
    are merged and whose a core is, not how they are counted.
    """
    counting = counted(*records, idle_after=idle_after)
    told = [json.loads(line) for line in rollups_of(records, idle_after)]
    rollups = {
        (one["ClusterName"], one["_aws"]["Timestamp"]): one
        for one in told
        if one["Kind"] == "rollup"
    }
    assert rollups.keys() == counting.minutes.keys()
    for key, one in rollups.items():
        found = counting.minutes[key]
        assert one["Records"] == found.records
        assert one.get("IdleCoreMinutes", 0) == found.idle.core_minutes
        assert one.get("IdleCost", 0) == pytest.approx(found.idle.usd or 0, abs=1e-6)
    assert _of_owners(rollups.values()) == pytest.approx(_told_of(counting), abs=1e-6)


def _of_owners(rollups):
    """Core minutes and USD by cluster and name of an owner, as the rows of rollups have them."""
    sums = Counter()
    for rollup in rollups:
        for row in rollup.get("TopIdleOwners", ()):
            cluster, owner = rollup["ClusterName"], row["Owner"]
            sums[cluster, owner, "core minutes"] += row["Cores"]
            sums[cluster, owner, "USD"] += row.get("UsdPerHour", 0) / 60
    return sums


def _told_of(counting):
    sums = Counter()
    for (cluster, owner), time in counting.owners.items():
        if time.idle.micros:
            sums[cluster, owner.name, "core minutes"] += time.idle.core_minutes
            sums[cluster, owner.name, "USD"] += time.idle.usd or 0
    return sums


@given(fleets(), st.randoms(use_true_random=False))
def test_the_order_of_lines_changes_nothing(records, chance):
    """Files are read as they are named, and streams as they come."""
    shuffled = list(records)
    chance.shuffle(shuffled)
    expected, found = counted(*records), counted(*shuffled)
    assert expected.instances == found.instances
    assert dict(expected.owners) == dict(found.owners)


@given(fleets())
def test_counting_piece_by_piece_is_counting_at_once(records):
    """An account is read some hours at a time; whole minutes are in one piece."""
    ordered = sorted(records, key=lambda one: one.minute_ms)
    ends = [
        place
        for place, (one, following) in enumerate(itertools.pairwise(ordered))
        if one.minute_ms != following.minute_ms
    ]
    expected, found = counted(*ordered), counted(*ordered, closings=ends)
    assert expected.instances == found.instances
    assert dict(expected.owners) == dict(found.owners)


@given(fleets())
def test_clusters_instances_owners_days_and_cores_each_have_the_whole(records):
    """
    Nothing is in none and nothing in two, to the last millionth of a core minute and exactly in
    USD: each way of telling it adds up to the same, in every part; single cores and minutes,
    which the ledger has not, within what is rounded of a row.
    """
    counting = counted(*records)
    instances = counting.instances.values()
    of_rows = [
        [one.idle for one in instances],
        [one.idle for one in counting.owners.values()],
        [one.idle for one in counting.days.values()],
    ]
    of_lines = [
        [one.idle for one in counting.minutes.values()],
        [core.amount for one in instances for core in one.by_core.values()],
    ]
    for saving in Saving:
        ways = of_rows + of_lines
        assert 1 == len({sum(one.micros_of(saving) for one in way) for way in ways})
        totals = []
        for same in (of_rows, of_lines):
            (exact,) = {sum(one.exact_usd_of(saving) or 0 for one in way) for way in same}
            totals.append(exact)
        # A row is rounded to a billionth.
        assert abs(totals[0] - totals[1]) < 1e-8 * len(records or [0])
    for one in instances:
        not_busy = one.cores.attached_idle + one.cores.unattached
        assert one.idle.core_minutes <= not_busy


def test_sums_of_two_are_the_sum_of_each():
    """Of what cores did, and of what telemetry covers."""
    one, other = (the_one(counted(minute(0, state))) for state in ("ba?", "uu?a"))
    both = the_one(counted(minute(0, "ba?"), minute(1, "uu?a")))
    one.cores.merge(other.cores)
    one.coverage.merge(other.coverage)
    assert (both.cores, both.coverage) == (one.cores, one.coverage)
    assert (1, 2, 2, 2) == (
        one.cores.busy, one.cores.attached_idle, one.cores.unattached, one.cores.unknown,
    )  # fmt: skip


# --- what is idle ---


def test_an_unknown_core_is_never_idle():
    """However long it had not been busy when it was last seen."""
    found = the_one(counted(minute(state="ba?u?")))
    assert (2, 2) == (found.idle.core_minutes, found.cores.unknown)
    assert 3 == found.cores.known


@pytest.mark.parametrize(("minutes", "expected"), [(14, 0), (15, 1), (16, 1)])
def test_a_core_is_idle_from_that_many_minutes_on(minutes, expected):
    """The bound is in, as in the rollups."""
    assert expected == the_one(counted(minute(state="u", idle=(minutes,)))).idle.core_minutes


def test_a_restart_within_a_minute_is_one_minute():
    """Two lines of 30 seconds are one minute of four cores, and the later one has the last word."""
    first = minute(state="aaaa", covered_seconds=30.0)
    second = minute(state="bbaa", boot="b2", seq=1, covered_seconds=30.0)
    found = the_one(counted(first, second))
    assert (2, 1) == (found.idle.core_minutes, found.coverage.minutes)
    assert 6000 == found.coverage.covered_hundredths


def test_of_two_emitters_on_one_host_one_counts():
    """The one that covers more, and it is said."""
    found = the_one(
        counted(minute(state="aaaa"), minute(state="bbbb", boot="b2", covered_seconds=50.0))
    )
    assert (4, 1) == (found.idle.core_minutes, found.duplicate_minutes)


def test_an_instance_keeps_the_type_that_was_told_last():
    """A line may lack it."""
    found = the_one(counted(minute(0), minute(1, instance_type=None)))
    assert "trn1.2xlarge" == found.instance_type


def test_only_what_was_asked_for_counts():
    """Other times and clusters are counted apart; clusters of other times are not offered."""
    period = Period(START_MS, START_MS + 2 * MINUTE_MS)
    records = [minute(0), minute(1), minute(2, cluster="gone"), minute(1, cluster="serving")]
    counting = counted(*records, period=period, cluster="research")
    assert (8, 2) == (the_one(counting).idle.core_minutes, counting.outside)
    assert "Other clusters: serving" == counting.others.beside("research")


def test_lines_in_another_order_are_the_same_report():
    """Minutes of one instance, and one of another; the law above says it of any fleet."""
    records = [minute(0), minute(1, "b?au"), minute(0, "uu", instance="i-0b")]
    assert counted(*records).instances == counted(*reversed(records)).instances


def test_more_records_than_can_be_kept_are_refused():
    """With what to do, instead of a machine out of memory."""
    waiting = buffer.MinuteBuffer(2)
    waiting.add(minute(0))
    waiting.add(minute(1))
    with pytest.raises(SettingsError, match="Use a shorter --since"):
        waiting.add(minute(2))


# --- money ---


def test_an_idle_core_costs_its_share_of_the_instance():
    """For a minute; the price of whoever pays replaces the list's."""
    assert the_one(counted(minute(state="ab"))).idle.usd == pytest.approx(
        USD_PER_HOUR["us-east-1"]["trn1.2xlarge"] / 2 / 60
    )
    own = counted(minute(state="ab"), prices=Prices({"trn1.2xlarge": 12.0}))
    assert (0.1, {"trn1.2xlarge"}) == (the_one(own).idle.usd, own.basis.overridden)
    others = counted(minute(state="ab"), prices=Prices({"inf2.xlarge": 12.0}))
    assert set() == others.basis.overridden
    tokyo = counted(minute(state="ab", instance_type="inf2.xlarge", region="ap-northeast-1"))
    assert the_one(tokyo).idle.usd == pytest.approx(1.1373 / 2 / 60)


def test_what_has_no_price_is_not_free():
    """Its time is told, its money is not 0 but unknown; beside priced time it is told apart."""
    found = counted(
        minute(state="aa", instance_type="trn2.3xlarge"), minute(state="a", instance="i-0b")
    )
    unpriced, priced = (found.instances["research", name].idle for name in ("i-0a", "i-0b"))
    assert (2, 2, None) == (unpriced.core_minutes, unpriced.unpriced_core_minutes, unpriced.usd)
    assert 0 == priced.unpriced_core_minutes
    assert unpriced.usd_of(Saving.SUNK) is None
    both = type(priced)()
    both.merge(priced)
    both.merge(unpriced)
    assert both.usd_of(Saving.SUNK) is None
    assert (3, 2, priced.usd) == (both.core_minutes, both.unpriced_core_minutes, both.usd)


def parts_of(counting):
    """Core minutes by what saves them, those that are there."""
    idle = the_one(counting).idle
    return {one: idle.micros_of(one) / MICRO for one in Saving if idle.micros_of(one)}


def test_avoidable_is_an_instance_whose_cores_are_all_idle():
    """
    One that is busy, executes, not idle for long enough or unknown, and stopping it would stop
    that.
    """
    states = ["aauu", "baaa", "?aaa", "aaaa"]
    idle = [(60,) * 4, (0, 60, 60, 60), (60,) * 4, (14, 60, 60, 60)]
    serving = [minute(4, executions=80), minute(5, executions=0, execution_errors=1)]
    counting = counted(*map(minute, range(4), states, idle), *serving)
    assert {Saving.HELD: 2, Saving.UNHELD: 2, Saving.SHARED: 9 + 8} == parts_of(counting)
    found = the_one(counting)
    assert 1 == found.avoidable_minutes
    assert not found.is_without_busy_core


@pytest.mark.parametrize(
    ("members", "by_type", "is_sunk"),
    [
        ({}, {}, False),
        ({}, {"trn1.2xlarge": "sunk"}, True),
        ({"paid": "avoidable"}, {"trn1.2xlarge": "sunk"}, False),
        ({"lifecycle": "capacity-block"}, {}, True),
        ({"instance_type": "trn2.3xlarge"}, {}, True),
        ({"instance_type": "trn2.3xlarge", "lifecycle": "spot"}, {}, False),
    ],
)
def test_what_is_paid_anyway_is_sunk(members, by_type, is_sunk):
    """Idle beside busy cores or alone; `neuron_wire.payment` decides."""
    records = [minute(0, "aa", **members), minute(1, "ba", **members)]
    parts = parts_of(counted(*records, payment=by_type))
    assert ({Saving.SUNK: 3} if is_sunk else {Saving.HELD: 2, Saving.SHARED: 1}) == parts


def test_an_instance_of_which_nothing_is_known_is_not_called_unused():
    """That no core was busy needs one that was seen."""
    assert not the_one(counted(minute(state="??"))).is_without_busy_core
    assert the_one(counted(minute(state="?u"))).is_without_busy_core


# --- coverage ---


def test_a_minute_without_a_line_is_missing_unless_the_instance_said_goodbye():
    """A stopped instance covers nothing and should not."""
    silent = the_one(counted(minute(0), minute(3))).coverage
    assert (2, 2, 50.0) == (silent.minutes, silent.missing, silent.percent)
    stopped = the_one(counted(minute(0, bye=True), minute(3)))
    assert (0, 100.0) == (stopped.coverage.missing, stopped.coverage.percent)


def test_a_large_fleet_waits_in_little_memory():
    """A record that waits shares with others what they have in common."""
    waiting = buffer.MinuteBuffer()
    for number in range(50):
        boot, state = b"b1".decode(), b"aaaa".decode()  # texts of their own, as json makes them
        waiting.add(minute(number, state, boot=boot))
    (minutes,) = waiting._records.values()
    kept = [one for records in minutes.values() for one in records]
    assert 1 == len({id(one.boot) for one in kept}) == len({id(one.core_state) for one in kept})


def test_flops_are_held_against_the_chips_of_the_minutes_that_tell_them():
    """A sum over a sum: minutes without FLOPs or of an unknown chip are in neither."""
    told = [
        minute(0, "bb", instance_type="trn1.2xlarge", tera_flops=19.0),
        minute(1, "bb", instance_type="trn1.2xlarge"),
        minute(2, "b?", instance_type="trn1.2xlarge", tera_flops=19.0),
        minute(0, "bb", instance="i-9", instance_type="trn9.huge", tera_flops=900.0),
    ]
    instances = counted(*told).instances.values()
    shares = {one.instance_type: one.flops.percent_of_peak for one in instances}
    assert {"trn1.2xlarge": pytest.approx(100 * 38 / (190 + 95)), "trn9.huge": None} == shares
