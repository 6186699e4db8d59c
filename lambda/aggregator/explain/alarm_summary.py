"""
The summary of one alarm: owner, amount, reasons against haste, what to do.

Numbers come from the rollup. A number that the rollup lacks is left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_accounts.prices import basis_words
from neuron_wire.line_members import minute_in, number_in, text_in
from neuron_wire.names import MINUTE_S
from neuron_words.name_words import safe_name
from neuron_words.now_words import (
    CAN_WAIT,
    NO_OWNERS,
    NOW,
    TODAY,
    price_overrides_line,
    unpriced_words,
)
from neuron_words.owner_commands import (
    Commands,
    ShownCommand,
    instance_commands,
    owner_commands,
)
from neuron_words.quantity_words import clock, coverage_words, duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aggregator.explain.evidence import Evidence
    from neuron_wire.line_members import JsonObject
    from neuron_words.now_words import Urgency

HASTE: Final = {NOW: "Do not wait", TODAY: "Look today", CAN_WAIT: "Can wait until morning"}
"""The words of each urgency at the beginning of its sentence."""

TAGGED: Final = "the owner in the instance's tags"
PROCESSES: Final = ShownCommand("There, by process", "neuron-top")
_MAX_OVERRIDES_IN_MESSAGE: Final = 5  # overrides of prices
MAX_COMMANDS_OF_OWNER: Final = 2  # commands for the instance come on top
MESSAGE_WORDS: Final = json.loads(Path(__file__).with_name("message_words.json").read_text("utf-8"))
"""Texts of messages about alarms."""

_OWNER_KIND_WORDS: Final = MESSAGE_WORDS["owners"]
"""The beginnings of owners' names, the kind of owner, and when it releases its cores."""

_WITH_USER: Final = ("slurm", "unit", "process")


def instance_region(evidence: Evidence, entry: JsonObject) -> str:
    """Return the region of the instance in *entry*, or the alarm's region if it is unknown."""
    return text_in(entry, "Region") or evidence.region


def commands_about(evidence: Evidence, entry: JsonObject, owner: str) -> Commands:
    """Return commands about *owner*, or about the tags of its instance if no owner can be asked."""
    region = instance_region(evidence, entry)
    instances = [text_in(entry, "InstanceId")]
    commands = owner_commands(owner, evidence.now.cluster, region)[-MAX_COMMANDS_OF_OWNER:]
    if commands and owner.startswith("unit:"):
        return (*instance_commands("shell", instances, region), *commands)
    return commands or instance_commands("tags", instances, region)


def commands_there(evidence: Evidence, entry: JsonObject, *there: ShownCommand) -> Commands:
    """Return a shell on the instance of *entry*, and the commands to type *there*."""
    instances = [text_in(entry, "InstanceId")]
    shell = instance_commands("shell", instances, instance_region(evidence, entry))
    return (*shell, *there) if shell else ()


def process_commands(evidence: Evidence, entry: JsonObject, holder: JsonObject) -> Commands:
    """Return a shell on the host of *entry*, and the command that shows the process there."""
    pid = number_in(holder, "Pid")
    if pid is None:
        return ()
    process = ShownCommand("There, the process", f"ps -o pid,lstart,comm -p {pid:.0f}")
    return commands_there(evidence, entry, process)


def process_words(holder: JsonObject, minute: int | None) -> str:
    """Return `process 4242 (python, started 02:10 UTC)`; empty without a PID."""
    pid = number_in(holder, "Pid")
    if pid is None:
        return ""
    started = minute_in(holder, "Started")
    since = "" if started is None else f"started {clock(started, minute)}"
    marks = ", ".join(filter(None, (safe_name(text_in(holder, "Command")), since)))
    return f"process {pid:.0f}{f' ({marks})' if marks else ''}"


