"""
Which events of a call CloudWatch Logs took nothing of, although it answered that all is well.

What its answer may hold:
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_RejectedLogEventsInfo.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.spool.records import DropReason


def rejected_places(
    response: Mapping[str, object], events: int
) -> dict[DropReason, tuple[int, ...]]:
    """
    Places of the rejected events, each in one class.

    The two ends are exclusive, the start is inclusive, says the API's model.
    What is too old has also expired: the first class that fits counts.
    """
    found = response.get("rejectedLogEventsInfo")
    indexes = found if isinstance(found, dict) else {}
    old_end = _index(indexes, "tooOldLogEventEndIndex", 0, events)
    expired_end = _index(indexes, "expiredLogEventEndIndex", 0, events)
    new_start = _index(indexes, "tooNewLogEventStartIndex", events, events)
    new_start = max(old_end, expired_end, new_start)
    places: dict[DropReason, tuple[int, ...]] = {
        "too_old": tuple(range(old_end)),
        "expired": tuple(range(old_end, expired_end)),
        "too_new": tuple(range(new_start, events)),
    }
    return {reason: those for reason, those in places.items() if those}


def _index(indexes: Mapping[str, object], name: str, default: int, events: int) -> int:
    """A place up to *events*; the default for what is no place."""
    found = indexes.get(name)
    return min(events, found) if type(found) is int and found >= 0 else default
