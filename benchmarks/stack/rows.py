"""What the stack costs, as rows of the table."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

from benchmarks.figure import Figure
from benchmarks.stack.close_runs import closed
from benchmarks.stack.deliveries import delivered
from benchmarks.stack.fleet import CORES
from benchmarks.stack.table_files import BATCH_RECORDS, prepare
from neuron_emf.cost.measurements import FORMS, CloseMeasurement, Form

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TIMES: Final[Mapping[int, int]] = {1_000: 3, 10_000: 3, 100_000: 1}
"""
Instances, and of how many runs the fastest counts: what is short is more often
disturbed as a whole.
"""

THROUGH_BOTO3_UNTIL: Final = 10_000
"""Instances up to which the reading is also done by boto3: it adds the same share above."""

CLUSTERS: Final = 20
CPU_LIMIT_S: Final[Mapping[int, float]] = {10_000: 1.5}
MEMORY_LIMIT_MIB: Final[Mapping[int, float]] = {10_000: 512}
LINEAR_LIMIT: Final = 1.5
"""
How much more an instance may cost among 100,000 than among 10,000. What is ten
times as large misses the processor's caches more often: 1.1 on a quiet machine,
1.3 on a busy one. Work that grew with the square would show as 10.
"""

INGEST_LIMIT_MS: Final = 2.0
_OF_FORM: Final[Mapping[Form, str]] = {"items": "an item each", "packs": "packed"}


def closing(folder: Path, instances: tuple[int, ...] = tuple(TIMES)) -> list[Figure]:
    """One minute closed, for each size of fleet and both forms of its items."""
    return [figure for form in FORMS for figure in _closing(folder, form, instances)]


def ingest(rounds: int) -> list[Figure]:
    """One delivery: a single record, and a Kinesis batch."""
    alone, batch = delivered(1, 3 * rounds), delivered(BATCH_RECORDS, max(1, rounds // 10))
    beside = "handler and boto3, warm, without the network; {:.0f} MiB at most"
    many = f"{BATCH_RECORDS:,} records of Kinesis"
    return [
        Figure(
            f"ingest: processor time of {what}", 1_000 * run.cpu_s, "ms", limit_ms,
            beside.format(run.peak_mib),
        )
        for what, run, limit_ms in (("one record", alone, INGEST_LIMIT_MS), (many, batch, None))
    ]  # fmt: skip


def _closing(folder: Path, form: Form, instances: tuple[int, ...]) -> list[Figure]:
    figures: list[Figure] = []
    cpu_s: dict[int, float] = {}
    for count in instances:
        at = folder / f"{form}-{count}"
        prepare(at, count, CLUSTERS, form)
        first = min((closed(at) for _ in range(TIMES[count])), key=lambda run: run.cpu_s)
        through_boto3 = closed(at, boto3=True) if count <= THROUGH_BOTO3_UNTIL else None
        shutil.rmtree(at)
        cpu_s[count] = first.cpu_s
        figures += _of_size(count, form, first, through_boto3)
    most, before = max(instances), sorted(instances)[-2]
    return [
        *figures,
        Figure(
            f"close: an instance among {most:,}, against {before:,}, {_OF_FORM[form]}",
            cpu_s[most] / most / (cpu_s[before] / before),
            "x",
            LINEAR_LIMIT,
            "1 is linear",
        ),
    ]


def _of_size(
    count: int, form: Form, found: CloseMeasurement, through_boto3: CloseMeasurement | None
) -> list[Figure]:
    what = f"close: {{}} of {count:,} instances, {_OF_FORM[form]}"
    time, memory = what.format("processor time"), what.format("most memory")
    beside_time, beside_memory = f"{CORES} cores; {found.lines} lines", "all of the function"
    if through_boto3 is not None:
        beside_time += f"; with boto3's reading {through_boto3.cpu_s:.2f}"
        beside_memory += f"; with boto3's reading {through_boto3.peak_mib:.0f}"
    return [
        Figure(time, found.cpu_s, "s", CPU_LIMIT_S.get(count), beside_time),
        Figure(memory, found.peak_mib, "MiB", MEMORY_LIMIT_MIB.get(count), beside_memory),
    ]
