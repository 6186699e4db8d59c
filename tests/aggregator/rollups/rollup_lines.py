"""Rollups of records made on the spot, and their lines as they are printed first."""

from __future__ import annotations

import json
from dataclasses import replace

from aggregator.rollups.line import MAX_LINE_BYTES, lines_of
from aggregator.rollups.publication import due
from aggregator.rollups.rollup import RollupInProgress
from neuron_wire import emf
from neuron_wire.catalogue import undocumented
from neuron_wire.merging import merge
from proof.factories.records import MINUTE, record

SOME = [record(instance_id=f"i-{number}") for number in range(4)]
"""Instances enough of one type, and busy enough, for any to be a straggler."""


def all_published(rollup) -> list[dict]:
    """The lines of the rollup's first publication, read back."""
    lines = lines_of(rollup, MINUTE, due(rollup, None))
    assert [] == [one for line in lines for one in emf.violations(line, now_ms=MINUTE * 60_000)]
    assert all(len(line.encode()) <= MAX_LINE_BYTES for line in lines)
    read = [json.loads(line) for line in lines]
    assert [] == [name for line in read for name in undocumented(line)]
    return read


def published(rollup) -> dict:
    """The line of the cluster."""
    return all_published(rollup)[-1]


def rollup_of(*records, silent=(), cluster="training", prices=None):
    """The rollup of records of different instances."""
    in_progress = RollupInProgress(cluster, 15, prices)
    for one in records:
        in_progress.add(merge([one]))
    return in_progress.finish(silent)


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
