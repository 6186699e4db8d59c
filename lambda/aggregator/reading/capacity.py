"""
Limit how many instances count, whatever names lines contain.

Room is counted in the text from which a bucket of the registry is packed, because a sender can
choose names that do not compress.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from neuron_wire.merging import Key

MAX_BUCKET_BYTES: Final = 400_000
"""
The most bytes of one bucket, with one run for each instance; an item of DynamoDB has at most
409,600. That is 6,000 instances of EC2, and nearly 200,000 in all buckets.
"""

# bytes of an entry next to its names: brackets, the minutes of a run, its shutdown
_PUNCTUATION_BYTES: Final = 31
_NULL_BYTES: Final = 4


@dataclass(slots=True)
class BucketCapacity:
    """
    The remaining room in one bucket's item.

    Attributes:
        left_bytes: Free bytes; below 0 if more instances were remembered than there is room for.

        clusters: The clusters whose names it contains.
    """

    left_bytes: int = MAX_BUCKET_BYTES
    clusters: set[str] = field(default_factory=set)

    def take_room(self, cluster: str, instance_id: str, instance_type: str | None) -> None:
        """Reserve the room of one instance that is remembered already."""
        self.left_bytes -= self._needed(cluster, instance_id) + _bytes(instance_type) - _NULL_BYTES
        self.clusters.add(cluster)

    def admits(self, cluster: str, instance_id: str) -> bool:
        """Reserve space for an instance of unknown type. Return False if the bucket is full."""
        if self._needed(cluster, instance_id) > self.left_bytes:
            return False
        self.take_room(cluster, instance_id, None)
        return True

    def exchanges(self, before: str | None, after: str | None) -> bool:
        """Reserve space for another instance type. Return False if there is none."""
        needed = _bytes(after) - _bytes(before)
        if needed > max(0, self.left_bytes):
            return False
        self.left_bytes -= needed
        return True

    def _needed(self, cluster: str, instance_id: str) -> int:
        own = _bytes(instance_id) + _PUNCTUATION_BYTES + _NULL_BYTES
        return own if cluster in self.clusters else own + _bytes(cluster) + _NULL_BYTES


def _bytes(text: str | None) -> int:
    """Return the bytes of *text*, printable ASCII, in JSON."""
    if text is None:
        return _NULL_BYTES
    return len(text) + 2 + text.count('"') + text.count("\\")


@dataclass(slots=True)
class HourAdmission:
    """
    The instances of one bucket whose records count.

    Attributes:
        known: Clusters and instances that count so far.
    """

    known: set[Key] = field(default_factory=set)
    _capacity: BucketCapacity = field(default_factory=BucketCapacity)

    def admits(self, cluster: str, instance_id: str, *, is_published: bool = False) -> bool:
        """Return True if the instance counts, or its cluster *is_published* and has room."""
        if (cluster, instance_id) in self.known:
            return True
        if not is_published or not self._capacity.admits(cluster, instance_id):
            return False
        self.known.add((cluster, instance_id))
        return True
