"""
The open minute: reports are added to it, and one record closes it.

The minute is that of receipt, and a report that straddles two is not split.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from emitter.fold.cores import Cores, ReportSample
from emitter.fold.group_errors import GroupErrors
from emitter.fold.held_cores import Holdings
from emitter.fold.inventory import Inventory
from emitter.fold.minute_runtimes import MinuteRuntimes
from emitter.fold.readings import EccFold, Readings
from emitter.fold.runtime import ExecutionFold
from emitter.fold.runtime_lines import used_bytes
from emitter.fold.samples import MinuteClock
from emitter.fold.state import FoldState, IdleMinutes, QuietMinutes, RuntimeHistories, read_state
from emitter.kernel.detector import LogState
from emitter.logs import EventQueue
from neuron_wire.minute import MinuteRecord
from neuron_wire.names import MINUTE_MS, UNKNOWN, WHOLE_MINUTE_S
from neuron_wire.owners import list_owners

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.fold.runtime import RuntimeOwner
    from emitter.fold.runtime_lines import RuntimeMinute
    from emitter.fold.samples import FoldSettings
    from emitter.instance.facts import InstanceFacts
    from emitter.owners.given import Given
    from emitter.reports.groups import Runtime
    from emitter.reports.report import Report

UNVERIFIED: Final = "GivenUnverifiedCores"


@dataclass(frozen=True, slots=True)
class Stamp:
    """
    What a record carries that no report tells.

    Attributes:
        cluster: Cluster name.

        boot: Identity of this run of the emitter.

        seq: Number of the record within the boot.

        instance_id: Used only while no report has named the instance.

        identity_guessed: Whether that id is a guess of ours.

        bye: Whether this is the last record of a planned stop.

        health: The emitter on itself.

        paid: `sunk` or `avoidable`, where the operator says how the instance is paid.
    """

    cluster: str
    boot: str
    seq: int
    instance_id: str
    identity_guessed: bool = True
    bye: bool = False
    health: Mapping[str, int | float] = field(default_factory=dict)
    paid: str | None = None


class Fold:
    """
    Reports in, one record per minute out; its owners are teams where *only_teams*.

    Attributes:
        clock: Which minute is open.

        events: What happened and is worth a line of its own.

        reports_read: Reports added since this object was made.

        groups_dropped: Groups dropped because their values had a wrong type.

        living: Runtimes of the newest report, none when it said that there is
            none; None when it said nothing about runtimes.

        sample: The numbers of the newest report; only with `every_report`.

        due_runtimes: Of the minute closed last, the runtimes that a line is due for.

        holdings: Of the minute closed last, which cores each runtime held, and its owner.
    """

    def __init__(
        self,
        settings: FoldSettings,
        state: bytes | None = None,
        *,
        owner_of: Callable[[int], RuntimeOwner | None] = lambda _pid: None,
        only_teams: bool = False,
        given: Callable[[], Given | None] = lambda: None,
    ) -> None:
        self.clock = MinuteClock()
        self.events = EventQueue()
        self.reports_read = 0
        self.groups_dropped = 0
        self.living: list[Runtime] | None = None
        self.sample: ReportSample | None = None
        self.due_runtimes: tuple[RuntimeMinute, ...] = ()
        self.holdings = Holdings({}, {})
        self._settings = settings
        self._only_teams = only_teams
        self._given = given
        self._cores = Cores(settings)
        self._runtimes = MinuteRuntimes(settings.runtime_lines, owner_of)
        self._errors = GroupErrors(self.events.add_event)
        self._newest_s = 0.0  # receipt of the newest report
        # The boot is a new one, so a minute that the last one closed may open
        # again: the stack merges the two parts.
        found = read_state(state)
        self._inventory = Inventory(
            found.instance_id, found.instance_type, cores=found.cores,
            cores_per_device=found.cores_per_device, device_memory_bytes=found.device_memory_bytes,
        )  # fmt: skip
        self._idle = IdleMinutes(found.idle_label, found.idle_minutes, found.idle_watched)
        self._quiet = QuietMinutes(found.quiet_label, found.quiet_minutes)
        self._runtimes.histories = found.histories
        self._ecc = EccFold(found.ecc)
        self._begin_minute()

    @property
    def instance(self) -> InstanceFacts:
        """What is known of the instance, each fact None where it is not."""
        return self._inventory.instance()

    @property
    def ecc_risen(self) -> Mapping[str, int]:
        """How much each memory error counter rose since the start, by `device:counter`."""
        return self._ecc.risen

    @property
    def runtimes_gone(self) -> int:
        """Entries of runtimes left out because their process had ended."""
        return self._runtimes.gone

    @property
    def malformed(self) -> int:
        """Parts of reports dropped as impossible: groups, core keys, places of models."""
        places = self._runtimes.held_cores.malformed_places(self._inventory.per_device())
        return self.groups_dropped + self._cores.malformed_keys + places

    def configure(self, settings: FoldSettings) -> None:
        """Go on under other settings; between two minutes, so that none is half of each."""
        self._settings = settings
        self._cores.configure(settings)
        self._runtimes.configure(settings.runtime_lines)
        self.sample = None

    def learn_facts(self, facts: InstanceFacts) -> None:
        """Learn from beside the reports; what a report says wins, whichever comes first."""
        if self._inventory.learn_facts(facts):
            self._forget_instance()

    def add_hardware_faults(self, count: int) -> None:
        """Add hardware faults of kernel messages to the open minute; 0 says that they are read."""
        self._readings.add_count("HardwareFaults", count)

    def fold_report(self, report: Report, at_s: float) -> None:
        """Add one report received at *at_s*; the caller closes due minutes first."""
        clock, inventory, cores = self.clock, self._inventory, self._cores
        if clock.now is None:
            clock.open_minute(at_s)
        self.reports_read += 1
        self._reports += 1
        self._newest_s = at_s
        if report.dropped_groups:
            self.groups_dropped += len(report.dropped_groups)
        if inventory.learn_report(report):
            self._forget_instance()
        if report.neuron_k8s_info is not None:
            self._runtimes.pods.add_pods(report.neuron_k8s_info)
        cores.newest = None
        runtimes, is_empty = report.neuron_runtime_data, False
        if runtimes and (runtimes := self._runtimes.drop_gone(runtimes)):
            folds = self._runtimes.add_runtimes(runtimes)
            cores.add_runtimes(runtimes, folds, inventory, at_s)
        elif runtimes is not None and cores.add_no_runtime(report, inventory, at_s):
            is_empty = True
            self._runtimes.add_no_runtime()
        self.living = runtimes if runtimes or is_empty else None
        system = report.system_data
        if system is not None:
            self._readings.add_system(system)
            if system.neuron_hw_counters is not None:
                self._ecc.add_counters(system.neuron_hw_counters, at_s)
        self._errors.add_report(report, runtimes, at_s)
        if self._settings.every_report:
            self.sample = self._sample(runtimes or [], at_s, is_empty=is_empty)

    def close_minute(self, stamp: Stamp) -> MinuteRecord:
        """Close the open minute: its record."""
        label = self.clock.now
        if label is None:
            msg = "no minute is open"
            raise ValueError(msg)
        inventory, instance = self._inventory, self._inventory.instance()
        chosen = self._settings.chosen
        executions = self._runtimes.executions(were_asked=self._settings.executions_asked)
        held = self._runtimes.held_by_runtime(inventory.per_device())
        states, utilization, covered_s = self._cores.core_states(
            set().union(*held.values()), inventory.known_cores()
        )
        covered_seconds = self._cores.covered_seconds()
        idle_minutes = self._idle.count_minute(label, states, covered_s)
        whose = self._runtimes.attribute_cores(
            label, held, states, idle_minutes, cores_per_device=inventory.per_device(),
            given=self._given(), only_teams=self._only_teams,
        )  # fmt: skip
        self._quiet.count_minute(
            label, whose.by_owner,
            is_whole=covered_seconds >= WHOLE_MINUTE_S,
            is_known=states.count(UNKNOWN) < len(states),
        )  # fmt: skip
        owners, owners_more = list_owners(whose.by_owner)
        device_bytes, host_bytes = used_bytes(self._runtimes.held_cores.with_memory)
        record = MinuteRecord(
            cluster=stamp.cluster,
            instance_id=instance.instance_id or stamp.instance_id,
            identity_guessed=instance.instance_id is None and stamp.identity_guessed,
            boot=stamp.boot,
            seq=stamp.seq,
            bye=stamp.bye,
            minute_ms=label * MINUTE_MS,
            instance_type=instance.instance_type,
            region=instance.region,
            availability_zone=instance.availability_zone,
            ultraserver_id=inventory.ultraserver_id,
            labels=inventory.labels(),
            covered_seconds=covered_seconds,
            reports=self._reports,
            core_state=states,
            utilization_percent=utilization,
            idle_minutes=idle_minutes,
            holders=whose.holders,
            holders_more=whose.holders_more,
            owners=owners,
            owners_more=owners_more,
            given=whose.given,
            account_id=instance.account_id,
            lifecycle=instance.lifecycle,
            paid=stamp.paid,
            executions=executions.ended,
            execution_errors=executions.failed,
            latency_p50_mean_s=executions.total.p50_mean_s(),
            latency_p99_max_s=executions.total.p99_max_s,
            device_latency_p50_mean_s=executions.device.p50_mean_s(),
            device_latency_p99_max_s=executions.device.p99_max_s,
            latency_gap_s=executions.gap_s(),
            tera_flops=self._cores.tera_flops(),
            device_memory_used_bytes=device_bytes,
            device_memory_total_bytes=inventory.memory_bytes(),
            runtime_host_memory_bytes=host_bytes,
            ecc_corrected=self._ecc.corrected,
            ecc_uncorrected=self._ecc.uncorrected,
            ecc_corrected_rise=self._ecc.corrected_rise,
            ecc_uncorrected_rise=self._ecc.uncorrected_rise,
            readings=self._readings.by_member(),
            details={
                **executions.chosen_zeros(chosen),
                **executions.details,
                **self._ecc.details(chosen),
                **({UNVERIFIED: whose.unverified} if whose.unverified else {}),
            },
            health=stamp.health,
        )
        due = self._runtimes.due_lines(label, whose.holdings)
        self.discard_minute()
        self.due_runtimes = due
        self.holdings = whose.holdings
        return record

    def discard_minute(self) -> None:
        """Close the open minute without a record."""
        if self.clock.now is None:
            return
        for event in self._ecc.events():
            self.events.add_event(event)
        self._errors.end_minute(self._newest_s)
        self.clock.close_minute()
        self.due_runtimes = ()
        self._begin_minute()

    def encode_state(self, kernel: LogState | None = None) -> bytes:
        """What must survive a restart, *kernel* with it, to be given to the next `Fold`."""
        inventory = self._inventory
        return FoldState(
            instance_id=inventory.instance().instance_id,
            instance_type=inventory.instance_type,
            cores=inventory.cores,
            cores_per_device=inventory.cores_per_device,
            device_memory_bytes=inventory.device_memory_bytes,
            idle_label=self._idle.label,
            idle_minutes=self._idle.minutes,
            idle_watched=self._idle.watched,
            quiet_label=self._quiet.label,
            quiet_minutes=self._quiet.minutes,
            ecc=self._ecc.last,
            histories=self._runtimes.histories,
            kernel=kernel or LogState(),
        ).encoded()

    def _begin_minute(self) -> None:
        self._reports = 0
        self._cores.clear()
        self._ecc.clear()
        self._runtimes.end_minute()
        self._readings = Readings()

    def _forget_instance(self) -> None:
        """It is another instance than the one whose state was found."""
        self._idle, self._quiet = IdleMinutes(), QuietMinutes()
        self._runtimes.histories = RuntimeHistories()
        self._ecc = EccFold()

    def _sample(
        self, runtimes: list[Runtime], at_s: float, *, is_empty: bool
    ) -> ReportSample | None:
        matched = None
        if self._settings.only_matched:
            held = self._runtimes.held_by_runtime(self._inventory.per_device())
            matched = set().union(*held.values())
        executions = ExecutionFold()
        if is_empty and (self._settings.executions_asked or self._runtimes.has_executions()):
            executions = ExecutionFold.without_runtime()
        for runtime in runtimes:
            if runtime.report is not None and runtime.report.execution_stats is not None:
                executions.add_stats(runtime.report.execution_stats)
        known = self._inventory.known_cores()
        return ReportSample.from_report(self._cores.newest, executions, at_s, known, matched)
