"""What one run of close did, for whoever has to tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

MAX_REFUSED_CLUSTERS: Final = 5
"""Clusters named when records are refused."""


@dataclass(slots=True)
class ReadingCounts:
    """
    What was read of the records.

    Attributes:
        records_read: Records read, counting every copy and every reading.

        records_unreadable: Records dropped because they are none of ours.

        records_refused: Records left out of their minute because they are over
            a bound, counting every reading.

        refused_clusters: The first few clusters that these name.
    """

    records_read: int = 0
    records_unreadable: int = 0
    records_refused: int = 0
    refused_clusters: list[str] = field(default_factory=list)

    def refuse(self, cluster: str, records: int = 1) -> None:
        """Count *records* of *cluster* over a bound; name the cluster while there are few."""
        self.records_refused += records
        named = self.refused_clusters
        if len(named) < MAX_REFUSED_CLUSTERS and cluster not in named:
            named.append(cluster)

    def count(self, other: ReadingCounts) -> None:
        """Add what *other* counted."""
        self.records_read += other.records_read
        self.records_unreadable += other.records_unreadable
        self.records_refused += other.records_refused
        for cluster in other.refused_clusters:
            self.refuse(cluster, records=0)


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

        lines_printed: Lines of clusters and of instance types.

        lines_refused: Rollups dropped because CloudWatch would not extract them.

        seconds_behind: Seconds since the end of the latest minute up to which
            every minute is closed.
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
