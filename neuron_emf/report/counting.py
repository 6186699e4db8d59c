"""
Minute records in, idle time out.

The same rule as the rollups': a core is idle in a minute that is known, and in
which it has not been busy for a number of whole minutes or more.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from neuron_emf.report.amounts import IdleAmount
from neuron_emf.report.held import HeldMinutes
from neuron_emf.report.holding import owners
from neuron_emf.report.instances import InstanceTime
from neuron_wire.names import ATTACHED_IDLE, UNATTACHED

if TYPE_CHECKING:
    from neuron_emf.report.holding import Owner
    from neuron_emf.report.period import Period
    from neuron_wire import MinuteRecord
    from neuron_wire.merging import InstanceMinute
    from neuron_wire.prices import Prices

_NOT_BUSY: Final = ATTACHED_IDLE + UNATTACHED


@dataclass(slots=True)
class OwnerTime:
    """
    The idle time of one owner in one cluster.

    Attributes:
        idle: How much.

        instances: Where.
    """

    idle: IdleAmount = field(default_factory=IdleAmount)
    instances: set[str] = field(default_factory=set)


@dataclass(slots=True)
class ClusterMinute:
    """
    What the lines say of one minute of one cluster, to hold against its rollup.

    Attributes:
        records: Distinct minute records.

        idle: Idle cores.
    """

    records: int = 0
    idle: IdleAmount = field(default_factory=IdleAmount)


class Counting:
    """
    What has been counted so far.

    Attributes:
        instances: By cluster and instance id.

        owners: By cluster and owner.

        minutes: By cluster and start of the minute, milliseconds.

        outside: Records of other times or clusters than were asked for.

        overridden: Types whose price is not the one of the list, as met.
    """

    def __init__(
        self, period: Period, idle_after_minutes: int, prices: Prices, cluster: str = ""
    ) -> None:
        """Nothing yet; only what is in *period* will count, and of *cluster* if one is named."""
        self.instances: dict[tuple[str, str], InstanceTime] = {}
        self.owners: dict[tuple[str, Owner], OwnerTime] = defaultdict(OwnerTime)
        self.minutes: dict[tuple[str, int], ClusterMinute] = defaultdict(ClusterMinute)
        self.outside = 0
        self.overridden: set[str] = set()
        self._period = period
        self._idle_after_minutes = idle_after_minutes
        self._prices = prices
        self._cluster = cluster
        self._held = HeldMinutes()

    def add(self, record: MinuteRecord) -> None:
        """
        Add *record*, which no earlier call gave.

        Raises:
            SettingsError: If more wait than can be kept.
        """
        if record.minute_ms not in self._period or self._cluster not in {"", record.cluster}:
            self.outside += 1
            return
        self._held.add(record)

    def close(self) -> None:
        """Count what was added: all that there is of these minutes, later ones follow."""
        for minute in self._held.take():
            self._count(minute)

    def _count(self, minute: InstanceMinute) -> None:
        record = minute.record
        key = record.cluster, record.instance_id
        instance = self.instances.get(key)
        if instance is None:
            instance = self.instances[key] = InstanceTime(*key)
        instance.add(minute)
        of_cluster = self.minutes[record.cluster, record.minute_ms]
        of_cluster.records += minute.records
        state, after = record.core_state, self._idle_after_minutes
        if max(record.idle_minutes, default=0) < after:
            return
        idle = [
            core
            for core, minutes in enumerate(record.idle_minutes)
            if minutes >= after and state[core] in _NOT_BUSY
        ]
        if not idle:
            return
        price = self._prices.usd_per_core_hour(record.instance_type, len(state))
        if record.instance_type is not None and self._prices.is_overridden(record.instance_type):
            self.overridden.add(record.instance_type)
        of_cluster.idle.add(len(idle), price)
        whose = owners(record, idle)
        instance.add_idle(idle, minute, whose, price)
        for owner in set(whose.values()):
            theirs = self.owners[record.cluster, owner]
            theirs.idle.add(sum(one == owner for one in whose.values()), price)
            theirs.instances.add(record.instance_id)
