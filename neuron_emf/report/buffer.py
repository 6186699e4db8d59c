"""
Minute records that wait for others of the same instance and minute.

An emitter that restarted, or a second one beside it, may have written to
another file or stream, so a minute is counted when all is read. A record waits
as the few members that the idle report needs: 0.5 KB of 32 cores instead of 3.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.errors import SettingsError
from neuron_wire import MinuteRecord
from neuron_wire.merging import merge
from neuron_wire.names import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuron_wire.holders import Holder
    from neuron_wire.merging import InstanceMinute
    from neuron_wire.owners import Owner

MAX_RECORDS: Final = 4_000_000
"""Records that may wait at once: 2 GB of instances with 32 cores."""


@dataclass(frozen=True, slots=True)
class _BufferedRecord:
    boot: str
    seq: int
    covered_seconds: float
    core_state: str
    idle_minutes: bytes  # 4 a core: a tuple takes up to 36
    holders: tuple[Holder, ...]
    holders_more: int
    owners: tuple[Owner, ...]
    owners_more: str
    lifecycle: str | None
    paid: str | None
    instance_type: str | None
    region: str | None
    executions: int | None
    execution_errors: int | None
    tera_flops: float | None
    bye: bool

    def record(self, cluster: str, instance_id: str, minute_ms: int) -> MinuteRecord:
        """As a record whose utilization says no more than which cores are known."""
        return MinuteRecord(
            cluster=cluster,
            instance_id=instance_id,
            boot=self.boot,
            seq=self.seq,
            minute_ms=minute_ms,
            covered_seconds=self.covered_seconds,
            reports=0,
            core_state=self.core_state,
            utilization_percent=tuple(
                [None if letter == UNKNOWN else 0.0 for letter in self.core_state]
            ),
            idle_minutes=tuple(array("I", self.idle_minutes)),
            executions=self.executions,
            execution_errors=self.execution_errors,
            tera_flops=self.tera_flops,
            bye=self.bye,
            instance_type=self.instance_type,
            region=self.region,
            holders=self.holders,
            holders_more=self.holders_more,
            owners=self.owners,
            owners_more=self.owners_more,
            lifecycle=self.lifecycle,
            paid=self.paid,
        )


class MinuteBuffer:
    """The records that wait, by cluster and instance and minute."""

    def __init__(self, max_records: int = MAX_RECORDS) -> None:
        """None yet; more than *max_records* are refused."""
        self._max_records = max_records
        self._records: dict[tuple[str, str], dict[int, list[_BufferedRecord]]] = defaultdict(dict)
        self._texts: dict[str, str] = {}
        self._holders: dict[tuple[Holder, ...], tuple[Holder, ...]] = {}
        self._owners: dict[tuple[Owner, ...], tuple[Owner, ...]] = {}
        self._count = 0

    def add(self, record: MinuteRecord) -> None:
        """
        Keep *record*, which was not kept before.

        Raises:
            SettingsError: If no more can be kept.
        """
        self._count += 1
        if self._count > self._max_records:
            msg = (
                f"More than {self._max_records:,} instance-minutes would be in memory at once. "
                "Use a shorter --since and --until, or one --cluster."
            )
            raise SettingsError(msg)
        minutes = self._records[self._shared(record.cluster), self._shared(record.instance_id)]
        minutes.setdefault(record.minute_ms, []).append(
            _BufferedRecord(
                boot=self._shared(record.boot),
                seq=record.seq,
                covered_seconds=record.covered_seconds,
                core_state=self._shared(record.core_state),
                idle_minutes=array("I", record.idle_minutes).tobytes(),
                holders=self._holders.setdefault(record.holders, record.holders),
                holders_more=record.holders_more,
                owners=self._owners.setdefault(record.owners, record.owners),
                owners_more=self._shared(record.owners_more),
                lifecycle=record.lifecycle and self._shared(record.lifecycle),
                paid=record.paid and self._shared(record.paid),
                instance_type=record.instance_type and self._shared(record.instance_type),
                region=record.region and self._shared(record.region),
                executions=record.executions,
                execution_errors=record.execution_errors,
                tera_flops=record.tera_flops,
                bye=record.bye,
            )
        )

    def take(self) -> Iterator[InstanceMinute]:
        """Merge and let go all, each instance's minutes in order of time."""
        records, self._records = self._records, defaultdict(dict)
        self._count = 0
        self._texts.clear()
        self._holders.clear()
        self._owners.clear()
        for cluster, instance_id in sorted(records):
            minutes = records.pop((cluster, instance_id))
            for minute_ms in sorted(minutes):
                yield merge(
                    buffered.record(cluster, instance_id, minute_ms)
                    for buffered in minutes[minute_ms]
                )

    def _shared(self, text: str) -> str:
        """The same object for the same text: a boot stands in ten thousand records."""
        return self._texts.setdefault(text, text)
