"""
Lines of a log group in a time range, page by page.

FilterLogEvents is free. A page has at most 1 MB, and may be empty although more pages follow.

https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html

An account may call it 5 times a second in a Region. Only one page is in memory. The client handles
throttling: it retries and waits longer each time. When it gives up, the reading ends. A response
without its list of events is an error, not an empty page.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from neuron_emf.account import documented, error_code
from neuron_emitter.delivery.aws_failures import NOT_FOUND
from neuron_emitter.delivery.destination import stream_name
from neuron_emitter.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from neuron_emf.account import Account
    from neuron_emitter.command_line import Advance
    from neuron_wire.line_members import Entries, JsonObject

MAX_EVENTS_PER_PAGE: Final = 10_000  # the most events that FilterLogEvents returns
ACTION: Final = "logs:FilterLogEvents"
MINUTES_FILTER: Final = '"CoveredSeconds"'
"""A term that only minute lines have. The stack's subscription uses the same pattern."""

MAX_CALLS: Final = 300
MAX_SECONDS: Final = 60.0

_SAFE_TERM: Final = re.compile(r"[0-9A-Za-z ._/:#@+-]{1,255}")


def pattern_of(*terms: str) -> str:
    """
    Return a filter pattern that matches minute lines with all of *terms*.

    The pattern reduces the lines to read and is not exact: a term with characters that mean
    something in a pattern is left out, and a line may have a term in another place.
    """
    return " ".join([MINUTES_FILTER, *filter(None, map(term_of, terms))])


def term_of(text: str) -> str:
    """Return *text* as a term of a pattern; empty if a character has a meaning in patterns."""
    return f'"{text}"' if _SAFE_TERM.fullmatch(text) else ""


class GroupLine(NamedTuple):
    """
    One event of a log group.

    Attributes:
        stream: Name of its log stream; empty if CloudWatch Logs did not report it.

        text: Its message.

        received_ms: Time at which CloudWatch Logs received the line, by its own clock, milliseconds
            since the Unix epoch; None if not reported.
    """

    stream: str
    text: str
    received_ms: int | None


class ReadLimit:
    """
    The limit of reading for one answer: `MAX_CALLS` calls, and no call after `MAX_SECONDS`.

    Log groups that are read for one answer share one limit. Each call is reported to *advance*.
    """

    def __init__(self, advance: Advance, clock: Callable[[], float] = time.monotonic) -> None:
        self._advance = advance
        self._clock = clock
        self._start_s = clock()
        self._calls = 0

    def count_call(self, name: str) -> None:
        """
        Count one more call on log group *name*.

        Raises:
            SourceError: If the limit is reached.
        """
        elapsed_s = self._clock() - self._start_s
        if self._calls >= MAX_CALLS or elapsed_s >= MAX_SECONDS:
            msg = (
                f"Reading {name} stopped after {self._calls} calls and {elapsed_s:.0f} s, before "
                "its last line. Try again later, or use a log group for each cluster."
            )
            raise SourceError(msg)
        self._calls += 1
        self._advance(self._calls, MAX_CALLS)


