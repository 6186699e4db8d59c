"""Ingest and close on one table in memory, with a clock that the test sets."""

from __future__ import annotations

import json

from aggregator.close.run import CloseRun
from aggregator.environment import Rules
from aggregator.ingest.intake import take_in
from neuron_wire import names
from proof.factories.records import MINUTE, lines, record
from proof.memory_table import MemoryTable

STACK_RULES = Rules()
MINUTE_END_S = (MINUTE + 1) * 60


class MemoryStack:
    """Ingest and close on one table, with a clock that the test sets."""

    def __init__(self, rules=STACK_RULES):
        self.rules = rules
        self.table = MemoryTable()
        self.now_s = 0.0
        self.printed: list[str] = []

    def deliver(self, at_s, *records, in_packs=False):
        self.now_s = at_s
        take_in(
            lines(*records),
            self.table,
            self.rules.late_minutes,
            lambda: self.now_s,
            in_packs=in_packs,
        )

    def close(self, at_s, remaining_s=lambda: 50.0, table=None, **options):
        self.now_s = at_s
        return CloseRun(
            table=table or self.table,
            rules=self.rules,
            emit=self.printed.append,
            now_s=lambda: self.now_s,
            remaining_s=remaining_s,
            **options,
        ).run()

    def rollups(self, cluster="training"):
        """Return the cluster's lines that were printed since the last call."""
        read = [json.loads(line) for line in self.printed]
        self.printed.clear()
        return [
            line
            for line in read
            if line["Kind"] == names.ROLLUP_KIND and line["ClusterName"] == cluster
        ]

    def published(self, cluster="training"):
        """Return the offsets of the minutes published since the last call, with their Instances."""
        return [
            (line["_aws"]["Timestamp"] // 60_000 - MINUTE, line["Instances"])
            for line in self.rollups(cluster)
        ]


def on_time(stack, *offsets, **changes):
    """Deliver one record for each minute, five seconds after its end."""
    for offset in offsets:
        stack.deliver(MINUTE_END_S + 60 * offset + 5, record(minute=MINUTE + offset, **changes))


def create_table(client, name):
    """Create the template's empty table in a substitute for DynamoDB."""
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
    )
