"""Rollups for the tests, of records made on the spot."""

from __future__ import annotations

from dataclasses import replace

from aggregator.rollups.rollup import RollupInProgress
from neuron_wire.merging import merge
from proof.factories.records import record


def rollup(*records, silent=()):
    """
    The rollup of records of different instances; those that have no name of their own get one.
    """
    in_progress = RollupInProgress("training", idle_after_minutes=15)
    for number, one in enumerate(records):
        named = one.instance_id != record().instance_id
        in_progress.add(merge([one if named else replace(one, instance_id=f"i-{number}")]))
    return in_progress.finish(silent)


def cores(state, utilization=None, idle=None, **changes):
    """A record of cores in *state*, by default unused and never idle."""
    unused = tuple(None if letter == "?" else 0.0 for letter in state)
    return record(
        core_state=state,
        utilization_percent=unused if utilization is None else utilization,
        idle_minutes=(0,) * len(state) if idle is None else idle,
        **changes,
    )
