"""
The open minute: what its reports add up to, and what it says when it closes.

The minute is that of receipt, and a report that straddles two is not split.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from emitter.events import EventQueue
from emitter.fold.cores import Cores, ReportSample, Sample
from emitter.fold.group_errors import GroupErrors
from emitter.fold.held_cores import Holdings, idle_holders, owners_given, reserve
from emitter.fold.minute_runtimes import MinuteRuntimes
from emitter.fold.readings import EccFold, Readings
from emitter.fold.runtime_lines import used_bytes
from emitter.fold.samples import MinuteClock, Periods
from emitter.fold.state import FoldState, IdleMinutes, QuietMinutes, RuntimeHistories, read_state
from emitter.kernel.detector import LogState
from emitter.team_names import team_name
from neuron_wire.minute import MinuteRecord
from neuron_wire.names import MINUTE_MS, READ, UNKNOWN, WHOLE_MINUTE_S
from neuron_wire.owners import group_holdings, list_owners

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from emitter.events import Event
    from emitter.fold.runtime import RuntimeOwner
    from emitter.fold.runtime_lines import RuntimeMinute
    from emitter.instance.facts import InstanceFacts
    from emitter.owners.given import Allocation, Given
    from emitter.reports.groups import Runtime
    from emitter.reports.report import Report


@dataclass(frozen=True, slots=True)
class FoldSettings:
    """
    What a person may choose about the meaning of a minute.

    Attributes:
        idle_below_percent: Utilization from which a core is busy, 0 to 100.

        period_s: Period of the core counters where we ask for them, else None.

        only_matched: Whether a tag filter hides some runtimes from the reports.

        runtime_lines: Which runtimes a line is due for: `changes`, `all` or `none`.

        executions_asked: Whether the reports were asked for executions.

        every_report: Whether each report is wanted as a sample, and not only
            the minute.

        chosen: Members that somebody chose as metrics: a failure that was not
            there is told as 0.
    """

    idle_below_percent: float = 1.0
    period_s: float | None = None
    only_matched: bool = False
    runtime_lines: str = "changes"
    executions_asked: bool = False
    every_report: bool = False
    chosen: frozenset[str] = frozenset()


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


__all__ = ["Fold", "FoldState"]

UNVERIFIED: Final = "GivenUnverifiedCores"


class Fold:
    """
    Reports in, one record per minute out; its owners are teams where *only_teams*.

    Attributes:
        reports_read: Reports taken since this object was made.

        groups_dropped: Groups dropped because their values had a wrong type.

        runtimes: Of the minute closed last, the runtimes that a line is due for.

        sample: What the report taken last said; only with `every_report`.

        living: Runtimes of the report taken last, none when it said that there is
            none; None when it said nothing about runtimes.

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
        self.reports_read = 0
        self.groups_dropped = 0
        self.runtimes: tuple[RuntimeMinute, ...] = ()
        self.sample: ReportSample | None = None
        self.living: list[Runtime] | None = None
        self.holdings = Holdings({}, {})
        self._settings = settings
        self._only_teams = only_teams
        self._given = given
        self._clock = MinuteClock()
        self._cores = Cores(Periods(settings.period_s), only_matched=settings.only_matched)
        self._runtimes = MinuteRuntimes(settings.runtime_lines, owner_of)
        self._events = EventQueue()
        self._errors = GroupErrors(self._events.add)
        self._newest_s = 0.0  # receipt of the report taken last
        self._restore(state)
        self._begin()

    @property
    def instance_id(self) -> str | None:
        """The instance as a report or the metadata service named it, now or in an earlier run."""
        return self._inventory.instance().instance_id

    @property
    def runtimes_gone(self) -> int:
        """Entries of runtimes left out because their process had ended."""
        return self._runtimes.gone

    @property
    def instance(self) -> InstanceFacts:
        """All that is known of the instance, each None where it is not."""
        return self._inventory.instance()

    @property
    def ecc_risen(self) -> Mapping[str, int]:
        """How much each memory error counter rose since the start, by `device:counter`."""
        return self._ecc.risen

    @property
    def malformed(self) -> int:
        """Parts of reports dropped because they could not be meant: groups, core keys, places."""
        places = self._runtimes.held_cores.malformed_places(self._inventory.per_device())
        return self.groups_dropped + self._cores.malformed_keys + places

    def configure(self, settings: FoldSettings) -> None:
        """Go on under other settings; between two minutes, so that none is half of each."""
        self._settings = settings
        self._cores.configure(settings.period_s, only_matched=settings.only_matched)
        self._runtimes.configure(settings.runtime_lines)
        self.sample = None

    def learn(self, facts: InstanceFacts) -> None:
        """Learn from beside the reports; what a report says wins, whichever comes first."""
        if self._inventory.learn(facts):
            self._forget_cores()

    def add_faults(self, count: int) -> None:
        """Add hardware faults of kernel messages to the open minute; 0 says somebody reads."""
        self._readings.add_count("HardwareFaults", count)

    def take_events(self) -> list[Event]:
        """What happened since the last call and is worth a line of its own."""
        return self._events.take()

    def open(self, at_s: float) -> None:
        """Open the minute of *at_s*, seconds since the epoch, unless one is open."""
        self._clock.open(at_s)

    def is_due(self, at_s: float) -> bool:
        """Whether the clock has left the open minute for good."""
        return self._clock.is_due(at_s)

    def ends_at_s(self) -> float | None:
        """End of the open minute, seconds since the epoch."""
        return self._clock.ends_at_s()

    def add(self, report: Report, at_s: float) -> None:
        """Take one report received at *at_s*; the caller closes due minutes first."""
        self._clock.open(at_s)
        self.reports_read += 1
        self.groups_dropped += len(report.dropped_groups)
        self._reports += 1
        self._newest_s = at_s
        if self._inventory.add(report):
            self._forget_cores()
        if report.neuron_k8s_info is not None:
            self._runtimes.pods.add(report.neuron_k8s_info)
        self._cores.newest = None
        runtimes, is_nobody = report.neuron_runtime_data, False
        if runtimes and (runtimes := self._runtimes.living(runtimes)):
            folds = self._runtimes.add(runtimes)
            self._cores.add(runtimes, folds, self._inventory, at_s)
        elif runtimes is not None and self._cores.add_nobody(report, self._inventory, at_s):
            is_nobody = True
            self._runtimes.nobody()
        self.living = runtimes if runtimes or is_nobody else None
        system = report.system_data
        if system is not None:
            self._readings.add(system)
            self._ecc.add(system.neuron_hw_counters, at_s)
        self._errors.add(report, runtimes, at_s)
        if self._settings.every_report:
            self.sample = self._sample(runtimes or [], at_s, is_nobody=is_nobody)

    def close(self, stamp: Stamp) -> MinuteRecord:
        """Close the open minute and say what it was."""
        label = self._clock.now
        if label is None:
            msg = "no minute is open"
            raise ValueError(msg)
        inventory = self._inventory
        instance = inventory.instance()
        executions = self._runtimes.executions(were_asked=self._settings.executions_asked)
        held = self._runtimes.held(inventory.per_device())
        states, utilization = self._cores.core_states(
            set().union(*held.values()), inventory.known_cores(), self._settings.idle_below_percent
        )
        covered_s = [self._cores.core_covered_s(core) for core in range(len(states))]
        idle_minutes = self._idle.close(label, states, covered_s)
        given, allocations = self._told_given()
        per_device = inventory.per_device()
        pods = None
        if allocations is not None:
            pods = owners_given(allocations, per_device, len(states))
        owners = self._runtimes.owners(held, pods)
        reserved = reserve(allocations or (), held, owners, states, per_device)
        if self._only_teams:
            owners = {key: one._replace(name=team_name(one.team)) for key, one in owners.items()}
            reserved = reserved.of_teams(allocations or ())
        executed = self._runtimes.executed(label, owners)
        holders, holders_more = idle_holders(
            Holdings(held, owners), executed, states, idle_minutes, reserved.given_to
        )
        by_name = group_holdings((*self._runtimes.holdings(held, owners), *reserved.holdings))
        self._quiet.close(
            label, by_name,
            is_whole=self._cores.covered_seconds() >= WHOLE_MINUTE_S,
            is_known=states.count(UNKNOWN) < len(states),
        )  # fmt: skip
        owners_listed, owners_more = list_owners(by_name)
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
            covered_seconds=self._cores.covered_seconds(),
            reports=self._reports,
            core_state=states,
            utilization_percent=utilization,
            idle_minutes=idle_minutes,
            holders=holders,
            holders_more=holders_more,
            owners=owners_listed,
            owners_more=owners_more,
            given=given,
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
            readings=self._readings.told(),
            details={
                **executions.zeros(self._settings.chosen),
                **executions.details,
                **self._ecc.details(self._settings.chosen),
                **({UNVERIFIED: reserved.unverified} if reserved.unverified else {}),
            },
            health=stamp.health,
        )
        due = self._runtimes.due(label, held, owners)
        self.discard()
        self.runtimes = due
        self.holdings = Holdings(held, owners)
        return record

    def _told_given(self) -> tuple[str | None, Sequence[Allocation] | None]:
        """Whether it is known what was given to whom, and what: as looked up, else by reports."""
        given = self._given()
        if given is not None and given.status == READ:
            return READ, given.allocations
        told = self._runtimes.pods.allocations()
        return (None if given is None else given.status, None) if told is None else (READ, told)

    def discard(self) -> None:
        """Close the open minute without a record."""
        if self._clock.now is None:
            return
        for event in self._ecc.events():
            self._events.add(event)
        self._errors.end_minute(self._newest_s)
        self._clock.close()
        self.runtimes = ()
        self._begin()

    def state(self, kernel: LogState | None = None) -> bytes:
        """What must survive a restart, *kernel* with it, to be given to the next `Fold`."""
        log = kernel or LogState()
        histories = self._runtimes.histories
        return FoldState.of(
            self._inventory, (self._idle, self._quiet), histories, self._ecc.last, log
        ).encoded()

    def _begin(self) -> None:
        self._reports = 0
        self._cores.clear()
        self._ecc.clear()
        self._runtimes.end_minute()
        self._readings = Readings()

    def _forget_cores(self) -> None:
        """It is another instance than the one whose state was found."""
        self._idle, self._quiet = IdleMinutes(), QuietMinutes()
        self._runtimes.histories = RuntimeHistories()
        self._ecc = EccFold()

    def _sample(
        self, runtimes: list[Runtime], at_s: float, *, is_nobody: bool
    ) -> ReportSample | None:
        matched = None
        if self._settings.only_matched:
            matched = set().union(*self._runtimes.held(self._inventory.per_device()).values())
        known = self._inventory.known_cores()
        newest = None if self._cores.newest is None else Sample(*self._cores.newest)
        is_told = self._settings.executions_asked or self._runtimes.tells_executions()
        none_ran = is_nobody and is_told
        return ReportSample.of(newest, runtimes, at_s, known, matched, none_ran=none_ran)

    def _restore(self, state: bytes | None) -> None:
        # The boot is a new one, so a minute that the last one closed may open
        # again: the stack merges the two parts.
        found = read_state(state)
        self._inventory = found.inventory()
        self._idle = IdleMinutes(found.idle_label, found.idle_minutes, found.idle_watched)
        self._quiet = QuietMinutes(found.quiet_label, found.quiet_minutes)
        self._runtimes.histories = found.histories
        self._ecc = EccFold(found.ecc)
