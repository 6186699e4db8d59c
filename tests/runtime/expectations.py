"""Expected table items and output, computed by the code in this process with a table in memory."""

from __future__ import annotations

import json
import time
from dataclasses import replace

from aggregator.close.run import CloseRun
from aggregator.environment import Rules
from aggregator.ingest.intake import take_in
from aggregator.storage.record_items import identity_of, records_of
from proof.factories.records import full_record, lines, some_holders
from proof.memory_table import MemoryTable


def closable_minute():
    """Return a minute that is old enough to close at the first run."""
    return int(time.time()) // 60 - 4


def some_records(minute):
    """Return a minute of a few instances of two clusters, with names beyond ASCII."""
    holders = tuple(replace(holder, name="größe/モデル") for holder in some_holders(16, 1))
    records = [replace(full_record(32, n), minute_ms=minute * 60_000) for n in range(12)]
    return [
        replace(record, cluster=f"cluster-{n % 2}", holders=holders, health={})
        for n, record in enumerate(records)
    ]


def kept(dynamodb):
    """Return the records in the table by minute and identity, alone or in packs, each once."""
    pages = dynamodb.get_paginator("scan").paginate(TableName="records")
    identified = set()
    for item in (item for page in pages for item in page["Items"]):
        item_type, _, place = item["pk"]["S"].partition("#")
        if item_type == "m":
            minute = int(place.partition("#")[0])
            records, unreadable = records_of(item["r"]["B"], minute)
            assert unreadable == 0
            identified |= {(minute, *identity_of(record)) for record in records}
    return identified


def identities(records):
    """Return records by minute and identity."""
    return {(record.minute_ms // 60_000, *identity_of(record)) for record in records}


def rollup_lines(records, minute):
    """Return the lines that close prints for *minute* if the table has exactly these records."""
    table = MemoryTable()
    printed = []
    now_s = time.time()
    take_in(lines(*records), table, Rules().late_minutes, lambda: now_s)
    CloseRun(
        table=table,
        rules=Rules(),
        emit=printed.append,
        now_s=lambda: now_s,
        remaining_s=lambda: 55.0,
    ).run()
    return of_minute([line.encode() for line in printed], minute)


def of_minute(output, minute):
    """Return the rollups of one minute among lines of output, as bytes."""
    rollups = []
    for line in output:
        document = json.loads(line)
        if "RollupId" in document and minute * 60_000 == document["_aws"]["Timestamp"]:
            rollups.append(line)
    return rollups
