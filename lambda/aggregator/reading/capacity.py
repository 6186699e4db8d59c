"""
How many instances count: there is an end to it, whatever somebody writes into lines.

Room is counted in the text that a bucket of the registry is packed from, because text
that somebody chose need not compress.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from neuron_wire.merging import Key

MAX_BUCKET_BYTES: Final = 400_000
"""
Of one bucket, with one run of each instance; DynamoDB takes 409,600 of an item.
That is 6,000 instances of EC2, and nearly 200,000 in all buckets.
"""

_PUNCTUATION_BYTES: Final = 31  # of an instance, with the minutes and the shutdown of a run
_NULL_BYTES: Final = 4


@dataclass(slots=True)
class BucketCapacity:
    """
    What is left of one bucket's item.

    Attributes:
        left_bytes: Below 0 where more was remembered before there was an end.

        clusters: Those whose names stand in it.
    """

    left_bytes: int = MAX_BUCKET_BYTES
    clusters: set[str] = field(default_factory=set)

    def take_room(self, cluster: str, instance_id: str, instance_type: str | None) -> None:
        """Take the room of one instance that is remembered already."""
        self.left_bytes -= self._needed(cluster, instance_id) + _bytes(instance_type) - _NULL_BYTES
        self.clusters.add(cluster)

    def admits(self, cluster: str, instance_id: str) -> bool:
        """Take the room of an instance whose type is not known yet, if there is any."""
        if self._needed(cluster, instance_id) > self.left_bytes:
            return False
        self.take_room(cluster, instance_id, None)
        return True

    def exchanges(self, before: str | None, after: str | None) -> bool:
        """Take the room of another instance type, if there is any."""
        needed = _bytes(after) - _bytes(before)
        if needed > max(0, self.left_bytes):
            return False
        self.left_bytes -= needed
        return True

    def _needed(self, cluster: str, instance_id: str) -> int:
        own = _bytes(instance_id) + _PUNCTUATION_BYTES + _NULL_BYTES
        return own if cluster in self.clusters else own + _bytes(cluster) + _NULL_BYTES


def _bytes(text: str | None) -> int:
    """What *text*, printable ASCII, takes in JSON."""
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
        """Whether the instance counts already, or its cluster *is_published* and there is room."""
        if (cluster, instance_id) in self.known:
            return True
        if not is_published or not self._capacity.admits(cluster, instance_id):
            return False
        self.known.add((cluster, instance_id))
        return True
