"""
Sizes, requests and times, found by running the code.

They are kept in `measured.json`, so that the page is the same on every machine
and says on which one they were found. `python -m benchmarks.scale --measure`
finds them again.
"""

from __future__ import annotations

import gzip
import json
import statistics
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aggregator.storage.item import item_of, stored_bytes
from benchmarks.scale.fleets import BATCH_DELIVERIES, FLEETS, SCATTERED, Fleet
from benchmarks.stack import fleet
from benchmarks.stack.closing import Closed, closed
from benchmarks.stack.delivering import Delivered, delivered, payload_of
from benchmarks.stack.prepared import FORMS, Form, prepare
from emitter.fold.runtimes import RuntimeMinute
from emitter.lines import Lines, LineSettings, Source

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE: Final = Path(__file__).with_name("measured.json")
SAMPLE: Final = 1_000  # instances, of which the sizes are means
BATCHES: Final = (1, 10, 100, BATCH_DELIVERIES)
EVENT_BYTES: Final = 26  # charged for a log event beside its text
_KIB: Final = 1_024
_DEVICE_USES: Final = (
    "constants",
    "model_code",
    "model_shared_scratchpad",
    "runtime_memory",
    "tensors",
)
_HOST_USES: Final = ("application_memory", "constants", "dma_buffers", "tensors")


@dataclass(frozen=True, slots=True)
class Sizes:
    """
    Means over a sample of instances, in bytes.

    Attributes:
        line: The emitter's minute line.

        runtime_line: The line of one runtime.

        payload: One line as CloudWatch Logs delivers it, compressed.

        rounded_payload: The same, each rounded up to a whole KiB.

        item: One record in the table.

        largest_item: The largest of them.

        stored_share: Of many lines, what is left of them compressed.
    """

    line: float
    runtime_line: float
    payload: float
    rounded_payload: float
    item: float
    largest_item: float
    stored_share: float


@dataclass(frozen=True, slots=True)
class Measured:
    """
    All that the page is made from.

    Attributes:
        as_of: The day.

        machine: Where the times were found.

        sizes: See `Sizes`.

        emitter_metrics: That an emitter's lines define for a cluster.

        stack_metrics: That the functions say about themselves.

        ingest: One invocation by the records of its delivery.

        close: One run by form and instances, for each of `FLEETS`.

        scattered: One run for `SCATTERED`, whose items are single ones.
    """

    as_of: str
    machine: str
    sizes: Sizes
    emitter_metrics: int
    stack_metrics: int
    ingest: Mapping[int, Delivered]
    close: Mapping[Form, Mapping[int, Closed]]
    scattered: Closed


def sizes() -> Sizes:
    """
    Those of today's code.
    """
    records = list(fleet.records(SAMPLE))
    lines = [fleet.line_of(record) for record in records]
    items = [stored_bytes(item_of(record, 0)) for record in records]
    text = "\n".join(lines).encode()
    payloads = [
        len(payload_of(record.instance_id, [line], record.minute_ms))
        for record, line in islice(zip(records, lines, strict=True), 200)
    ]
    return Sizes(
        line=statistics.fmean(len(line.encode()) for line in lines),
        runtime_line=len(_runtime_line().encode()),
        payload=statistics.fmean(payloads),
        rounded_payload=statistics.fmean(-(-size // _KIB) * _KIB for size in payloads),
        item=statistics.fmean(items),
        largest_item=max(items),
        stored_share=len(gzip.compress(text, 6)) / len(text),
    )


def close_of(folder: Path, one: Fleet, form: Form, times: int | None = None) -> Closed:
    """
    The fastest of a few runs of close, through boto3; *folder* must not be there yet.
    """
    prepare(folder, one.instances, one.clusters, form)
    if times is None:
        times = 3 if one.instances < 100_000 else 2
    return min((closed(folder, boto3=True) for _ in range(times)), key=lambda run: run.cpu_s)


def measure(folder: Path, as_of: str, machine: str) -> Measured:
    """
    Run everything; about four minutes.
    """
    return Measured(
        as_of=as_of,
        machine=machine,
        sizes=sizes(),
        emitter_metrics=emitter_metrics(),
        stack_metrics=stack_metrics(),
        ingest={count: delivered(count, max(10, 300 // count)) for count in BATCHES},
        close={
            form: {
                one.instances: close_of(folder / f"{form}-{one.instances}", one, form)
                for one in FLEETS
            }
            for form in FORMS
        },
        scattered=close_of(folder / "scattered", SCATTERED, "items"),
    )


def emitter_metrics() -> int:
    """
    Metrics that an emitter's minute line defines with its default settings.
    """
    document = json.loads(fleet.line_of(next(fleet.records(1))))
    return sum(len(one["Metrics"]) for one in document["_aws"]["CloudWatchMetrics"])


def stack_metrics() -> int:
    """
    Metrics that the functions say about themselves.
    """
    from neuron_wire.catalogue import STACK  # noqa: PLC0415  # the catalogue is long

    return len(STACK)


def read() -> Measured:
    """
    What `write` kept.
    """
    kept: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return Measured(
        **{
            **kept,
            "sizes": Sizes(**kept["sizes"]),
            "scattered": Closed(**kept["scattered"]),
            "ingest": {int(count): Delivered(**one) for count, one in kept["ingest"].items()},
            "close": {
                form: {int(count): Closed(**one) for count, one in by_count.items()}
                for form, by_count in kept["close"].items()
            },
        }
    )


def write(found: Measured) -> None:
    """
    Keep *found* for `read`.
    """
    FILE.write_text(json.dumps(_rounded(asdict(found)), indent=2) + "\n", encoding="utf-8")


def _rounded(value: Any) -> Any:  # noqa: ANN401  # JSON
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _runtime_line() -> str:
    runtime = RuntimeMinute(
        pid=1_234_567,
        tag="34567",
        owner="serving/llama-0123456789",
        reason="hourly",
        cores=(0, 1, 2, 3),
        cores_listed=fleet.CORES,
        executions=123_456,
        execution_errors=0,
        latency_p50_mean_s=0.0123456,
        latency_p99_max_s=0.0234567,
        latency_min_s=0.0112345,
        latency_max_s=0.0345678,
        device_latency_p50_mean_s=0.0111111,
        device_latency_p99_max_s=0.0222222,
        latency_gap_s=0.00123456,
        tera_flops=123.456,
        device_memory_used_bytes=123_456_789_012,
        device_memory_by_use=dict.fromkeys(_DEVICE_USES, 12_345_678_901),
        host_memory_used_bytes=12_345_678_901,
        host_memory_by_use=dict.fromkeys(_HOST_USES, 1_234_567_890),
        loaded_models=4,
        vcpu_user_percent=123.45,
        vcpu_system_percent=12.34,
        physical_percent={},
        details={},
    )
    source = Source(
        cluster="training-000",
        instance_id="i-0123456789abcdef0",
        identity_guessed=False,
        boot="01234567890123456789",
    )
    return Lines(LineSettings()).runtime(
        runtime, source, seq=123_456, minute_ms=fleet.MINUTE * 60_000
    )
