"""
Lines for queries to run on, each with the time at which CloudWatch Logs has it.

Written by the code that writes them in earnest, so that a field has the place
that it has there: Logs Insights discovers only the first 200.
"""

from __future__ import annotations

from neuron_emf.profile.line import ProfileSubject, profile_of
from neuron_emf.profile.summaries import Summary
from neuron_wire import CLUSTER_NAMESPACE, VERSION
from neuron_wire.catalogue import ROLLUP, undocumented
from neuron_wire.emf import emf_line
from neuron_wire.line import encode

MINUTE_MS = 60_000
START_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z


def iso(minute):
    """Minute *minute* of the day as rollups name it."""
    return f"2026-01-01T{minute // 60:02}:{minute % 60:02}:00Z"


def rollup(minute, *, number=1, cluster="training", **members):
    """
    A rollup of one minute, printed two minutes later, the next publication a minute after that.
    """
    metrics = {"Instances": 1} | {name: one for name, one in members.items() if name in ROLLUP}
    line = {
        "Schema": VERSION,
        "Kind": "rollup",
        "ClusterName": cluster,
        "RollupId": f"{cluster}@{iso(minute)}#{number}",
        "Minute": iso(minute),
        "Publication": number,
        **{name: value for name, value in members.items() if name not in ROLLUP},
    }
    assert [] == undocumented({**line, **metrics})
    text = emf_line(
        CLUSTER_NAMESPACE,
        dimension_sets=[["ClusterName"]],
        metrics=metrics,
        units={name: member.unit for name, member in ROLLUP.items()},
        properties=line,
        timestamp_ms=START_MS + minute * MINUTE_MS,
    )
    return START_MS + (minute + 1 + number) * MINUTE_MS + 1, text


def emitted(kind, minute, seq, *, instance="i-0a", boot="b1", cluster="training", **members):
    """A line of an emitter, as it is with `--metrics none`."""
    at = START_MS + minute * MINUTE_MS
    line = {"Timestamp": at, "Schema": VERSION, "Kind": kind, "Boot": boot, "Seq": seq}
    line |= {"ClusterName": cluster, "InstanceId": instance, **members}
    assert [] == undocumented(line)
    return at, encode(line)


def minute_line(minute, seq, **members):
    """A minute line of an emitter."""
    return emitted("minute", minute, seq, **members)


def profile(minute, *, cluster="training", model="llama", core=0, **values):
    """A line of `neuron-emf profile`, of a summary with these *values*."""
    at = START_MS + minute * MINUTE_MS
    summary = Summary("made.json", "", {"nd_idx": 0, "nc_idx": core, **values})
    return at, profile_of(summary, ProfileSubject(cluster, model, None, at)).line


def idle(instance, cores, minutes, **members):
    """One of a rollup's TopIdleInstances."""
    of_it = {"InstanceId": instance, "InstanceType": "trn1.2xlarge", "Cores": f"0-{cores - 1}"}
    return {**of_it, "IdleCores": cores, "IdleMinutes": minutes, **members}


def health(dropped=0, malformed=0, restarts=0, waiting=0):
    """What a minute line says of its emitter."""
    return {
        "RecordsDropped": dropped,
        "ReportsMalformed": malformed,
        "MonitorRestarts": restarts,
        "SpoolRecords": waiting,
    }
