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
