"""
Rule: tag filter. A host whose filtered runtimes were idle was busy with those that were filtered.
"""

from __future__ import annotations

import pytest

from emitter.reports.monitor_config import hides_runtimes
from proof.factories.reports import inf1_busy, inf2_loaded, minute_of, trn1_nobody


@pytest.mark.parametrize(
    ("tag_filter", "hides"), [(".*", False), ("serve-.*", True), ("", True), (".+", True)]
)
def test_any_filter_other_than_everything_hides_runtimes(tag_filter, hides):
    """With a `tag_filter` other than `.*`."""
    assert hides == hides_runtimes(["neuroncore_counters"], tag_filter)


def test_cores_not_held_by_a_matched_runtime_are_unknown():
    """
    Cores not held by a matched runtime are unknown; those that are held are known, idle or not.
    """
    assert "bbuu" == minute_of(inf1_busy()).core_state
    assert "bb??" == minute_of(inf1_busy(), only_matched=True).core_state
    assert "ba" == minute_of(inf2_loaded(), only_matched=True).core_state


def test_no_matched_runtime_is_not_no_runtime():
    """An empty list under a filter says nothing about cores."""
    record = minute_of(*[trn1_nobody()] * 12, only_matched=True)
    assert ("??", 0) == (record.core_state, record.covered_seconds)
