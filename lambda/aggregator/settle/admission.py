"""
Which instances of a bucket count in an hour: those whose cluster was published.

So the ledger has the records that rollups have, and no more names than the
registry of close had room for, whatever somebody wrote into lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from aggregator.reading.capacity import BucketCapacity


@dataclass(slots=True)
class HourAdmission:
    """
    Of one bucket.

    Attributes:
        known: Clusters and instances that count so far.
    """

    known: set[tuple[str, str]] = field(default_factory=set)
    _capacity: BucketCapacity = field(default_factory=BucketCapacity)

    def admits(self, cluster: str, instance_id: str, *, is_published: bool = False) -> bool:
        """Whether the instance counts already, or its cluster *is_published* and there is room."""
        if (cluster, instance_id) in self.known:
            return True
        if not is_published or not self._capacity.admits(cluster, instance_id):
            return False
        self.known.add((cluster, instance_id))
        return True
