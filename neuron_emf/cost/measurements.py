"""
Sizes, requests and times that were found by running the code, as `measurements.json` keeps them.

The file says when and on what. Tests hold the sizes of lines and items to those of the
code; times and requests are as they were that day. Nothing here was measured on AWS.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE: Final = Path(__file__).with_name("measurements.json")
EVENT_BYTES: Final = 26  # charged for a log event beside its text
PAGE_CORES: Final = 32
"""Cores of the instances of docs/explanation/scale.md: every size of fleet was measured for it."""

MIDDLE_INSTANCES: Final = 1_000
CLUSTERS_MEASURED: Final[Mapping[int, int]] = {10: 1, MIDDLE_INSTANCES: 2, 100_000: 100}
"""Clusters of each fleet that was measured, by its instances."""

SCATTERED_CLUSTERS: Final = 20
"""Of as many instances as in the middle, to learn what a further cluster takes."""

FOUR_OWNERS: Final = "four owners"
EIGHT_LONG: Final = "eight owners with names of 95 characters"

Form = Literal["items", "packs"]
"""A record an item, as `Mode=direct` stores them, or many, as `Mode=kinesis` does."""


@dataclass(frozen=True, slots=True)
class LineVolume:
    """
    Lines that belong together, such as those of one minute of an instance; a mean.

    Attributes:
        bytes: Of their text.

        lines: How many they are.
    """

    bytes: float
    lines: float

    @property
    def billed_bytes(self) -> float:
        """What CloudWatch Logs charges for."""
        return self.bytes + EVENT_BYTES * self.lines


@dataclass(frozen=True, slots=True)
class Sizes:
    """
    Means over a sample of instances, in bytes.

    Attributes:
        payload: One minute line as CloudWatch Logs delivers it, compressed.

        rounded_payload: The same, each rounded up to a whole KiB.

        item: One record in the table.

        stored_share: Of many lines, what is left of them compressed.
    """

    payload: float
    rounded_payload: float
    item: float
    stored_share: float


@dataclass(frozen=True, slots=True)
class IngestRun:
    """
    What one invocation of ingest took, the median of many.

    Attributes:
        cpu_s: Processor time.

        calls: Requests to the table.

        write_units: Of the table.
    """

    cpu_s: float
    calls: int
    write_units: int


@dataclass(frozen=True, slots=True)
class CloseMeasurement:
    """
    What closing one minute took.

    Attributes:
        cpu_s: Processor time.

        lines: Lines printed.

        printed_bytes: Of those lines.

        metrics: Distinct metrics that those lines define.

        calls: Requests to the table.

        read_units: Of the table.

        write_units: Of the table.

        busiest_cpu_s: Processor time of the busiest of the processes that read,
            where they are others than the one that publishes; else 0.

        busiest_calls: Requests of that one.
    """

    cpu_s: float
    lines: int
    printed_bytes: int
    metrics: int
    calls: int
    read_units: float
    write_units: int
    busiest_cpu_s: float = 0.0
    busiest_calls: int = 0


@dataclass(frozen=True, slots=True)
class InstanceSizes:
    """
    What depends on how many cores an instance has.

    Attributes:
        sizes: See `Sizes`.

        minute: Lines of one minute of an instance, by the setting `metrics`.

        minute_high: The same with `high_resolution_metrics`.

        report: Lines of one report with `high_resolution_metrics`, by `metrics`.

        write_units: Of the table, for a record that is stored by itself, with
            `FOUR_OWNERS`; a mean.

        second_units: Share of the records that take a unit more than without
            owners, by what the owners are.
    """

    sizes: Sizes
    minute: Mapping[str, LineVolume]
    minute_high: Mapping[str, LineVolume]
    report: Mapping[str, LineVolume]
    write_units: float
    second_units: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class FunctionRuns:
    """
    What the functions do for instances of so many cores.

    Attributes:
        ingest: One invocation by the records of its delivery: one, and a batch.

        close: One run by form, for a thousand instances in two clusters.
    """

    ingest: Mapping[int, IngestRun]
    close: Mapping[Form, CloseMeasurement]


@dataclass(frozen=True, slots=True)
class Measurements:
    """
    All that a bill is made from, prices apart.

    Attributes:
        as_of: The day.

        machine: Where the times were found.

        runtime_line: Bytes of the line of one runtime.

        emitter_metrics: That an emitter's lines define for a cluster.

        stack_metrics: That the functions say about themselves.

        ingest: One invocation by the records of its delivery, `PAGE_CORES` each.

        close: One run by form and instances of `PAGE_CORES`.

        scattered: One run for as many instances as in the middle of `close` but
            more clusters, whose items are single ones.

        split: One run for as many instances as the most of `close`, packed, by the processes
            that read.

        by_cores: What instances of other cores write.

        work_by_cores: What the functions do for them.
    """

    as_of: str
    machine: str
    runtime_line: float
    emitter_metrics: int
    stack_metrics: int
    ingest: Mapping[int, IngestRun]
    close: Mapping[Form, Mapping[int, CloseMeasurement]]
    scattered: CloseMeasurement
    split: Mapping[int, CloseMeasurement]
    by_cores: Mapping[int, InstanceSizes]
    work_by_cores: Mapping[int, FunctionRuns]

    @property
    def sizes(self) -> Sizes:
        """Those of an instance of `PAGE_CORES`."""
        return self.by_cores[PAGE_CORES].sizes


def read() -> Measurements:
    """What was measured and kept."""
    kept: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return Measurements(
        **{
            **kept,
            "scattered": CloseMeasurement(**kept["scattered"]),
            "split": {int(count): CloseMeasurement(**one) for count, one in kept["split"].items()},
            "ingest": _ingest(kept["ingest"]),
            "close": {
                form: {int(count): CloseMeasurement(**one) for count, one in by_count.items()}
                for form, by_count in kept["close"].items()
            },
            "by_cores": {int(cores): _of_cores(one) for cores, one in kept["by_cores"].items()},
            "work_by_cores": {
                int(cores): _work(one) for cores, one in kept["work_by_cores"].items()
            },
        }
    )


def _of_cores(kept: dict[str, Any]) -> InstanceSizes:
    return InstanceSizes(
        sizes=Sizes(**kept["sizes"]),
        minute=_lines(kept["minute"]),
        minute_high=_lines(kept["minute_high"]),
        report=_lines(kept["report"]),
        write_units=kept["write_units"],
        second_units=kept["second_units"],
    )


def _work(kept: dict[str, Any]) -> FunctionRuns:
    return FunctionRuns(
        ingest=_ingest(kept["ingest"]),
        close={form: CloseMeasurement(**one) for form, one in kept["close"].items()},
    )


def _lines(kept: dict[str, Any]) -> dict[str, LineVolume]:
    return {metrics: LineVolume(**one) for metrics, one in kept.items()}


def _ingest(kept: dict[str, Any]) -> dict[int, IngestRun]:
    return {int(count): IngestRun(**one) for count, one in kept.items()}
