"""
One collector for Prometheus: what the last reports told, and the minute closed last.

The loop only ever sets references here; the text is made by the thread of who
asks, at most once a second. A group need not be in every report: what it told
last stands for 30 s, two of the longest period that can be asked for.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from prometheus_client import generate_latest
from prometheus_client.metrics_core import Metric

from emitter.fold.amounts import amount
from emitter.fold.executions import CAUSES
from emitter.fold.held_cores import runtime_key
from emitter.fold.periods import LONGEST_NOMINAL_S
from emitter.prometheus.names import BUILD, OF_MINUTE, OF_REPORT, SCRIPT, Told
from neuron_wire.holders import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from prometheus_client import CollectorRegistry

    from emitter.fold import Fold
    from emitter.fold.held_cores import Holdings, RuntimeKey
    from emitter.lines import LineIdentity
    from emitter.prometheus.names import Groups, Minute, Name, T
    from emitter.reports.groups import Executions, Runtime, RuntimeReport
    from emitter.reports.report import Report
    from emitter.reports.system_groups import InstanceInfo, System
    from neuron_wire.minute import MinuteRecord

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"  # which every Prometheus reads
RENDER_INTERVAL_S: Final = 1.0
STANDS_S: Final = 2 * LONGEST_NOMINAL_S
MAX_RUNTIMES: Final = 128  # as many as the cores of the largest instance
OTHER_TYPE: Final = "other"  # of an error that a newer tool names: a label must have few values

_Timed = dict[str, tuple[float, Any]]
"""What each group told last, and when, seconds since the epoch."""

_View = tuple[Told, dict[str, str], dict[str, str], _Timed, "dict[RuntimeKey, tuple[str, _Timed]]"]
"""What was told, the labels of the script and ours, and the groups, those that are old, too."""


_NOTHING: Final = Told(0.0, {}, {}, 0, {}, None, {}, None, None)


class MetricsPage:
    """`see` and `close` are the loop's, `text` is of any other thread."""

    def __init__(
        self,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock, self._monotonic = clock, monotonic
        self._view: _View | None = None
        self._minute: Minute | None = None
        self._rendering = threading.Lock()
        self._rendered: tuple[float, bytes] | None = None

    def see(
        self, report: Report, raw: bytes, fold: Fold, identity: LineIdentity, at_s: float
    ) -> None:
        """Take the report that *fold* took last, received at *at_s* as the bytes *raw*."""
        told, _, _, system, runtimes = self._view or (_NOTHING, {}, {}, {}, {})
        if fold.living is not None:
            told = replace(told, left_out=max(0, len(fold.living) - MAX_RUNTIMES))
            living = fold.living[:MAX_RUNTIMES]
            runtimes = {key: _seen(one, runtimes, at_s) for one in living
                        for key in [runtime_key(one)]}  # fmt: skip
            told = replace(told, totals=_added(told.totals, living))
        told = replace(
            told,
            at_s=at_s,
            vcpus=told.vcpus or _vcpus(raw),
            ecc_risen=dict(fold.ecc_risen),
            info=report.instance_info or told.info,
            hardware=report.neuron_hardware_info or told.hardware,
        )
        own = {"cluster": identity.cluster, "instance_id": identity.instance_id}
        labels = _script_labels(fold, identity, told.info)
        self._view = told, labels, own, _newer(system, report.system_data, at_s), runtimes

    def close(self, record: MinuteRecord, holdings: Holdings) -> None:
        """Take the minute that was closed."""
        self._minute = record, holdings

    def text(self) -> bytes:
        """The page as it is now, or was less than a second ago."""
        with self._rendering:
            now_s = self._monotonic()
            if self._rendered is None or now_s - self._rendered[0] >= RENDER_INTERVAL_S:
                self._rendered = now_s, generate_latest(cast("CollectorRegistry", self))
            return self._rendered[1]

    def collect(self) -> Iterator[Metric]:
        """All metrics, as the library asks a collector for them."""
        if self._view is not None:
            told, labels, own, system, runtimes = self._view
            tags: dict[str, list[Groups]] = {}
            for tag, groups in runtimes.values():
                tags.setdefault(tag, []).append(self._still(groups))
            still = {name: one for name, one in self._still(system).items() if not one.error}
            told = replace(told, tags=tags, system=still)
            yield from _metrics(SCRIPT, told, labels)
            yield from _metrics(OF_REPORT, told, own)
        if (minute := self._minute) is not None:
            own = {"cluster": minute[0].cluster, "instance_id": minute[0].instance_id}
            yield from _metrics(OF_MINUTE, minute, own)
        yield from _metrics(BUILD, None, {})

    def _still(self, groups: _Timed) -> Groups:
        oldest_s = self._clock() - STANDS_S
        return {name: group for name, (at_s, group) in groups.items() if at_s >= oldest_s}


def _metrics(names: Iterable[Name[T]], of: T, common: Mapping[str, str]) -> Iterator[Metric]:
    for name in names:
        metric = Metric(name.name.removesuffix("_total"), name.meaning, name.kind)
        for values, value in name.read(of):
            labels = {**common, **dict(zip(name.labels, values, strict=True))}
            metric.add_sample(name.name, labels, value)
        if metric.samples:
            yield metric


def _newer(before: _Timed, groups: RuntimeReport | System | None, at_s: float) -> _Timed:
    told = {} if groups is None else msgspec.structs.asdict(groups)
    return before | {name: (at_s, group) for name, group in told.items() if group is not None}


def _tag(runtime: Runtime) -> str:
    return printable(runtime.neuron_runtime_tag) or ""


def _seen(
    runtime: Runtime, before: Mapping[RuntimeKey, tuple[str, _Timed]], at_s: float
) -> tuple[str, _Timed]:
    tag = _tag(runtime)
    return tag, _newer(before.get(runtime_key(runtime), (tag, {}))[1], runtime.report, at_s)


def _added(
    before: Mapping[tuple[str, str, str], int], living: list[Runtime]
) -> dict[tuple[str, str, str], int]:
    """The totals of the tags of *living*; who is listed no more is gone with its own."""
    tags = {_tag(runtime) for runtime in living}
    totals = {key: count for key, count in before.items() if key[0] in tags}
    for runtime in living:
        stats = None if runtime.report is None else runtime.report.execution_stats
        for counter, label, count in () if stats is None or stats.error else _counts(stats):
            key = _tag(runtime), counter, label
            totals[key] = totals.get(key, 0) + count
    return totals


def _counts(stats: Executions) -> Iterator[tuple[str, str, int]]:
    """What ended how, and which errors, by the metric and the value of its label."""
    summary = stats.execution_summary
    for name, told in ({} if summary is None else msgspec.structs.asdict(summary)).items():
        if (count := amount(told)) is not None:
            yield "execution_status_total", name, count
    for cause, told in (stats.error_summary or {}).items():
        if (count := amount(told)) is not None:
            yield "execution_errors_total", cause if cause in CAUSES else OTHER_TYPE, count


def _vcpus(raw: bytes) -> int | None:
    """The vCPUs that the report lists one by one, which the normal decode leaves out."""
    try:
        return len(msgspec.json.decode(raw)["system_data"]["vcpu_usage"]["usage_data"]) or None
    except (LookupError, TypeError, ValueError, RecursionError):
        return None


def _script_labels(fold: Fold, identity: LineIdentity, info: InstanceInfo | None) -> dict[str, str]:
    """The labels of every metric of the script, empty where nobody tells."""
    facts = fold.instance
    labels = {
        "instance_name": None if info is None else info.instance_name,
        "instance_id": identity.instance_id,
        "instance_type": facts.instance_type,
        "availability_zone": facts.availability_zone,
        "region": facts.region,
        "subnet_id": None if info is None else info.subnet_id,
    }
    told = {name: printable(label) or "" for name, label in labels.items()}
    if info is not None and (ultraserver_id := printable(info.ultraserver_id)):
        told["ultraserver_id"] = ultraserver_id
    return told
