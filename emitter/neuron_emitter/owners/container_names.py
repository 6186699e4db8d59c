"""
The names of a container, from the files and services of Docker, Kubernetes and ECS here.

Docker keeps a file for each container; containerd and CRI-O keep the bundle that they gave to runc.
Docker's containers run in containerd and have a bundle, too. Root can read them, few other users
can. They also contain the environment of the container: only the members needed here are decoded.
The form of a bundle: https://github.com/opencontainers/runtime-spec/blob/main/config-linux.md

The names of the kubelet's log folders contain pods and IDs, so listing is enough:
https://kubernetes.io/docs/concepts/cluster-administration/logging/ and
https://github.com/containerd/containerd/blob/main/pkg/cri/annotations/annotations.go

The ECS agent knows every container of the instance by its Docker ID, but no service. The task's own
metadata has the service; its address is in the environment of each of the task's containers. A
process can change its environment: only an address of the exact form that ECS uses is requested,
and the answer counts only if it names the container that the kernel names. From
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-agent-introspection.html and
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from msgspec import Struct, json

from neuron_emitter.instance.machine import TASK_MARK, read_text
from neuron_emitter.owners.membership import POD_LOGS, list_folder
from neuron_emitter.owners.places import ECS_METADATA_URL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import TypeVar

    from neuron_emitter.owners.places import Endpoint

    _T = TypeVar("_T")

# Folders of running containers, by namespace and ID.
BUNDLES: Final = "run/containerd/io.containerd.runtime.v2.task"
KUBERNETES: Final = "k8s.io"
BUNDLE_FILES: Final = (
    f"{BUNDLES}/{KUBERNETES}/{{id}}/config.json",
    "run/containers/storage/overlay-containers/{id}/userdata/config.json",
)
_NEURON_DEVICE: Final = re.compile(r"/dev/neuron[0-9]{1,4}")
# A namespace and a container are DNS labels, a pod is a DNS subdomain:
# https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
_LABEL: Final = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_SUBDOMAIN: Final = "[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?"
# Valid names of a namespace, a pod and a container.
KUBERNETES_NAME: Final = re.compile(_SUBDOMAIN)
_POD_FOLDER: Final = re.compile(rf"({_LABEL})_({_SUBDOMAIN})_([0-9a-f-]{{32,36}})")
_LOG_LINK: Final = re.compile(rf"({_SUBDOMAIN})_({_LABEL})_({_LABEL})-([0-9a-f]{{64}})\.log")
_CRI_ANNOTATIONS: Final = (
    (  # containerd
        "io.kubernetes.cri.sandbox-namespace",
        "io.kubernetes.cri.sandbox-name",
        "io.kubernetes.cri.container-name",
    ),
    (  # CRI-O, and the labels that the kubelet gave Docker
        "io.kubernetes.pod.namespace",
        "io.kubernetes.pod.name",
        "io.kubernetes.container.name",
    ),
)
FAMILY_LABEL: Final = "com.amazonaws.ecs.task-definition-family"
MAX_TASKS_BYTES: Final = 4 << 20  # stopped tasks are listed for hours
CONTAINER_LABEL: Final = "com.amazonaws.ecs.container-name"
_METADATA_URI: Final = re.compile(re.escape(ECS_METADATA_URL) + r"(/v4/[0-9A-Za-z-]{16,80})")
# Valid names of a family, a service and a container in ECS:
# https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RegisterTaskDefinition.html
_ECS_LABEL_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,255}")


Labels = Mapping[str, str]


class _Read(Struct, frozen=True, gc=False):
    """Part of a document about containers."""


class _Pascal(_Read, frozen=True, rename="pascal"):
    """Part of a document whose members have the form of Docker and ECS: `DockerId`."""


class _Labelled(_Pascal, frozen=True):
    labels: Labels | None = None


class _Docker(_Pascal, frozen=True):
    name: str | None = None
    config: _Labelled | None = None


class _BundleDevice(_Read, frozen=True):
    path: str = ""
    minor: int | None = None


class _Rule(_Read, frozen=True):
    allow: bool = False
    major: int | None = None


class _Resources(_Read, frozen=True):
    devices: list[_Rule] | None = None


class _BundleLinux(_Read, frozen=True):
    devices: list[_BundleDevice] | None = None
    resources: _Resources | None = None


class _Bundle(_Read, frozen=True):
    annotations: Labels | None = None
    linux: _BundleLinux | None = None


def _decoded(file: Path, document_type: type[_T]) -> _T | None:
    """Return the JSON in *file* as *document_type*; None if that is not possible."""
    with suppress(ValueError, RecursionError):
        return json.decode(read_text(file) or "", type=document_type)
    return None


def docker_container(container: str, root: Path) -> tuple[str, Labels]:
    """Return the name (empty if none) and labels that Docker has for the container with this ID."""
    file = root / f"var/lib/docker/containers/{container}/config.v2.json"
    docker = _decoded(file, _Docker) or _Docker()
    return (docker.name or "").removeprefix("/"), (docker.config and docker.config.labels) or {}


def neuron_devices(text: str) -> frozenset[int]:
    """
    Return the host's indexes of the devices that the bundle *text* gives its container.

    A privileged container may use every device of the host and has none assigned.

    Raises:
        ValueError: If it is not a bundle.
    """
    linux = json.decode(text, type=_Bundle).linux or _BundleLinux()
    rules = (linux.resources and linux.resources.devices) or ()
    if any(rule.allow and rule.major is None for rule in rules):
        return frozenset()
    return frozenset(
        device.minor
        for device in linux.devices or ()
        if _NEURON_DEVICE.fullmatch(device.path) and device.minor is not None
    )


@dataclass(frozen=True, slots=True)
class PodName:
    """The name of a container in a pod; the container is None if only the pod is known."""

    namespace: str
    pod: str
    container: str | None = None

    @property
    def text(self) -> str:
        """Return `namespace/pod` or `namespace/pod/container`."""
        return "/".join(filter(None, (self.namespace, self.pod, self.container)))


def pod_name(container: str, pod: str | None, root: Path) -> PodName | None:
    """Return the names of the container with the ID *container*, in the pod with the ID *pod*."""
    end = f"-{container}.log"
    for name in list_folder(root / "var/log/containers", may_be_cut=True) or ():
        if name.endswith(end) and (link := _LOG_LINK.fullmatch(name)):
            return PodName(link[2], link[1], link[3])
    logged = None
    for uid, found, containers in logged_pods(root, may_be_cut=True) if pod else ():
        if uid == pod and len(containers) == 1:
            return replace(found, container=containers[0])
        logged = found if uid == pod else logged
    return next(filter(None, map(_annotated, _labels(container, root))), logged)


def logged_pods(
    root: Path, *, may_be_cut: bool = False
) -> Iterator[tuple[str, PodName, list[str]]]:
    """Yield ID and name of each pod with a log folder, and its containers that have started."""
    for name in list_folder(root / POD_LOGS, may_be_cut=may_be_cut) or ():
        if folder := _POD_FOLDER.fullmatch(name):
            inside = list_folder(root / POD_LOGS / name) or ()
            containers = [entry for entry in inside if KUBERNETES_NAME.fullmatch(entry)]
            yield folder[3], PodName(folder[1], folder[2]), containers


def _labels(container: str, root: Path) -> Iterator[Labels]:
    """Yield the labels that containerd, CRI-O and Docker stored for the container."""
    for file in BUNDLE_FILES:
        bundle = _decoded(root / file.format(id=container), _Bundle)
        yield (bundle and bundle.annotations) or {}
    yield docker_container(container, root)[1]


def _annotated(texts: Labels) -> PodName | None:
    for keys in _CRI_ANNOTATIONS:
        namespace, pod, container = (texts.get(key, "") for key in keys)
        if KUBERNETES_NAME.fullmatch(namespace) and KUBERNETES_NAME.fullmatch(pod):
            return PodName(
                namespace, pod, container if KUBERNETES_NAME.fullmatch(container) else None
            )
    return None


class _EcsContainer(_Pascal, frozen=True):
    docker_id: str = ""
    name: str = ""


class _Tagged(_Pascal, frozen=True):
    task_tags: Labels | None = None


class EcsTask(_Pascal, frozen=True):
    """A task as the agent and the task's metadata describe it, with equal members."""

    family: str = ""
    service_name: str | None = None
    containers: list[_EcsContainer] | None = None
    known_status: str = ""

    def container_ids(self) -> set[str]:
        """Return the container IDs as Docker has them; an empty ID if a task has none yet."""
        return {member.docker_id for member in self.containers or ()} or {""}

    def name_of(self, container: str) -> str | None:
        """Return `ecs:SERVICE/FAMILY/CONTAINER`, without `SERVICE/` if it is unknown."""
        names = (member.name for member in self.containers or () if member.docker_id == container)
        return _task_name(self.family, next(names, ""), self.service_name)


