"""
The rollup lines of the last minutes: read once, and each minute the newest again.

A RollupId is cluster, minute and publication, and each counts once: of lines that
have the same, one repeated after a crash or asked for again, the last. Of several
publications of a minute the last counts, because the page shows gauges, which each
states whole.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from neuron_emf.reading import LogGroup
from neuron_emf.reading.rollup_line import Rollup, number_in, object_in, rollup_of
from neuron_wire.names import MINUTE_MS, ROLLUP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from neuron_emf.account import Account

FIRST_MINUTES: Final = 15
"""What the first screen needs is in the first reading."""

AGAIN_MINUTES: Final = 5
KEPT_MINUTES: Final = 12 * 60
TOGETHER_MINUTES: Final = 5
"""A cluster whose newest rollup is older than the newest of all by more is gone."""

AHEAD_MS: Final = 2 * MINUTE_MS  # clocks differ
_OF_CLOSE: Final = "MinutesClosed"


class RollupWindow:
    """What the rollups' log group says; any thread may ask."""

    def __init__(self, account: Account, logs: Any, now_ms: Callable[[], int]) -> None:  # noqa: ANN401  # a boto3 client
        """Nothing is read yet; *logs* is a client of *account*."""
        self._groups = [LogGroup(account, account.rollups_log_group, logs) for _ in range(2)]
        self._now_ms = now_ms
        self._rollups: dict[tuple[str, int], Rollup] = {}
        self._newest: dict[str, tuple[int, int, Mapping[str, Any]]] = {}  # minute, publication
        self._close: tuple[int, Mapping[str, float]] | None = None
        self._read_ms = 0  # never
        self._from_ms = 0
        self._reading = threading.Lock()  # of what is newest
        self._extending = threading.Lock()
        self._known = threading.Lock()

    def refresh(self) -> int:
        """
        Read what is new, at most once a minute; gives when that was, milliseconds.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        with self._reading:
            now_ms = self._now_ms()
            start_ms = start_of_reading(now_ms, self._read_ms, FIRST_MINUTES)
            if start_ms is not None:
                start_ms = start_ms // MINUTE_MS * MINUTE_MS
                self._take(self._groups[0].lines(start_ms, now_ms + AHEAD_MS))
                self._from_ms = self._from_ms or start_ms
                self._read_ms = now_ms
                self._forget(now_ms - KEPT_MINUTES * MINUTE_MS)
            return self._read_ms

    def extend(self, start_ms: int) -> int:
        """
        Read further back, to *start_ms*; gives from when on all is known, milliseconds.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        with self._extending:
            wanted_ms = max(start_ms, self._now_ms() - KEPT_MINUTES * MINUTE_MS)
            wanted_ms = wanted_ms // MINUTE_MS * MINUTE_MS
            if wanted_ms < self._from_ms:
                self._take(self._groups[1].lines(wanted_ms, self._from_ms))
                self._from_ms = wanted_ms
            return self._from_ms

    def rollups(self, start_ms: int) -> list[Rollup]:
        """Each minute of each cluster from *start_ms* on, in order of time."""
        with self._known:
            found = [one for one in self._rollups.values() if one.minute_ms >= start_ms]
        return sorted(found, key=lambda one: (one.minute_ms, one.cluster))

    def newest(self) -> dict[str, Mapping[str, Any]]:
        """The newest line of each cluster that is still published, by cluster."""
        with self._known:
            if not self._newest:
                return {}
            newest_ms = max(minute_ms for minute_ms, _, _ in self._newest.values())
            oldest_ms = newest_ms - TOGETHER_MINUTES * MINUTE_MS
            return {
                cluster: line
                for cluster, (minute_ms, _, line) in sorted(self._newest.items())
                if minute_ms >= oldest_ms
            }

    def close_report(self) -> tuple[int, Mapping[str, float]] | None:
        """What close last said of itself, and when; None when it said nothing."""
        with self._known:
            return self._close

    @property
    def traffic(self) -> tuple[int, int]:
        """Calls, and bytes of lines."""
        calls = sum(group.calls for group in self._groups)
        return calls, sum(group.bytes_read for group in self._groups)

    def _take(self, lines: Iterable[str]) -> None:
        for text in lines:
            line = object_in(text) if text.startswith("{") else None  # else Lambda's own
            if line is None:
                continue
            if _OF_CLOSE in line:
                self._take_close(line)
            elif line.get("Kind") == ROLLUP and (rollup := rollup_of(line)) is not None:
                self._take_rollup(rollup, line)

    def _take_rollup(self, rollup: Rollup, line: Mapping[str, Any]) -> None:
        key = rollup.cluster, rollup.minute_ms
        with self._known:
            known = self._rollups.get(key)
            if known is None or rollup.publication >= known.publication:
                self._rollups[key] = rollup
            newest = self._newest.get(rollup.cluster)
            place = rollup.minute_ms, rollup.publication
            if newest is None or place >= newest[:2]:
                self._newest[rollup.cluster] = (*place, line)

    def _take_close(self, line: Mapping[str, Any]) -> None:
        metadata = line.get("_aws")
        at_ms = metadata.get("Timestamp") if isinstance(metadata, dict) else None
        last = {  # Powertools writes a list
            name: value[-1] if isinstance(value, list) and value else value
            for name, value in line.items()
        }
        numbers = {name: value for name in last if (value := number_in(last, name)) is not None}
        with self._known:
            if type(at_ms) is int and (self._close is None or at_ms >= self._close[0]):
                self._close = at_ms, numbers

    def _forget(self, oldest_ms: int) -> None:
        with self._known:
            self._from_ms = max(self._from_ms, oldest_ms // MINUTE_MS * MINUTE_MS)
            self._rollups = {
                key: one for key, one in self._rollups.items() if one.minute_ms >= oldest_ms
            }
            self._newest = {
                cluster: kept for cluster, kept in self._newest.items() if kept[0] >= oldest_ms
            }


def start_of_reading(now_ms: int, last_ms: int, first_minutes: int) -> int | None:
    """
    From when on lines are to be read; None where it is less than a minute since *last_ms*.

    At first, where *last_ms* is 0, *first_minutes* back; then the newest again, and after a pause
    no minute in between is left out.
    """
    if not last_ms:
        return now_ms - first_minutes * MINUTE_MS
    if 0 <= now_ms - last_ms < MINUTE_MS:
        return None
    return min(now_ms, last_ms) - AGAIN_MINUTES * MINUTE_MS