def basis_of(evidence: Evidence) -> str:
    """Return the prices of the amounts, the rollup's minute, and the coverage of telemetry."""
    now = evidence.now
    age_s = evidence.age_s
    parts = list[str]()
    regions = [*map(safe_name, now.price_regions)]
    overridden = [*map(safe_name, now.overridden[:_MAX_OVERRIDES_IN_MESSAGE])]
    prices = basis_words(regions, safe_name(now.prices_as_of or ""), overridden)
    if evidence.subject.is_idle and prices:
        parts.append(f"Prices: {prices}.")
    if evidence.subject.is_idle and (unpriced := unpriced_words(now)):
        line = price_overrides_line(now.unpriced_types)
        parts.append(f"{unpriced}; no amount counts them.{f' Set {line}.' if line else ''}")
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
class AlarmSummary:
    """
    The summary of one subject, in the order of a message.

    Attributes:
        headline: Owner and amount, shown behind the name of the cluster.

        facts: Place and time, and reasons against haste.

        urgency: `now`, `today` or `can wait`.

        reason: Why the message is that urgent; empty if the facts already give the reason.

        total: Sums over the cluster.

        commands: Commands to type, at most four.

        next_step: The next step; empty if there is none.

        short: The headline for a subject line; empty if it is the same.

        teams: Teams of the owners of idle cores, in the order of the message.
    """

    headline: str
    facts: tuple[str, ...] = ()
    urgency: Urgency = NOW
    reason: str = ""
    total: str = ""
    commands: Commands = ()
    next_step: str = ""
    short: str = ""
    teams: tuple[str, ...] = ()

    @property
    def haste(self) -> str:
        """The sentence that says whether the message can wait; may be empty."""
        return f"{HASTE[self.urgency]}: {self.reason}" if self.reason else ""


class OwnerWords(NamedTuple):
    """
    An owner of cores, in words that are safe to print and to paste.

    Attributes:
        short: The short form, such as `Slurm job 4711`.

        words: The long form, with user and team.

        asked: The person or team to ask.

        end: The event that releases the cores, such as `the job ends`; empty without an owner.
    """

    short: str
    words: str
    asked: str
    end: str


def describe_owner(owner: str, team: str | None = None) -> OwnerWords:
    """Describe *owner*, a name as in lines, of *team*."""
    if owner in NO_OWNERS:
        label = NO_OWNERS[owner].lower()
        return OwnerWords(short=label, words=label, asked=TAGGED, end="")
    kind, colon, rest = owner.partition(":")
    if not colon:
        kind = "pod" if "/" in owner else ""
        rest = owner
    noun, end = _OWNER_KIND_WORDS.get(kind, ("", "its work ends"))
    marks = [f"team {safe_name(team)}"] if team and kind != "team" else []
    if kind in _WITH_USER and " " in rest:
        rest, _, user = rest.rpartition(" ")
        marks.insert(0, safe_name(user))
    if kind == "ecs":
        noun = noun if rest.count("/") > 1 else "ECS task"
        rest = rest.partition("/")[0]
    shown = safe_name("/".join(rest.split("/")[:2]) if kind == "pod" else rest)
    short = f"{noun} {shown}" if noun else safe_name(owner)
    words = f"{short} ({', '.join(marks)})" if marks else short
    asked = short if kind == "team" else f"the owner of {short}"
    if marks:
        asked = marks[0]
    return OwnerWords(short, words, asked, end)


def owners_words(owners: Sequence[str]) -> str:
    """Return the people to ask about *owners*: `the owners of pod ml/a-0 and pod ml/b-0`."""
    if len(owners) == 1:
        return describe_owner(owners[0]).asked
    names = [describe_owner(owner).short for owner in owners]
    return f"the owners of {', '.join(names[:-1])} and {names[-1]}" if names else TAGGED


def instance_words(entry: JsonObject) -> str:
    """Return `i-0abc (trn1.32xlarge)`."""
    shown = safe_name(text_in(entry, "InstanceId")) or "an instance"
    instance_type = safe_name(text_in(entry, "InstanceType"))
    return f"{shown} ({instance_type})" if instance_type else shown
