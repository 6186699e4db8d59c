"""What a minute costs: the size of its line, and the work of closing it."""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec
from aws_embedded_metrics.logger.metrics_context import MetricsContext
from aws_embedded_metrics.serializers.log_serializer import LogSerializer

from benchmarks import reports
from benchmarks.figure import Figure
from benchmarks.instance import Minutes
from benchmarks.turns import Turns, in_turns, processor_s
from emitter.lines import Lines, LineSettings
from emitter.replay import replay
from emitter.settings import ReplaySettings
from emitter.spool import NewRecord, Spool
from neuron_wire.catalogue import MINUTE
from neuron_wire.names import CLUSTER_DIMENSION, NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from neuron_wire.minute import MinuteRecord

LINE_LIMITS_BYTES: Final[Mapping[int, int]] = {32: 2_400, 64: 2_700, 128: 3_600}  # without names
IDLE_MINUTES: Final = 1_000  # four digits, as after most of a day
MAKING_LIMIT: Final = 1.9
CLOSING_LIMIT: Final = 6.8
REPLAY_LIMIT: Final = 6.5
REPLAYED_MINUTES: Final = 100
LITTLE: Final = 0.01  # of a busy core's utilization: two decimals, and idle all the same


def line_sizes() -> list[Figure]:
    """The minute line of instances of three widths: every core held, little used and long idle."""
    return [_line_size(cores, limit) for cores, limit in LINE_LIMITS_BYTES.items()]


def making(rounds: int) -> Figure:
    """The lines of a closed minute of 32 cores, against what aws-embedded-metrics makes of it."""
    minutes = Minutes()
    minutes.read(reports.wide(32))
    record = minutes.close(1)
    lines = Lines(LineSettings())
    turns = in_turns(
        lambda: lines.minute(record), lambda: _line_by_library(record), rounds=rounds, times=20
    )
    return Figure(
        "processor time of making a minute's lines",
        turns.ratio,
        "x",
        MAKING_LIMIT,
        f"32 cores; its LogSerializer, which checks less, {1e6 * min(turns.theirs_s):,.0f} us,"
        f" ours {1e6 * min(turns.ours_s):,.0f} us, {rounds} rounds in turns",
    )


def closing(folder: Path, rounds: int) -> list[Figure]:
    """From the full minute of 32 cores to its record on disk."""
    minute = reports.wide(32)
    minutes = Minutes()
    lines = Lines(LineSettings())
    closed_s: list[float] = []
    library_s: list[float] = []
    kept_s: list[float] = []
    wall_s: list[float] = []
    with Spool.open(folder / "closing") as spool:
        for _ in range(rounds):
            minutes.read(minute)
            begun = time.perf_counter(), time.process_time()
            record = minutes.close(spool.next_seq)
            new = [NewRecord(record.minute_ms, line) for line in lines.minute(record)]
            state = minutes.fold.state()
            closed_s.append(time.process_time() - begun[1])
            spool.append(new, state)
            wall_s.append(time.perf_counter() - begun[0])
            kept_s.append(time.process_time() - begun[1])
            library_s.append(processor_s(partial(_line_by_library, record), 20))
            spool.settle([row.id for row in spool.oldest(10, 1 << 20)])
    beside = f"32 cores: fold, line, checks and spool; least {{:.2f}} ms, {rounds} minutes"
    return [
        Figure(
            "processor time of closing a minute, its commit apart",
            Turns(tuple(closed_s), tuple(library_s)).ratio,
            "x",
            CLOSING_LIMIT,
            "32 cores: fold, line and checks; the library's line alone"
            f" {1e6 * min(library_s):,.0f} us, ours {1e6 * min(closed_s):,.0f} us,"
            f" {rounds} minutes in turns",
        ),
        *(
            Figure(
                f"{name} of closing a minute",
                1000 * statistics.median(spent_s),
                "ms",
                None,
                beside.format(1000 * min(spent_s)),
            )
            for name, spent_s in (("processor time", kept_s), ("time, with the disk's,", wall_s))
        ),
    ]


def replaying(folder: Path, lines: Sequence[bytes], rounds: int) -> Figure:
    """`replay` of saved reports, from the file to the lines, against an untyped decode."""
    saved = list(lines) * REPLAYED_MINUTES
    file = folder / "reports.jsonl"
    file.write_bytes(b"".join(saved))
    settings = ReplaySettings(cluster="blue", interval=5.0, start="2026-01-01T00:00:00Z")
    decode = msgspec.json.Decoder().decode
    turns = in_turns(
        lambda: deque(replay([file], settings), maxlen=0),
        lambda: deque(map(decode, saved), maxlen=0),
        rounds=rounds,
        times=1,
    )
    report_us = 1e6 / len(saved)
    return Figure(
        f"processor time of replay, a report of {len(lines[-1]) / 1000:.0f} KB",
        turns.ratio,
        "x",
        REPLAY_LIMIT,
        f"bare msgspec decode {report_us * min(turns.theirs_s):,.1f} us,"
        f" ours {report_us * min(turns.ours_s):,.1f} us, {rounds} rounds in turns",
    )


def _line_by_library(record: MinuteRecord) -> list[str]:
    context: Any = MetricsContext(namespace=NAMESPACE)
    context.set_dimensions([{CLUSTER_DIMENSION: record.cluster}])
    for name, value in record.members().items():
        if (metric := MINUTE.get(name)) is None:
            context.set_property(name, value)
        else:
            for number in value if isinstance(value, list) else [value]:
                context.put_metric(name, number, metric.unit)
    serialized: list[str] = LogSerializer.serialize(context)
    return serialized


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
    first, *_more = Lines(LineSettings()).minute(_without_names(record))
    names = len(Lines(LineSettings()).minute(record)[0].encode()) - len(first.encode())
    return Figure(
        f"minute line of {cores} cores, without Holders and Owners",
        len(first.encode()),
        "bytes",
        limit,
        f"idle for {IDLE_MINUTES} minutes; Holders and Owners add {names}",
    )


def _without_names(record: MinuteRecord) -> MinuteRecord:
    return dataclasses.replace(record, holders=(), holders_more=0, owners=(), owners_more="")
