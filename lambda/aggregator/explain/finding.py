"""
What is known about one subject: who, how much, what speaks against haste, and what to do.

Numbers are those of the rollup; what it does not have is not said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aggregator.explain.foreign_text import name
from neuron_wire.names import MINUTE_S
from neuron_wire.phrases import clock, duration, whole_percent
from neuron_wire.prices import basis_words

if TYPE_CHECKING:
    from aggregator.explain.evidence import ClusterEvidence
    from aggregator.explain.members import Members
    from aggregator.explain.subject import AlarmSubject
    from neuron_wire.now import ClusterNow
    from neuron_wire.owner_commands import ShownCommand

_LISTED: Final = 5  # overrides of prices


@dataclass(frozen=True, slots=True)
class Case:
    """
    What a finding is made of.

    Attributes:
        rollup: The kept rollup.

        now: What it says of idle cores.

        evidence: What else is known.

        region: For commands; may be empty.

        idle_after_minutes: Minutes after which a core that is not busy is idle.

        subject: What the alarm is about.
    """

    rollup: Members
    now: ClusterNow
    evidence: ClusterEvidence
    region: str
    idle_after_minutes: int
    subject: AlarmSubject


@dataclass(frozen=True, slots=True)
class AlarmFinding:
    """
    What is known about one subject, in the order in which a message says it.

    Attributes:
        headline: Who and how much; it stands behind the name of the cluster.

        facts: Where and since when, and what speaks against haste.

        urgency: Whether it can wait until morning; empty where nobody can tell.

        total: How it is in all.

        commands: To type, at most four.

        answer: What to do now; may be empty.

        basis: By which prices, of which minute, with which coverage.

        short: The headline for a subject line; empty where it is the same.

        over: How it looks, once the alarm is no longer In alarm.

        teams: Of the owners of idle cores, in the order of the message.
    """

    headline: str
    facts: tuple[str, ...] = ()
    urgency: str = ""
    total: tuple[str, ...] = ()
    commands: tuple[ShownCommand, ...] = ()
    answer: str = ""
    basis: str = ""
    short: str = ""
    over: str = ""
    teams: tuple[str, ...] = ()


def instance(one: Members) -> str:
    """`i-0abc (trn1.32xlarge)`."""
    shown, instance_type = one.text("InstanceId") or "an instance", one.text("InstanceType")
    return f"{shown} ({instance_type})" if instance_type else shown


def basis_of(case: Case) -> str:
    """By which prices the amounts are, of which minute, and how much of it telemetry covers."""
    now, age_s, parts = case.now, case.evidence.rollup_age_s, list[str]()
    regions, overridden = [*map(name, now.price_regions)], [*map(name, now.overridden[:_LISTED])]
    prices = basis_words(regions, name(now.prices_as_of or ""), overridden)
    if case.subject.is_idle and prices:
        parts.append(f"Prices: {prices}.")
    if now.minute is not None and age_s is not None:
        rollup = f"Rollup of {clock(now.minute, now.minute + 1 + int(age_s // MINUTE_S))}"
        if case.evidence.is_old:
            changed = ": it may have changed" if case.subject.about == "minute" else ""
            rollup += f" ({duration(age_s / MINUTE_S)} old{changed})"
        covered = now.coverage_percent
        parts.append(
            f"{rollup}{'' if covered is None else f', coverage {whole_percent(covered)}'}."
        )
    return " ".join(parts)
