"""
Lines of single reports: those of one-second metrics, and reports written as they came.

A line of one-second metrics waits until the dimensions of its metrics are known. The instance
type and the image are in the reports, and where they are not, the metadata service answers soon
after the start, without keeping the reader waiting. CloudWatch makes no metric of a line later,
and alarms on one-second metrics look five seconds back: so a line waits, but for 3 seconds at
most.

Of raw reports the last one of every Nth minute is written. The first minute that has a report is
one of them: a raw report appears at once, and a fleet that was not started in one minute does
not send all of them in one. Pure: no clock.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Final

from neuron_emitter.health import above_zero
from neuron_wire.extraction import MAX_EXTRACTED_BYTES
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuron_emitter.fold import LineIdentity, ReportSample
    from neuron_emitter.lines import LineWriter
    from neuron_emitter.spool.spool_records import NewRecord

HELD_S: Final = 3.0
MAX_HELD: Final = 100
"""Reports that may wait: a file that is read at once brings more than a monitor."""


class ReportQueue:
    """
    The reports that wait, the oldest first.

    Attributes:
        lines_without: Lines that went without metrics by their common dimensions.
    """

    def __init__(self) -> None:
        self._waiting: deque[ReportSample] = deque()
        self.lines_without = 0

    def add_sample(self, sample: ReportSample) -> None:
        """Let *sample* wait for its turn."""
        self._waiting.append(sample)

    def ends_at_s(self) -> float | None:
        """When the oldest has waited for long enough, seconds since the epoch."""
        return self._waiting[0].at_s + HELD_S if self._waiting else None

    def take_due(self, now_s: float, *, is_every: bool) -> Iterator[ReportSample]:
        """Take the reports that have waited for long enough; *is_every* takes all of them."""
        while self._waiting and (is_every or self._is_over(now_s)):
            yield self._waiting.popleft()

    def health_members(self) -> dict[str, int]:
        """Return the count of lines without metrics, if there are any."""
        return above_zero(ReportLinesWithoutMetrics=self.lines_without)

    def _is_over(self, now_s: float) -> bool:
        # A clock that was set back does not make it longer.
        held_s = now_s - self._waiting[0].at_s
        return len(self._waiting) > MAX_HELD or not 0 <= held_s < HELD_S


TOO_LARGE_MEMBER: Final = "RawReportsTooLarge"

_log = logging.getLogger(__name__)


class RawReports:
    """
    The choice among the reports of one run.

    Attributes:
        every_minutes: Write one every so many minutes from now on; None for none.

        newest: The bytes and the receipt of the last report of the open minute.

        too_large: Reports that were due and not written, because no log event is so long.
    """

    def __init__(self) -> None:
        self.every_minutes: int | None = None
        self.newest: tuple[bytes, float] | None = None
        self.too_large = 0
        self._written: int | None = None  # epoch minute

    def due_record(
        self, minute_ms: int, writer: LineWriter, identity: LineIdentity, *, seq: int
    ) -> NewRecord | None:
        """
        The report to write of the minute that closed, None where none is due.

        One that no log event can hold is counted, and the first is logged.
        """
        newest, self.newest = self.newest, None
        if newest is None or self.every_minutes is None:
            return None
        minute = minute_ms // MINUTE_MS
        if self._written is not None and 0 <= minute - self._written < self.every_minutes:
            return None
        self._written = minute
        record = writer.raw_record(*newest, identity, seq)
        if record is not None:
            return record
        self.too_large += 1
        if self.too_large == 1:
            _log.warning(
                "--raw-reports dropped a report of %d bytes: a log event holds at most "
                "%d. It is counted in %s; this is logged once.",
                len(newest[0]),
                MAX_EXTRACTED_BYTES,
                TOO_LARGE_MEMBER,
            )
        return None

    def health_members(self) -> dict[str, int]:
        """What the next minute line says of it."""
        return {TOO_LARGE_MEMBER: self.too_large} if self.too_large else {}
