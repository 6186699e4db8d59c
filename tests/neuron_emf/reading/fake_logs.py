"""A fake of FilterLogEvents with pages as AWS documents them, and as the embedded AWS answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError


@dataclass
class FakeLogs:
    """
    A client of one log group.

    Attributes:
        events: (timestamp in ms, message), ascending by timestamp.

        page_sizes: Number of events of each next page; the page after them has the rest.

        tokens: True if the service says that more events follow.

        streams: Messages of each log stream, if a test sets them.
    """

    events: list[tuple[int, str]] = field(default_factory=list)
    page_sizes: list[int] = field(default_factory=list)
    tokens: bool = True
    streams: dict[str, list[str]] = field(default_factory=dict)
    refusal: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)

    def filter_log_events(self, **request: Any) -> dict[str, Any]:
        self.requests.append(dict(request))
        if self.refusal:
            raise ClientError({"Error": {"Code": self.refusal}}, "FilterLogEvents")
        of_stream = None
        for name in request.get("logStreamNames", ()):
            if name not in self.streams:
                raise ClientError(
                    {"Error": {"Code": "ResourceNotFoundException"}}, "FilterLogEvents"
                )
            of_stream = self.streams[name]
        events = [
            {"timestamp": at_ms, "message": message}  # AWS may leave eventId out
            for at_ms, message in self.events
            if request["startTime"] <= at_ms <= request["endTime"]
            and (of_stream is None or message in of_stream)
            and all(term in message for term in request.get("filterPattern", "").split('"')[1::2])
        ]
        start = int(request.get("nextToken", "0").partition(" ")[0])
        size = min(self.page_sizes.pop(0) if self.page_sizes else 10_000, request["limit"])
        answer: dict[str, Any] = {"events": events[start : start + size]}
        if self.tokens and start + size < len(events):
            # the same token never occurs twice
            answer["nextToken"] = f"{start + size} {len(self.requests)}"
        return answer


@dataclass
class FakeLogsAccount:
    """An account with one client."""

    logs: FakeLogs
    is_rehearsal: bool = False
    log_group: str = "/neuron-emf/records"

    def client(self, service: str) -> FakeLogs:
        assert service == "logs"
        return self.logs
