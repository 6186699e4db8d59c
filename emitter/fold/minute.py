"""
The open minute: which reports belong to it, and what it says when it closes.

The minute is that of receipt, and a report that straddles two is not split.
Minutes never reopen: after a backward clock step reports go to the open minute
until the clock passes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from emitter.fold.cores import Cores, is_gone
from emitter.fold.ecc import EccFold
from emitter.fold.executions import ExecutionFold
from emitter.fold.held import Holders
from emitter.fold.host import HostFold
from emitter.fold.idle import IdleMinutes
from emitter.fold.inventory import Inventory
from emitter.fold.memory import used_bytes
from emitter.fold.periods import Periods
from neuron_wire.minute import MinuteRecord
from neuron_wire.names import ATTACHED_IDLE, BUSY, MINUTE_MS, MINUTE_S, UNATTACHED, UNKNOWN

if TYPE_CHECKING:
    from emitter.fold.stamp import FoldSettings, Stamp
    from emitter.reports.groups import Runtime
    from emitter.reports.report import Report

MAX_FUTURE_MINUTES: Final = 120
"""CloudWatch refuses what is further ahead: a clock that was wrong by more is followed back."""

_PERCENT_DECIMALS: Final = 2
_SECONDS_DECIMALS: Final = 9
_FLOPS_DECIMALS: Final = 4


class FoldState(msgspec.Struct, frozen=True):
    """
    What must survive a restart: who this is, idle minutes, last ECC values.
    """

    instance_id: str | None = None
    instance_type: str | None = None
    cores: int | None = None
    cores_per_device: int | None = None
    device_memory_bytes: int | None = None
    idle_label: int | None = None
    idle_minutes: list[int] = []
    idle_watched: int | None = None
    ecc: dict[str, int] = {}


class Fold:
    """
    Reports in, one record per minute out.

    Attributes:
        reports_read: Reports taken since this object was made.

        groups_dropped: Groups dropped because their values had a wrong type.

        runtimes_gone: Entries left out because their process had ended.
    """

    def __init__(self, settings: FoldSettings, state: bytes | None = None) -> None:
        self.reports_read = 0
        self.groups_dropped = 0
        self.runtimes_gone = 0
        self._settings = settings
        self._label: int | None = None  # epoch minute that is open
        self._closed: int | None = None  # epoch minute closed last
        self._cores = Cores(Periods(settings.period_s), only_matched=settings.only_matched)
        self._holders = Holders()
        self._restore(state)
        self._begin()

    @property
    def instance_id(self) -> str | None:
        """
        The instance as a report has named it, in this run or an earlier one.
        """
        return self._inventory.instance_id

    @property
    def malformed(self) -> int:
        """
        Parts of reports dropped because they could not be meant: groups, core keys, places.
        """
        return self.groups_dropped + self._cores.malformed_keys + self._holders.malformed_places

    def open(self, at_s: float) -> None:
        """
        Open the minute of *at_s*, seconds since the epoch, unless one is open.
        """
        if self._label is None:
            label = int(at_s // MINUTE_S)
            if self._closed is not None and label <= self._closed < label + MAX_FUTURE_MINUTES:
                label = self._closed + 1
            self._label = label

    def is_due(self, at_s: float) -> bool:
        """
        Whether the clock has left the open minute for good.
        """
        if self._label is None:
            return False
        now = int(at_s // MINUTE_S)
        return now > self._label or self._label - now > MAX_FUTURE_MINUTES

    def ends_at_s(self) -> float | None:
        """
        End of the open minute, seconds since the epoch.
        """
        return None if self._label is None else float((self._label + 1) * MINUTE_S)

    def add(self, report: Report, at_s: float) -> None:
        """
        Take one report received at *at_s*; the caller closes due minutes first.
        """
        if self._label is None:
            self.open(at_s)
        self.reports_read += 1
        self.groups_dropped += len(report.dropped_groups)
        self._reports += 1
        if self._inventory.add(report):
            self._idle = IdleMinutes()
            self._ecc = EccFold()
        listed = report.neuron_runtime_data
        if listed:
            runtimes = [one for one in listed if not (one.error and is_gone(one))]
            self.runtimes_gone += len(listed) - len(runtimes)
            self._add_runtimes(runtimes, report, at_s)
        elif listed is not None:
            self._add_runtimes(listed, report, at_s)
        system = report.system_data
        if system is not None:
            self._host.add(system)
            self._ecc.add(system.neuron_hw_counters)

    def close(self, stamp: Stamp) -> MinuteRecord:
        """
        Close the open minute and say what it was.
        """
        if self._label is None:
            msg = "no minute is open"
            raise ValueError(msg)
        states, utilization = self._read_cores()
        covered_s = [self._cores.core_covered_s(core) for core in range(len(states))]
        executions, inventory = self._executions, self._inventory
        device_bytes, host_bytes = used_bytes(self._holders.with_memory)
        record = MinuteRecord(
            cluster=stamp.cluster,
            instance_id=inventory.instance_id or stamp.instance_id,
            identity_guessed=inventory.instance_id is None and stamp.identity_guessed,
            boot=stamp.boot,
            seq=stamp.seq,
            bye=stamp.bye,
            minute_ms=self._label * MINUTE_MS,
            instance_type=inventory.instance_type,
            region=inventory.region,
            availability_zone=inventory.availability_zone,
            ultraserver_id=inventory.ultraserver_id,
            covered_seconds=self._cores.covered_seconds(),
            reports=self._reports,
            core_state=states,
            utilization_percent=utilization,
            idle_minutes=self._idle.close(self._label, states, covered_s),
            executions=executions.ended,
            execution_errors=executions.failed,
            latency_p50_mean_s=_rounded(executions.total.p50_mean_s(), _SECONDS_DECIMALS),
            latency_p99_max_s=_rounded(executions.total.p99_max_s, _SECONDS_DECIMALS),
            device_latency_p50_mean_s=_rounded(executions.device.p50_mean_s(), _SECONDS_DECIMALS),
            device_latency_p99_max_s=_rounded(executions.device.p99_max_s, _SECONDS_DECIMALS),
            latency_gap_s=_rounded(executions.gap_s(), _SECONDS_DECIMALS),
            tera_flops=_rounded(self._cores.tera_flops(), _FLOPS_DECIMALS),
            device_memory_used_bytes=device_bytes,
            device_memory_total_bytes=inventory.memory_bytes(),
            runtime_host_memory_bytes=host_bytes,
            host_memory_used_bytes=self._host.memory_used_bytes,
            host_memory_total_bytes=self._host.memory_total_bytes,
            host_cpu_percent=_rounded(self._host.cpu_percent(), _PERCENT_DECIMALS),
            ecc_corrected=self._ecc.corrected,
            ecc_uncorrected=self._ecc.uncorrected,
            ecc_corrected_rise=self._ecc.corrected_rise,
            ecc_uncorrected_rise=self._ecc.uncorrected_rise,
            details=executions.details,
            health=stamp.health,
        )
        self.discard()
        return record

    def discard(self) -> None:
        """
        Close the open minute without a record.
        """
        self._closed, self._label = self._label, None
        self._begin()

    def state(self) -> bytes:
        """
        What must survive a restart, to be given to the next `Fold`.
        """
        inventory = self._inventory
        return msgspec.json.encode(
            FoldState(
                instance_id=inventory.instance_id,
                instance_type=inventory.instance_type,
                cores=inventory.cores,
                cores_per_device=inventory.cores_per_device,
                device_memory_bytes=inventory.device_memory_bytes,
                idle_label=self._idle.label,
                idle_minutes=self._idle.minutes,
                idle_watched=self._idle.watched,
                ecc=self._ecc.last,
            )
        )

    def _begin(self) -> None:
        self._reports = 0
        self._cores.clear()
        self._ecc.clear()
        self._holders.clear()
        self._executions = ExecutionFold()
        self._host = HostFold()

    def _add_runtimes(self, runtimes: list[Runtime], report: Report, at_s: float) -> None:
        if runtimes:
            self._cores.add(runtimes, self._inventory, at_s)
            self._holders.add(runtimes)
            self._executions.add(runtimes)
        elif self._cores.add_nobody(report, self._inventory, at_s):
            self._holders.nobody()

    def _read_cores(self) -> tuple[str, tuple[float | None, ...]]:
        held = self._holders.cores(self._inventory.per_device())
        known = self._inventory.known_cores() or 0
        width = max(known, self._cores.width(), max(held, default=-1) + 1)
        states: list[str] = []
        utilization: list[float | None] = []
        for core in range(width):
            percent = self._cores.utilization_percent(core)
            is_held = core in held or (percent is not None and percent > 0)
            if percent is None or (self._settings.only_matched and not is_held):
                states.append(UNKNOWN)
                utilization.append(None)
                continue
            # Rounded first, so that the letter agrees with the number beside it.
            percent = round(percent, _PERCENT_DECIMALS)
            utilization.append(percent)
            if percent >= self._settings.idle_below_percent:
                states.append(BUSY)
            else:
                states.append(ATTACHED_IDLE if is_held else UNATTACHED)
        return "".join(states), tuple(utilization)

    def _restore(self, state: bytes | None) -> None:
        # The boot is a new one, so a minute that the last one closed may open
        # again: the stack merges the two parts.
        found = _state(state)
        self._inventory = Inventory(
            instance_id=found.instance_id,
            instance_type=found.instance_type,
            cores=found.cores,
            cores_per_device=found.cores_per_device,
            device_memory_bytes=found.device_memory_bytes,
        )
        self._idle = IdleMinutes(found.idle_label, found.idle_minutes, found.idle_watched)
        self._ecc = EccFold(found.ecc)


def _state(encoded: bytes | None) -> FoldState:
    if encoded is None:
        return FoldState()
    try:
        return msgspec.json.decode(encoded, type=FoldState)
    except ValueError:
        # Written by another release: idle minutes start again, nothing else is lost.
        return FoldState()


def _rounded(value: float | None, decimals: int) -> float | None:
    return None if value is None else round(value, decimals)
