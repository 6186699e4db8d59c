"""Instances that do less than others of their type."""

from __future__ import annotations

import pytest

from tests.aggregator.rollups.rollup_lines import cores, rollup


def busy(percent, **changes):
    """An instance with one core at *percent*, and one at nothing."""
    return cores("bu", (percent, 0.0), **changes)


@pytest.mark.parametrize(("percent", "stragglers"), [(39.99, 1), (40.0, 0)])
def test_a_straggler_reaches_less_than_half_of_what_is_usual(percent, stragglers):
    """Of 80 %: the half itself is no straggler."""
    found = rollup(busy(percent), *[busy(80.0)] * 3)
    assert stragglers == found.gauges["Stragglers"] == len(found.stragglers)


def test_below_four_busy_instances_of_a_type_nothing_is_usual():
    """The number is absent, not zero: nobody was judged."""
    few = [busy(80.0), busy(80.0), busy(1.0)]
    assert "Stragglers" not in rollup(*few).gauges
    others = [busy(80.0, instance_type="inf2.xlarge"), cores("uu"), cores("??")]
    assert "Stragglers" not in rollup(*few, *others).gauges
    assert 1 == rollup(*few, busy(80.0)).gauges["Stragglers"]


def test_only_busy_cores_say_how_fast_an_instance_is():
    """
    One busy core of four at 80 % is no straggler among four of four, and one at 39 % is: what
    the others do makes it no faster.
    """
    full, part = cores("bbbb", (80.0,) * 4), cores("bu?u", (80.0, 0.0, None, 0.0))
    assert 0 == rollup(full, full, full, part).gauges["Stragglers"]
    slow = cores("u?bu", (0.9, None, 39.0, 0.9))
    assert 1 == rollup(full, full, full, slow).gauges["Stragglers"]


def test_each_type_is_judged_by_itself():
    """
    A small instance is not slow because a large one is fast, and one without a type is neither.
    """
    small = [busy(10.0, instance_type="inf2.xlarge") for _ in range(4)]
    large = [busy(90.0) for _ in range(4)]
    unknown = [busy(1.0, instance_type=None) for _ in range(4)]
    assert 0 == rollup(*small, *large, *unknown).gauges["Stragglers"]
    assert "Stragglers" not in rollup(*unknown).gauges


def test_stragglers_farthest_behind_come_first():
    """By their share of the median, of whichever type; at most 20 of however many."""
    crowd = [busy(80.0) for _ in range(60)]
    slow = [busy((30 - one) / 100 + 1, instance_id=f"i-slow-{one:02}") for one in range(30)]
    found = rollup(*crowd, *slow)
    assert 30 == found.gauges["Stragglers"]
    assert [f"i-slow-{one}" for one in range(29, 9, -1)] == [
        one.instance_id for one in found.stragglers
    ]
    assert (1.01, 80.0) == (found.stragglers[0].busy_percent, found.stragglers[0].median_percent)
