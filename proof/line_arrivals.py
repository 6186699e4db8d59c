"""
Compare the lines that arrived with the lines that must have arrived.

Pure: lines in, problems out. An identity is (Boot, Seq); copies of a line are allowed, two
different lines of one identity are not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class Arrivals:
    """
    Lines at a destination.

    Attributes:
        lines: One event for each identity: its timestamp, ms since the epoch, and its text.

        copies: The number of additional copies.

        conflicts: Identities with two different lines.
    """

    lines: Mapping[tuple[str, int], tuple[int, str]]
    copies: int
    conflicts: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, events: Iterable[tuple[int, str]]) -> Arrivals:
        """Sort *events* by identity."""
        lines: dict[tuple[str, int], tuple[int, str]] = {}
        copies = 0
        conflicts = []
        for event in events:
            document = json.loads(event[1])
            identity = (document["Boot"], document["Seq"])
            if identity not in lines:
                lines[identity] = event
            elif lines[identity] == event:
                copies += 1
            else:
                conflicts.append(identity)
        return cls(lines, copies, tuple(conflicts))

    @property
    def documents(self) -> list[dict[str, Any]]:
        """Return every line once, by Boot and Seq."""
        return [json.loads(self.lines[identity][1]) for identity in sorted(self.lines)]

    def missing(self, produced: Mapping[str, int]) -> list[str]:
        """Return the missing identities of boots; *produced* has each boot's number of records."""
        return [
            f"{boot} {seq}"
            for boot, records in sorted(produced.items())
            for seq in range(1, records + 1)
            if (boot, seq) not in self.lines
        ]

    def minutes(self) -> set[int]:
        """Return the starts of the minutes that have a line, ms since the epoch."""
        # By the event's timestamp: a line without a metric has no other.
        return {
            timestamp_ms
            for timestamp_ms, message in self.lines.values()
            if json.loads(message)["Kind"] == "minute"
        }

    def unbalanced(self) -> list[str]:
        """Return lines whose counts of earlier records do not add up."""
        return [
            f"{document['Boot']} {document['Seq']}"
            for document in self.documents
            if "RecordsProduced" in document
            and document["RecordsProduced"]
            != document["RecordsDelivered"] + document["SpoolRecords"] + document["RecordsDropped"]
        ]

    def dropped(self) -> int:
        """Return the number of records that lines count as dropped."""
        return max((document.get("RecordsDropped", 0) for document in self.documents), default=0)
