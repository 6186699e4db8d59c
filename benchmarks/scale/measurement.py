"""
Sizes, requests and times, found by running the code.

They are kept in `neuron_emf/cost/measurements.json`, so that the page is the
same on every machine and says on which one they were found.
`python -m benchmarks.scale --measure` finds them again.
"""

from __future__ import annotations

import gzip
import json
import statistics
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from aggregator.storage.item import item_of, stored_bytes
from benchmarks.scale.fleets import FLEETS, LARGE, MIDDLE, SCATTERED
from benchmarks.stack import fleet
from benchmarks.stack.close_runs import closed
from benchmarks.stack.deliveries import delivered, payload_of
from benchmarks.stack.table_files import prepare
from emitter.fold.runtimes import RuntimeMinute
from emitter.fold.sample import ReportSample
from emitter.lines import LineIdentity, Lines, LineSettings
from emitter.settings.minutes import TIERS
from neuron_emf.cost.assumptions import BATCH_DELIVERIES
from neuron_emf.cost.measurements import (
    EIGHT_LONG,
    FILE,
    FORMS,
    FOUR_OWNERS,
    CloseMeasurement,
    Form,
    FunctionRuns,
    InstanceSizes,
    LineVolume,
    Measurements,
    Sizes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from neuron_emf.cost.fleet import FleetSpec
    from neuron_wire.minute import MinuteRecord

SAMPLE: Final = 1_000  # instances, of which the sizes are means
LINE_SAMPLE: Final = 100  # of lines that few ask for
PAYLOAD_SAMPLE: Final = 200
CORES: Final = (1, 2, 4, 8, 12, 16, 24, 32, 64, 100, 101, 128)
"""
Of an instance: those of every type, and around 100, from where on a line cannot hold every core as
a value of its metric.
"""

WORK_CORES: Final = (1, 2, 4, 8, 16, 32, 64, 128)
BATCHES: Final = (1, 10, 100, BATCH_DELIVERIES)
PROCESSES: Final = (1, 2, 3, 4, 5, 6)
_KIB: Final = 1_024
_OWNER_MIXES: Final = {FOUR_OWNERS: fleet.FOUR_OWNERS, EIGHT_LONG: fleet.EIGHT_LONG}
_REPORT_PERIOD_S: Final = 5.0
_DEVICE_USES: Final = (
    "constants", "model_code", "model_shared_scratchpad", "runtime_memory", "tensors",
)  # fmt: skip
_HOST_USES: Final = ("application_memory", "constants", "dma_buffers", "tensors")


def sizes(cores: int = fleet.CORES, sample: int = SAMPLE) -> Sizes:
    """Those of today's code."""
    records = list(fleet.records(sample, cores=cores))
    lines = [fleet.line_of(record) for record in records]
    items = [stored_bytes(item_of(record, 0)) for record in records]
    text = "\n".join(lines).encode()
    payloads = [
        len(payload_of(record.instance_id, [line], record.minute_ms))
        for record, line in islice(zip(records, lines, strict=True), PAYLOAD_SAMPLE)
    ]
    return Sizes(
        payload=statistics.fmean(payloads),
        rounded_payload=statistics.fmean(-(-size // _KIB) * _KIB for size in payloads),
        item=statistics.fmean(items),
        largest_item=max(items),
        stored_share=len(gzip.compress(text, 6)) / len(text),
    )


def minute_lines(cores: int, sample: int = SAMPLE, *, high: bool = False) -> dict[str, LineVolume]:
    """The lines of one minute by the setting `metrics`; with *high*, beside those of reports."""
    records = list(fleet.records(sample, cores=cores))
    few = records[:LINE_SAMPLE]
    return {
        metrics: _written(
            Lines(LineSettings(tier=metrics, high_resolution=high)).minute(record)
            for record in (records if metrics == "cluster" and not high else few)
        )
        for metrics in TIERS
    }


def report_lines(cores: int, sample: int = LINE_SAMPLE) -> dict[str, LineVolume]:
    """The lines of one report by the setting `metrics`."""
    records = list(fleet.records(sample, cores=cores))
    return {
        metrics: _written(
            _report(Lines(LineSettings(tier=metrics, high_resolution=True)), one) for one in records
        )
        for metrics in TIERS
    }


def write_units(cores: int, sample: int = SAMPLE) -> float:
    """Of the table for one record, stored by itself."""
    return statistics.fmean(map(_units, fleet.records(sample, cores=cores)))


def second_units(cores: int, sample: int = SAMPLE) -> dict[str, float]:
    """In which share of its minutes an instance takes a write unit more for its owners."""
    without = [_units(record) for record in fleet.records(sample, cores=cores, owners=None)]
    return {
        name: statistics.fmean(
            _units(record) > units
            for record, units in zip(
                fleet.records(sample, cores=cores, owners=mix), without, strict=True
            )
        )
        for name, mix in _OWNER_MIXES.items()
    }


def _units(record: MinuteRecord) -> int:
    return -(-stored_bytes(item_of(record, 0)) // _KIB)


def of_cores(cores: int, sample: int = SAMPLE) -> InstanceSizes:
    """What an instance of that many cores writes."""
    return InstanceSizes(
        sizes=sizes(cores, sample),
        minute=minute_lines(cores, sample),
        minute_high=minute_lines(cores, sample, high=True),
        report=report_lines(cores, min(sample, LINE_SAMPLE)),
        write_units=write_units(cores, sample),
        second_units=second_units(cores, sample),
    )


def work_of(folder: Path, cores: int) -> FunctionRuns:
    """What the functions do for such instances."""
    return FunctionRuns(
        ingest={
            1: delivered(1, 100, cores),
            BATCH_DELIVERIES: delivered(BATCH_DELIVERIES, 3, cores),
        },
        close={form: close_of(folder / form, MIDDLE, form, cores=cores) for form in FORMS},
    )


def close_of(
    folder: Path, one: FleetSpec, form: Form, times: int | None = None, cores: int = fleet.CORES
) -> CloseMeasurement:
    """The fastest of a few runs of close, through boto3; *folder* must not be there yet."""
    prepare(folder, one.instances, one.clusters, form, cores)
    if times is None:
        times = 3 if one.instances < 100_000 else 2
    return min((closed(folder, boto3=True) for _ in range(times)), key=lambda run: run.cpu_s)


def measure(folder: Path, as_of: str, machine: str, sample: int = SAMPLE) -> Measurements:
    """Run everything; about ten minutes."""
    return Measurements(
        as_of=as_of, machine=machine, runtime_line=runtime_line(),
        emitter_metrics=emitter_metrics(), stack_metrics=stack_metrics(),
        ingest={count: delivered(count, max(10, 300 // count)) for count in BATCHES},
        close={
            form: {
                one.instances: close_of(folder / f"{form}-{one.instances}", one, form)
                for one in FLEETS
            }
            for form in FORMS
        },
        scattered=close_of(folder / "scattered", SCATTERED, "items"),
        split={
            processes: closed(folder / f"packs-{LARGE.instances}", boto3=True, processes=processes)
            for processes in PROCESSES
        },
        by_cores={cores: of_cores(cores, sample) for cores in CORES},
        work_by_cores={cores: work_of(folder / f"{cores}", cores) for cores in WORK_CORES},
    )  # fmt: skip


def emitter_metrics() -> int:
    """Metrics that an emitter's minute line defines with its default settings."""
    document = json.loads(fleet.line_of(next(fleet.records(1))))
    return sum(len(one["Metrics"]) for one in document["_aws"]["CloudWatchMetrics"])


def stack_metrics() -> int:
    """Metrics that the functions say about themselves."""
    from neuron_wire.catalogue import STACK  # noqa: PLC0415  # the catalogue is long

    return len(STACK)


def runtime_line() -> int:
    """Bytes of the line of one runtime."""
    return len(_runtime_line().encode())


def write(found: Measurements) -> None:
    """Keep *found* for whoever makes a bill."""
    FILE.write_text(json.dumps(_rounded(asdict(found)), indent=2) + "\n", encoding="utf-8")


def _written(each: Iterable[Sequence[str]]) -> LineVolume:
    many = list(each)
    return LineVolume(
        bytes=statistics.fmean(sum(len(line.encode()) for line in lines) for lines in many),
        lines=statistics.fmean(map(len, many)),
    )


def _report(lines: Lines, record: MinuteRecord) -> list[str]:
    sample = ReportSample(
        at_s=record.minute_ms / 1_000 + 5,
        period_s=_REPORT_PERIOD_S,
        utilization_percent=record.utilization_percent,
        executions=record.executions,
        execution_errors=record.execution_errors,
        tera_flops=record.tera_flops,
    )
    identity = LineIdentity(
        record.cluster, record.instance_id, identity_guessed=False, boot=record.boot
    )
    return lines.report(sample, identity, seq=record.seq)


def _rounded(value: Any) -> Any:  # noqa: ANN401  # JSON
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _runtime_line() -> str:
    runtime = RuntimeMinute(
        pid=1_234_567, tag="34567", owner="serving/llama-0123456789", reason="hourly",
        cores=(0, 1, 2, 3), cores_listed=fleet.CORES, executions=123_456, execution_errors=0,
        latency_p50_mean_s=0.0123456, latency_p99_max_s=0.0234567, latency_min_s=0.0112345,
        latency_max_s=0.0345678, device_latency_p50_mean_s=0.0111111,
        device_latency_p99_max_s=0.0222222, latency_gap_s=0.00123456, tera_flops=123.456,
        device_memory_used_bytes=123_456_789_012,
        device_memory_by_use=dict.fromkeys(_DEVICE_USES, 12_345_678_901),
        host_memory_used_bytes=12_345_678_901,
        host_memory_by_use=dict.fromkeys(_HOST_USES, 1_234_567_890), loaded_models=4,
        vcpu_user_percent=123.45, vcpu_system_percent=12.34, physical_percent={}, details={},
    )  # fmt: skip
    identity = LineIdentity(
        cluster="training-000",
        instance_id="i-0123456789abcdef0",
        identity_guessed=False,
        boot="01234567890123456789",
    )
    return Lines(LineSettings()).runtime(
        runtime, identity, seq=123_456, minute_ms=fleet.MINUTE * 60_000
    )
