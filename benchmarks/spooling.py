"""Records through the spool: in, out, and off."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from benchmarks.figure import Figure
from emitter.spool import NewRecord, Spool

if TYPE_CHECKING:
    from pathlib import Path

LINE: Final = "x" * 2_400
START_MS: Final = 1_800_000_000_000
BATCH_EVENTS: Final = 10_000
BATCH_BYTES: Final = 1_048_576


def throughput(folder: Path, records: int) -> list[Figure]:
    """Records a second: appended one by one, each on disk before the next, settled in batches."""
    with Spool.open(folder / "throughput", clock=lambda: START_MS / 1000) as spool:
        begun = time.perf_counter()
        for number in range(records):
            spool.append([NewRecord(START_MS + number, LINE)])
        appended_s = time.perf_counter() - begun
        begun = time.perf_counter()
        batches = 0
        while taken := spool.oldest(BATCH_EVENTS, BATCH_BYTES):
            spool.settle([one.id for one in taken])
            batches += 1
        settled_s = time.perf_counter() - begun
    beside = f"{records} lines of {len(LINE)} bytes"
    settled = f"{beside}, {batches} batches"
    return [
        Figure("spool: appended, a commit each", records / appended_s, "records/s", None, beside),
        Figure("spool: read and settled", records / settled_s, "records/s", None, settled),
    ]
