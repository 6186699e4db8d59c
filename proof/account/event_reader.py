"""
FilterLogEvents and GetLogEvents on what was put, as documented and recorded.

A page may be empty although more follows, which is where readers go wrong: the
first page of FilterLogEvents is empty here, unless a test says otherwise, and one more
follows the last event. GetLogEvents may be empty and have all the next time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proof.account.model import check
from proof.account.patterns import matcher
from proof.logs.forms import INVALID, NOT_PLAYED, ServiceError
from proof.logs.rules import NOT_FOUND

if TYPE_CHECKING:
    from proof.account.log_groups import StoredGroups
    from proof.account.pages import Tokens
    from proof.logs.rules import Applied

MAX_EVENTS = 10_000
MAX_BYTES = 1_048_576
STANDARD_ONLY = "{} is supported for log groups of the Standard log class only."

Key = tuple[int, int, int]


@dataclass
class EventReader:
    """
    What the readers of events are answered.

    Attributes:
        groups: Of the account, and what is in them.

        tokens: For what follows.

        page_events: As many are on a page at most; a test need not put 10,000.

        empty_pages: So many pages without an event come before the first with one.

        empty_reads: So many answers of GetLogEvents are empty that could have events.

        lag_ms: So long after it was taken an event is found.
    """

    groups: StoredGroups
    tokens: Tokens
    page_events: int = MAX_EVENTS
    empty_pages: int = 1
    empty_reads: int = 1
    lag_ms: float = 0.0
    answers: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.answers = {
            "FilterLogEvents": self.filter_log_events,
            "GetLogEvents": self.get_log_events,
        }

    def filter_log_events(self, document: dict[str, Any]) -> dict[str, Any]:
        """A page of the events of a group that match."""
        times = "startTime", "endTime"
        check("FilterLogEvents", document, "logGroupName", *times, "filterPattern", "limit")
        if document.get("endTime", 1 << 62) < document.get("startTime", 0):
            _refuse("startTime must not be after endTime.")
        group = self._standard(document, "FilterLogEvents")
        matches = matcher(document.get("filterPattern", ""))
        place = self.tokens.take("FilterLogEvents", document)
        empty, after = place or (self.empty_pages, (0,))
        found = [
            (key, one)
            for key, one in sorted(self.groups.events(group, self.lag_ms))
            if document.get("startTime", 0) <= one.timestamp_ms
            and one.timestamp_ms <= document.get("endTime", one.timestamp_ms)
            and key > after
            and matches(one.message)
        ]
        answer: dict[str, Any] = {"events": [], "searchedLogStreams": []}
        if found and empty:
            more = (empty - 1, after)
            return {**answer, "nextToken": self.tokens.give("FilterLogEvents", document, more)}
        taken = self._page(found, document)
        answer["events"] = [
            {"logStreamName": one.stream, **_plain(one), "eventId": f"{key[2]:056d}"}
            for key, one in taken
        ]
        if taken:  # also after the last event: what follows is a page without any
            more = (0, taken[-1][0])
            answer["nextToken"] = self.tokens.give("FilterLogEvents", document, more)
        return answer

    def get_log_events(self, document: dict[str, Any]) -> dict[str, Any]:
        """The first page of one stream."""
        times = "startTime", "startFromHead"
        check("GetLogEvents", document, "logGroupName", "logStreamName", *times)
        if not document.get("startFromHead"):
            raise ServiceError(NOT_PLAYED, "only startFromHead is played here", 501)
        group = self._standard(document, "GetLogEvents")
        if document["logStreamName"] not in self.groups.streams(group):
            raise ServiceError(NOT_FOUND, "The specified log stream does not exist.")
        found = [
            (key, one)
            for key, one in sorted(self.groups.events(group, self.lag_ms))
            if one.stream == document["logStreamName"]
            and document.get("startTime", 0) <= one.timestamp_ms
        ]
        if found and self.empty_reads:
            self.empty_reads -= 1
            found = []
        return {"events": [_plain(one) for _, one in self._page(found, document)]}

    def _standard(self, document: dict[str, Any], operation: str) -> str:
        group = self.groups.named_in(document)
        if self.groups.of(group).log_group_class != "STANDARD":
            _refuse(STANDARD_ONLY.format(operation))
        return group

    def _page(
        self, found: list[tuple[Key, Applied]], document: dict[str, Any]
    ) -> list[tuple[Key, Applied]]:
        taken: list[tuple[Key, Applied]] = []
        size = 0
        for key, one in found[: min(self.page_events, document.get("limit", MAX_EVENTS))]:
            size += len(one.message.encode())
            if taken and size > MAX_BYTES:
                break
            taken.append((key, one))
        return taken


def _plain(one: Applied) -> dict[str, Any]:
    return {"timestamp": one.timestamp_ms, "message": one.message, "ingestionTime": one.ingested_ms}


def _refuse(words: str) -> None:
    raise ServiceError(INVALID, words)
