"""
The Neuron devices assigned to the containers of an ECS instance, used or not.

ECS on EC2 gives a container the devices in its task definition. Only the container's bundle shows
which. Root can read it, in a container with the host's process IDs also through the container's
first process. Without that permission, the ECS agent still shows when no other task is here: then
nothing is assigned. A container that runs a monitor of all cores does not count. Not tried on AWS.
From https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_LinuxParameters.html and
https://github.com/containerd/containerd/blob/main/core/runtime/v2/README.md
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from neuron_emitter.instance.machine import TASK_MARK, read_text
from neuron_emitter.owners.assignments import Allocation, RuntimeOwner, UnknownAssignmentsError
from neuron_emitter.owners.container_names import (
    BUNDLES,
    KUBERNETES,
    EcsTask,
    metadata_path,
    neuron_devices,
    running_containers,
)
from neuron_emitter.owners.naming import Naming
from neuron_emitter.owners.places import Endpoint
from neuron_emitter.owners.process import ProcessGoneError, open_process

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from neuron_emitter.owners.assignments import Allocations, Text
    from neuron_emitter.owners.places import Places

# first processes of containers that monitor all cores
MONITORS: Final = frozenset({"neuron-monitor"})

_PRIVILEGES_REMEDY: Final = (
    "Run as root with the host's process IDs and SYS_PTRACE, as NameServices=true does in the "
    "template for ECS"
)


def is_here(places: Places) -> bool:
    """Return True if an ECS agent runs on this machine."""
    is_task = not places.is_saved and TASK_MARK in os.environ
    return is_task or os.path.isdir(places.root / "var/lib/ecs")  # noqa: PTH112 - never raises


class ContainerDevices:
    """The assignments of ECS, from the bundles of containers."""

    name = "the bundles of containers"

    def __init__(self, places: Places) -> None:
        self._places = places
        self._agent = Endpoint(places.ecs_agent_url)
        self._metadata = Endpoint(places.ecs_metadata_url)
        self._naming = Naming(places)
        self._owners: dict[str, RuntimeOwner] = {}  # by container

    def read_allocations(self) -> Allocations:
        """
        Return the devices of running containers; empty if none has devices.

        Raises:
            UnknownAssignmentsError: If their bundles cannot be read while there are tasks.
        """
        tasks = running_containers(self._agent)
        try:
            bundles = self._bundles()
            if tasks is not None and not tasks <= bundles.keys():
                msg = "a container of an ECS task has no bundle in the expected folder"
                raise UnknownAssignmentsError(
                    msg, f"Wait until it runs; containerd keeps them in /{BUNDLES}"
                )
            return self._allocations(bundles)
        except OSError as error:
            if tasks is not None and tasks <= set(self._own_containers()):
                return ()
            msg = (error.strerror or "unreadable").lower()
            raise UnknownAssignmentsError(msg, _PRIVILEGES_REMEDY) from error

    def _bundles(self) -> Mapping[str, Path]:
        """Return the bundle folders by container, without those of the kubelet."""
        folder = self._places.root / BUNDLES
        if not (self._places.is_saved or folder.is_dir()):  # a container's own files
            folder = self._places.proc / "1/root" / BUNDLES
        namespaces = [folder / name for name in os.listdir(folder) if name != KUBERNETES]  # noqa: PTH208
        return {
            name: namespace / name
            for namespace in namespaces
            for name in os.listdir(namespace)  # noqa: PTH208
        }

    def _own_containers(self) -> Collection[str]:
        path = metadata_path(os.environ)
        task = self._metadata.ask_json(f"{path}/task", EcsTask) if path else None
        return task.container_ids() if task else ()

    def _allocations(self, bundles: Mapping[str, Path]) -> Allocations:
        self._owners = {name: owner for name, owner in self._owners.items() if name in bundles}
        devices: dict[tuple[str, Text], frozenset[int]] = {}
        for name, bundle in bundles.items():
            try:
                assigned = neuron_devices(read_text(bundle / "config.json") or "")
            except (ValueError, RecursionError) as error:
                if not bundle.exists():  # the container has ended
                    continue
                msg = "a container's bundle does not have the expected JSON form"
                raise UnknownAssignmentsError(msg, _PRIVILEGES_REMEDY) from error
            owner = self._owner(name, bundle) if assigned else None
            if owner is not None:
                key = (owner.name or "", owner.team)
                devices[key] = devices.get(key, frozenset()) | assigned
        return [
            Allocation(*key, devices=assigned, is_exact=True) for key, assigned in devices.items()
        ]

    def _owner(self, container: str, bundle: Path) -> RuntimeOwner | None:
        """Return the owner of the container's first process; None for a monitor."""
        if owner := self._owners.get(container):
            return owner
        pid = read_text(bundle / "init.pid") or ""
        proc = self._places.proc
        own_group = read_text(proc / "self/cgroup")
        if own_group and own_group == read_text(proc / pid / "cgroup"):
            return None
        with (
            suppress(ProcessGoneError, ValueError),
            open_process(proc, int(pid)) as process,
        ):
            command, _ = process.command_and_start()
            if command in MONITORS:
                return None
            owner = self._naming.name_owner(process, command)
            if owner.is_final:
                self._owners[container] = owner
            return owner
        return None
