"""Who is silent in a minute, whatever happened to the records and in which order it was learnt."""

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
    The instances that are silent in the *asked* minute, by all that is known in the end.

    Only of records that need no merging.
    """
    found = set()
    for name in WORLD_INSTANCES:
        known = [record for record in records if record.instance_id == name]
        known = [(one.minute_ms // 60_000, one) for one in known]
        own = {minute: one for minute, one in known if one.cluster == cluster and minute <= asked}
        last = max(own, default=asked)
        absent = QUICK_RULES.silent_after_minutes < asked - last <= FORGET_MINUTES
        moved = any(last < minute <= asked for minute, _ in known)
        gone = any(last <= minute < asked for one, minute in departed if one == name)
        if absent and not own[last].is_clean_shutdown and not moved and not gone:
            found.add(name)
    return found


@mock.patch.object(registry, "SILENT_FORGET_MINUTES", FORGET_MINUTES)
@settings(max_examples=60)
@given(ONE_EACH, st.lists(WORLD_FATES, max_size=8))
def test_a_minute_restated_knows_who_was_silent_then(records, fates):
    """
    Whatever order it was learnt in: restated in the end, each minute names those
    who had reported, not just now, and had neither shut down cleanly nor been
    stopped nor gone to another cluster.
    """
    world = live_through(records, fates, QUICK_RULES)
    minutes = range(MINUTE, MINUTE + 10)
    world.table.put_markers(minutes, "again", 0)
    world.settle()
    found = world.rollups()
    for cluster in ("training", "serving"):
        for minute in minutes:
            (*_, last) = found.get((minute, cluster), [{"SilentInstances": 0}])
            named = {one["InstanceId"] for one in last.get("SilentInstanceNames", ())}
            expected = silent(records, world.departed, cluster, minute)
            assert (expected, len(expected)) == (named, last["SilentInstances"]), (cluster, minute)
