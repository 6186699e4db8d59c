"""What one report costs: from the bytes of a pipe to the open minute."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

import msgspec

from benchmarks.figure import Figure
from benchmarks.turns import in_turns
from emitter.fold import Fold, FoldSettings
from emitter.reports.framing import Framer

if TYPE_CHECKING:
    from collections.abc import Sequence

USUAL_LIMIT: Final = 2.0
LONG_LIMIT: Final = 1.0
_START_S: Final = 1_800_000_000.0
_REPORTS_A_MINUTE: Final = 12


def usual(lines: Sequence[bytes], rounds: int) -> Figure:
    """A report of 4 KB, against an untyped decode of the same bytes."""
    return _figure(lines, USUAL_LIMIT, rounds=rounds, times=120)


def long(lines: Sequence[bytes], rounds: int) -> Figure:
    """A report of 444 KB, against an untyped decode of the same bytes."""
    return _figure(lines, LONG_LIMIT, rounds=rounds, times=2)


def _figure(lines: Sequence[bytes], limit: float, *, rounds: int, times: int) -> Figure:
    reader = _Reader(lines)
    bare = itertools.cycle(lines)
    decode = msgspec.json.Decoder().decode
    reader.read()
    turns = in_turns(reader.read, lambda: decode(next(bare)), rounds=rounds, times=times)
    reader.require_all_read()
    ours_us, theirs_us = 1e6 * min(turns.ours_s), 1e6 * min(turns.theirs_s)
    return Figure(
        f"processor time of a report of {len(lines[-1]) / 1000:.0f} KB: read, decode, fold",
        turns.ratio,
        "x",
        limit,
        f"bare msgspec decode {theirs_us:,.1f} us, ours {ours_us:,.1f} us,"
        f" fastest rounds {turns.least_ratio:.2f} x, {rounds} rounds in turns",
    )


class _Reader:
    """The emitter's way of a report, over and over; a new minute begins with every twelfth."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = itertools.cycle(lines)
        self._framer = Framer()
        self._fold = Fold(FoldSettings(period_s=5.0))
        self._given = 0

    def read(self) -> None:
        """Take the next report."""
        self._given += 1
        if self._given % _REPORTS_A_MINUTE == 0:
            self._fold.discard()
        for report in self._framer.feed(next(self._lines)):
            self._fold.add(report, _START_S)

    def require_all_read(self) -> None:
        """A report that was dropped would have been cheap."""
        read, dropped = self._fold.reports_read, self._framer.malformed + self._fold.malformed
        if (read, dropped) != (self._given, 0):
            msg = f"{self._given} reports were given, {read} read and {dropped} pieces dropped"
            raise RuntimeError(msg)
