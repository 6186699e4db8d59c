"""Whose something is: an owner in words, whom to ask, and what shows what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from aggregator.explain.foreign_text import name
from neuron_wire.owner_commands import ShownCommand, owner_commands, shell_command, tags_command
from neuron_wire.phrases import NO_OWNERS

if TYPE_CHECKING:
    from aggregator.explain.finding import Case
    from aggregator.explain.members import Members

PROCESSES: Final = ShownCommand("There, by process", "neuron-top")
_MOST: Final = 2  # commands beside the last one
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


class Owner(NamedTuple):
    """
    Somebody who has cores, in words that are harmless.

    Attributes:
        short: Such as `Slurm job 4711`.

        words: The same with user and team.

        asked: Whom to ask.

        end: What gives the cores back, such as `the job ends`; empty of nobody.
    """

    short: str
    words: str
    asked: str
    end: str


def owner_of(owner: str, team: str | None = None) -> Owner:
    """*owner*, a name as lines have it, of *team*."""
    if owner in NO_OWNERS:
        return Owner(nobody := NO_OWNERS[owner].lower(), nobody, "nobody", "")
    kind, colon, rest = owner.partition(":")
    if not colon:
        kind, rest = ("pod" if "/" in owner else ""), owner
    noun, end = _KINDS.get(kind, ("", "its work ends"))
    marks = [f"team {name(team)}"] if team and kind != "team" else []
    if kind in _WITH_USER and " " in rest:
        rest, _, user = rest.rpartition(" ")
        marks.insert(0, name(user))
    if kind == "ecs":
        noun, rest = noun if rest.count("/") > 1 else "ECS task", rest.partition("/")[0]
    shown = "/".join(rest.split("/")[:2]) if kind == "pod" else rest
    short = f"{noun} {name(shown)}" if noun else name(owner)
    words = f"{short} ({', '.join(marks)})" if marks else short
    asked = marks[0] if marks else short if kind == "team" else f"who runs {name(shown)}"
    return Owner(short, words, asked, end)


def commands_of(case: Case, instances: list[str], asked: str) -> tuple[ShownCommand, ...]:
    """
    What shows what the owner *asked* does; whose the first of *instances* is, of nobody to ask.

    Of a process without a name, and of what is left of a pod or job, nobody can be asked.
    """
    found = owner_commands(asked, case.now.cluster, case.region)[-_MOST:]
    if found and asked.startswith("unit:"):
        return present(shell_command(instances, case.region), *found)
    return found or present(tags_command(instances, case.region))


def given_away_commands(case: Case, holder: Members) -> tuple[ShownCommand, ...]:
    """Whether the owner that waits fails, whether *holder* is gone, and its process the same."""
    waiting, mine = (
        owner_commands(holder.raw(member), case.now.cluster, case.region)
        for member in ("GivenTo", "Name")
    )
    found = [one._replace(label="Whether it fails") for one in waiting[-_MOST:][:1]]
    found += [one._replace(label="Whether that is gone") for one in mine[:1]]
    if (pid := holder.number("Pid")) is not None:
        found.append(ShownCommand("The process there", f"ps -o pid,lstart,args -p {pid:.0f}"))
    return tuple(found)


def shell_and(there: ShownCommand, instances: list[str], region: str) -> tuple[ShownCommand, ...]:
    """A shell on the first of *instances*, and what to type *there*."""
    shell = shell_command(instances, region)
    return (shell, there) if shell else ()


def present(*found: ShownCommand | None) -> tuple[ShownCommand, ...]:
    """Those of *found* that there are."""
    return tuple(one for one in found if one is not None)
