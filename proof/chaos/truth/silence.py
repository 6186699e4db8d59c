"""
Who was silent in a minute, by all that is known in the end, worked out the slow way.

The rule, once more: an instance that reported before and said no goodbye in the
last minute it reported in is silent from SilentAfterMinutes without a record
on until SilentForgetMinutes; a cluster is known while it has an instance that is
there, was there no longer ago than that, or is silent. Instances here stay in
their cluster, and EC2 stops none.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_wire import MinuteRecord

SILENT_AFTER_MINUTES = 5
SILENT_FORGET_MINUTES = 60


class Attendance:
    """In which minutes each instance reported, and whether it said goodbye then."""

    def __init__(self, records: Iterable[MinuteRecord]) -> None:
        parts: dict[tuple[str, str, int], dict[str, list[MinuteRecord]]] = {}
        for one in records:
            minute = parts.setdefault((one.cluster, one.instance_id, one.minute_ms // 60_000), {})
            minute.setdefault(one.boot, []).append(one)
        self._gone: dict[str, dict[str, dict[int, bool]]] = defaultdict(lambda: defaultdict(dict))
        for (cluster, instance, minute_number), boots in parts.items():
            self._gone[cluster][instance][minute_number] = _said_goodbye(boots)

    def silent(self, cluster: str, minute: int) -> set[str]:
        """The instances that are silent in *minute*."""
        return {
            name
            for name, absent in self._absent(cluster, minute)
            if SILENT_AFTER_MINUTES < absent <= SILENT_FORGET_MINUTES
        }

    def is_known(self, cluster: str, minute: int, absent_minutes: int = 0) -> bool:
        """
        Whether *cluster* must have a rollup of *minute*.

        By an instance that is absent for at least *absent_minutes*.
        """
        return any(
            absent_minutes <= absent <= SILENT_FORGET_MINUTES
            for _, absent in self._absent(cluster, minute)
        )

    @property
    def clusters(self) -> list[str]:
        """Everyone of whom anybody ever reported."""
        return sorted(self._gone)

    def _absent(self, cluster: str, minute: int) -> Iterable[tuple[str, int]]:
        """For how many minutes each instance is absent that came and did not say goodbye."""
        for name, minutes in self._gone.get(cluster, {}).items():
            last = max((one for one in minutes if one <= minute), default=None)
            if last is not None and (last == minute or not minutes[last]):
                yield name, minute - last


def _said_goodbye(boots: dict[str, list[MinuteRecord]]) -> bool:
    """One emitter after the other: the last word. Two at once (over 66 seconds): both of them."""
    last = {boot: max(parts, key=lambda one: one.seq) for boot, parts in boots.items()}
    covered_s = sum(round(100 * one.covered_seconds) for own in boots.values() for one in own) / 100
    if len(boots) > 1 and covered_s > 66:
        return all(one.bye for one in last.values())
    return last[max(last)].bye
