"""
Every metric of the page, one table: name, labels, what it says, and how it is read.

The names, types and labels of `SCRIPT` are those of neuron-monitor-prometheus.py,
as far as public copies show them. It has no label but the tag to tell runtimes
apart, and tags collide, so the runtimes with one tag are merged here by the rules
of a minute. A label has one of a bounded number of values at any time. What has
no such bound over time (a pod, a job) is the label of one metric alone,
`neuron_emf_core_holder`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from emitter import __version__
from emitter.fold.amounts import MAX_LATENCY_S, amount
from emitter.fold.ecc import MAX_DEVICES
from emitter.fold.inventory import CORE_INDEX
from emitter.fold.periods import is_long_enough
from emitter.health.members import DROP_MEMBERS
from neuron_wire.holders import printable
from neuron_wire.names import ATTACHED_IDLE, BUSY, MINUTE_S, UNATTACHED, UNKNOWN
from neuron_wire.owners import UNNAMED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from emitter.fold.held_cores import Holdings
    from emitter.reports.system_groups import Hardware, InstanceInfo
    from neuron_wire.minute import MinuteRecord

MAX_OWNERS: Final = 4  # of one core
STATES: Final = {
    BUSY: "busy", ATTACHED_IDLE: "attached_idle", UNATTACHED: "unattached", UNKNOWN: "unknown",
}  # fmt: skip
_MOST_VCPU_PERCENT: Final = 1e6
_ECC_EVENTS: Final = (
    "mem_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_corrected", "sram_ecc_uncorrected",
)  # fmt: skip
_VCPU_USES: Final = {"user": ("user", "nice"), "system": ("system", "io_wait", "irq", "soft_irq")}

Sample = tuple[tuple[str, ...], float]
"""The values of the labels in their order, and the value."""

Groups = dict[str, Any]
"""What was told, by the name of the group."""

T = TypeVar("T")

if TYPE_CHECKING:
    Minute = tuple[MinuteRecord, Holdings]


@dataclass(frozen=True, slots=True)
class Told:
    """What reports told: groups that still stand by the tag of runtimes, and of the instance."""

    at_s: float
    tags: Mapping[str, Sequence[Groups]]
    totals: Mapping[tuple[str, str, str], int]
    left_out: int
    system: Groups
    vcpus: int | None
    ecc_risen: Mapping[str, int]
    info: InstanceInfo | None
    hardware: Hardware | None


@dataclass(frozen=True, slots=True)
class Name(Generic[T]):
    """
    One metric.

    Attributes:
        head: Its name, and its labels beside those that the whole part of the page has.

        meaning: One sentence, the help of the page.

        read: Finds its samples.
    """

    head: str
    meaning: str
    read: Callable[[T], Iterable[Sample]]

    @property
    def name(self) -> str:
        return self.head.split()[0]

    @property
    def kind(self) -> str:
        return "counter" if self.name.endswith("_total") else "gauge"

    @property
    def labels(self) -> list[str]:
        return self.head.split()[1:]


def _at(told: object, path: str) -> Any:  # noqa: ANN401 - decoded groups, whose types were checked
    for name in path.split("."):
        told = told.get(name) if isinstance(told, dict) else getattr(told, name, None)
    return told


def _one(value: float | None) -> list[Sample]:
    return [] if value is None else [((), value)]


def _by_tag(
    name: str, read: Callable[[list[Any]], Iterable[Sample]], *, with_failed: bool = False
) -> Callable[[Told], list[Sample]]:
    """Read the group *name* of the runtimes with each tag."""

    def groups(runtimes: Sequence[Groups]) -> list[Any]:
        found = [one[name] for one in runtimes if name in one]
        return [group for group in found if with_failed or not group.error]

    return lambda told: [
        ((tag, *labels), value)
        for tag, runtimes in told.tags.items()
        for labels, value in read(groups(runtimes))
    ]


def _sums(samples: Iterable[tuple[tuple[str, ...], float | None]]) -> Iterable[Sample]:
    sums: dict[tuple[str, ...], float] = {}
    for labels, value in samples:
        if value is not None:
            sums[labels] = sums.get(labels, 0) + value
    return sums.items()


def _utilization(groups: list[Any]) -> Iterator[Sample]:
    percent: dict[int, float] = {}
    hides = False  # where a runtime of the tag failed, the 0 of another proves nothing
    for group in groups:
        uses = group.neuroncores_in_use
        if group.error or uses is None or not is_long_enough(group.period):
            hides = True  # the first sample covers milliseconds, and is noise
            continue
        for key, use in uses.items():
            core, share = CORE_INDEX.get(key), _at(use, "neuroncore_utilization")
            if core is not None and share is not None:
                percent[core] = max(percent.get(core, 0.0), min(share, 100.0))
    for core in sorted(percent):
        if percent[core] or not hides:
            yield (str(core),), percent[core] / 100.0


def _runtime_vcpu(groups: list[Any]) -> Iterable[Sample]:
    return _sums(
        ((use,), percent / 100.0)
        for group in groups
        for use in ("user", "system")
        if is_long_enough(group.period)
        and (percent := _at(group.vcpu_usage, use)) is not None
        and 0 <= percent < _MOST_VCPU_PERCENT
    )


def _runtime_memory(groups: list[Any]) -> Iterable[Sample]:
    return _sums(
        ((place,), size)
        for group in groups
        for place in ("host", "neuron_device")
        # inf1 says 0 while models are loaded: it does not measure this.
        if (size := amount(_at(group.neuron_runtime_used_bytes, place)))
        or not (group.loaded_models and place == "neuron_device")
    )


def _core_memory(use: str) -> Callable[[Told], Iterable[Sample]]:
    path = "neuron_runtime_used_bytes.usage_breakdown.neuroncore_memory_usage"
    return _by_tag(
        "memory_used",
        lambda groups: _sums(
            # The script leaks `None`, and a join needs it.
            (("None", str(CORE_INDEX[key])), amount(_at(by_use, use)))
            for group in groups
            for key, by_use in (_at(group, path) or {}).items()
            if key in CORE_INDEX
        ),
    )


def _tells_executions(runtime: Groups) -> bool:
    return "execution_stats" in runtime and not runtime["execution_stats"].error


def _counted(name: str) -> Callable[[Told], Iterable[Sample]]:
    return lambda told: [
        ((tag, label), count)
        for (tag, counter, label), count in told.totals.items()
        if counter == name and any(map(_tells_executions, told.tags.get(tag, ())))
    ]


def _latency(groups: list[Any]) -> Iterable[Sample]:
    found: dict[tuple[str, ...], float] = {}
    for group in groups:
        for name in ("p0", "p1", "p25", "p50", "p75", "p99", "p100"):
            seconds = _at(group, f"latency_stats.total_latency.{name}")
            if seconds is not None and 0 <= seconds <= MAX_LATENCY_S:
                # They do not merge: what is surely not exceeded stands for all.
                farthest = min if name == "p0" else max
                found[name,] = farthest(seconds, found.get((name,), seconds))
    return found.items()


def _ecc(told: Told) -> Iterator[Sample]:
    for device in _at(told.system, "neuron_hw_counters.neuron_devices") or ():
        index = _at(device, "neuron_device_index")
        if index is not None and 0 <= index < MAX_DEVICES:
            for event in _ECC_EVENTS:
                risen = told.ecc_risen.get(f"{index}:{event}")
                if risen is not None and amount(getattr(device, event)) is not None:
                    yield (event, str(index)), risen


def _host_vcpu(told: Told) -> Iterator[Sample]:
    if is_long_enough(_at(told.system, "vcpu_usage.period")):
        for kind, uses in _VCPU_USES.items():
            listed = [_at(told.system, f"vcpu_usage.average_usage.{use}") for use in uses]
            shares = [share for share in listed if share is not None]
            if shares and all(0 <= share <= 100 for share in shares):
                yield (kind,), sum(share / 100.0 for share in shares)


def _host_bytes(member: str) -> Callable[[Told], Iterable[Sample]]:
    return lambda told: _one(amount(_at(told.system, f"memory_info.{member}")))


def _hardware(told: Told) -> Iterator[Sample]:
    if (hardware := told.hardware) is not None and not hardware.error:
        size = amount(hardware.neuron_device_memory_size)
        counts = (hardware.neuron_device_count, hardware.neuroncore_per_device_count, size)
        yield tuple("" if one is None else str(one) for one in counts), 1


def _states(minute: Minute) -> Iterator[Sample]:
    for core, state in enumerate(minute[0].core_state):
        for letter, name in STATES.items():
            yield (str(core), name), int(letter == state)


def _idle(minute: Minute) -> Iterator[Sample]:
    for core, state in enumerate(minute[0].core_state):
        if state != UNKNOWN:
            yield (str(core),), MINUTE_S * minute[0].idle_minutes[core]


def _holders(minute: Minute) -> Iterator[Sample]:
    owners: dict[int, set[str]] = {}
    for key, cores in minute[1].cores.items():
        name = printable(minute[1].owners[key].name) or UNNAMED
        for core in cores:
            owners.setdefault(core, set()).add(name)
    for core, names in sorted(owners.items()):
        for name in sorted(names)[:MAX_OWNERS]:
            yield (str(core), name), 1


def _cores(minute: Minute) -> Iterator[Sample]:
    for letter, name in STATES.items() if minute[0].core_state else ():
        yield (name,), minute[0].core_state.count(letter)


def _health(member: str) -> Callable[[Minute], Iterable[Sample]]:
    return lambda minute: _one(minute[0].health.get(member))


def _dropped(minute: Minute) -> Iterator[Sample]:
    health = minute[0].health
    for reason, member in DROP_MEMBERS.items() if "RecordsDropped" in health else ():
        yield (reason,), health.get(member, 0)


# fmt: off
_OF_CORE: Final = "runtime_tag memory_location neuroncore"
SCRIPT: Final[tuple[Name[Told], ...]] = (
    Name("neuroncore_utilization_ratio runtime_tag neuroncore",
         "Busy share of the period, 0 to 1: maximum over the tag's runtimes.",
         _by_tag("neuroncore_counters", _utilization, with_failed=True)),
    Name("neuron_runtime_vcpu_usage_ratio runtime_tag usage_type",
         "vCPUs in use: sum over the tag's runtimes.",
         _by_tag("neuron_runtime_vcpu_usage", _runtime_vcpu)),
    Name("neuron_runtime_memory_used_bytes runtime_tag memory_location",
         "Memory in use: sum over the tag's runtimes.", _by_tag("memory_used", _runtime_memory)),
    *(Name(f"neuroncore_memory_usage_{use} {_OF_CORE}",
           f"Device memory of the core: {words}, bytes.", _core_memory(use))
      for use, words in {
          "constants": "constants", "model_code": "model code",
          "model_shared_scratchpad": "the scratchpad shared by models",
          "runtime_memory": "the runtime itself", "tensors": "tensors"}.items()),
    Name("execution_errors_total runtime_tag error_type",
         "Errors since the emitter or runtime started.", _counted("execution_errors_total")),
    Name("execution_status_total runtime_tag status_type",
         "Executions since the emitter or runtime started.", _counted("execution_status_total")),
    Name("execution_latency_seconds runtime_tag percentile",
         "Execution latency: maximum over the tag's runtimes, minimum for p0.",
         _by_tag("execution_stats", _latency)),
    Name("hardware_ecc_events_total event_type neuron_device_index",
         "Increase of the memory error counter since the emitter started.", _ecc),
    Name("system_vcpu_count", "vCPUs of the instance.",
         lambda told: _one(told.vcpus if "vcpu_usage" in told.system else None)),
    Name("system_vcpu_usage_ratio usage_type",
         "Busy share of all vCPUs: nice is user; I/O wait and interrupts are system.", _host_vcpu),
    *(Name(f"system_{kind}_{much}_bytes", f"{kind.capitalize()} {what}, bytes.",
           _host_bytes(f"{kind}_{much}_bytes"))
      for kind in ("memory", "swap")
      for much, what in {"total": "of the instance", "used": "in use"}.items()),
    Name("instance_info", "The instance.", lambda told: _one(1 if told.info else None)),
    Name("neuron_hardware_info neuron_device_count neuroncore_per_device_count "
         "neuron_device_memory_size", "Devices, logical cores and bytes of each.", _hardware),
)
OF_REPORT: Final[tuple[Name[Told], ...]] = (
    Name("neuron_emf_report_timestamp_seconds", "Time the last report was received.",
         lambda told: _one(told.at_s)),
    Name("neuron_emf_runtimes_left_out", "Runtimes that did not fit on the page.",
         lambda told: _one(told.left_out)),
)
OF_MINUTE: Final[tuple[Name[Minute], ...]] = (
    Name("neuron_emf_core_state neuroncore state",
         "1 for the core's state, 0 for the others.", _states),
    Name("neuron_emf_core_idle_seconds neuroncore",
         "Whole minutes since the core was last busy, in seconds; absent while unknown.", _idle),
    Name("neuron_emf_core_holder neuroncore owner",
         "1 for each of up to 4 owners that held the core, busy or not.", _holders),
    Name("neuron_emf_cores state", "Cores of the instance by state.", _cores),
    Name("neuron_emf_covered_seconds", "Seconds of the minute that samples cover, 0 to 60.",
         lambda minute: _one(minute[0].covered_seconds)),
    Name("neuron_emf_minute_timestamp_seconds", "Start of the minute.",
         lambda minute: _one(minute[0].minute_ms / 1000)),
    *(Name(name, meaning, _health(member)) for name, member, meaning in (
        ("neuron_emf_reports_read_total", "ReportsRead", "Reports taken."),
        ("neuron_emf_reports_malformed_total", "ReportsMalformed", "Input that was no report."),
        ("neuron_emf_monitor_restarts_total", "MonitorRestarts", "Restarts of neuron-monitor."),
        ("neuron_emf_records_produced_total", "RecordsProduced", "Records written to the spool."),
        ("neuron_emf_records_delivered_total", "RecordsDelivered",
         "Records acknowledged by the destination."),
        ("neuron_emf_spool_records", "SpoolRecords", "Records waiting in the spool."),
        ("neuron_emf_spool_bytes", "SpoolBytes", "Bytes of the records waiting in the spool."),
        ("neuron_emf_cpu_seconds_total", "EmitterCpuSeconds", "CPU time of the emitter."),
        ("neuron_emf_resident_memory_bytes", "EmitterMemory", "Resident memory of the emitter."))),
    Name("neuron_emf_records_dropped_total reason", "Records dropped, by reason.", _dropped),
)
BUILD: Final[tuple[Name[None], ...]] = (
    Name("neuron_emf_build_info version", "The emitter.", lambda _: [((__version__,), 1)]),
)
# fmt: on
