"""
What is known about one subject, in sentences, and what to do.

Numbers are those of the rollup; what it does not have is not said. A list is
cut, and says how much it leaves out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from neuron_wire.names import MINUTE_S
from neuron_wire.phrases import counted, duration, moment

if TYPE_CHECKING:
    from aggregator.explain.evidence import ClusterEvidence
    from aggregator.explain.members import Members
    from neuron_wire.now import ClusterNow

MAX_INSTANCES: Final = 8  # named in a message; the rollup in the JSON form has more


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
    """

    rollup: Members
    now: ClusterNow
    evidence: ClusterEvidence
    region: str
    idle_after_minutes: int


@dataclass(frozen=True, slots=True)
class Step:
    """
    One thing to do.

    Attributes:
        what: In words.

        commands: To type.

        note: What to know about the commands; may be empty.
    """

    what: str
    commands: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class AlarmFinding:
    """
    What is known about one subject.

    Attributes:
        figure: The one number, for a subject line.

        worst: The first thing to look at, for a text message; may be empty.

        sentences: What there is to say.

        owners: Who holds the idle cores, those with most cost first; may be empty.

        list_title: What the list lists.

        listed: The list; may be empty.

        steps: What to do.

        brief: What to say when the alarm is over.
    """

    figure: str
    worst: str = ""
    sentences: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    list_title: str = ""
    listed: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    brief: tuple[str, ...] = ()

    def dated(self, evidence: ClusterEvidence, *, is_last_minute: bool) -> AlarmFinding:
        """
        The same, and of when it is.

        An alarm that is over is told with the last minute that there is, or
        with the last in which something failed, which may well be long ago.
        """
        date = _date(evidence)
        old = " This is old; the state may have changed." if evidence.is_old else ""
        return replace(
            self,
            sentences=(*self.sentences, date + old),
            brief=(*self.brief, date + old if is_last_minute else date),
        )


def instances_of(entries: list[Members]) -> tuple[str, ...]:
    """The names of the instances that a list of a rollup begins with."""
    found = (one.text("InstanceId") for one in entries[:MAX_INSTANCES])
    return tuple(one for one in found if one)


def instance(one: Members) -> str:
    """`i-0abc (trn1.32xlarge)`."""
    name, instance_type = one.text("InstanceId") or "an instance", one.text("InstanceType")
    return f"{name} ({instance_type})" if instance_type else name


def and_more(listed: tuple[str, ...], more: float) -> tuple[str, ...]:
    """The list, and how many it leaves out."""
    return (*listed, f"and {counted(more, 'more instance')}") if listed and more > 0 else listed


def _date(evidence: ClusterEvidence) -> str:
    start_ms = None if evidence.rollup is None else evidence.rollup.start_ms("Minute")
    if start_ms is None or evidence.rollup_age_s is None:
        return "From a rollup that does not give its minute."
    age = duration(evidence.rollup_age_s / MINUTE_S)
    return f"From the rollup of {moment(start_ms)}, {age} before this message."
