"""What was read of the records, for whoever has to tell."""

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
