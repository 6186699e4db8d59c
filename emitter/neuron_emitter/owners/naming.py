"""
Name the owner of a process: ask every source, in order.

A job comes before a container and a container before a unit, because people search for them in this
order. A name is not final if a source that is unavailable now could improve it.
"""

from __future__ import annotations

import pwd
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from neuron_emitter.instance.machine import TASK_MARK, is_container, read_text
from neuron_emitter.owners.assignments import RuntimeOwner
from neuron_emitter.owners.container_names import (
    EcsTask,
    docker_container,
    metadata_path,
    pod_name,
    task_by_labels,
    team_by_metadata,
)
from neuron_emitter.owners.membership import Membership, membership
from neuron_emitter.owners.places import Endpoint
from neuron_wire.holders import MAX_TEAM_CHARS, printable_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuron_emitter.owners.assignments import Text
    from neuron_emitter.owners.container_names import Labels
    from neuron_emitter.owners.places import Places
    from neuron_emitter.owners.process import ProcessReader

JOB_VARIABLE: Final = "SLURM_JOB_ID"
ACCOUNT_VARIABLE: Final = "SLURM_JOB_ACCOUNT"
PASSWORD_FILE: Final = "etc/passwd"  # noqa: S105 - a path
MAX_USER_CHARS: Final = 32  # the most that useradd(8) accepts for a name

_JOB_NUMBER: Final = re.compile(r"[1-9][0-9]{0,9}")
_CONTAINER_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]{0,200}")


class Naming:
    """
    Names owners, and records what kept a source from answering.

    Attributes:
        was_denied: True if an environment that could have named an owner was not readable.
    """

    def __init__(self, places: Places) -> None:
        self.was_denied = False
        self._places = places
        self._agent = Endpoint(places.ecs_agent_url)
        self._metadata = Endpoint(places.ecs_metadata_url)
        # a failure of this service must not cost names
        self._tags = Endpoint(places.ecs_metadata_url)

    def name_owner(self, process: ProcessReader, command: str) -> RuntimeOwner:
        """
        Return the owner of *process*, with the command name *command*.

        Raises:
            ProcessGoneError: If it has ended.
            PermissionError: If it may not be looked at.
        """
        member = membership(process.control_groups())
        if member.job:
            owner = self._job(process, member.job, member.job_user_id)
        elif member.container:
            owner = self._container(process, member, member.container)
        elif number := self._job_variable(process):
            owner = self._job(process, number)
        elif member.unit:
            user = "" if member.unit_user_id is None else f" {self._user(member.unit_user_id)}"
            owner = RuntimeOwner(f"unit:{member.unit.removesuffix('.service')}{user}")
        else:
            owner = RuntimeOwner(f"process:{command or '?'} {self._user(process.user_id())}")
        team = printable_name(owner.team, MAX_TEAM_CHARS)
        return owner._replace(name=printable_name(owner.name) or "?", team=team)

    def _user(self, user_id: int | None) -> str:
        return user_name(user_id, self._places)

    def _job(self, process: ProcessReader, job: str, user_id: int | None = None) -> RuntimeOwner:
        account = None
        with suppress(PermissionError):  # the job has a name in any case
            account = process.variables(ACCOUNT_VARIABLE).get(ACCOUNT_VARIABLE)
        return RuntimeOwner(
            f"slurm:{job} {self._user(process.user_id() if user_id is None else user_id)}",
            team=account,
            job=job,
        )

    def _job_variable(self, process: ProcessReader) -> Text:
        job = self._variables(process, JOB_VARIABLE).get(JOB_VARIABLE, "")
        return job if _JOB_NUMBER.fullmatch(job) else None

    def _container(
        self, process: ProcessReader, member: Membership, container: str
    ) -> RuntimeOwner:
        short = f"container:{container[:12]}"  # the form of docker ps
        if member.is_rootless:  # the user could have given the container any ID
            return RuntimeOwner(short)
        if found := self._pod(member, container):
            return found
        name, labels = docker_container(container, self._places.root)
        if task := self._task(process, container, labels):
            return task
        is_named = _CONTAINER_NAME.fullmatch(name) is not None
        is_final = not member.is_ecs and (is_named or not self._agent.is_resting)
        return RuntimeOwner(f"container:{name}" if is_named else short, is_final=is_final)

    def _pod(self, member: Membership, container: str) -> RuntimeOwner | None:
        if member.is_ecs:
            return None
        if pod := pod_name(container, member.pod, self._places.root):
            is_final = pod.container is not None
            return RuntimeOwner(pod.text, is_final=is_final, team=pod.namespace, pod=member.pod)
        if member.pod is None:
            return None
        return RuntimeOwner(f"pod:{member.pod}", is_final=False, pod=member.pod)

    def _task(self, process: ProcessReader, container: str, labels: Labels) -> RuntimeOwner | None:
        path = metadata_path(self._variables(process, TASK_MARK))
        task = self._metadata.ask_json(f"{path}/task", EcsTask) if path else None
        if path and task and (name := task.name_of(container)):
            return RuntimeOwner(name, team=team_by_metadata(path, self._tags))
        task = self._agent.ask_json(f"/v1/tasks?dockerid={container}", EcsTask)
        name = (task and task.name_of(container)) or task_by_labels(labels)
        return RuntimeOwner(name, is_final=path is None) if name else None

    def _variables(self, process: ProcessReader, name: str) -> Mapping[str, str]:
        try:
            return process.variables(name)
        except PermissionError:
            self.was_denied = True
            return {}


def user_name(user_id: int | None, places: Places) -> str:
    """
    Return the user's name on the machine, otherwise the number, otherwise a question mark.

    The passwd of a container has other users with the same numbers. On the machine itself the user
    may come from a directory service, so the system is asked.
    """
    if user_id is None or user_id == 0:
        return "?" if user_id is None else "root"
    name = ""
    if places.root != Path("/"):
        lines = (read_text(places.root / PASSWORD_FILE) or "").splitlines()
        entries = (line.split(":") for line in lines)
        name = next((entry[0] for entry in entries if entry[2:3] == [str(user_id)]), "")
    elif not is_container(places.root):
        with suppress(KeyError, OverflowError):
            name = pwd.getpwuid(user_id).pw_name
    return name[:MAX_USER_CHARS] or str(user_id)
