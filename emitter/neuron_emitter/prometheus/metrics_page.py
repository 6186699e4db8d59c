"""
One collector for Prometheus: the newest reports, and the minute closed last.

The loop only sets references here; the scraping thread makes the metrics. A group is not in every
report, so its newest value counts for 30 s, two of the longest period that can be requested.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Final

from msgspec import json, structs
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from neuron_emitter.fold.amounts import LONGEST_NOMINAL_S, amount
from neuron_emitter.fold.executions import CAUSES
from neuron_emitter.fold.runtimes import runtime_key
from neuron_emitter.prometheus.page_metrics import (
    BUILD,
    MAX_RUNTIMES_SCRAPED,
    OF_MINUTE,
    OF_REPORT,
    SCRIPT_METRICS,
    ReportValues,
    member,
)
from neuron_emitter.reports.groups import ExecutionSummary, InstanceInfo
from neuron_wire.holders import printable_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from prometheus_client import Metric

    from neuron_emitter.fold import Fold, LineIdentity
    from neuron_emitter.fold.attribution import Holdings
    from neuron_emitter.logs import Clock
    from neuron_emitter.prometheus.page_metrics import Minute, PageMetric, PageT, Timed
    from neuron_emitter.reports.groups import RuntimeReport, Runtimes, System, Whole
    from neuron_emitter.reports.report import Report
    from neuron_wire.minute_record import MinuteRecord

STANDS_S: Final = 2 * LONGEST_NOMINAL_S
OTHER_TYPE: Final = "other"  # for an error that a newer tool reports: a label must have few values
_SCRIPT_LABELS: Final = """
    instance_name instance_id instance_type availability_zone region subnet_id ultraserver_id
"""


class MetricsPage(Collector):
    """The loop calls `show_report` and `show_minute`; any other thread calls `collect`."""

    def __init__(self, clock: Clock = time.time) -> None:
        self._clock = clock
        self._values = ReportValues()
        self._minute: Minute | None = None

    def show_report(
        self, report: Report, raw: bytes, fold: Fold, identity: LineIdentity, at_s: float
    ) -> None:
        """Show the report that *fold* added last, received at *at_s* as the bytes *raw*."""
        before = self._values
        values = replace(
            before,
            at_s=at_s,
            labels={"cluster": identity.cluster, "instance_id": identity.instance_id},
            system=_newer(before.system, report.system_data, at_s),
            vcpus=before.vcpus or _vcpus(raw),
            ecc_risen=dict(fold.ecc.risen),
            facts=fold.instance,
            info=report.instance_info or before.info,
            hardware=report.neuron_hardware_info or before.hardware,
        )
        self._values = values if fold.living is None else _with_runtimes(values, fold.living)

    def show_minute(self, record: MinuteRecord, holdings: Holdings) -> None:
        """Show the minute that was closed."""
        self._minute = record, holdings

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics, as the library calls a collector."""
        values = replace(self._values, oldest_s=self._clock() - STANDS_S)
        if values.at_s:
            yield from _metrics(SCRIPT_METRICS, values, _script_labels(values))
            yield from _metrics(OF_REPORT, values, values.labels)
        if (minute := self._minute) is not None:
            labels = {"cluster": minute[0].cluster, "instance_id": minute[0].instance_id}
            yield from _metrics(OF_MINUTE, minute, labels)
        yield from _metrics(BUILD, None, {})


def _metrics(
    names: Iterable[PageMetric[PageT]], of: PageT, common: Mapping[str, str]
) -> Iterator[Metric]:
    for name in names:
        family = CounterMetricFamily if name.name.endswith("_total") else GaugeMetricFamily
        metric = family(name.name, name.meaning, labels=[*common, *name.labels.split()])
        for labels, value in name.read(of):
            metric.add_metric([*common.values(), *labels], value)
        if metric.samples:
            yield metric


def _with_runtimes(values: ReportValues, living: Runtimes) -> ReportValues:
    """Add the groups of *living*. A tag that none of them has is removed, with its totals."""
    runtimes = {}
    totals: dict[str, Counter[tuple[str, str]]] = {}
    for runtime in living[:MAX_RUNTIMES_SCRAPED]:
        key = runtime_key(runtime)
        tag = printable_name(runtime.neuron_runtime_tag) or ""
        _, before = values.runtimes.get(key, (tag, {}))
        runtimes[key] = tag, _newer(before, runtime.report, values.at_s)
        total = totals.setdefault(tag, Counter(values.totals.get(tag, {})))
        for counted, count in _counts(runtime.report):
            total[counted] += count
    return replace(values, runtimes=runtimes, totals=totals, listed=len(living))


def _newer(before: Timed, groups: RuntimeReport | System | None, at_s: float) -> Timed:
    values = {} if groups is None else structs.asdict(groups)
    return before | {name: (at_s, group) for name, group in values.items() if group is not None}


def _counts(report: RuntimeReport | None) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield the counts of ended executions and of errors, by metric and label value."""
    stats = None if report is None else report.execution_stats
    if stats is None or stats.error:
        return
    for name in ExecutionSummary.__struct_fields__:
        if (count := amount(member(stats.execution_summary, name))) is not None:
            yield ("execution_status_total", name), count
    for cause, errors in (stats.error_summary or {}).items():
        if (count := amount(errors)) is not None:
            yield ("execution_errors_total", cause if cause in CAUSES else OTHER_TYPE), count


def _vcpus(raw: bytes) -> Whole:
    """Return the vCPUs that the report lists one by one; the normal decode omits them."""
    with suppress(LookupError, TypeError, ValueError, RecursionError):
        return len(json.decode(raw)["system_data"]["vcpu_usage"]["usage_data"]) or None
    return None


def _script_labels(values: ReportValues) -> dict[str, str]:
    """Return the labels of every metric of the script, empty if unknown."""
    found = {
        **structs.asdict(values.info or InstanceInfo()),
        **asdict(values.facts),
        **values.labels,
    }
    labels = {name: printable_name(found[name]) or "" for name in _SCRIPT_LABELS.split()}
    return {name: label for name, label in labels.items() if label or name != "ultraserver_id"}
