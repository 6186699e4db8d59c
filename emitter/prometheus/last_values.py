"""
What the last reports told, runtime by runtime, left by the reader for whoever renders it.

A group need not be in every report: what it told last stands for 30 s, two of
the longest period that can be asked for, and is then absent. A runtime that a
report lists no more is gone with that report. Amounts of a period are added up
here, because a counter needs every report and not only the last.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import msgspec

from emitter.fold.amounts import amount
from emitter.fold.executions import CAUSES
from emitter.fold.held_cores import runtime_key
from emitter.fold.periods import LONGEST_NOMINAL_S
from emitter.fold.runtime_fold import MAX_RUNTIMES
from emitter.instance.facts import InstanceFacts
from neuron_wire.holders import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.fold import Fold
    from emitter.fold.held_cores import RuntimeKey
    from emitter.lines import LineIdentity
    from emitter.reports.groups import (
        Counters,
        Executions,
        ExecutionSummary,
        Memory,
        Runtime,
        RuntimeVcpu,
    )
    from emitter.reports.report import Report
    from emitter.reports.system_groups import (
        Hardware,
        HardwareCounters,
        HostMemory,
        InstanceInfo,
        VcpuUsage,
    )

STANDS_S: Final = 2 * LONGEST_NOMINAL_S
OTHER_TYPE: Final = "other"  # of an error that a newer tool names: a label must have few values
_VCPU_TRIES: Final = 5  # reports that are read once more for the number of vCPUs

_Group = TypeVar("_Group")

Totals = dict[tuple[str, str], int]
"""Since a tag came up, by the kind of count (`status`, `error`) and its type."""


@dataclass(frozen=True, slots=True)
class Told(Generic[_Group]):
    """A group, and when a report told it, seconds since the epoch."""

    at_s: float
    group: _Group


@dataclass(frozen=True, slots=True)
class RuntimeValues:
    """One runtime of the last report: what its groups told last."""

    tag: str
    counters: Told[Counters] | None = None
    executions: Told[Executions] | None = None
    memory: Told[Memory] | None = None
    vcpu: Told[RuntimeVcpu] | None = None


@dataclass(frozen=True, slots=True)
class View:
    """
    All that was told until one report; it never changes.

    Attributes:
        at_s: Receipt of that report, seconds since the epoch.

        cluster: Cluster name.

        instance_id: As the lines have it.

        left_out: Runtimes above `MAX_RUNTIMES`.

        totals: By runtime tag.

        ecc_risen: Rise by `device:counter`.

        vcpus: vCPUs of the instance, or None while no report told.
    """

    at_s: float = 0.0
    cluster: str = ""
    instance_id: str = ""
    facts: InstanceFacts = field(default_factory=InstanceFacts)
    info: InstanceInfo | None = None
    hardware: Hardware | None = None
    runtimes: tuple[RuntimeValues, ...] = ()
    left_out: int = 0
    totals: Mapping[str, Totals] = field(default_factory=dict)
    host_memory: Told[HostMemory] | None = None
    vcpu: Told[VcpuUsage] | None = None
    ecc: Told[HardwareCounters] | None = None
    ecc_risen: Mapping[str, int] = field(default_factory=dict)
    vcpus: int | None = None


class LastValues:
    """
    Kept by the reader alone, and read by another thread: what is in `view` is never changed.

    Attributes:
        view: What was told so far, or None before the first report.
    """

    def __init__(self) -> None:
        self.view: View | None = None
        self._runtimes: dict[tuple[RuntimeKey, int], RuntimeValues] = {}
        self._left_out = 0
        self._totals: dict[str, Totals] = {}
        self._vcpu_tries = _VCPU_TRIES

    def add(
        self, report: Report, raw: bytes, fold: Fold, identity: LineIdentity, at_s: float
    ) -> None:
        """Take the report that *fold* took last, received at *at_s* as the bytes *raw*."""
        if fold.living is not None:
            self._add_runtimes(fold.living, at_s)
        before, system = self.view or View(), report.system_data
        vcpu = newer(before.vcpu, None if system is None else system.vcpu_usage, at_s)
        ecc = newer(before.ecc, None if system is None else system.neuron_hw_counters, at_s)
        self.view = View(
            at_s=at_s,
            cluster=identity.cluster,
            instance_id=identity.instance_id,
            facts=fold.instance,
            info=report.instance_info or before.info,
            hardware=report.neuron_hardware_info or before.hardware,
            runtimes=tuple(self._runtimes.values()),
            left_out=self._left_out,
            totals=dict(self._totals),
            host_memory=newer(
                before.host_memory, None if system is None else system.memory_info, at_s
            ),
            vcpu=vcpu,
            ecc=ecc,
            ecc_risen=dict(fold.ecc_risen),
            vcpus=before.vcpus or self._vcpus(report, raw),
        )

    def _add_runtimes(self, living: list[Runtime], at_s: float) -> None:
        runtimes: dict[tuple[RuntimeKey, int], RuntimeValues] = {}
        totals: dict[str, Totals] = {}
        for runtime in living[:MAX_RUNTIMES]:
            name, place = runtime_key(runtime), 0
            while (name, place) in runtimes:
                place += 1
            before = self._runtimes.get((name, place))
            values = _values(runtime, before, at_s)
            runtimes[name, place] = values
            so_far = totals.get(values.tag)
            if so_far is None:  # a copy: the one of before is in a view
                so_far = totals[values.tag] = dict(self._totals.get(values.tag, {}))
            stats = None if runtime.report is None else runtime.report.execution_stats
            if stats is not None and not stats.error:
                _add_up(so_far, stats)
        self._runtimes, self._totals = runtimes, totals
        self._left_out = max(0, len(living) - MAX_RUNTIMES)

    def _vcpus(self, report: Report, raw: bytes) -> int | None:
        """The vCPUs that the report lists one by one, which the normal decode leaves out."""
        system = report.system_data
        if system is None or system.vcpu_usage is None or self._vcpu_tries <= 0:
            return None
        self._vcpu_tries -= 1
        try:
            again = _decode_vcpus(raw).system_data
        except (ValueError, RecursionError):
            return None
        listed = None if again is None or again.vcpu_usage is None else again.vcpu_usage.usage_data
        return len(listed) if listed else None


def newer(before: Told[_Group] | None, group: _Group | None, at_s: float) -> Told[_Group] | None:
    """What a group tells now, else what it told before."""
    return before if group is None else Told(at_s, group)


def standing(told: Told[_Group] | None, now_s: float) -> _Group | None:
    """The group, as long as what it told stands."""
    return None if told is None or now_s - told.at_s > STANDS_S else told.group


def _values(runtime: Runtime, before: RuntimeValues | None, at_s: float) -> RuntimeValues:
    tag = printable(runtime.neuron_runtime_tag) or ""
    if before is None:
        before = RuntimeValues(tag)
    report = runtime.report
    if report is None:
        return before
    return RuntimeValues(
        tag,
        newer(before.counters, report.neuroncore_counters, at_s),
        newer(before.executions, report.execution_stats, at_s),
        newer(before.memory, report.memory_used, at_s),
        newer(before.vcpu, report.neuron_runtime_vcpu_usage, at_s),
    )


def _add_up(totals: Totals, stats: Executions) -> None:
    summary: ExecutionSummary | None = stats.execution_summary
    if summary is not None:
        for name in STATUS_TYPES:
            _add(totals, ("status", name), getattr(summary, name))
    for cause, count in (stats.error_summary or {}).items():
        _add(totals, ("error", cause if cause in CAUSES else OTHER_TYPE), count)


def _add(totals: Totals, key: tuple[str, str], told: float | None) -> None:
    count = amount(told)
    if count is not None:
        totals[key] = totals.get(key, 0) + count


class _Vcpu(msgspec.Struct):
    usage_data: dict[str, msgspec.Raw] | None = None


class _System(msgspec.Struct):
    vcpu_usage: _Vcpu | None = None


class _Report(msgspec.Struct):
    system_data: _System | None = None


_decode_vcpus: Final = msgspec.json.Decoder(_Report).decode
STATUS_TYPES: Final = (
    "completed", "completed_with_err", "completed_with_num_err", "timed_out", "incorrect_input",
    "failed_to_queue",
)  # fmt: skip
