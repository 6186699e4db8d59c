"""
FilterLogEvents and GetLogEvents on what was put, as their documentation has it.

A page may be empty although more follows, which is where readers go wrong: the
first of several pages is empty here, unless a test says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proof.account.model import check
from proof.account.patterns import pattern_of
from proof.logs.forms import INVALID, ServiceError

if TYPE_CHECKING:
    from proof.account.log_groups import StoredGroups
    from proof.account.pages import Tokens
    from proof.logs.rules import Applied

MAX_EVENTS = 10_000
MAX_BYTES = 1_048_576
FROM_2024_MS = 1_704_067_200_000
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

        has_event_ids: Whether events have an `eventId`, which an emulator leaves out.

        lag_ms: So long after it was taken an event is found.
    """

    groups: StoredGroups
    tokens: Tokens
    page_events: int = MAX_EVENTS
    empty_pages: int = 1
    has_event_ids: bool = True
    lag_ms: float = 0.0
    answers: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.answers = {
            "FilterLogEvents": self.filter_log_events,
            "GetLogEvents": self.get_log_events,
        }

    def filter_log_events(self, document: dict[str, Any]) -> dict[str, Any]:
        """A page of the events of a group that match."""
        check("FilterLogEvents", document)
        if "logStreamNames" in document and "logStreamNamePrefix" in document:
            _refuse("logStreamNames and logStreamNamePrefix are mutually exclusive.")
        is_backward = document.get("startFromHead") is False
        if is_backward and document.get("startTime", 0) < FROM_2024_MS:
            _refuse("startFromHead false needs a startTime on or after Jan 1, 2024 00:00:00 UTC.")
        _check_order(document)
        group = self._standard(document, "FilterLogEvents")
        pattern = pattern_of(document.get("filterPattern", ""))
        named = set(document.get("logStreamNames", ()))
        missing = named - self.groups.streams(group)
        if missing:
            self.groups.refuse_stream()
        prefix = document.get("logStreamNamePrefix", "")
        place = self.tokens.take("FilterLogEvents", document)
        empty, after, is_backward = place or (self.empty_pages, None, is_backward)
        found = [
            (key, one)
            for key, one in self._events(group, is_backward=is_backward)
            if (not named or one.stream in named)
            and one.stream.startswith(prefix)
            and document.get("startTime", 0) <= one.timestamp_ms
            and one.timestamp_ms <= document.get("endTime", one.timestamp_ms)
            and (after is None or (key < after if is_backward else key > after))
            and pattern.is_in(one.message)
        ]
        answer: dict[str, Any] = {"events": [], "searchedLogStreams": []}
        if found and empty:
            more = (empty - 1, after, is_backward)
            return {**answer, "nextToken": self.tokens.give("FilterLogEvents", document, more)}
        taken = self._page(found, document)
        answer["events"] = [self._filtered(key, one) for key, one in taken]
        if len(taken) < len(found):
            more = (0, taken[-1][0], is_backward)
            answer["nextToken"] = self.tokens.give("FilterLogEvents", document, more)
        return answer

    def get_log_events(self, document: dict[str, Any]) -> dict[str, Any]:
        """A page of one stream; at its end the token is the one that was passed."""
        check("GetLogEvents", document)
        _check_order(document)
        group = self._standard(document, "GetLogEvents")
        if document["logStreamName"] not in self.groups.streams(group):
            self.groups.refuse_stream()
        found = [
            (key, one)
            for key, one in self._events(group, is_backward=False)
            if one.stream == document["logStreamName"]
            and document.get("startTime", 0) <= one.timestamp_ms
            and one.timestamp_ms < document.get("endTime", one.timestamp_ms + 1)
        ]
        is_forward = bool(document.get("startFromHead"))
        place = self.tokens.take("GetLogEvents", document)
        if place:
            is_forward, edge = place
            if is_forward and not document.get("startFromHead"):
                _refuse("startFromHead must be true with a nextForwardToken.")
            found = [(key, one) for key, one in found if (key > edge if is_forward else key < edge)]
        taken = self._page(found if is_forward else found[::-1], document)
        taken.sort()
        edge = place[1] if place else (0,)
        edges = {
            "nextForwardToken": (True, (*taken[-1][0], 1) if taken else edge),
            "nextBackwardToken": (False, taken[0][0] if taken else edge),
        }
        tokens = {
            name: document["nextToken"]
            if not taken and place and place[0] == where[0]  # the end of the stream
            else self.tokens.give("GetLogEvents", document, where)
            for name, where in edges.items()
        }
        return {"events": [_plain(one) for _, one in taken], **tokens}

    def _standard(self, document: dict[str, Any], operation: str) -> str:
        group = self.groups.named_in(document)
        if self.groups.of(group).log_group_class != "STANDARD":
            _refuse(STANDARD_ONLY.format(operation))
        return group

    def _events(self, group: str, *, is_backward: bool) -> list[tuple[Key, Applied]]:
        return sorted(self.groups.events(group, self.lag_ms), reverse=is_backward)

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

    def _filtered(self, key: Key, one: Applied) -> dict[str, Any]:
        event = {"logStreamName": one.stream, **_plain(one)}
        return {**event, "eventId": f"{key[2]:056d}"} if self.has_event_ids else event


def _plain(one: Applied) -> dict[str, Any]:
    return {"timestamp": one.timestamp_ms, "message": one.message, "ingestionTime": one.ingested_ms}


def _check_order(document: dict[str, Any]) -> None:
    if document.get("endTime", 1 << 62) < document.get("startTime", 0):
        _refuse("startTime must not be after endTime.")


def _refuse(words: str) -> None:
    raise ServiceError(INVALID, words)
