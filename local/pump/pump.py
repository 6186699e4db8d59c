"""
Log groups to metrics, once per call.

Counts what CloudWatch would count: lines it could not read (EMFParsingErrors)
and lines it read but refused (EMFValidationErrors).
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from local.embedded_aws import require_loopback
from local.pump.extraction import extract
from local.pump.publishing import publish
from local.pump.tail import LogEvent, LogTail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from local.pump.extraction import Datum


@dataclass(slots=True)
class Counts:
    """
    What the pump has seen since it started.

    Attributes:
        parsing_errors: EMF lines that are no readable document.

        validation_errors: EMF lines that CloudWatch would refuse.

        rules: How often each rule was broken.
    """

    events: int = 0
    emf_lines: int = 0
    data: int = 0
    calls: int = 0
    parsing_errors: int = 0
    validation_errors: int = 0
    rules: Counter[str] = field(default_factory=Counter)


class EmfPump:
    """Stands where CloudWatch's own extraction stands on AWS."""

    def __init__(self, logs: Any, cloudwatch: Any, groups: Sequence[str], since_ms: int) -> None:  # noqa: ANN401  # boto3 clients
        """
        Read *groups* from *since_ms* on, milliseconds since the epoch.

        Raises:
            EmbeddedAwsError: If a client would talk to anything but a loopback address.
        """
        for used in (logs, cloudwatch):
            require_loopback(used.meta.endpoint_url)
        self._cloudwatch = cloudwatch
        self._tails = [LogTail(logs, group, since_ms) for group in groups]
        self.counts = Counts()

    def turn(self) -> dict[str, list[LogEvent]]:
        """Extract what is new; returns the new events by log group."""
        now_ms = time.time_ns() // 1_000_000
        data: list[Datum] = []
        new: dict[str, list[LogEvent]] = {}
        for tail in self._tails:
            new[tail.group] = tail.new_events()
            for event in new[tail.group]:
                self.counts.events += 1
                extraction = extract(event.message, now_ms)
                self.counts.emf_lines += bool(extraction.data or extraction.refused)
                if extraction.refused:
                    self.counts.rules.update(extraction.refused)
                    self.counts.parsing_errors += extraction.unreadable
                    self.counts.validation_errors += not extraction.unreadable
                data.extend(extraction.data)
        self.counts.calls += publish(self._cloudwatch, data)
        self.counts.data += len(data)
        return new
