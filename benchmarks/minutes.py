"""What a minute costs: the size of its line, and the work of closing it."""

from __future__ import annotations

import dataclasses
import statistics
import time
from typing import TYPE_CHECKING, Final

from benchmarks import reports
from benchmarks.figure import Figure
from benchmarks.instance import Minutes
from emitter.lines import Lines, LineSettings
from emitter.spool import NewRecord, Spool

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from neuron_wire.minute import MinuteRecord

LINE_LIMITS_BYTES: Final[Mapping[int, int]] = {32: 2_400, 64: 2_700, 128: 3_600}  # without Holders
IDLE_MINUTES: Final = 1_000  # four digits, as after most of a day
LITTLE: Final = 0.01  # of a busy core's utilization: two decimals, and idle all the same


def line_sizes() -> list[Figure]:
    """The minute line of instances of three widths: every core held, little used and long idle."""
    return [_line_size(cores, limit) for cores, limit in LINE_LIMITS_BYTES.items()]


def closing(folder: Path, rounds: int) -> list[Figure]:
    """From the full minute of 32 cores to its record on disk."""
    minute = reports.wide(32)
    minutes = Minutes()
    lines = Lines(LineSettings())
    processor_s: list[float] = []
    wall_s: list[float] = []
    with Spool.open(folder / "closing") as spool:
        for _ in range(rounds):
            minutes.read(minute)
            begun = time.perf_counter(), time.process_time()
            record = minutes.close(spool.next_seq)
            new = [NewRecord(record.minute_ms, line) for line in lines.minute(record)]
            spool.append(new, minutes.fold.state())
            wall_s.append(time.perf_counter() - begun[0])
            processor_s.append(time.process_time() - begun[1])
            spool.delivered([one.id for one in spool.oldest(10, 1 << 20)])
    beside = f"32 cores: fold, line, checks and spool; least {{:.2f}} ms, {rounds} minutes"
    return [
        Figure(
            f"{name} of closing a minute",
            1000 * statistics.median(found),
            "ms",
            None,
            beside.format(1000 * min(found)),
        )
        for name, found in (("processor time", processor_s), ("time, with the disk's,", wall_s))
    ]


def _line_size(cores: int, limit: int) -> Figure:
    minutes = Minutes()
    minute = reports.wide(cores, share=LITTLE)
    record = None
    for label in range(IDLE_MINUTES):
        # Idle minutes count whole minutes: twelve reports each, the same ones.
        minutes.read(minute)
        record = minutes.close(100_000 + label)
    if record is None or record.neuron_cores != cores:
        msg = f"a minute of {cores} cores was expected"
        raise RuntimeError(msg)
    first, *_more = Lines(LineSettings()).minute(_without_holders(record))
    holders = len(Lines(LineSettings()).minute(record)[0].encode()) - len(first.encode())
    return Figure(
        f"minute line of {cores} cores, without Holders",
        len(first.encode()),
        "bytes",
        limit,
        f"idle for {IDLE_MINUTES} minutes; Holders add {holders}",
    )


def _without_holders(record: MinuteRecord) -> MinuteRecord:
    return dataclasses.replace(record, holders=(), holders_more=0)
