"""
The newest minutes of each instance, kept while time goes on.

Records come in any order, some again and again; what is kept of an instance is
its newest minute and the one before, because the newest may still be missing a
part. An instance is known until it has been silent for an hour.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from neuron_emf.reading.clusters import ClusterNames
from neuron_wire.merging import merge
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from neuron_wire import MinuteRecord
    from neuron_wire.merging import InstanceMinute

FORGET_AFTER_MINUTES: Final = 60  # as the stack does unless told otherwise
_MINUTES_KEPT: Final = 2

Name = tuple[str, str]
"""Cluster and instance id."""


@dataclass(slots=True)
class _Instance:
    minutes: dict[int, dict[tuple[str, int], MinuteRecord]] = field(default_factory=dict)

    @property
    def newest_ms(self) -> int:
        return max(self.minutes)

    def add(self, record: MinuteRecord) -> None:
        self.minutes.setdefault(record.minute_ms, {})[record.boot, record.seq] = record
        if len(self.minutes) > _MINUTES_KEPT:
            del self.minutes[min(self.minutes)]


class Window:
    """
    What is known of each instance.

    Attributes:
        others: Clusters that lines name and nobody asked for.
    """

    def __init__(self, cluster: str = "") -> None:
        """Nothing yet, of *cluster* alone or of all."""
        self.others = ClusterNames()
        self._cluster = cluster
        self._instances: dict[Name, _Instance] = {}

    def add(self, records: Iterable[MinuteRecord]) -> None:
        """Take in *records*, in any order."""
        for record in records:
            if self._cluster and record.cluster != self._cluster:
                self.others.add(record.cluster)
                continue
            name = (record.cluster, record.instance_id)
            self._instances.setdefault(name, _Instance()).add(record)

    def forget(self, before_ms: int) -> None:
        """Leave out instances without a minute since *before_ms*."""
        gone = [name for name, one in self._instances.items() if one.newest_ms < before_ms]
        for name in gone:
            del self._instances[name]

    @property
    def newest_ms(self) -> int | None:
        """Start of the newest minute that anybody told of."""
        return max((one.newest_ms for one in self._instances.values()), default=None)

    def newest_minutes(self) -> Iterator[InstanceMinute]:
        """Of each instance its newest minute, in order of their names."""
        for name in sorted(self._instances):
            instance = self._instances[name]
            yield merge(instance.minutes[instance.newest_ms].values())

    def missing_since_ms(self, earliest_ms: int) -> int:
        """
        Start of the first minute from *earliest_ms* on of which a line may still come.

        An instance that told of none since then is not waited for.
        """
        told = [
            instance.newest_ms + MINUTE_MS
            for instance in self._instances.values()
            if instance.newest_ms >= earliest_ms
        ]
        return min(told, default=earliest_ms)
