"""
What the stack's rollups said of each minute of each cluster.

Of a tally each publication says only what the earlier ones lacked, so the
amounts of a minute add up; a line that came twice has the same RollupId and
counts once.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from neuron_wire.names import ROLLUP, VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuron_emf.report.period import Period


@dataclass(slots=True)
class PublishedMinute:
    """
    All that was published of one minute of one cluster.

    Attributes:
        records: Minute records behind the last publication.

        core_minutes: Idle core minutes; None when none was ever told.

        usd: Their price; None when none was ever told.
    """

    records: int = 0
    core_minutes: float | None = None
    usd: float | None = None
    _last_number: int = 0
    _seen: set[int] = field(default_factory=set)

    def add(self, number: int, records: int, core_minutes: float | None, usd: float | None) -> bool:
        """Add publication *number*; False if it was there."""
        if number in self._seen:
            return False
        self._seen.add(number)
        if number > self._last_number:
            self._last_number, self.records = number, records
        if core_minutes is not None:
            self.core_minutes = (self.core_minutes or 0) + core_minutes
        if usd is not None:
            self.usd = (self.usd or 0) + usd
        return True


class Published:
    """
    What has been read of the rollups so far.

    Attributes:
        minutes: By cluster and start of the minute, milliseconds.

        read: Distinct rollups.

        unreadable: Lines that say they are rollups and cannot be read.
    """

    def __init__(self, period: Period, cluster: str = "") -> None:
        """Nothing yet; only minutes in *period* count, and of *cluster* if one is named."""
        self.minutes: dict[tuple[str, int], PublishedMinute] = {}
        self.read = 0
        self.unreadable = 0
        self._period = period
        self._cluster = cluster

    def add_line(self, line: str) -> None:
        """Add *line* if it is a rollup."""
        try:
            members = json.loads(line)
        except (ValueError, RecursionError):
            return  # the reader of minutes counts it
        if not isinstance(members, dict) or members.get("Kind") != ROLLUP:
            return
        schema = members.get("Schema")
        if type(schema) is not int or not 1 <= schema <= VERSION:
            self.unreadable += 1
            return
        self.add_members(members)

    def add_members(self, members: Mapping[str, Any]) -> None:
        """Add a rollup by the members of its line, or those that a saved query gives of them."""
        try:
            cluster = members["ClusterName"]
            minute_ms = _moment_ms(members["Minute"])
            number = _whole(members["Publication"])
            records = _whole(members["Records"])
            core_minutes = _amount(members.get("IdleCoreMinutes"))
            usd = _amount(members.get("IdleCost"))
        except (KeyError, TypeError, ValueError, OverflowError):
            self.unreadable += 1
            return
        if not isinstance(cluster, str) or minute_ms not in self._period:
            return
        if self._cluster not in {"", cluster}:
            return
        minute = self.minutes.setdefault((cluster, minute_ms), PublishedMinute())
        self.read += minute.add(number, records, core_minutes, usd)


def _moment_ms(text: object) -> int:
    if not isinstance(text, str):
        raise TypeError(text)
    # Python 3.10 reads no Z.
    return round(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def _whole(value: object) -> int:
    found = _amount(value)
    if found is None or found != int(found):
        raise ValueError(value)
    return int(found)


def _amount(value: object) -> float | None:
    """A number, also as the text that a query gives of it."""
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError(value)
    found = float(value)
    if not 0 <= found < float(1 << 63):  # NaN is not
        raise ValueError(value)
    return found
