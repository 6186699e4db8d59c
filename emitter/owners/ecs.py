"""
Service, task family and container of an ECS container.

The agent knows every container of the instance by its Docker id, but no
service. That is known to the task's own metadata, whose address is in the
environment of each of its containers. A process may write into its environment
what it likes: only an address of the very form that ECS gives is asked, and the
answer counts when it names the container that the kernel says. From
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-agent-introspection.html
and https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from emitter.owners.places import ECS_METADATA_URL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.owners.places import Endpoint

VARIABLE: Final = "ECS_CONTAINER_METADATA_URI_V4"
FAMILY_LABEL: Final = "com.amazonaws.ecs.task-definition-family"
TEAM_TAG: Final = "team"
MAX_TASKS_BYTES: Final = 4 << 20  # stopped ones are told for hours
CONTAINER_LABEL: Final = "com.amazonaws.ecs.container-name"

_METADATA_URI: Final = re.compile(re.escape(ECS_METADATA_URL) + r"(/v4/[0-9A-Za-z-]{16,80})")
# What ECS takes for a family, a service and a container:
# https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RegisterTaskDefinition.html
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,255}")


@dataclass(frozen=True, slots=True)
class TaskName:
    """What people call it; no task id and no revision, which are others each day."""

    family: str
    container: str
    service: str | None = None
    team: str | None = None

    @property
    def text(self) -> str:
        """`ecs:SERVICE/FAMILY/CONTAINER`, or `ecs:FAMILY/CONTAINER` of no known service."""
        return "ecs:" + "/".join(filter(None, (self.service, self.family, self.container)))


class _Container(msgspec.Struct, frozen=True, gc=False):
    docker_id: str = msgspec.field(name="DockerId", default="")
    name: str = msgspec.field(name="Name", default="")


class _Tagged(msgspec.Struct, frozen=True, gc=False):
    tags: dict[str, str] | None = msgspec.field(name="TaskTags", default=None)


class EcsTask(msgspec.Struct, frozen=True, gc=False):
    """What the agent says of a task, and what the task's metadata say; the same members."""

    family: str = msgspec.field(name="Family", default="")
    service: str | None = msgspec.field(name="ServiceName", default=None)
    containers: list[_Container] | None = msgspec.field(name="Containers", default=None)
    status: str = msgspec.field(name="KnownStatus", default="")

    def container_ids(self) -> set[str]:
        """As Docker has them; an empty one of a task that has none yet."""
        return {member.docker_id for member in self.containers or ()} or {""}


class _Tasks(msgspec.Struct, frozen=True, gc=False):
    tasks: list[EcsTask] = msgspec.field(name="Tasks")


def metadata_path(variables: Mapping[str, str]) -> str | None:
    """Where the metadata of its container is, by this variable; None elsewhere."""
    found = _METADATA_URI.fullmatch(variables.get(VARIABLE, ""))
    return found[1] if found else None


def by_agent(container: str, agent: Endpoint) -> TaskName | None:
    """What the agent says of the container with the id *container*."""
    return _named(container, agent.ask(f"/v1/tasks?dockerid={container}", EcsTask))


def running_containers(agent: Endpoint) -> set[str] | None:
    """Ids of containers of all tasks that have not stopped; None where the agent does not say."""
    told = agent.ask("/v1/tasks", _Tasks, max_bytes=MAX_TASKS_BYTES)
    if told is None:
        return None
    running = (task for task in told.tasks if task.status != "STOPPED")
    return {container for task in running for container in task.container_ids()}


def by_metadata(container: str, path: str, metadata: Endpoint) -> TaskName | None:
    """What the task's metadata at *path* say, if the container with the id *container* is in it."""
    return _named(container, metadata.ask(f"{path}/task", EcsTask))


def team_by_metadata(path: str, metadata: Endpoint) -> str | None:
    """
    The task's tag `team`, in capital or small letters, which a service can give its tasks.

    The agent asks ECS for the tags each time, so this is asked once of a process.
    """
    tagged = metadata.ask(f"{path}/taskWithTags", _Tagged)
    tags = {} if tagged is None else tagged.tags or {}
    return next((value for key, value in tags.items() if key.lower() == TEAM_TAG), None)


def by_labels(labels: Mapping[str, str]) -> TaskName | None:
    """What the agent wrote on the container."""
    family, container = labels.get(FAMILY_LABEL, ""), labels.get(CONTAINER_LABEL, "")
    if _NAME.fullmatch(family) and _NAME.fullmatch(container):
        return TaskName(family, container)
    return None


def _named(container: str, task: EcsTask | None) -> TaskName | None:
    if task is None or not _NAME.fullmatch(task.family):
        return None
    service = task.service if _NAME.fullmatch(task.service or "") else None
    for member in task.containers or ():
        if member.docker_id == container and _NAME.fullmatch(member.name):
            return TaskName(task.family, member.name, service)
    return None
