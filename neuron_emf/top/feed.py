"""
Where the fleet's lines come from, and which are asked for next.

CloudWatch Logs is asked for as little as shows everything: from the first
minute on of which a line may still come. Once a minute it is asked for the
last few minutes as a whole, for what came later than expected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from neuron_emf.reading import LogGroup, Records, lines_in, pattern_of
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from neuron_emf.account import Account
    from neuron_emf.printing import Advance
    from neuron_emf.top.window import Window

LOOK_BACK_MS: Final = 4 * MINUTE_MS
"""How late a line may be and still be seen by one that looks; the rollups take later ones, too."""

_WHOLE_EACH_MS: Final = MINUTE_MS
_AHEAD_MS: Final = 2 * MINUTE_MS  # clocks differ


class Feed(Protocol):
    """Where lines come from."""

    @property
    def records(self) -> Records:
        """What the last reading read."""

    @property
    def is_live(self) -> bool:
        """Whether more will come while time goes on."""

    def read(self, window: Window, now_ms: int, advance: Advance | None = None) -> None:
        """
        Take into *window* what is new at *now_ms*.

        Raises:
            EmitterError: If nothing can be read.
        """

    @property
    def traffic(self) -> str:
        """What reading took so far, as a short text."""


class FileFeed:
    """Files, read again as a whole when one of them has changed."""

    is_live = False

    def __init__(self, paths: Sequence[Path]) -> None:
        self.records = Records()
        self._paths = paths
        self._seen: list[tuple[int, int]] | None = None

    def read(self, window: Window, _now_ms: int, advance: Advance | None = None) -> None:
        """Take in all lines, unless nothing has changed."""
        found = self._state()
        if found is not None and found == self._seen:
            return
        self.records = Records()
        window.add(self.records.of(lines_in(self._paths, advance)))
        self._seen = found

    @property
    def traffic(self) -> str:
        """How many files."""
        return "1 file" if len(self._paths) == 1 else f"{len(self._paths)} files"

    def _state(self) -> list[tuple[int, int]] | None:
        try:
            found = [path.stat() for path in self._paths]
        except OSError:  # reading it says why, and '-' is read once
            return None
        return [(one.st_size, one.st_mtime_ns) for one in found]


class LogGroupFeed:
    """The emitters' log group, by FilterLogEvents."""

    is_live = True

    def __init__(self, account: Account, since_ms: int, cluster: str) -> None:
        """
        Begin *since_ms* before the first reading; lines of *cluster* alone, or of all.

        Raises:
            SettingsError: If no client can be made.
        """
        self.records = Records()
        self._group = LogGroup(account, account.log_group)
        self._since_ms = since_ms
        self._pattern = pattern_of(*filter(None, [cluster]))
        self._whole_ms: int | None = None

    def read(self, window: Window, now_ms: int, advance: Advance | None = None) -> None:
        """Take in what may have come since the last reading."""
        start_ms = self._start_ms(window, now_ms)
        self.records = Records()  # what is read again is no copy that somebody sent
        window.add(self.records.of(self._lines(start_ms, now_ms, advance)))
        if start_ms <= now_ms - LOOK_BACK_MS:
            self._whole_ms = now_ms

    @property
    def traffic(self) -> str:
        """How many calls, and how much came."""
        calls = "1 call" if self._group.calls == 1 else f"{self._group.calls:,} calls"
        return f"{calls}, {self._group.bytes_read / 1e6:,.1f} MB"

    def _lines(self, start_ms: int, now_ms: int, advance: Advance | None) -> Iterator[str]:
        return self._group.lines(start_ms, now_ms + _AHEAD_MS, self._pattern, advance=advance)

    def _start_ms(self, window: Window, now_ms: int) -> int:
        if self._whole_ms is None:
            return now_ms - max(self._since_ms, LOOK_BACK_MS)
        look_back_ms = now_ms - LOOK_BACK_MS
        if now_ms - self._whole_ms >= _WHOLE_EACH_MS:
            # After a pause, or when nothing could be read: no minute in between is left out.
            return min(look_back_ms, self._whole_ms - LOOK_BACK_MS)
        return max(look_back_ms, window.missing_since_ms(look_back_ms))
