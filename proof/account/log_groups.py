"""
The log groups of an account, and DescribeLogGroups and DescribeLogStreams on them.

Streams and events are where the emitter's rules keep them; here is what else a
log group has.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from proof.account.model import check
from proof.logs.forms import INVALID, ServiceError
from proof.logs.rules import NOT_FOUND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proof.account.pages import Tokens
    from proof.logs.rules import Applied, LogRules

MAX_DESCRIBED = 50
DAY_MS = 86_400_000
# A request for one of them finds both.
LESS_THAN_STANDARD = {"INFREQUENT_ACCESS", "ESSENTIALS"}


@dataclass
class StoredGroup:
    """What a log group has beside its streams."""

    log_group_class: str = "STANDARD"
    retention_days: int | None = 30


@dataclass
class StoredGroups:
    """
    The log groups of one account in one Region.

    Attributes:
        arn: What the name of a log group stands behind, `arn:aws:logs:REGION:ACCOUNT:log-group:`.

        made_ms: When all of them were made.

        settings: By name; a group that is not here has the defaults.
    """

    rules: LogRules
    tokens: Tokens
    arn: str
    made_ms: int
    settings: dict[str, StoredGroup] = field(default_factory=dict)
    answers: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.answers = {
            "DescribeLogGroups": self.describe_log_groups,
            "DescribeLogStreams": self.describe_log_streams,
        }

    def add(self, name: str, log_group_class: str = "STANDARD", days: int | None = 30) -> None:
        """Make a log group."""
        self.rules.groups.setdefault(name, set())
        self.settings[name] = StoredGroup(log_group_class, days)

    def remove(self, name: str) -> None:
        """Delete a log group with all that is in it."""
        del self.rules.groups[name]
        self.rules.applied[:] = [one for one in self.rules.applied if one.group != name]

    def of(self, name: str) -> StoredGroup:
        """What a log group has."""
        return self.settings.setdefault(name, StoredGroup())

    def streams(self, name: str) -> set[str]:
        """The names of its streams."""
        return self.rules.groups[name]

    def events(
        self, name: str, lag_ms: float = 0.0
    ) -> Iterator[tuple[tuple[int, int, int], Applied]]:
        """Its events that can be found now, each after what it is sorted by."""
        now_ms = round(self.rules.clock() * 1000)
        days = self.of(name).retention_days
        oldest_ms = 0 if days is None else now_ms - days * DAY_MS
        for number, one in enumerate(self.rules.applied):
            is_found = one.timestamp_ms >= oldest_ms and one.ingested_ms + lag_ms <= now_ms
            if one.group == name and is_found:
                yield (one.timestamp_ms, one.ingested_ms, number), one

    def named_in(self, document: dict[str, Any]) -> str:
        """
        The log group that a request is for, by its name or its identifier.

        Raises:
            ServiceError: If it names none or two, or there is no such log group.
        """
        name, identifier = document.get("logGroupName"), document.get("logGroupIdentifier")
        if (name is None) == (identifier is None):
            words = "Exactly one of logGroupName and logGroupIdentifier is required."
            raise ServiceError(INVALID, words)
        return self.found(name if name is not None else str(identifier))

    def found(self, identifier: str) -> str:
        """
        The name of a log group that is there, from its name or ARN.

        Raises:
            ServiceError: If there is no such log group.
        """
        name = identifier.removeprefix(self.arn)
        if name not in self.rules.groups:
            raise ServiceError(NOT_FOUND, "The specified log group does not exist.")
        return name

    @staticmethod
    def refuse_stream() -> NoReturn:
        """
        Say that a stream is not there.

        Raises:
            ServiceError: Always.
        """
        raise ServiceError(NOT_FOUND, "The specified log stream does not exist.")

    def describe_log_groups(self, document: dict[str, Any]) -> dict[str, Any]:
        """A page of them, sorted by name."""
        check("DescribeLogGroups", document)
        _one_of(document, "logGroupNamePrefix", "logGroupNamePattern")
        if "logGroupIdentifiers" in document:
            others = document.keys() - {"logGroupIdentifiers", "includeLinkedAccounts"}
            if others:
                words = f"logGroupIdentifiers and {min(others)} are mutually exclusive."
                raise ServiceError(INVALID, words)
        wanted = document.get("logGroupClass")
        classes = LESS_THAN_STANDARD if wanted in LESS_THAN_STANDARD else {wanted}
        identifiers = [
            one.removeprefix(self.arn) for one in document.get("logGroupIdentifiers", ())
        ]
        found = [
            name
            for name in sorted(self.rules.groups)
            if name.startswith(document.get("logGroupNamePrefix", ""))
            and document.get("logGroupNamePattern", "") in name
            and (not identifiers or name in identifiers)
            and (wanted is None or self.of(name).log_group_class in classes)
        ]
        size = document.get("limit", MAX_DESCRIBED)
        page, more = self.tokens.page("DescribeLogGroups", document, found, size)
        is_short = "logGroupNamePattern" in document
        return {"logGroups": [self._described(name, is_short=is_short) for name in page], **more}

    def describe_log_streams(self, document: dict[str, Any]) -> dict[str, Any]:
        """A page of the streams of one, by name or by the time of the last event."""
        check("DescribeLogStreams", document)
        name = self.named_in(document)
        by_time = document.get("orderBy") == "LastEventTime"
        if by_time and "logStreamNamePrefix" in document:
            words = "Cannot order by LastEventTime with a logStreamNamePrefix."
            raise ServiceError(INVALID, words)
        times: dict[str, list[int]] = {
            stream: []
            for stream in sorted(self.streams(name))
            if stream.startswith(document.get("logStreamNamePrefix", ""))
        }
        ingested: dict[str, int] = {}
        for _, one in self.events(name):
            if one.stream in times:
                times[one.stream].append(one.timestamp_ms)
                ingested[one.stream] = max(ingested.get(one.stream, 0), one.ingested_ms)
        found = sorted(times, reverse=bool(document.get("descending")))
        if by_time:
            found.sort(
                key=lambda stream: max(times[stream], default=0),
                reverse=bool(document.get("descending")),
            )
        size = document.get("limit", MAX_DESCRIBED)
        page, more = self.tokens.page("DescribeLogStreams", document, found, size)
        streams = []
        for stream in page:
            one = {
                "logStreamName": stream,
                "creationTime": self.made_ms,
                "arn": f"{self.arn}{name}:log-stream:{stream}",
                "storedBytes": 0,
            }
            if times[stream]:
                one["firstEventTimestamp"] = min(times[stream])
                one["lastEventTimestamp"] = max(times[stream])
                one["lastIngestionTime"] = ingested[stream]
            streams.append(one)
        return {"logStreams": streams, **more}

    def _described(self, name: str, *, is_short: bool) -> dict[str, Any]:
        group = self.of(name)
        short = {"logGroupName": name, "creationTime": self.made_ms, "arn": f"{self.arn}{name}:*"}
        if is_short:
            return short
        kept = {"retentionInDays": group.retention_days} if group.retention_days is not None else {}
        return {
            **short,
            **kept,
            "metricFilterCount": 0,
            "storedBytes": 0,
            "logGroupClass": group.log_group_class,
            "logGroupArn": f"{self.arn}{name}",
        }


def _one_of(document: dict[str, Any], *names: str) -> None:
    if all(name in document for name in names):
        raise ServiceError(INVALID, f"{' and '.join(names)} are mutually exclusive.")
