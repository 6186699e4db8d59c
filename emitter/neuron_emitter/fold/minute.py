"""The open minute. A report belongs to the minute in which it is received; it is never split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from msgspec import structs

from neuron_emitter.fold.attribution import CoreOwners, Holdings
from neuron_emitter.fold.group_errors import GroupErrors
from neuron_emitter.fold.inventory import Inventory
from neuron_emitter.fold.memory import used_bytes
from neuron_emitter.fold.minute_cores import MinuteCores, ReportSample
from neuron_emitter.fold.readings import EccFold, Readings
from neuron_emitter.fold.runtime_lines import RuntimeLines, RuntimeMembers
from neuron_emitter.fold.runtimes import MinuteRuntimes
from neuron_emitter.fold.samples import CoreSampler
from neuron_emitter.fold.state import FoldState, read_state
from neuron_emitter.fold.unknown_cores import UnknownCores, missing_reason
from neuron_emitter.kernel.detector import LogState
from neuron_emitter.logs import Event
from neuron_wire.catalogue import READING_MEMBERS
from neuron_wire.line_members import present_members
from neuron_wire.minute_record import MinuteRecord
from neuron_wire.names import (
    DEVICES_NOT_SEEN,
    MINUTE_MS,
    MINUTE_S,
    MONITOR_NOT_RUNNING,
    NO_RECENT_SAMPLE,
    TAG_FILTER,
    UNKNOWN_STATE,
    WHOLE_MINUTE_S,
)
from neuron_wire.owners import list_owners
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from neuron_emitter.fold.samples import CoreSample, FoldSettings
    from neuron_emitter.instance.instance_facts import InstanceFacts
    from neuron_emitter.logs import OnEvent
    from neuron_emitter.owners.assignments import Assignments, OwnerOf
    from neuron_emitter.reports.groups import (
        Hardware,
        InstanceInfo,
        Number,
        Runtimes,
        Text,
        Whole,
    )
    from neuron_emitter.reports.report import Report

UNVERIFIED: Final = "AssignedUnverifiedCores"

MAX_FUTURE_MINUTES: Final = 120
"""
Minutes ahead that CloudWatch accepts. After a larger clock error, minutes follow the clock back.
"""


class MinuteClock:
    """
    The clock of minutes: the open minute, and the minute closed last.

    Attributes:
        epoch_minute: The open minute; None if no minute is open.
    """

    def __init__(self) -> None:
        self.epoch_minute: Whole = None
        self._closed: Whole = None  # epoch minute closed last

    def open_minute(self, at_s: float) -> None:
        """Open the minute of *at_s*, seconds since the epoch, unless one is open."""
        if self.epoch_minute is None:
            epoch_minute = int(at_s // MINUTE_S)
            if (
                self._closed is not None
                and epoch_minute <= self._closed < epoch_minute + MAX_FUTURE_MINUTES
            ):
                epoch_minute = self._closed + 1
            self.epoch_minute = epoch_minute

    def is_due(self, at_s: float) -> bool:
        """Return True if the clock has left the open minute for good."""
        if self.epoch_minute is None:
            return False
        epoch_minute = int(at_s // MINUTE_S)
        return (
            epoch_minute > self.epoch_minute
            or self.epoch_minute - epoch_minute > MAX_FUTURE_MINUTES
        )

    def ends_at_s(self) -> Number:
        """The end of the open minute, seconds since the epoch."""
        return None if self.epoch_minute is None else float((self.epoch_minute + 1) * MINUTE_S)

    def close_minute(self) -> None:
        """Close the open minute."""
        self._closed = self.epoch_minute
        self.epoch_minute = None


@dataclass(frozen=True, slots=True)
class LineIdentity:
    """
    The identity of a line's sender: every member that identifies a line except its number.

    Attributes:
        cluster: Cluster name, the rollup key.

        instance_id: Such as `i-0123456789abcdef0`. Never empty.

        identity_guessed: True if no source named the instance: the ID is generated, and stable.

        boot: Identity of one run of the emitter.

        instance_type: Such as `trn1.32xlarge`; None if unknown.

        ami_id: Such as `ami-0123456789abcdef0`; None if unknown.
    """

    cluster: str
    instance_id: str
    identity_guessed: bool
    boot: str
    instance_type: Text = None
    ami_id: Text = None


class Fold:
    """
    Folds reports into one record a minute. With *only_teams*, owners are teams.

    Attributes:
        clock: The clock of minutes.

        reports_read: Reports added since this object was made.

        groups_dropped: Groups dropped because a value had a wrong type.

        runtimes: The runtimes of the open minute.

        ecc: Memory errors of the devices.

        living: Runtimes of the newest report, empty if it reports none; None if it has no list of
            runtimes.

        sample: The numbers of the newest report; only with `every_report`.

        due_runtimes: Runtimes whose line is due for the minute closed last.

        holdings: The cores that each runtime held in the minute closed last, and its owner.
    """

    def __init__(
        self,
        settings: FoldSettings,
        state: bytes | None = None,
        *,
        owner_of: OwnerOf = lambda _pid: None,
        only_teams: bool = False,
        current_assignments: Callable[[], Assignments | None] = lambda: None,
        on_event: OnEvent = lambda _event: None,
    ) -> None:
        self._state = found = read_state(state)
        self.clock = MinuteClock()
        self.reports_read = 0
        self.groups_dropped = 0
        self.living: Runtimes | None = None
        self.sample: ReportSample | None = None
        self.due_runtimes: tuple[RuntimeMembers, ...] = ()
        self.holdings = Holdings({}, {})
        self._settings = settings
        self._on_event = on_event
        self._unknown = UnknownCores(on_event)
        self._sampler = CoreSampler(settings, self._unknown)
        self.runtimes = MinuteRuntimes()
        self._owners = CoreOwners(found, owner_of, current_assignments, only_teams=only_teams)
        self._lines = RuntimeLines(settings.runtime_lines)
        self._errors = GroupErrors(on_event)
        self._newest_s = 0.0  # receipt of the newest report
        # The boot is new, so a minute that the last boot closed may open again: the stack merges
        # the two parts.
        self._inventory = Inventory(found)
        self._learned: tuple[InstanceInfo | None, Hardware | None] = (None, None)
        self.ecc = EccFold(found.ecc, lists_no_device=found.lists_no_device)
        self._sampler.is_blind = found.counts_no_device or found.lists_no_device
        self._begin_minute()

    @property
    def instance(self) -> InstanceFacts:
        """The known facts about the instance, each None if unknown."""
        return self._inventory.instance()

    @property
    def malformed(self) -> int:
        """The number of report parts dropped as impossible: groups, core keys, places of models."""
        places = self.runtimes.held.malformed_places(self._inventory.per_device())
        return self.groups_dropped + self._sampler.malformed_keys + places

    def configure(self, settings: FoldSettings) -> None:
        """Apply other settings, between two minutes, so that no minute mixes them."""
        self._settings = self._sampler.settings = settings
        self._lines.mode = settings.runtime_lines
        self.sample = None

    def learn_facts(self, facts: InstanceFacts) -> None:
        """Learn facts from outside the reports. A report always takes precedence."""
        if self._inventory.learn_facts(facts):
            self._forget_instance()

    def add_hardware_faults(self, count: int) -> None:
        """Add hardware faults of kernel messages to the open minute; 0 means that they are read."""
        self._readings.hardware_faults = (self._readings.hardware_faults or 0) + count

    def fold_report(self, report: Report, at_s: float) -> None:
        """Add one report received at *at_s*; the caller closes due minutes first."""
        self.clock.open_minute(at_s)
        self.reports_read += 1
        self._reports += 1
        self._newest_s = self._unknown.at_s = at_s
        if report.dropped_groups:
            self.groups_dropped += len(report.dropped_groups)
            for name in report.dropped_groups:
                self._unknown.announce_shape(name, "has a value of another type")
        inventory_groups = report.instance_info, report.neuron_hardware_info
        if inventory_groups != self._learned:  # they rarely change
            self._learn_instance(report)
            self._learned = inventory_groups
        system = report.system_data
        if system is not None:
            self._readings.add_system(system)
            self.ecc.add_counters(system.neuron_hw_counters, at_s)
        is_blind = self._inventory.counts_no_device or self.ecc.lists_no_device
        if is_blind is not self._sampler.is_blind:
            self._note_sight(report, at_s, is_blind=is_blind)
        if report.neuron_k8s_info is not None:
            self._owners.pods.add_pods(report.neuron_k8s_info)
        sample = self._sample(report, at_s)
        self._errors.add_report(report, self.living, at_s)
        if self._settings.every_report:
            self.sample = self._report_sample(sample, at_s)

    def _sample(self, report: Report, at_s: float) -> CoreSample | None:
        """Fold the runtimes of *report*. Return the sample of its cores, None if it has none."""
        runtimes = report.neuron_runtime_data
        if self._sampler.is_blind:
            self._unknown.hide_cores(DEVICES_NOT_SEEN)
        if runtimes:
            runtimes, entries = self.runtimes.fold_runtimes(runtimes)
            if entries:
                self.living = runtimes
                return self._sampler.sample_runtimes(report, entries, self._inventory, at_s)
        self.living = None
        if runtimes is None:
            self._unknown.hide_cores(missing_reason(report))
            self._sampler.note_missing("neuron_runtime_data", report, at_s)
            return None
        is_empty, sample = self._sampler.sample_no_runtime(report, self._inventory, at_s)
        if is_empty:
            self.living = []
            self.runtimes.fold_no_runtime()
        return sample

    def _learn_instance(self, report: Report) -> None:
        """Learn about the instance. Announce a changed number of cores within one boot."""
        before = self._inventory.cores
        if self._inventory.learn_report(report):
            self._forget_instance()
        elif None not in (before, self._learned[1]) and before != self._inventory.cores:
            fault = f"counts {counted(self._inventory.cores or 0, 'core')}, before {before}"
            self._unknown.announce_shape("neuron_hardware_info", fault)

    def _note_sight(self, report: Report, at_s: float, *, is_blind: bool) -> None:
        """Announce that the monitor stops or starts to see devices; an error has its own event."""
        self._sampler.is_blind = is_blind
        hardware = report.neuron_hardware_info
        if is_blind and not (hardware and hardware.error):
            message = (
                "neuron-monitor does not see the Neuron devices: their cores are unknown."
                " Check that the driver is loaded and that /dev/neuron* are in its container."
            )
            self._on_event(Event("DevicesNotSeen", at_s, message, {}))

    def close_minute(
        self,
        identity: LineIdentity,
        seq: int,
        *,
        is_clean_shutdown: bool = False,
        health: Mapping[str, int | float] | None = None,
        is_local: bool = True,
    ) -> MinuteRecord:
        """
        Close the open minute and return its record, number *seq* of the boot.

        *identity* is the identity of the line. *is_clean_shutdown* is True for the last record of a
        planned stop. *health* has the emitter's own members. Unless *is_local*, the reports are of
        another machine, and owners and assignments of this machine do not count.
        """
        epoch_minute = self.clock.epoch_minute
        if epoch_minute is None:
            msg = "no minute is open"
            raise ValueError(msg)
        settings = self._settings
        inventory = self._inventory
        runtimes = self.runtimes
        instance = inventory.instance()
        per_device = inventory.per_device()
        executions = runtimes.executions(were_asked=settings.executions_asked)
        latencies = executions.latencies()
        held = runtimes.held_by_runtime(per_device)
        width = self._sampler.width(inventory.known_cores())
        cores = MinuteCores.from_sums(
            self._sampler.sums, set().union(*held.values()), width, settings
        )
        idle_minutes = self._state.count_idle_minutes(epoch_minute, cores.states, cores.covered_s)
        if not self._reports:
            reason = MONITOR_NOT_RUNNING
        elif settings.only_matched:
            reason = TAG_FILTER
        else:
            reason = NO_RECENT_SAMPLE
        attribution = self._owners.attribute_cores(
            epoch_minute,
            runtimes,
            held,
            cores.states,
            idle_minutes,
            cores_per_device=per_device,
            is_local=is_local,
        )
        self._state.count_quiet_minutes(
            epoch_minute,
            attribution.by_owner,
            is_whole=cores.covered_seconds >= WHOLE_MINUTE_S,
            has_unknown=UNKNOWN_STATE in cores.states,
        )
        owners, owners_more = list_owners(attribution.by_owner)
        device_bytes, host_bytes = used_bytes(runtimes.held.with_memory)
        record = MinuteRecord(
            cluster=identity.cluster,
            instance_id=identity.instance_id,
            identity_guessed=identity.identity_guessed,
            boot=identity.boot,
            seq=seq,
            is_clean_shutdown=is_clean_shutdown,
            minute_ms=epoch_minute * MINUTE_MS,
            instance_type=instance.instance_type,
            region=instance.region,
            availability_zone=instance.availability_zone,
            ultraserver_id=inventory.reported.get("ultraserver_id"),
            labels=inventory.labels(),
            covered_seconds=cores.covered_seconds,
            reports=self._reports,
            core_state=cores.states,
            utilization_percent=cores.utilization_percent,
            idle_minutes=idle_minutes,
            holders=attribution.holders,
            holders_more=attribution.holders_more,
            owners=owners,
            owners_more=owners_more,
            reservations=attribution.reservations,
            account_id=instance.account_id,
            lifecycle=instance.lifecycle,
            paid=settings.paid,
            unknown_reason=self._unknown.main_reason(cores.states, reason),
            executions=executions.ended,
            execution_errors=executions.failed,
            latency_p50_mean_s=latencies["LatencyP50Mean"],
            latency_p99_max_s=latencies["LatencyP99Max"],
            tera_flops=cores.tera_flops,
            device_memory_used_bytes=device_bytes,
            device_memory_total_bytes=inventory.memory_bytes(),
            ecc_corrected_rise=self.ecc.corrected_rise,
            ecc_uncorrected_rise=self.ecc.uncorrected_rise,
            readings=present_members(
                {
                    **self._readings.by_member(),
                    **{name: value for name, value in latencies.items() if name in READING_MEMBERS},
                    "RuntimeHostMemory": host_bytes,
                    "EccCorrected": self.ecc.corrected,
                    "EccUncorrected": self.ecc.uncorrected,
                }
            ),
            details={
                **executions.chosen_zeros(settings.chosen),
                **executions.details,
                **self.ecc.details(settings.chosen),
                **({UNVERIFIED: attribution.unverified} if attribution.unverified else {}),
            },
            health=health or {},
        )
        due = self._lines.due_lines(epoch_minute, runtimes, attribution.holdings)
        self.discard_minute()
        self.due_runtimes = due
        self.holdings = attribution.holdings
        return record

    def discard_minute(self) -> None:
        """Close the open minute without a record."""
        if self.clock.epoch_minute is None:
            return
        for event in self.ecc.events():
            self._on_event(event)
        self._errors.end_minute(self._newest_s)
        self._sampler.end_minute()
        self.runtimes.end_minute()
        self._owners.pods.end_minute()
        self.ecc.clear()
        self.clock.close_minute()
        self.due_runtimes = ()
        self._begin_minute()

    def encode_state(self, kernel: LogState | None = None) -> bytes:
        """Return the state that must survive a restart, including *kernel*, for the next `Fold`."""
        inventory = self._inventory
        return structs.replace(
            self._state,
            instance_id=inventory.instance().instance_id,
            instance_type=inventory.reported.get("instance_type"),
            cores=inventory.cores,
            cores_per_device=inventory.cores_per_device,
            device_memory_bytes=inventory.device_memory_bytes,
            counts_no_device=inventory.counts_no_device,
            lists_no_device=self.ecc.lists_no_device,
            kernel=kernel or LogState(),
        ).encoded()

    def _begin_minute(self) -> None:
        self._reports = 0
        self._readings = Readings()

    def _forget_instance(self) -> None:
        """Forget the state of another instance."""
        self._learned = (None, None)
        self._state = self._owners.state = FoldState()
        self.ecc = EccFold(self._state.ecc)

    def _report_sample(self, sample: CoreSample | None, at_s: float) -> ReportSample | None:
        matched = None
        if self._settings.only_matched:
            held = self.runtimes.held_by_runtime(self._inventory.per_device())
            matched = set().union(*held.values())
        executions = self.runtimes.report_executions(
            self.living, were_asked=self._settings.executions_asked
        )
        known = self._inventory.known_cores()
        return ReportSample.from_report(sample, executions, at_s, known, matched)
