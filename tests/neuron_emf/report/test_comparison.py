"""Where rollups say something else than the lines, and why."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.reading.periods import ALWAYS, Period
from neuron_emf.report.comparison import Cause, PublishedRollups, compare
from neuron_emf.report.counting import Counting
from neuron_wire.prices import Prices
from tests.neuron_emf.report.minutes import MINUTE_MS, START_MS, fleets, minute, rollups_of

LONG_AFTER_MS = START_MS + 86_400_000


def compared(records, rollups, now_ms=LONG_AFTER_MS, **counts):
    """*records* that were read beside lines of *rollups*."""
    counting = Counting(ALWAYS, counts.get("idle_after", 15), counts.get("prices", Prices()))
    for one in records:
        counting.add(one)
    counting.close()
    published = PublishedRollups(ALWAYS)
    for line in rollups:
        published.add_line(line)
    return compare(counting, published, now_ms)


def causes(found):
    return {cause: one.minutes for cause, one in found.causes.items()}


@given(fleets(), st.randoms(use_true_random=False))
def test_the_same_lines_give_no_difference(records, chance):
    """Whatever the fleet did, in any order, and though a rollup came twice."""
    rollups = rollups_of(records)
    again = [*rollups, *rollups[:3]]
    chance.shuffle(again)
    found = compared(records, again)
    assert {} == found.causes
    assert found.rollups == sum('"Kind":"rollup"' in line for line in rollups)
    if found.rollups:
        assert found.equal_minutes == found.rollups


def test_lines_that_came_too_late_are_told_with_what_the_rollup_lacks():
    """The rollup of one minute knew one instance of two."""
    records = [minute(0), minute(0, instance="i-0b"), minute(1), minute(1, instance="i-0b")]
    found = compared(records, rollups_of([records[0], *records[2:]]))
    assert {Cause.TOO_LATE: 1} == causes(found)
    late = found.causes[Cause.TOO_LATE]
    assert (4, pytest.approx(1.34375 / 60, abs=1e-6)) == (late.core_minutes, late.usd)
    (worst,) = found.worst
    assert ((2, 1), (8, 4)) == (worst.records, worst.core_minutes)
    assert (1, 12) == (found.equal_minutes, found.core_minutes)
    assert 3 * 1.34375 / 60 == pytest.approx(found.usd, abs=1e-5)


@pytest.mark.parametrize(
    ("now_ms", "cause"),
    [
        (START_MS + 6 * MINUTE_MS - 1, Cause.TOO_NEW),
        (START_MS + 6 * MINUTE_MS, Cause.WITHOUT_ROLLUP),
    ],
)
def test_a_minute_without_a_rollup_is_too_new_or_has_none(now_ms, cause):
    """Rollups come two to four minutes after their minute; after five none is waited for."""
    found = compared([minute(0), minute(1)], rollups_of([minute(0)]), now_ms)
    assert {cause: 1} == causes(found)
    (worst,) = found.worst
    assert ((1, 0), (4, 0), None) == (worst.records, worst.core_minutes, worst.usd[1])
    lacking = found.causes[cause]
    assert (4, pytest.approx(1.34375 / 60, abs=1e-6)) == (lacking.core_minutes, lacking.usd)


def test_a_rollup_of_lines_that_were_not_read_is_told():
    """They may be in another file, or the log group no longer keeps them."""
    found = compared([minute(0)], rollups_of([minute(0), minute(1)]))
    assert {Cause.WITHOUT_LINES: 1} == causes(found)
    (worst,) = found.worst
    assert ((0, 1), (0, 4), 0.0) == (worst.records, worst.core_minutes, worst.usd[0])
    assert 1 == found.differing_minutes
    lacking = found.causes[Cause.WITHOUT_LINES]
    assert (-4, pytest.approx(-1.34375 / 60, abs=1e-6)) == (lacking.core_minutes, lacking.usd)


@pytest.mark.parametrize(
    "counts",
    [{"idle_after": 61}, {"prices": Prices({"trn1.2xlarge": 99.0})}],
    ids=["idle", "price"],
)
def test_other_rules_are_told_as_such(counts):
    """The stack counts by its own IdleAfterMinutes and PriceOverrides."""
    found = compared([minute(0)], rollups_of([minute(0)]), **counts)
    assert {Cause.RULES: 1} == causes(found)


def test_other_core_minutes_are_told_where_nothing_has_a_price():
    """In USD the two say the same."""
    unpriced = [minute(0, instance_type=None)]
    assert {Cause.RULES: 1} == causes(compared(unpriced, rollups_of(unpriced), idle_after=61))


@pytest.mark.parametrize(("usd", "expected"), [(0.00009, {}), (0.0001, {Cause.RULES: 1})])
def test_what_rounding_makes_is_no_difference(usd, expected):
    """Rollups have six decimals, each publication its own."""
    record = minute(0, instance_type=None)
    (line,) = rollups_of([record])
    rollup = json.dumps({**json.loads(line), "IdleCost": usd})
    assert expected == causes(compared([record], [rollup]))


def test_publications_of_a_minute_add_up_and_the_last_says_the_records():
    """A restated minute says only what it lacked; a query gives nothing as an empty text."""
    published = PublishedRollups(ALWAYS)
    told = [(1, 4, 0.25), (2, 3, 0.5), (2, None, "")]
    for number, (records, minutes, usd) in enumerate(told, 1):
        line = {
            "Schema": 1, "Kind": "rollup", "ClusterName": "research", "Publication": number,
            "Minute": "2026-11-20T08:00:00Z", "Records": records, "IdleCoreMinutes": minutes,
            "IdleCost": usd,
        }  # fmt: skip
        published.add_line(json.dumps(line))
        published.add_line(json.dumps(line))
    (found,) = published.minutes.values()
    assert (2, 7, 0.75) == (found.records, found.core_minutes, found.usd)
    assert 3 == published.read


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_lines_with_one_rollup_id_the_later_counts(order):
    """
    Close ended between printing and noting, a record came late, and the next run printed again.

    Whichever is read first: of files nobody knows the order.
    """
    records = [minute(0), minute(0, instance="i-0b")]
    lines = [*rollups_of(records[:1]), *rollups_of(records)]
    found = compared(records, lines[::order])
    assert ({}, 1, 1) == (found.causes, found.equal_minutes, found.rollups)


@pytest.mark.parametrize(
    "members",
    [
        {"Minute": "yesterday"}, {"Minute": None}, {"Records": "many"}, {"Records": True},
        {"Publication": 1.5}, {"IdleCost": -1}, {"IdleCost": 1 << 63}, {"IdleCost": float("nan")},
        {"Schema": 0}, {"Schema": 99},
    ],
    ids=str,
)  # fmt: skip
def test_a_rollup_that_cannot_be_read_is_counted(members):
    """And compared with nothing."""
    published = PublishedRollups(ALWAYS)
    (line,) = rollups_of([minute(0, instance_type=None)])
    published.add_line(json.dumps({**json.loads(line), **members}))
    assert (1, 0, {}) == (published.unreadable, published.read, published.minutes)
    published.add_line(json.dumps({**json.loads(line), "IdleCost": (1 << 63) - 1024}))
    assert (1, 1) == (published.unreadable, published.read)


@pytest.mark.parametrize("line", ["", "[", "[1]", "7", '{"Kind":"rollup"', "[" * 100_000])
def test_what_is_no_rollup_at_all_is_left_to_others(line):
    """Whoever reads minutes counts it."""
    published = PublishedRollups(ALWAYS)
    published.add_line(line)
    assert (0, 0) == (published.unreadable, published.read)


def test_only_rollups_of_the_period_and_cluster_are_compared():
    """Rollups are printed later than their minute, so more are read than asked for."""
    published = PublishedRollups(Period(START_MS, START_MS + MINUTE_MS), "research")
    for line in rollups_of([minute(0), minute(1), minute(0, cluster="serving")]):
        published.add_line(line)
    assert [("research", START_MS)] == list(published.minutes)


def test_a_rollup_without_idle_time_adds_nothing():
    """Its minute is compared all the same."""
    records = [minute(0, "bb")]
    found = compared(records, rollups_of(records))
    assert (1, 0, 0.0, {}) == (found.equal_minutes, found.core_minutes, found.usd, causes(found))


def test_without_a_rollup_nothing_is_compared():
    """A file of lines alone is no proof that rollups are missing."""
    found = compared([minute(0)], [])
    assert (0, {}, 0) == (found.rollups, found.causes, found.equal_minutes)


def test_the_greatest_differences_stand_first():
    """At most ten, those with most idle core minutes."""
    records = [minute(number, "a" * (number + 1)) for number in range(20)]
    told = [replace(one, idle_minutes=(0,) * len(one.core_state)) for one in records]
    found = compared(records, rollups_of(told))
    assert {Cause.RULES: 20} == causes(found)
    assert [20 - place for place in range(10)] == [one.core_minutes[0] for one in found.worst]


def test_a_difference_is_what_one_says_more_than_the_other():
    """In core minutes, and where these are alike in USD."""
    records = [minute(0, "aaaa"), minute(1, "aaaaaa")]
    told = [
        replace(records[0], idle_minutes=(0,) * 4),
        replace(records[1], idle_minutes=(0, 60, 60, 60, 60, 60)),
    ]
    found = compared(records, rollups_of(told))
    assert [(4, 0), (6, 5)] == [one.core_minutes for one in found.worst]
    records = [minute(0, "a", instance_type="trn1.32xlarge"), minute(1, "a")]
    own = Prices({"trn1.2xlarge": 10.0, "trn1.32xlarge": 25.0})  # of 1.34 and 21.50
    found = compared(records, rollups_of(records), prices=own)
    assert [START_MS + MINUTE_MS, START_MS] == [one.minute_ms for one in found.worst]
