"""
The commands that show what an owner does, by its kind, and what an instance does.

Names are foreign text: a name goes into a command only in the strict form of its kind, which is
safe in a shell. For all others the instance's tags are the only command.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class ShownCommand(NamedTuple):
    """A command and its purpose in a few words."""

    label: str
    text: str


_NAMESPACE: Final = r"(?P<namespace>[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)"
_POD: Final = r"(?P<pod>[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)(?:/[^/]*)?"
_ECS_NAME: Final = "[A-Za-z0-9_][A-Za-z0-9_-]{0,254}"
_UNIT: Final = r"unit:(?P<unit>[A-Za-z0-9][A-Za-z0-9_.@:-]{0,254})"
_USER: Final = "(?P<user>[a-z_][a-z0-9_-]{0,31})"

_ECS: Final = "aws ecs {} --cluster {{cluster}} --{} {{name}} --region {{region}}"

_KINDS: Final = tuple(
    (re.compile(form), tuple(ShownCommand(*command) for command in commands))
    for form, *commands in (
        (r"slurm:(?P<job>[0-9]{1,10})(?: .*)?",
         ("State and time left", "scontrol show job {job}"),
         ("What runs in it", "sstat -a -j {job} -o JobID,NTasks,AveCPU")),
        (f"{_NAMESPACE}/{_POD}",
         ("Whether it is there", "kubectl get pod {pod} -n {namespace}"),
         ("What it waits for", "kubectl describe pod {pod} -n {namespace}"),
         ("Its last output", "kubectl logs {pod} -n {namespace} --all-containers --tail=20")),
        (f"ecs:(?P<name>{_ECS_NAME})/{_ECS_NAME}/{_ECS_NAME}",
         ("What it is to run", _ECS.format("describe-services", "services")),
         ("Its tasks", _ECS.format("list-tasks", "service-name"))),
        (f"ecs:(?P<name>{_ECS_NAME})/{_ECS_NAME}",
         ("Its tasks", _ECS.format("list-tasks", "family"))),
        (_UNIT, ("Whether it works", "systemctl status {unit}")),
        (f"{_UNIT} {_USER}",
         ("Whether it works", "systemctl --user --machine={user}@ status {unit}")),
    )
)  # fmt: skip
_PLACES: Final = {
    "cluster": re.compile(_ECS_NAME),
    "region": re.compile(r"[a-z]{2}[a-z0-9-]{3,30}"),
}
_EC2_ID: Final = re.compile(r"i-(?:[0-9a-f]{8}|[0-9a-f]{17})")


def owner_commands(owner: str, cluster: str, region: str) -> tuple[ShownCommand, ...]:
    """The commands for *owner*, of ECS in *cluster*; none where its name has no known form."""
    places = {"cluster": cluster, "region": region}
    formed = {key: text for key, text in places.items() if _PLACES[key].fullmatch(text)}
    for form, commands in _KINDS:
        if found := form.fullmatch(owner):
            names = {**formed, **found.groupdict()}
            try:
                return tuple(
                    command._replace(text=command.text.format_map(names)) for command in commands
                )
            except KeyError:
                return ()
    return ()


def tags_commands(instance_ids: Sequence[str], region: str) -> tuple[ShownCommand, ...]:
    """The tags of instances whose owner has no name; nothing without an id that EC2 gave."""
    command = (
        "aws ec2 describe-tags{region} --filters Name=resource-id,Values={ids}"
        " --query 'Tags[].[ResourceId,Key,Value]' --output table"
    )
    return _of_instances("Whose it is", command, instance_ids, region, ",")


def states_commands(instance_ids: Sequence[str], region: str) -> tuple[ShownCommand, ...]:
    """Whether they run, and what EC2 knows of their health."""
    command = (
        "aws ec2 describe-instance-status{region} --include-all-instances --instance-ids {ids}"
        " --query 'InstanceStatuses[].[InstanceId,InstanceState.Name,SystemStatus.Status,"
        "InstanceStatus.Status]' --output table"
    )
    return _of_instances("Whether they run", command, instance_ids, region)


def shell_commands(instance_ids: Sequence[str], region: str) -> tuple[ShownCommand, ...]:
    """A shell on the first of them, where Systems Manager has an agent on it."""
    return _of_instances(
        "A shell on it", "aws ssm start-session{region} --target {ids}", instance_ids[:1], region
    )


def findings_commands(instance_ids: Sequence[str], region: str) -> tuple[ShownCommand, ...]:
    """Whether the first of them can be given back."""
    return _of_instances(
        "Whether to give back", "neuron-emf findings {ids}{region}", instance_ids[:1], region
    )


def _of_instances(
    label: str, command: str, instance_ids: Sequence[str], region: str, separator: str = " "
) -> tuple[ShownCommand, ...]:
    ids = [instance_id for instance_id in instance_ids if _EC2_ID.fullmatch(instance_id)]
    where = f" --region {region}" if _PLACES["region"].fullmatch(region) else ""
    text = command.format(ids=separator.join(ids), region=where)
    return (ShownCommand(label, text),) if ids else ()
