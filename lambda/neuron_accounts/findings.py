"""
Findings that are certain enough for a program to act on: their kinds, and their packed state.

A finding opens, worsens and closes; each step is one event, described by `finding.schema.json`.
Open findings are packed in the stack's table, which close writes and `neuron-emf findings` reads.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from neuron_wire.line_members import filled

EVENT_SOURCE: Final = "neuron-emf"
FINDING_DETAIL_TYPE: Final = "Neuron Finding"
SCHEMA_FILE: Final = Path(__file__).with_name("finding.schema.json")

IDLE_INSTANCE: Final = "idle-instance"
IDLE_OWNER: Final = "idle-owner"
SILENT_INSTANCE: Final = "silent-instance"
HARDWARE_FAULT: Final = "hardware-fault"
Change = Literal["opened", "worsened", "closed"]
OPENED: Final = "opened"
WORSENED: Final = "worsened"
CLOSED: Final = "closed"

CLOSED_BY_WORK: Final = "work"
CLOSED_BY_REPORT: Final = "reported"
CLOSED_BY_QUIET: Final = "quiet"
CLOSED_AS_GONE: Final = "gone"

LEAST_IDLE_MINUTES: Final = 60
"""Idle minutes below which an instance is kept, in events and in `neuron-emf findings`."""

MOST_HOST_VCPUS: Final = 0.5
"""
Busy vCPUs from which an instance without a scheduler is kept: the compiler neuronx-cc uses only
one.
"""

LEAST_COVERAGE_PERCENT: Final = 95.0
"""Coverage of its cluster below which an instance is kept, because its telemetry is in doubt."""

PARTITION: Final = "findings"
"""
The table's partition: an item for each bucket and, for owners, for each cluster that ever had one.
"""

CLUSTER_PLACE: Final = "cluster#"
"""The beginning of the key of a cluster's item; the key of a bucket is its two digits."""

Detail: TypeAlias = dict[str, Any]
"""The members of one event, as `finding.schema.json` describes them."""


class FindingKey(NamedTuple):
    """The subject of a finding."""

    cluster: str
    kind: str
    subject: str  # the instance, or the owner


@dataclass(frozen=True, slots=True)
class OpenFinding:
    """
    One open finding.

    Attributes:
        opened: The minute in which it opened.

        since: The first minute in which the condition held.

        step: The number of its last step, 1 when it opened.

        level: Its severity: doublings of the time, or faults so far.

        stepped: The minute of its last step.

        quiet: Known minutes with work since the condition last held.

        missed: Consecutive minutes without data about its owner.
    """

    opened: int
    since: int
    step: int
    level: int
    stepped: int
    quiet: int = 0
    missed: int = 0

    def packed(self) -> list[int]:
        """Return the finding in the table's form: minutes since it opened, no trailing zeros."""
        numbers = [
            self.opened,
            self.opened - self.since,
            self.step,
            self.level,
            self.stepped - self.opened,
            self.quiet,
            self.missed,
        ]
        while not numbers[-1]:
            numbers.pop()
        return numbers

    @classmethod
    def unpacked(cls, numbers: list[int]) -> OpenFinding:
        """Return the finding that `packed` encoded."""
        opened, before, step, level, after, quiet, missed = (*numbers, 0, 0, 0, 0, 0, 0)[:7]
        return cls(opened, opened - before, step, level, opened + after, quiet, missed)


@dataclass(slots=True)
class FindingsState:
    """
    The findings of one bucket, or those of the owners of one cluster.

    Attributes:
        minute: The newest folded minute at the last change.

        findings: The open findings.

        due: Events that were not sent yet, in the order of their steps.

        faults: Hardware faults reported so far, by cluster and instance and then by minute, while a
            late record may still add to that minute.
    """

    minute: int = 0
    findings: dict[FindingKey, OpenFinding] = field(default_factory=dict)
    due: list[Detail] = field(default_factory=list)
    faults: dict[tuple[str, str], dict[int, int]] = field(default_factory=dict)

    def packed(self) -> bytes:
        """Return the state in the table's form."""
        return pack_json(
            {
                "minute": self.minute,
                "open": self._nested(),
                "due": self.due,
                "faults": [
                    [*key, *chain.from_iterable(sorted(counts.items()))]
                    for key, counts in sorted(self.faults.items())
                ],
            }
        )

    def _nested(self) -> dict[str, dict[str, dict[str, list[int]]]]:
        nested: dict[str, dict[str, dict[str, list[int]]]] = {}
        for key in sorted(self.findings):
            subjects = nested.setdefault(key.cluster, {}).setdefault(key.kind, {})
            subjects[key.subject] = self.findings[key].packed()
        return nested

    @classmethod
    def unpacked(cls, payload: bytes) -> FindingsState:
        """Return the state that `packed` encoded."""
        members = unpack_json(payload)
        findings = {
            FindingKey(cluster, kind, subject): OpenFinding.unpacked(numbers)
            for cluster, kinds in members["open"].items()
            for kind, subjects in kinds.items()
            for subject, numbers in subjects.items()
        }
        faults = {
            (cluster, instance_id): dict(zip(counts[::2], counts[1::2], strict=True))
            for cluster, instance_id, *counts in members.get("faults", ())
        }
        return cls(members["minute"], findings, members["due"], faults)

    def forget_faults(self, before_minute: int) -> None:
        """Forget the faults of minutes before *before_minute*."""
        self.faults = filled(
            {
                key: {minute: count for minute, count in counts.items() if minute >= before_minute}
                for key, counts in self.faults.items()
            }
        )


def finding_id(key: FindingKey, opened: int) -> str:
    """Return the stable ID of a finding, the same in every computation."""
    return fingerprint(json.dumps([*key, opened]))


def pack_json(document: object) -> bytes:
    """Return *document* as compressed JSON, the form of the table."""
    return zlib.compress(json.dumps(document, separators=(",", ":")).encode())


def unpack_json(payload: bytes) -> Any:  # noqa: ANN401  # JSON that `pack_json` wrote
    """Return the document that `pack_json` encoded."""
    return json.loads(zlib.decompress(payload))


def fingerprint(text: str) -> str:
    """Return 32 letters and digits that stand for *text*."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
