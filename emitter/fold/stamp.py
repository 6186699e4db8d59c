"""What a minute takes from people and from the emitter, not from reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class FoldSettings:
    """
    What a person may choose about the meaning of a minute.

    Attributes:
        idle_below_percent: Utilization from which a core is busy, 0 to 100.

        period_s: Period of the core counters where we ask for them, else None.

        only_matched: Whether a tag filter hides some runtimes from the reports.

        runtime_lines: Which runtimes a line is due for: `changes`, `all` or `none`.

        executions_asked: Whether the reports were asked for executions.

        every_report: Whether each report is wanted as a sample, and not only
            the minute.

        chosen: Members that somebody chose as metrics: a failure that was not
            there is told as 0.
    """

    idle_below_percent: float = 1.0
    period_s: float | None = None
    only_matched: bool = False
    runtime_lines: str = "changes"
    executions_asked: bool = False
    every_report: bool = False
    chosen: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Stamp:
    """
    What a record carries that no report tells.

    Attributes:
        cluster: Cluster name.

        boot: Identity of this run of the emitter.

        seq: Number of the record within the boot.

        instance_id: Used only while no report has named the instance.

        identity_guessed: Whether that id is a guess of ours.

        bye: Whether this is the last record of a planned stop.

        health: The emitter on itself.

        paid: `sunk` or `avoidable`, where the operator says how the instance is paid.
    """

    cluster: str
    boot: str
    seq: int
    instance_id: str
    identity_guessed: bool = True
    bye: bool = False
    health: Mapping[str, int | float] = field(default_factory=dict)
    paid: str | None = None
