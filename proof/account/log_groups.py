"""
The log groups of an account, and DescribeLogGroups on them.

Streams and events are where the emitter's rules keep them; here is what else a
log group has.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proof.account.model import check
from proof.logs.forms import INVALID, ServiceError
from proof.logs.rules import NOT_FOUND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proof.account.pages import Tokens
    from proof.logs.rules import Applied, LogRules

MAX_DESCRIBED = 50
DAY_MS = 86_400_000


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
        self.answers = {"DescribeLogGroups": self.describe_log_groups}

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
        The log group that a request is for.

        Raises:
            ServiceError: If it names none, or there is no such log group.
        """
        name = document.get("logGroupName")
        if name is None:
            raise ServiceError(INVALID, "A log group must be named.")
        if name not in self.rules.groups:
            raise ServiceError(NOT_FOUND, "The specified log group does not exist.")
        return str(name)

    def describe_log_groups(self, document: dict[str, Any]) -> dict[str, Any]:
        """A page of them, sorted by name."""
        check("DescribeLogGroups", document, "logGroupNamePrefix", "limit")
        prefix = document.get("logGroupNamePrefix", "")
        found = [name for name in sorted(self.rules.groups) if name.startswith(prefix)]
        size = document.get("limit", MAX_DESCRIBED)
        page, more = self.tokens.page("DescribeLogGroups", document, found, size)
        return {"logGroups": [self._described(name) for name in page], **more}

    def _described(self, name: str) -> dict[str, Any]:
        group = self.of(name)
        days = group.retention_days
        return {
            "logGroupName": name,
            "creationTime": self.made_ms,
            "arn": f"{self.arn}{name}:*",
            "metricFilterCount": 0,
            "storedBytes": 0,
            "deletionProtectionEnabled": False,
            "bearerTokenAuthenticationEnabled": False,
            "logGroupClass": group.log_group_class,
            "logGroupArn": f"{self.arn}{name}",
            **({} if days is None else {"retentionInDays": days}),
        }
