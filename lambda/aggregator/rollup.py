"""
The records of one cluster and minute become its numbers.

Pure, and streaming: instances are added one at a time, nothing is kept per
core but how often each utilization occurred. What nobody reported is absent,
never zero.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from aggregator.idle_cost import usd_per_core_hour
from aggregator.merge import InstanceMinute, execution_weight
from aggregator.percentiles import percentiles
from neuron_wire.names import ATTACHED_IDLE, BUSY, MINUTE_S, UNATTACHED, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aggregator.registry import Silent
    from neuron_wire import MinuteRecord

MAX_NAMES: Final = 50
"""Instances a rollup names in one list; the number beside it is always whole."""

MAX_IDLE_INSTANCES: Final = 20
_MINUTES_IN_HOUR: Final = 60


@dataclass(frozen=True, slots=True)
class IdleInstance:
    """
    An instance with idle cores.

    Attributes:
        instance_id: Its name.

        instance_type: As reported, or None.

        cores: Indexes of its idle cores, ascending.

        minutes: For how long the longest idle of them has not been busy.

        usd_per_hour: List price of those cores, or None when unknown.
    """

    instance_id: str
    instance_type: str | None
    cores: tuple[int, ...]
    minutes: int
    usd_per_hour: float | None


@dataclass(frozen=True, slots=True)
class Rollup:
    """
    One minute of one cluster.

    Attributes:
        cluster: Its name.

        gauges: Values of the minute, by metric.

        tallies: Amounts of the minute, by metric.

        records: Distinct records behind them.

        utilization_percentiles: Utilization over the known cores, by
            percentile; empty without known cores.

        idle_instances: Those with most idle cores first, at most 20.

        idle_instance_count: All of them.

        silent: Instances that stopped reporting, the latest first, at most 50.

        duplicates: Instances on which two emitters report, at most 50.
    """

    cluster: str
    gauges: Mapping[str, float]
    tallies: Mapping[str, float]
    records: int
    utilization_percentiles: Mapping[int, float]
    idle_instances: Sequence[IdleInstance]
    idle_instance_count: int
    silent: Sequence[Silent]
    duplicates: Sequence[str]


@dataclass(slots=True)
class RollupInProgress:
    """
    What has been added so far of one cluster and minute.

    Numbers by instance type will be the same sums with another key.

    Attributes:
        cluster: Its name.

        idle_after_minutes: Minutes after which a core that is not busy is idle.
    """

    cluster: str
    idle_after_minutes: int
    _instances: int = 0
    _records: int = 0
    _covered_s: float = 0.0
    _letters: Counter[str] = field(default_factory=Counter)
    _unpriced_cores: int = 0
    _priced_known_cores: int = 0
    _idle_cores: int = 0
    _idle_by_price: Counter[float] = field(default_factory=Counter)
    _utilization: Counter[int] = field(default_factory=Counter)  # in hundredths of a percent
    _idle_instances: list[IdleInstance] = field(default_factory=list)
    _idle_instance_count: int = 0
    _duplicates: list[str] = field(default_factory=list)
    _sums: dict[str, float] = field(default_factory=dict)
    _memory: list[int] = field(default_factory=lambda: [0, 0])  # used, total of the same instances
    _p50_weighted_s: float = 0.0
    _p50_weight: int = 0
    _p99_max_s: float | None = None

    def add(self, instance: InstanceMinute) -> None:
        """
        Count one instance.
        """
        record = instance.record
        self._instances += 1
        self._records += instance.records
        self._covered_s += record.covered_seconds
        if instance.duplicate_emitters:
            self._duplicates.append(record.instance_id)
        self._add_cores(record)
        self._add_memory(record)
        self._add("Executions", record.executions)
        self._add("ExecutionErrors", record.execution_errors)
        self._add("EccCorrectedRise", record.ecc_corrected_rise)
        self._add("EccUncorrectedRise", record.ecc_uncorrected_rise)
        self._add("TeraFlops", record.tera_flops)
        if record.latency_p50_mean_s is not None:
            weight = execution_weight(record)
            self._p50_weighted_s += record.latency_p50_mean_s * weight
            self._p50_weight += weight
        if record.latency_p99_max_s is not None:
            self._p99_max_s = max(self._p99_max_s or 0.0, record.latency_p99_max_s)

    def _add(self, name: str, amount: float | None) -> None:
        if amount is not None:
            self._sums[name] = self._sums.get(name, 0) + amount

    def _add_memory(self, record: MinuteRecord) -> None:
        used, total = record.device_memory_used_bytes, record.device_memory_total_bytes
        self._add("DeviceMemoryUsed", used)
        if used is not None and total:
            self._memory[0] += used
            self._memory[1] += total

    def _add_cores(self, record: MinuteRecord) -> None:
        state = record.core_state
        if not state:
            return
        unknown = state.count(UNKNOWN)
        letters = {
            BUSY: state.count(BUSY),
            ATTACHED_IDLE: state.count(ATTACHED_IDLE),
            UNATTACHED: state.count(UNATTACHED),
            UNKNOWN: unknown,
        }
        self._letters.update(letters)
        self._utilization.update(
            [round(value * 100) for value in record.utilization_percent if value is not None]
        )
        price = usd_per_core_hour(record.instance_type, len(state))
        if price is None:
            self._unpriced_cores += len(state)
        else:
            self._priced_known_cores += len(state) - unknown
        idle_after = self.idle_after_minutes
        idle = tuple(
            core_index
            for core_index, minutes in enumerate(record.idle_minutes)
            if minutes >= idle_after and state[core_index] in (ATTACHED_IDLE, UNATTACHED)
        )
        if idle:
            self._add_idle(record, idle, price)

    def _add_idle(self, record: MinuteRecord, idle: tuple[int, ...], price: float | None) -> None:
        self._idle_cores += len(idle)
        if price is not None:
            self._idle_by_price[price] += len(idle)
        self._idle_instance_count += 1
        self._idle_instances.append(
            IdleInstance(
                record.instance_id,
                record.instance_type,
                idle,
                max(record.idle_minutes[core_index] for core_index in idle),
                None if price is None else price * len(idle),
            )
        )
        if len(self._idle_instances) >= 10 * MAX_IDLE_INSTANCES:
            self._idle_instances = _most_idle(self._idle_instances)

    def finish(self, silent: Sequence[Silent]) -> Rollup:
        """
        The cluster's numbers, with *silent* those of its instances that are.
        """
        return Rollup(
            cluster=self.cluster,
            gauges=self._gauges(len(silent)),
            tallies=self._tallies(),
            records=self._records,
            utilization_percentiles=percentiles(self._utilization),
            idle_instances=_most_idle(self._idle_instances),
            idle_instance_count=self._idle_instance_count,
            silent=sorted(silent, key=lambda one: (-one.last_minute, one.instance_id))[:MAX_NAMES],
            duplicates=sorted(self._duplicates)[:MAX_NAMES],
        )

    @property
    def _known_cores(self) -> int:
        return self._letters.total() - self._letters[UNKNOWN]

    @property
    def _idle_cost_per_hour(self) -> float | None:
        if not self._priced_known_cores:
            return None
        return sum(price * cores for price, cores in sorted(self._idle_by_price.items()))

    def _gauges(self, silent: int) -> dict[str, float]:
        expected = self._instances + silent
        known = self._known_cores
        cores = self._letters.total()
        used, total = self._memory
        gauges: dict[str, float | None] = {
            "Instances": self._instances,
            "SilentInstances": silent,
            "DuplicateEmitters": len(self._duplicates),
            "IdleCostPerHour": self._idle_cost_per_hour,
            "TeraFlops": self._sums.get("TeraFlops"),
            "DeviceMemoryUsed": self._sums.get("DeviceMemoryUsed"),
            "DeviceMemoryPercent": 100 * used / total if total else None,
            "LatencyP50Mean": self._p50_weighted_s / self._p50_weight if self._p50_weight else None,
            "LatencyP99Max": self._p99_max_s,
            "CoveragePercent": 100 * self._covered_s / (MINUTE_S * expected) if expected else None,
        }
        if cores:
            gauges["NeuronCores"] = cores
            gauges["UnknownCores"] = self._letters[UNKNOWN]
            gauges["UnpricedCores"] = self._unpriced_cores
        if known:
            gauges["BusyCores"] = self._letters[BUSY]
            gauges["AttachedIdleCores"] = self._letters[ATTACHED_IDLE]
            gauges["UnattachedCores"] = self._letters[UNATTACHED]
            gauges["IdleCores"] = self._idle_cores
            gauges["IdleCorePercent"] = 100 * self._idle_cores / known
            hundredths = sum(value * count for value, count in self._utilization.items())
            gauges["NeuronCoreUtilization"] = hundredths / known / 100
        return _rounded(gauges)

    def _tallies(self) -> dict[str, float]:
        cost = self._idle_cost_per_hour
        tallies: dict[str, float | None] = {
            "IdleCoreMinutes": self._idle_cores if self._known_cores else None,
            "IdleCost": None if cost is None else cost / _MINUTES_IN_HOUR,
        }
        for name in ("Executions", "ExecutionErrors", "EccCorrectedRise", "EccUncorrectedRise"):
            tallies[name] = self._sums.get(name)
        return _rounded(tallies)


def _rounded(values: Mapping[str, float | None]) -> dict[str, float]:
    # Six decimals: a microsecond, a millionth of a dollar, and no tail of binary noise.
    return {name: round(value, 6) for name, value in values.items() if value is not None}


def _most_idle(instances: Iterable[IdleInstance]) -> list[IdleInstance]:
    return sorted(instances, key=lambda one: (-len(one.cores), -one.minutes, one.instance_id))[
        :MAX_IDLE_INSTANCES
    ]
