"""What one instance did in the period, minute by minute added up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neuron_emf.report.amounts import IdleAmount
from neuron_emf.report.holding import NOBODY
from neuron_wire.names import ATTACHED_IDLE, BUSY, MINUTE_MS, UNATTACHED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_emf.report.holding import Owner
    from neuron_wire.merging import InstanceMinute


@dataclass(slots=True)
class CoreTime:
    """
    What there is to say of cores, in core minutes.

    Attributes:
        busy: At or above the busy threshold.

        attached_idle: Held, but not busy, for however long.

        unattached: Neither.

        unknown: Without telemetry. Never counted as idle.
    """

    busy: int = 0
    attached_idle: int = 0
    unattached: int = 0
    unknown: int = 0

    def add(self, state: str) -> None:
        """Add one minute of an instance by the letters of its cores."""
        busy, attached, unattached = map(state.count, (BUSY, ATTACHED_IDLE, UNATTACHED))
        self.busy += busy
        self.attached_idle += attached
        self.unattached += unattached
        self.unknown += len(state) - busy - attached - unattached

    def merge(self, other: CoreTime) -> None:
        """Add all of *other*."""
        self.busy += other.busy
        self.attached_idle += other.attached_idle
        self.unattached += other.unattached
        self.unknown += other.unknown

    @property
    def known(self) -> int:
        """Core minutes with telemetry."""
        return self.busy + self.attached_idle + self.unattached


@dataclass(slots=True)
class Coverage:
    """
    How much of the time telemetry covers.

    Attributes:
        minutes: Instance minutes with a line.

        missing: Those without, between two lines of an instance that had not
            said goodbye.

        covered_hundredths: Hundredths of a second that samples cover.
    """

    minutes: int = 0
    missing: int = 0
    covered_hundredths: int = 0

    def merge(self, other: Coverage) -> None:
        """Add all of *other*."""
        self.minutes += other.minutes
        self.missing += other.missing
        self.covered_hundredths += other.covered_hundredths

    @property
    def percent(self) -> float | None:
        """Share of the minutes with and without a line; None when there is none."""
        expected = self.minutes + self.missing
        return self.covered_hundredths / (60 * expected) if expected else None


@dataclass(slots=True)
class IdleCore:
    """
    One core, in the minutes in which it was idle.

    Attributes:
        amount: How much.

        longest_minutes: For how long it had not been busy, at most.

        owner: Whose it was last.
    """

    amount: IdleAmount = field(default_factory=IdleAmount)
    longest_minutes: int = 0
    owner: Owner = NOBODY


@dataclass(slots=True)
class InstanceTime:
    """
    One instance of one cluster.

    Attributes:
        instance_type: As told last, or None.

        cores: Core minutes by what the cores did.

        coverage: How much of it is known.

        idle: Idle cores.

        whole: The part of *idle* in minutes in which every core was idle.

        whole_minutes: How many minutes those are.

        duplicate_minutes: Minutes in which two emitters reported.

        by_core: Cores that were idle, by index.
    """

    cluster: str
    instance_id: str
    instance_type: str | None = None
    cores: CoreTime = field(default_factory=CoreTime)
    coverage: Coverage = field(default_factory=Coverage)
    idle: IdleAmount = field(default_factory=IdleAmount)
    whole: IdleAmount = field(default_factory=IdleAmount)
    whole_minutes: int = 0
    duplicate_minutes: int = 0
    by_core: dict[int, IdleCore] = field(default_factory=dict)
    _last_ms: int | None = None
    _is_gone: bool = False

    @property
    def is_never_busy(self) -> bool:
        """No core was busy in any minute, and something is known of them."""
        return self.cores.known > 0 and self.cores.busy == 0

    def add(self, minute: InstanceMinute) -> None:
        """Add a minute that is later than all before."""
        record = minute.record
        if record.instance_type is not None:
            self.instance_type = record.instance_type
        self.cores.add(record.core_state)
        self.coverage.minutes += 1
        self.coverage.covered_hundredths += round(100 * record.covered_seconds)
        self.duplicate_minutes += minute.duplicate_emitters
        if self._last_ms is not None and not self._is_gone:
            self.coverage.missing += (record.minute_ms - self._last_ms) // MINUTE_MS - 1
        self._last_ms, self._is_gone = record.minute_ms, minute.gone

    def add_idle(
        self,
        idle: Sequence[int],
        minute: InstanceMinute,
        owners: dict[int, Owner],
        usd_per_core_hour: float | None,
    ) -> None:
        """Add the *idle* cores of a minute, at least one."""
        record = minute.record
        self.idle.add(len(idle), usd_per_core_hour)
        if len(idle) == len(record.core_state):
            self.whole.add(len(idle), usd_per_core_hour)
            self.whole_minutes += 1
        for core in idle:
            one = self.by_core.get(core)
            if one is None:
                one = self.by_core[core] = IdleCore()
            one.amount.add(1, usd_per_core_hour)
            one.longest_minutes = max(one.longest_minutes, record.idle_minutes[core])
            one.owner = owners[core]
