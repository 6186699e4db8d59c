"""Rollup lines that a test makes, one value at a time."""

from __future__ import annotations

import json
from datetime import datetime, timezone

START_MS = 1_795_161_600_000  # 2026-11-20T08:00:00Z
MINUTE_MS = 60_000

VALUES = {
    "Instances": 4, "SilentInstances": 0, "NeuronCores": 128, "UnknownCores": 28, "BusyCores": 60,
    "AttachedIdleCores": 30, "UnattachedCores": 10, "IdleCores": 40, "IdleCostPerHour": 20.5,
    "UnpricedCores": 0, "CoveragePercent": 100.0, "NeuronCoreUtilization": 50.0,
}  # fmt: skip


def line(cluster="research", minute=0, publication=1, **changes):
    """The text of one; a change to None leaves a member out."""
    at_ms = START_MS + minute * MINUTE_MS
    iso = datetime.fromtimestamp(at_ms / 1000, timezone.utc).strftime("%Y-%m-%dT%H:%MZ")
    members = {
        "_aws": {"Timestamp": at_ms}, "Schema": 1, "Kind": "rollup", "ClusterName": cluster,
        "RollupId": f"{cluster}@{iso}#{publication}", "Minute": iso, "Publication": publication,
        **VALUES, **changes,
    }  # fmt: skip
    return json.dumps({name: value for name, value in members.items() if value is not None})


def newest(*texts):
    """As the window gives them: by cluster."""
    return {one["ClusterName"]: one for one in map(json.loads, texts)}
