"""
Commands that show the state of an owner or an instance, or keep new work off an instance.

Names are foreign text: a command contains a name only in the strict form of its kind, which is
safe in a shell. For all other names the command for the instance's tags is the only one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

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
"""Commands and their purposes, by the form of an owner's name."""

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
    shows. None if no scheduler is known from the name of *owner*.
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


def tags_commands(instance_ids: Sequence[str], region: str) -> Commands:
    """Return the command for the tags of instances; none without an ID in EC2's format."""
    command = (
        "aws ec2 describe-tags{region} --filters Name=resource-id,Values={ids}"
        " --query 'Tags[].[ResourceId,Key,Value]' --output table"
    )
    return _of_instances("Instance tags", command, instance_ids, region, ",")


def states_commands(instance_ids: Sequence[str], region: str) -> Commands:
    """Return the command for the state and the health of instances, as EC2 reports them."""
    command = (
        "aws ec2 describe-instance-status{region} --include-all-instances --instance-ids {ids}"
        " --query 'InstanceStatuses[].[InstanceId,InstanceState.Name,SystemStatus.Status,"
        "InstanceStatus.Status]' --output table"
    )
    return _of_instances("Do they run?", command, instance_ids, region)


def shell_commands(instance_ids: Sequence[str], region: str) -> Commands:
    """Return the command for a shell on the first instance, if it runs the SSM agent."""
    return _of_instances(
        "A shell on it", "aws ssm start-session{region} --target {ids}", instance_ids[:1], region
    )


def findings_commands(instance_ids: Sequence[str], region: str) -> Commands:
    """Return the command that checks whether the first instance can be released."""
    return _of_instances(
        "Can it be released?", "neuron-emf findings {ids}{region}", instance_ids[:1], region
    )


def _of_instances(
    purpose: str, command: str, instance_ids: Sequence[str], region: str, separator: str = " "
) -> Commands:
    ids = [instance_id for instance_id in instance_ids if EC2_INSTANCE_ID.fullmatch(instance_id)]
    where = f" --region {region}" if _PLACE_FORMATS["region"].fullmatch(region) else ""
    text = command.format(ids=separator.join(ids), region=where)
    return (ShownCommand(purpose, text),) if ids else ()
