"""What one run of close did, for whoever has to tell."""

from __future__ import annotations

from dataclasses import dataclass

from aggregator.reading.reading_counts import ReadingCounts


@dataclass(slots=True)
class CloseOutcome(ReadingCounts):
    """
    What one run did, beside what it read.

    Attributes:
        left: Another run has the lease; nothing was done.

        superseded: Another run published at the same time; this one stopped.

        out_of_time: Minutes are left for the next run.

        minutes_closed: Minutes closed for the first time.

        minutes_restated: Minutes reduced again for late records.

        minutes_waiting: Minutes left to the next run although they are due.

        minutes_dropped: Minutes never closed, because closing paused too long
            or no run could read them whole.

        lines_printed: Rollups printed.

        lines_refused: Rollups dropped because CloudWatch would not extract them.

        seconds_behind: Seconds since the end of the latest minute up to which
            every minute is closed.

        findings_failed: Events that the bus has not taken, and that the next run sends again.

        findings_waiting: Steps that were not taken, because too many events wait.
    """

    left: bool = False
    superseded: bool = False
    out_of_time: bool = False
    minutes_closed: int = 0
    minutes_restated: int = 0
    minutes_waiting: int = 0
    minutes_dropped: int = 0
    lines_printed: int = 0
    lines_refused: int = 0
    seconds_behind: float = 0.0
    findings_failed: int = 0
    findings_waiting: int = 0
