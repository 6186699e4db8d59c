"""Rollups of records made for one test, and their first printed lines."""

from __future__ import annotations

import json
from dataclasses import replace

from aggregator.rollups.rollup import RollupInProgress
from aggregator.rollups.rollup_line import MAX_ROLLUP_BYTES, due, rollup_line
from neuron_accounts.core_time import CostRules
from neuron_accounts.now import cluster_now
from neuron_accounts.prices import Prices
from neuron_wire.extraction import violations
from neuron_wire.merging import merge_records
from proof.factories.records import MINUTE, record
from tests.neuron_wire.emf_documents import undocumented

SOME = [record(instance_id=f"i-{number}", reservations="known") for number in range(4)]
"""Enough busy instances of one type for any instance to be a straggler."""


def published(rollup, **metrics) -> dict:
    """Return the line of the rollup's first publication, parsed."""
    line = rollup_line(rollup, MINUTE, due(rollup, None), **metrics)
    assert [] == violations(line, now_ms=MINUTE * 60_000)
    assert len(line.encode()) <= MAX_ROLLUP_BYTES
    read = json.loads(line)
    assert [] == undocumented(read)
    return read


def idle_owners(finished):
    """Return the rows of the owners of a rollup's idle cores."""
    return cluster_now(finished.properties).owners


def rollup_of(*records, silent=(), cluster="training", prices=None):
    """Return the rollup of records of different instances."""
    in_progress = RollupInProgress(cluster, CostRules(prices or Prices()))
    for part in records:
        in_progress.fold_instance(merge_records([part]))
    return in_progress.finish(silent)


def rollup(*records, silent=()):
    """Return the rollup of records of different instances; an instance without a name gets one."""
    own_name = record().instance_id
    named = [
        replace(part, instance_id=f"i-{number}") if part.instance_id == own_name else part
        for number, part in enumerate(records)
    ]
    return rollup_of(*named, silent=silent)


def cores(state, utilization=None, idle=None, **changes):
    """Return a record of cores in *state*, by default unused and never idle."""
    unused = tuple(None if letter == "?" else 0.0 for letter in state)
    return record(
        core_state=state,
        utilization_percent=unused if utilization is None else utilization,
        idle_minutes=(0,) * len(state) if idle is None else idle,
        **changes,
    )
