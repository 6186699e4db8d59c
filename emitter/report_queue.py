"""
Reports whose lines wait until the dimensions of their metrics are known.

The instance type and the image are in the reports, and where they are not, the
metadata service tells them soon after the start, without being waited for by
the reader. CloudWatch makes no metric of a line later, and alarms on one-second
metrics look five seconds back: so a line waits, but for 3 seconds at most.
Pure: no clock.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.fold import ReportSample
    from emitter.lines import LineIdentity, LineWriter
    from emitter.spool.records import NewRecord

HELD_S: Final = 3.0
MAX_HELD: Final = 100
"""Reports that may wait: a file that is read at once brings more than a monitor."""


class ReportQueue:
    """The reports that wait, the oldest first."""

    def __init__(self) -> None:
        self._waiting: deque[ReportSample] = deque()
        self._lines_without = 0

    def add(self, sample: ReportSample) -> None:
        """Let *sample* wait for its turn."""
        self._waiting.append(sample)

    def ends_at_s(self) -> float | None:
        """When the oldest has waited for long enough, seconds since the epoch."""
        return self._waiting[0].at_s + HELD_S if self._waiting else None

    def due(
        self,
        writer: LineWriter,
        identity: Callable[[], LineIdentity],
        now_s: float,
        *,
        is_end: bool = False,
    ) -> Iterator[Callable[[int], list[NewRecord]]]:
        """
        What makes the records of each report whose turn it is, given their first number.

        All turns have come when the dimensions are known, or with *is_end*.
        """
        if not self._waiting:
            return
        who = identity()
        is_known = writer.knows_dimensions(who)
        while self._waiting and (is_known or is_end or self._is_over(now_s)):
            yield partial(self._records, writer, self._waiting.popleft(), who, is_known)

    def health_members(self) -> dict[str, int]:
        """Lines that went without metrics by their common dimensions, when there are any."""
        return {"ReportLinesWithoutMetrics": self._lines_without} if self._lines_without else {}

    def _is_over(self, now_s: float) -> bool:
        # A clock that was set back does not make it longer.
        held_s = now_s - self._waiting[0].at_s
        return len(self._waiting) > MAX_HELD or not 0 <= held_s < HELD_S

    def _records(
        self,
        writer: LineWriter,
        sample: ReportSample,
        who: LineIdentity,
        is_known: bool,  # noqa: FBT001 - of a partial
        seq: int,
    ) -> list[NewRecord]:
        records = writer.report_records(sample, who, seq)
        if not is_known:
            self._lines_without += len(records)
        return records
