"""
Lines written per report: high-resolution metrics and raw reports.

A line of one-second metrics waits until the dimensions of its metrics are known. The instance type
and the image are in the reports, or the metadata service answers soon after the start, without
delaying the reader. CloudWatch does not extract metrics from a line later, and alarms on one-second
metrics look back five seconds, so a line waits at most 3 seconds.

Of raw reports, the last one of every Nth minute is written, starting with the first minute that has
a report: a raw report appears at once, and a fleet that was not started in one minute does not send
all its raw reports in one minute. Pure: no clock.
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
"""Reports that may wait: reading a file yields more reports at once than a monitor."""


class ReportQueue:
    """
    The waiting reports, the oldest first.

    Attributes:
        lines_without: The number of lines written without metrics by their common dimensions.
    """

    def __init__(self) -> None:
        self._waiting: deque[ReportSample] = deque()
        self.lines_without = 0

    def add_sample(self, sample: ReportSample) -> None:
        """Queue *sample*."""
        self._waiting.append(sample)

    def ends_at_s(self) -> float | None:
        """Return the time at which the oldest report has waited enough, seconds since the epoch."""
        return self._waiting[0].at_s + HELD_S if self._waiting else None

    def take_due(self, now_s: float, *, is_every: bool) -> Iterator[ReportSample]:
        """Take the reports that have waited long enough; *is_every* takes all reports."""
        while self._waiting and (is_every or self._is_over(now_s)):
            yield self._waiting.popleft()

    def health_members(self) -> dict[str, int]:
        """Return the count of lines without metrics, if there are any."""
        return above_zero(ReportLinesWithoutMetrics=self.lines_without)

    def _is_over(self, now_s: float) -> bool:
        # If the clock was set back, the wait does not become longer.
        held_s = now_s - self._waiting[0].at_s
        return len(self._waiting) > MAX_HELD or not 0 <= held_s < HELD_S


TOO_LARGE_MEMBER: Final = "RawReportsTooLarge"

_log = logging.getLogger(__name__)


class RawReports:
    """
    Selects the raw reports of one run that are written.

    Attributes:
        every_minutes: Minutes between two written reports from now on; None to write none.

        newest: The bytes and the receipt time of the open minute's last report.

        too_large: Reports that were due and not written, because they exceed a log event.
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
        Return the report to write for the closed minute, None if none is due.

        A report that exceeds a log event is counted, and the first one is logged.
        """
        newest = self.newest
        self.newest = None
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
        """Return the members of the next minute line about raw reports."""
        return {TOO_LARGE_MEMBER: self.too_large} if self.too_large else {}
