"""A stack with forged lines: its real handlers on a table in memory."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from aggregator import runtime
from aggregator.close import function as close
from aggregator.environment import Environment, Rules
from aggregator.ingest import function as ingest
from proof.factories.invocations import Context, delivery
from proof.factories.records import MINUTE, lines, record
from proof.memory_table import MemoryTable
from tests.aggregator.handler_traces import CurrentStdout
from tests.aggregator.memory_stack import MINUTE_END_S


class AttackedStack:
    """
    Ingest and close as Lambda invokes them, with a clock that the test sets.

    Attributes:
        table: The table of both functions.

        now_s: The clock of both functions.

        remaining_s: Seconds that a run of close has left.
    """

    def __init__(self, monkeypatch, capsys, **rules):
        self.table = MemoryTable()
        self.now_s = MINUTE_END_S - 60.0
        self.remaining_s = 50.0
        self._capsys = capsys
        environment = Environment(
            table_name="records",
            stack_name="neuron-emf",
            rules=Rules(grace_s=45, **rules),
            own_log_groups=frozenset({"/neuron-emf/neuron-emf/rollups"}),
            own_log_group=None,
        )
        monkeypatch.setattr(runtime, "stack", lambda: (environment, self.table))
        for handler in (ingest, close):
            monkeypatch.setattr(handler, "time", SimpleNamespace(time=lambda: self.now_s))
            monkeypatch.setattr(handler.logger.registered_handler, "stream", CurrentStdout())

    def write(self, *records, at_s=None):
        """Deliver the records in one delivery; return ingest's counts."""
        return self.deliver(delivery(*lines(*records)), at_s)

    def deliver(self, event, at_s=None):
        self.now_s = self.now_s if at_s is None else at_s
        counts = ingest.handler(event, Context())
        self._capsys.readouterr()
        return counts

    def close(self, at_s=None):
        """Run close once; return its counts."""
        self.now_s = self.now_s if at_s is None else at_s
        self._capsys.readouterr()
        context = Context()
        context.get_remaining_time_in_millis = lambda: int(self.remaining_s * 1000)
        counts = close.handler({}, context)
        printed = [json.loads(line) for line in self._capsys.readouterr().out.splitlines()]
        self.rollups = [line for line in printed if line.get("Kind") == "rollup"]
        self.logged = [line for line in printed if "level" in line]
        return counts

    def live(self, offset, *records):
        """Deliver *records* of one minute in time, and close it after its grace."""
        self.write(*records, at_s=MINUTE_END_S + 60 * offset + 5)
        return self.close(MINUTE_END_S + 60 * offset + 50)

    @property
    def clusters(self):
        """Return the clusters of the last tick."""
        return {rollup["ClusterName"] for rollup in self.rollups}


def forged(count, *, offset=0, prefix="forged", **changes):
    """Return lines in the names of *count* clusters that do not exist."""
    members = {"minute": MINUTE + offset, "core_state": "b", "utilization_percent": (99.0,)}
    return [
        record(
            cluster=f"{prefix}-{number}",
            instance_id=f"i-{prefix}{number}",
            idle_minutes=(0,),
            **{**members, **changes},
        )
        for number in range(count)
    ]


def real(offset, cluster="training", **changes):
    """Return the line of a real instance."""
    members = {"instance_id": f"i-{cluster}", "minute": MINUTE + offset, "seq": offset + 1}
    return record(cluster=cluster, **{**members, **changes})


@pytest.fixture
def attacked(monkeypatch, capsys):
    """Return an attacked stack with room for three clusters."""
    return AttackedStack(monkeypatch, capsys, max_clusters=3)
