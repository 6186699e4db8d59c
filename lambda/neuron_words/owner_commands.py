"""
Commands that show the state of an owner or an instance, or keep new work off an instance.

Names are foreign text: a command contains a name only in the strict form of its kind, which is
safe in a shell. For all other names the command for the instance's tags is the only one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from neuron_wire.names import AWS_REGION, EC2_INSTANCE_ID

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class ShownCommand(NamedTuple):
    """A command and its purpose in a few words."""

    purpose: str
    text: str

    @property
    def is_question(self) -> bool:
        """True if the command answers a question, its purpose."""
        return self.purpose.endswith("?")


Commands: TypeAlias = "tuple[ShownCommand, ...]"

_ECS_NAME: Final = "[A-Za-z0-9_][A-Za-z0-9_-]{0,254}"
_TABLES: Final = json.loads(Path(__file__).with_name("owner_commands.json").read_text("utf-8"))
"""Commands and their purposes, by the form of an owner's name, and those about instances."""

_PLACE_FORMATS: Final = {
    "instance": EC2_INSTANCE_ID,
    "cluster": re.compile(_ECS_NAME),
    "region": AWS_REGION,
}


def owner_commands(owner: str, cluster: str, region: str) -> Commands:
    """
    Return the commands for *owner*, of ECS in *cluster*; none if its name has no known form.

    >>> owner_commands("slurm:4711 ada", "training", "us-east-1")[0].text
    'scontrol show job 4711'
    """
    return _formed(_TABLES["commands"], owner, {"cluster": cluster, "region": region})


def placement_commands(
    owner: str, cluster: str, region: str, instance_ids: Sequence[str]
) -> Commands:
    """
    Return the commands that keep new work off the first instance, which *owner* uses.

    They cordon or drain its node, and end no process. NODE is the name that the command before
    shows. The result is empty if the name of *owner* does not show its scheduler.
    """
    places = {"cluster": cluster, "region": region, "instance": "".join(instance_ids[:1])}
    return _formed(_TABLES["placements"], owner, places)


def _formed(
    kinds: Mapping[str, Iterable[tuple[str, str]]],
    owner: str,
    places: Mapping[str, str],
) -> Commands:
    formed = {key: text for key, text in places.items() if _PLACE_FORMATS[key].fullmatch(text)}
    for form, commands in kinds.items():
        match = re.fullmatch(form, owner)
        if match is None:
            continue
        formed |= match.groupdict()
        try:
            return tuple(
                ShownCommand(purpose, text.format_map(formed)) for purpose, text in commands
            )
        except KeyError:
            return ()
    return ()


InstanceCommand = Literal["tags", "states", "shell", "findings"]


def instance_commands(kind: InstanceCommand, instance_ids: Sequence[str], region: str) -> Commands:
    """
    Return the command about instances; none without an ID in EC2's format.

    *kind* is a key of `instances` in the tables: the instances' tags, their state and health as EC2
    reports them, a shell on one instance that runs the SSM agent, or the check whether one instance
    can be released.
    """
    ids = [instance_id for instance_id in instance_ids if EC2_INSTANCE_ID.fullmatch(instance_id)]
    if not ids:
        return ()
    purpose, text = _TABLES["instances"][kind]
    where = f"--region {region}" if AWS_REGION.fullmatch(region) else ""
    words = text.format(ids=" ".join(ids), listed=",".join(ids), region=where).split()
    return (ShownCommand(purpose, " ".join(words)),)