class _Tasks(_Pascal, frozen=True):
    tasks: list[EcsTask]


def metadata_path(variables: Mapping[str, str]) -> str | None:
    """Return the path of the container's metadata in this variable; None if it has none."""
    found = _METADATA_URI.fullmatch(variables.get(TASK_MARK, ""))
    return found[1] if found else None


def running_containers(agent: Endpoint) -> set[str] | None:
    """Return the container IDs of tasks that have not stopped; None without an answer."""
    listed = agent.ask_json("/v1/tasks", _Tasks, max_bytes=MAX_TASKS_BYTES)
    if listed is None:
        return None
    running = (task for task in listed.tasks if task.known_status != "STOPPED")
    return {container for task in running for container in task.container_ids()}


def team_by_metadata(path: str, metadata: Endpoint) -> str | None:
    """
    Return the task's tag `team`, in any case, which a service can give its tasks.

    The agent asks ECS for the tags each time, so this is requested once for a process.
    """
    tagged = metadata.ask_json(f"{path}/taskWithTags", _Tagged)
    tags = {} if tagged is None else tagged.task_tags or {}
    return next((value for key, value in tags.items() if key.lower() == "team"), None)


def task_by_labels(labels: Labels) -> str | None:
    """Return the name from the labels that the agent gave the container."""
    return _task_name(labels.get(FAMILY_LABEL, ""), labels.get(CONTAINER_LABEL, ""))


def _task_name(family: str, container: str, service: str | None = None) -> str | None:
    """Return a task's name without task ID and revision, which change each day."""
    if not (_ECS_LABEL_NAME.fullmatch(family) and _ECS_LABEL_NAME.fullmatch(container)):
        return None
    known = [service] if service and _ECS_LABEL_NAME.fullmatch(service) else []
    return "ecs:" + "/".join([*known, family, container])
