"""
Every metric of the page in one table: name, labels, meaning and reader.

The names, types and labels of `SCRIPT_METRICS` are those of neuron-monitor-prometheus.py, as far as
public copies show them. It distinguishes runtimes only by their tag, and tags repeat, so runtimes
with one tag are merged here by the rules of a minute. A label has a limited number of values at any
time. Values without such a limit over time (a pod, a job) are labels of one metric alone,
`neuron_emf_core_holder`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from neuron_emitter import __version__
from neuron_emitter.fold.amounts import MAX_LATENCY_S, MAX_VCPU_PERCENT, amount, is_long_enough
from neuron_emitter.fold.inventory import CORE_INDEX
from neuron_emitter.fold.runtime_lines import DEVICE_USES
from neuron_emitter.health import DROP_MEMBERS
from neuron_emitter.instance.instance_facts import InstanceFacts
from neuron_emitter.reports.groups import Percentiles
from neuron_wire.catalogue import HEALTH_MEMBERS
from neuron_wire.holders import printable_name
from neuron_wire.names import (
    ATTACHED_IDLE_STATE,
    BUSY_STATE,
    MINUTE_S,
    UNATTACHED_STATE,
    UNKNOWN_STATE,
)
from neuron_wire.owners import UNNAMED_OWNER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from neuron_emitter.fold.attribution import Holdings
    from neuron_emitter.fold.runtimes import RuntimeKey
    from neuron_emitter.reports.groups import (
        Hardware,
        InstanceInfo,
        Memory,
        Number,
        RuntimeVcpu,
        Whole,
    )
    from neuron_wire.minute_record import MinuteRecord

    Minute = tuple[MinuteRecord, Holdings]
    ReadReport = Callable[["ReportValues"], "Samples"]
    Reading = tuple["LabelValues", float | None]

MAX_RUNTIMES_SCRAPED: Final = 128  # one for each core of the largest instance
MAX_OWNERS_PER_CORE_SCRAPED: Final = 4
STATE_LABELS: Final = {
    BUSY_STATE: "busy",
    ATTACHED_IDLE_STATE: "attached_idle",
    UNATTACHED_STATE: "unattached",
    UNKNOWN_STATE: "unknown",
}
_BY_CORE: Final = "neuron_runtime_used_bytes.usage_breakdown.neuroncore_memory_usage"
_VCPU_SHARES: Final = {"user": ("user", "nice"), "system": ("system", "io_wait", "irq", "soft_irq")}

LabelValues = tuple[str, ...]
Sample = tuple[LabelValues, float]
Samples = Iterable[Sample]
"""The label values in order, and the value."""

Timed = dict[str, tuple[float, Any]]
"""The newest value of each group by its name, and its time, seconds since the epoch."""

PageT = TypeVar("PageT")


@dataclass(frozen=True, slots=True)
class ReportValues:
    """
    The newest values of the reports.

    Attributes:
        at_s: Time of the last report, seconds since the epoch; 0 before the first.

        oldest_s: Groups that are older do not count.

        runtimes: Tag and groups of the runtimes listed last.

        totals: Totals of all reports by tag, then by metric and label value.

        listed: Runtimes in the last report with a list; some may be omitted.

        vcpus: The vCPUs that a report lists.

        ecc_risen: The fold's rises of ECC counters.
    """

    at_s: float = 0.0
    oldest_s: float = 0.0
    labels: Mapping[str, str] = field(default_factory=dict)
    runtimes: Mapping[RuntimeKey, tuple[str, Timed]] = field(default_factory=dict)
    totals: Mapping[str, Mapping[tuple[str, str], int]] = field(default_factory=dict)
    listed: int = 0
    system: Timed = field(default_factory=dict)
    vcpus: Whole = None
    ecc_risen: Mapping[str, int] = field(default_factory=dict)
    facts: InstanceFacts = field(default_factory=InstanceFacts)
    info: InstanceInfo | None = None
    hardware: Hardware | None = None

    def of_runtimes(self, name: str) -> Iterator[tuple[str, Any]]:
        """Yield the recent group *name* of each runtime, failed runtimes too, and the tag."""
        for tag, timed in self.runtimes.values():
            if (group := self._recent(timed, name)) is not None:
                yield tag, group

    def of_system(self, name: str) -> Any:  # noqa: ANN401 - a decoded group
        """Return the group *name* of the instance, or None."""
        group = self._recent(self.system, name)
        return None if group is None or group.error else group

    def _recent(self, timed: Timed, name: str) -> Any:  # noqa: ANN401
        at_s, group = timed.get(name, (0.0, None))
        return group if at_s >= self.oldest_s else None


@dataclass(frozen=True, slots=True)
class PageMetric(Generic[PageT]):
    """
    One metric.

    Attributes:
        name: The name on the page; a counter's name ends in `_total`.

        labels: The labels in addition to those of the whole part of the page, separated by blanks.

        meaning: One sentence, the help text of the page.

        read: Returns the samples.
    """

    name: str
    labels: str
    meaning: str
    read: Callable[[PageT], Samples]


def member(group: object, path: str) -> Any:  # noqa: ANN401 - decoded groups, whose types were checked
    for name in path.split("."):
        group = group.get(name) if isinstance(group, dict) else getattr(group, name, None)
    return group


def _single(value: Number) -> list[Sample]:
    return [] if value is None else [((), value)]


def _summed(name: str, read: Callable[[Any], Iterable[Reading]]) -> ReadReport:
    """Return a reader of the group *name* of each runtime: sums over the runtimes with one tag."""

    def samples(values: ReportValues) -> Samples:
        sums: defaultdict[LabelValues, float] = defaultdict(float)
        for tag, group in values.of_runtimes(name):
            for labels, value in () if group.error else read(group):
                key = tag, *labels
                if value is not None:
                    sums[key] += value
        return sums.items()

    return samples


def _utilization(values: ReportValues) -> Samples:
    percent: dict[tuple[str, str], float] = {}
    hiding = set()  # tags of a failed runtime: a 0 of another runtime proves nothing
    for tag, group in values.of_runtimes("neuroncore_counters"):
        uses = group.neuroncores_in_use
        if group.error or uses is None or not is_long_enough(group.period):
            hiding.add(tag)  # the first sample covers milliseconds and is noise
            continue
        for core, use in uses.items():
            share = member(use, "neuroncore_utilization")
            if core in CORE_INDEX and share is not None:
                percent[tag, core] = max(percent.get((tag, core), 0.0), min(share, 100.0))
    for (tag, core), share in percent.items():
        if share or tag not in hiding:
            yield (tag, core), share / 100.0


def _runtime_vcpu(group: RuntimeVcpu) -> Samples:
    for use in ("user", "system") if is_long_enough(group.period) else ():
        percent = member(group.vcpu_usage, use)
        if percent is not None and 0 <= percent < MAX_VCPU_PERCENT:
            yield (use,), percent / 100.0


def _runtime_memory(group: Memory) -> Iterator[Reading]:
    for place in ("host", "neuron_device"):
        size = amount(member(group.neuron_runtime_used_bytes, place))
        # inf1 reports 0 while models are loaded: it does not measure this.
        if size or not (group.loaded_models and place == "neuron_device"):
            yield (place,), size


def _core_memory(use: str) -> ReadReport:
    def read(group: Memory) -> Iterator[Reading]:
        for core, by_use in (member(group, _BY_CORE) or {}).items():
            if core in CORE_INDEX:
                # The script exposes `None`, and a join needs it.
                yield ("None", core), amount(member(by_use, use))

    return _summed("memory_used", read)


def _counted(name: str) -> ReadReport:
    def samples(values: ReportValues) -> Samples:
        for tag in {tag for tag, group in values.of_runtimes("execution_stats") if not group.error}:
            for (counter, label), count in values.totals[tag].items():
                if counter == name:
                    yield (tag, label), count

    return samples


def _latency(values: ReportValues) -> Samples:
    found: dict[LabelValues, float] = {}
    for tag, group in values.of_runtimes("execution_stats"):
        for name in () if group.error else Percentiles.__struct_fields__:
            seconds = member(group, f"latency_stats.total_latency.{name}")
            if seconds is not None and 0 <= seconds <= MAX_LATENCY_S:
                # Percentiles do not merge: the largest is an upper limit for all.
                farthest = min if name == "p0" else max
                found[tag, name] = farthest(seconds, found.get((tag, name), seconds))
    return found.items()


def _ecc(values: ReportValues) -> Samples:
    listed = member(values.of_system("neuron_hw_counters"), "neuron_devices") or ()
    devices = {str(member(device, "neuron_device_index")): device for device in listed}
    for counter, risen in values.ecc_risen.items():
        index, _, event = counter.partition(":")
        if amount(member(devices.get(index), event)) is not None:
            yield (event, index), risen


def _host_vcpu(values: ReportValues) -> Samples:
    usage = values.of_system("vcpu_usage")
    for kind, uses in _VCPU_SHARES.items() if is_long_enough(member(usage, "period")) else ():
        listed = [member(usage, f"average_usage.{use}") for use in uses]
        shares = [share for share in listed if share is not None]
        if shares and all(0 <= share <= 100 for share in shares):
            yield (kind,), sum(share / 100.0 for share in shares)


def _host_bytes(name: str) -> ReadReport:
    return lambda values: _single(amount(member(values.of_system("memory_info"), name)))


def _hardware(values: ReportValues) -> Samples:
    if (hardware := values.hardware) is not None and not hardware.error:
        size = amount(hardware.neuron_device_memory_size)
        counts = (hardware.neuron_device_count, hardware.neuroncore_per_device_count, size)
        yield tuple("" if count is None else str(count) for count in counts), 1


def _states(minute: Minute) -> Samples:
    for core, state in enumerate(minute[0].core_state):
        for letter, name in STATE_LABELS.items():
            yield (str(core), name), int(letter == state)


def _idle(minute: Minute) -> Samples:
    for core, state in enumerate(minute[0].core_state):
        if state != UNKNOWN_STATE:
            yield (str(core),), MINUTE_S * minute[0].idle_minutes[core]


def _holders(minute: Minute) -> Samples:
    owners: dict[int, set[str]] = {}
    for key, cores in minute[1].cores.items():
        name = printable_name(minute[1].owners[key].name) or UNNAMED_OWNER
        for core in cores:
            owners.setdefault(core, set()).add(name)
    for core, names in sorted(owners.items()):
        for name in sorted(names)[:MAX_OWNERS_PER_CORE_SCRAPED]:
            yield (str(core), name), 1


def _cores(minute: Minute) -> Samples:
    for letter, name in STATE_LABELS.items() if minute[0].core_state else ():
        yield (name,), minute[0].core_state.count(letter)


def _health(name: str) -> Callable[[Minute], Samples]:
    return lambda minute: _single(minute[0].health.get(name))


def _dropped(minute: Minute) -> Samples:
    health = minute[0].health
    for reason, name in DROP_MEMBERS.items() if "RecordsDropped" in health else ():
        yield (reason,), health.get(name, 0)


# fmt: off
_OF_HEALTH: Final = {
    "ReportsRead": "reports_read_total", "ReportsMalformed": "reports_malformed_total",
    "MonitorRestarts": "monitor_restarts_total", "RecordsProduced": "records_produced_total",
    "RecordsDelivered": "records_delivered_total", "SpoolRecords": "spool_records",
    "SpoolBytes": "spool_bytes", "EmitterCpuSeconds": "cpu_seconds_total",
    "EmitterMemory": "resident_memory_bytes",
}
SCRIPT_METRICS: Final[tuple[PageMetric[ReportValues], ...]] = (
    PageMetric("neuroncore_utilization_ratio", "runtime_tag neuroncore",
         "Busy share of the period, 0 to 1: maximum over the tag's runtimes.", _utilization),
    PageMetric("neuron_runtime_vcpu_usage_ratio", "runtime_tag usage_type",
         "vCPUs in use: sum over the tag's runtimes.",
         _summed("neuron_runtime_vcpu_usage", _runtime_vcpu)),
    PageMetric("neuron_runtime_memory_used_bytes", "runtime_tag memory_location",
         "Memory in use: sum over the tag's runtimes.", _summed("memory_used", _runtime_memory)),
    *(PageMetric(f"neuroncore_memory_usage_{use}", "runtime_tag memory_location neuroncore",
           f"Device memory of the core: {use.replace('_', ' ')}, bytes.", _core_memory(use))
      for use in DEVICE_USES),
    PageMetric("execution_errors_total", "runtime_tag error_type",
         "Errors since the emitter or runtime started.", _counted("execution_errors_total")),
    PageMetric("execution_status_total", "runtime_tag status_type",
         "Executions since the emitter or runtime started.", _counted("execution_status_total")),
    PageMetric("execution_latency_seconds", "runtime_tag percentile",
         "Execution latency: maximum over the tag's runtimes, minimum for p0.", _latency),
    PageMetric("hardware_ecc_events_total", "event_type neuron_device_index",
         "Increase of the memory error counter since the emitter started.", _ecc),
    PageMetric("system_vcpu_count", "", "vCPUs of the instance.",
         lambda values: _single(values.vcpus if values.of_system("vcpu_usage") else None)),
    PageMetric("system_vcpu_usage_ratio", "usage_type",
         "Busy share of all vCPUs: nice is user; I/O wait and interrupts are system.", _host_vcpu),
    *(PageMetric(f"system_{kind}_{much}_bytes", "", f"{kind.capitalize()} {what}, bytes.",
           _host_bytes(f"{kind}_{much}_bytes"))
      for kind in ("memory", "swap")
      for much, what in {"total": "of the instance", "used": "in use"}.items()),
    PageMetric("instance_info", "", "The instance.",
         lambda values: _single(1 if values.info else None)),
    PageMetric("neuron_hardware_info", "neuron_device_count neuroncore_per_device_count "
         "neuron_device_memory_size", "Devices, logical cores and bytes of each.", _hardware),
)
OF_REPORT: Final[tuple[PageMetric[ReportValues], ...]] = (
    PageMetric("neuron_emf_report_timestamp_seconds", "", "Time the last report was received.",
         lambda values: _single(values.at_s)),
    PageMetric("neuron_emf_runtimes_left_out", "", "Runtimes that did not fit on the page.",
         lambda values: _single(max(0, values.listed - MAX_RUNTIMES_SCRAPED))),
)
OF_MINUTE: Final[tuple[PageMetric[Minute], ...]] = (
    PageMetric("neuron_emf_core_state", "neuroncore state",
         "1 for the core's state, 0 for the others.", _states),
    PageMetric("neuron_emf_core_idle_seconds", "neuroncore",
         "Whole minutes since the core was last busy, in seconds; absent while unknown.", _idle),
    PageMetric("neuron_emf_core_holder", "neuroncore owner",
         "1 for each of up to 4 owners that held the core, busy or not.", _holders),
    PageMetric("neuron_emf_cores", "state", "Cores of the instance by state.", _cores),
    PageMetric("neuron_emf_covered_seconds", "",
         "Seconds of the minute that samples cover, 0 to 60.",
         lambda minute: _single(minute[0].covered_seconds)),
    PageMetric("neuron_emf_minute_timestamp_seconds", "", "Start of the minute.",
         lambda minute: _single(minute[0].minute_ms / 1000)),
    *(PageMetric(f"neuron_emf_{_OF_HEALTH[entry.name]}", "", entry.meaning, _health(entry.name))
      for entry in HEALTH_MEMBERS if entry.name in _OF_HEALTH),
    PageMetric("neuron_emf_records_dropped_total", "reason", "Records dropped, by reason.",
         _dropped),
)
BUILD: Final[tuple[PageMetric[None], ...]] = (
    PageMetric("neuron_emf_build_info", "version", "The emitter.", lambda _: [((__version__,), 1)]),
)
# fmt: on
