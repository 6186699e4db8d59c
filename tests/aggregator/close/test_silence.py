"""
Silent instances of a minute, whatever happens to the records and in whatever order they arrive.
"""

from __future__ import annotations

from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.close import registry
from aggregator.environment import Rules
from proof.factories.records import MINUTE
from tests.aggregator.cluster_world import ONE_EACH, WORLD_FATES, WORLD_INSTANCES, live_through

QUICK_RULES = Rules(silent_after_minutes=1)
FORGET_MINUTES = 4


def silent(records, departed, cluster, asked):
    """
    Return the instances that are silent in the *asked* minute according to all records.

    The records must need no merging.
    """
    names = set()
    for name in WORLD_INSTANCES:
        known = [record for record in records if record.instance_id == name]
        known = [(record.minute_ms // 60_000, record) for record in known]
        own = {
            minute: record
            for minute, record in known
            if record.cluster == cluster and minute <= asked
        }
        last = max(own, default=asked)
        absent = QUICK_RULES.silent_after_minutes < asked - last <= FORGET_MINUTES
        moved = any(last < minute <= asked for minute, _ in known)
        gone = any(
            last <= minute < asked for instance_id, minute in departed if instance_id == name
        )
        if absent and not own[last].is_clean_shutdown and not moved and not gone:
            names.add(name)
    return names


@mock.patch.object(registry, "SILENT_FORGET_MINUTES", FORGET_MINUTES)
@settings(max_examples=60)
@given(ONE_EACH, st.lists(WORLD_FATES, max_size=8))
def test_a_minute_restated_knows_who_was_silent_then(records, fates):
    """
    A restated minute names each instance that had reported before and was absent for longer than
    the limit, unless it had shut down cleanly, was stopped or had moved to another cluster.
    """
    world = live_through(records, fates, QUICK_RULES)
    minutes = range(MINUTE, MINUTE + 10)
    world.table.put_markers(minutes, "again", 0)
    world.settle()
    rollups = world.rollups()
    for cluster in ("training", "serving"):
        for minute in minutes:
            (*_, last) = rollups.get((minute, cluster), [{"SilentInstances": 0}])
            named = {entry["InstanceId"] for entry in last.get("SilentInstanceNames", ())}
            expected = silent(records, world.departed, cluster, minute)
            assert expected == named, (cluster, minute)
            assert len(expected) == last["SilentInstances"], (cluster, minute)
