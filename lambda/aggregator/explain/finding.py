"""
What is known about an alarm's subject: who, how much, what speaks against haste, what to do.

Numbers are those of the rollup; what it does not have is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_wire.line_members import text_in
from neuron_wire.names import MINUTE_S
from neuron_wire.owner_commands import ShownCommand, owner_commands, shell_commands, tags_commands
from neuron_wire.phrases import NO_OWNERS, clock, coverage_words, duration, safe_name
from neuron_wire.prices import basis_words

if TYPE_CHECKING:
    from aggregator.explain.evidence import Evidence
    from neuron_wire.line_members import JsonObject

PROCESSES: Final = ShownCommand("There, by process", "neuron-top")
_LISTED: Final = 5  # overrides of prices
MOST_COMMANDS: Final = 2  # commands beside the last one
_KINDS: Final = {
    "slurm": ("Slurm job", "the job ends"),
    "ecs": ("ECS service", "it runs fewer tasks"),
    "unit": ("unit", "the unit is stopped"),
    "team": ("team", "its work ends"),
    "pod": ("pod", "the pod is deleted"),
    "process": ("process", "the process ends"),
    "container": ("container", "the container is stopped"),
}
"""How names of owners begin, what such an owner is, and when it lets go of its cores."""

_WITH_USER: Final = ("slurm", "unit", "process")


def commands_about(
    evidence: Evidence, instances: list[str], owner: str
) -> tuple[ShownCommand, ...]:
    """
    Commands that show what *owner* does; without one, whose the first of *instances* is.

    Processes without a name, and what is left of a pod or job, have nobody to ask.
    """
    commands = owner_commands(owner, evidence.now.cluster, evidence.region)[-MOST_COMMANDS:]
    if commands and owner.startswith("unit:"):
        return (*shell_commands(instances, evidence.region), *commands)
    return commands or tags_commands(instances, evidence.region)


def commands_there(
    evidence: Evidence, instances: list[str], there: ShownCommand
) -> tuple[ShownCommand, ...]:
    """A shell on the first of *instances*, and what to type *there*."""
    shell = shell_commands(instances, evidence.region)
    return (*shell, there) if shell else ()


def basis_of(evidence: Evidence) -> str:
    """The prices of the amounts, the rollup's minute, and how much telemetry covers."""
    now, age_s, parts = evidence.now, evidence.age_s, list[str]()
    regions = [*map(safe_name, now.price_regions)]
    overridden = [*map(safe_name, now.overridden[:_LISTED])]
    prices = basis_words(regions, safe_name(now.prices_as_of or ""), overridden)
    if evidence.subject.is_idle and prices:
        parts.append(f"Prices: {prices}.")
    if now.minute is not None and age_s is not None:
        rollup = f"Rollup of {clock(now.minute, now.minute + 1 + int(age_s // MINUTE_S))}"
        if evidence.is_old:
            changed = ": it may have changed" if evidence.subject.about == "minute" else ""
            rollup += f" ({duration(age_s / MINUTE_S)} old{changed})"
        if now.coverage_percent is not None:
            rollup += f", coverage {coverage_words(now.coverage_percent)}"
        parts.append(f"{rollup}.")
    return " ".join(parts)


@dataclass(frozen=True, slots=True)
class AlarmFinding:
    """
    What is known about one subject, in the order of a message.

    Attributes:
        headline: Who and how much; it stands behind the name of the cluster.

        facts: Where and since when, and what speaks against haste.

        urgency: Whether it can wait until morning; empty when unknown.

        total: Sums over the cluster.

        commands: To type, at most four.

        answer: What to do now; may be empty.

        short: The headline for a subject line; empty where it is the same.

        over: What a message says once the alarm is no longer In alarm.

        teams: Of the owners of idle cores, in the order of the message.
    """

    headline: str
    facts: tuple[str, ...] = ()
    urgency: str = ""
    total: tuple[str, ...] = ()
    commands: tuple[ShownCommand, ...] = ()
    answer: str = ""
    short: str = ""
    over: str = ""
    teams: tuple[str, ...] = ()


class OwnerWords(NamedTuple):
    """
    An owner of cores, in harmless words.

    Attributes:
        short: Such as `Slurm job 4711`.

        words: The same with user and team.

        asked: Whom to ask.

        end: What gives the cores back, such as `the job ends`; empty without an owner.
    """

    short: str
    words: str
    asked: str
    end: str


def describe_owner(owner: str, team: str | None = None) -> OwnerWords:
    """Describe *owner*, a name as lines have it, of *team*."""
    if owner in NO_OWNERS:
        return OwnerWords(words := NO_OWNERS[owner].lower(), words, "nobody", "")
    kind, colon, rest = owner.partition(":")
    if not colon:
        kind, rest = ("pod" if "/" in owner else ""), owner
    noun, end = _KINDS.get(kind, ("", "its work ends"))
    marks = [f"team {safe_name(team)}"] if team and kind != "team" else []
    if kind in _WITH_USER and " " in rest:
        rest, _, user = rest.rpartition(" ")
        marks.insert(0, safe_name(user))
    if kind == "ecs":
        noun, rest = noun if rest.count("/") > 1 else "ECS task", rest.partition("/")[0]
    shown = safe_name("/".join(rest.split("/")[:2]) if kind == "pod" else rest)
    short = f"{noun} {shown}" if noun else safe_name(owner)
    words = f"{short} ({', '.join(marks)})" if marks else short
    asked = marks[0] if marks else short if kind == "team" else f"who runs {shown}"
    return OwnerWords(short, words, asked, end)


def instance_words(entry: JsonObject) -> str:
    """`i-0abc (trn1.32xlarge)`."""
    shown, instance_type = (
        safe_name(text_in(entry, name)) for name in ("InstanceId", "InstanceType")
    )
    shown = shown or "an instance"
    return f"{shown} ({instance_type})" if instance_type else shown