class LogGroup:
    """
    One log group that one client reads repeatedly.

    Attributes:
        name: Name of the log group.

        calls: Pages that were requested.

        bytes_read: Size of the lines that were read.
    """

    def __init__(
        self,
        account: Account,
        name: str,
        logs: Any = None,  # noqa: ANN401  # a boto3 client
        limit: ReadLimit | None = None,
    ) -> None:
        """
        Read *name* of *account*, with its client *logs* if there is one already.

        Without a *limit* it reads to the end.

        Raises:
            SettingsError: If no client can be made.
        """
        self.name = name
        self.calls = 0
        self.bytes_read = 0
        self._logs = account.client("logs") if logs is None else logs
        self._ends_early = account.is_rehearsal
        self._limit = limit

    def read_lines(self, start_ms: int, end_ms: int, pattern: str = "") -> Iterator[str]:
        """
        Yield the lines of all streams from *start_ms* until before *end_ms*, by time.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        return (line.text for line in self.read_events(start_ms, end_ms, pattern))

    def read_events(
        self, start_ms: int, end_ms: int, pattern: str = "", stream: str = ""
    ) -> Iterator[GroupLine]:
        """
        Yield the lines of all streams or one, each with its log stream and the time of its receipt.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer, or the limit is reached.
        """
        for page in self._pages(max(0, start_ms), end_ms, pattern, stream):
            for event in page:
                message: str = event["message"]
                self.bytes_read += len(message.encode("utf-8", "surrogatepass"))
                name = event.get("logStreamName", stream)
                yield GroupLine(name, message, event.get("ingestionTime"))

    def read_stream_of_instance(
        self, start_ms: int, end_ms: int, instance_id: str, pattern: str
    ) -> list[GroupLine]:
        """
        Return the lines of the default log stream of an emitter on *instance_id*.

        A log stream that does not exist has no lines.

        Raises:
            SourceError: As `read_events` does.
        """
        stream = stream_name("{instance}", cluster="", instance_id=instance_id)
        try:
            return list(self.read_events(start_ms, end_ms, pattern, stream))
        except SourceError as error:
            if error_code(error.__cause__) != NOT_FOUND:
                raise
        return []

    def read_lines_of_instance(
        self, start_ms: int, end_ms: int, instance_id: str, pattern: str
    ) -> list[str]:
        """
        Return the lines of *instance_id* that match *pattern*, as `read_lines` yields them.

        The default stream of its emitter is read first. That is one call, but a page of the group
        may have none of its lines. With `--log-stream`, the emitter has another stream.

        Raises:
            SourceError: As `read_lines` does.
        """
        own = []
        if instance_id:
            own = self.read_stream_of_instance(start_ms, end_ms, instance_id, pattern)
        return [line.text for line in own or self.read_events(start_ms, end_ms, pattern)]

    def _pages(self, start_ms: int, end_ms: int, pattern: str, stream: str) -> Iterator[Entries]:
        request: dict[str, Any] = {
            "logGroupName": self.name,
            "startTime": start_ms,
            "endTime": end_ms - 1,  # CloudWatch Logs includes the last millisecond
            "limit": MAX_EVENTS_PER_PAGE,
        }
        if pattern:
            request["filterPattern"] = pattern
        if stream:
            request["logStreamNames"] = [stream]
        while request["startTime"] < end_ms:
            answer = self._call(request)
            events = answer["events"]
            if answer.get("nextToken"):
                yield events
                if answer["nextToken"] == request.get("nextToken"):
                    msg = f"{ACTION} on {self.name} returned the same page token twice. Try again."
                    raise SourceError(msg)
                request["nextToken"] = answer["nextToken"]
            elif self._ends_early and len(events) >= MAX_EVENTS_PER_PAGE:
                last_ms = events[-1]["timestamp"]  # the embedded AWS cuts off without a token
                if last_ms <= request["startTime"]:
                    msg = (
                        f"{self.name} has more lines in a millisecond than the embedded AWS reads."
                    )
                    raise SourceError(msg)
                yield [event for event in events if event["timestamp"] < last_ms]
                request.pop("nextToken", None)
                request["startTime"] = last_ms
            else:
                yield events
                return

    def _call(self, request: dict[str, Any]) -> JsonObject:
        self.calls += 1
        if self._limit is not None:
            self._limit.count_call(self.name)
        with documented(f"{ACTION} on {self.name}"):
            answer: JsonObject = self._logs.filter_log_events(**request)
            for event in answer["events"]:
                times = event["timestamp"], event.get("ingestionTime", 0)
                texts = event["message"], event.get("logStreamName", "")
                if {*map(type, times)} != {int} or {*map(type, texts)} != {str}:
                    raise TypeError(event.keys())
        return answer
