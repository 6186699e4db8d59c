"""
Namespace, pod and container of a container id: what the kubelet and the runtimes leave on the node.

The kubelet's log folders have the names and the ids in their own names, so that
listing them is enough. The files of the runtimes need root. From
https://kubernetes.io/docs/concepts/cluster-administration/logging/ and
https://github.com/containerd/containerd/blob/main/pkg/cri/annotations/annotations.go
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from emitter.owners.container import bundle_annotations, docker_container

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

POD_LOGS: Final = "var/log/pods"
CONTAINER_LOGS: Final = "var/log/containers"
MAX_ENTRIES: Final = 10_000

# A namespace and a container are DNS labels, a pod is a DNS subdomain:
# https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
_LABEL: Final = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_SUBDOMAIN: Final = "[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?"
NAME: Final = re.compile(_SUBDOMAIN)
"""What a namespace, a pod and a container can be called."""

_POD_FOLDER: Final = re.compile(rf"({_LABEL})_({_SUBDOMAIN})_([0-9a-f-]{{32,36}})")
_LOG_LINK: Final = re.compile(rf"({_SUBDOMAIN})_({_LABEL})_({_LABEL})-([0-9a-f]{{64}})\.log")

_ANNOTATIONS: Final = (
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


@dataclass(frozen=True, slots=True)
class PodName:
    """What people call it; the container is None where only the pod is known."""

    namespace: str
    pod: str
    container: str | None = None

    @property
    def text(self) -> str:
        """`namespace/pod` or `namespace/pod/container`."""
        return "/".join(filter(None, (self.namespace, self.pod, self.container)))


def pod_name(container: str, pod: str | None, root: Path) -> PodName | None:
    """The names of the container with the id *container*, in the pod with the id *pod*."""
    if known_pod := _in_container_logs(container, root):
        return known_pod
    known_pod = _in_pod_logs(pod, root) if pod else None
    if known_pod and known_pod.container:
        return known_pod
    return (
        _annotated(bundle_annotations(container, root))
        or _annotated(docker_container(container, root)[1])
        or known_pod
    )


def logged_pods(root: Path) -> Iterator[tuple[str, PodName, list[str]]]:
    """Id and name of each pod that has a folder for logs, and the containers that began in it."""
    for name in _names(root / POD_LOGS):
        if folder := _POD_FOLDER.fullmatch(name):
            inside = _names(root / POD_LOGS / name)
            containers = [entry for entry in inside if NAME.fullmatch(entry)]
            yield folder[3], PodName(folder[1], folder[2]), containers


def _in_container_logs(container: str, root: Path) -> PodName | None:
    end = f"-{container}.log"
    for name in _names(root / CONTAINER_LOGS):
        if name.endswith(end) and (found := _LOG_LINK.fullmatch(name)):
            return PodName(found[2], found[1], found[3])
    return None


def _in_pod_logs(pod: str, root: Path) -> PodName | None:
    for uid, name, containers in logged_pods(root):
        if uid == pod:
            return replace(name, container=containers[0] if len(containers) == 1 else None)
    return None


def _annotated(texts: Mapping[str, str]) -> PodName | None:
    for keys in _ANNOTATIONS:
        namespace, pod, container = (texts.get(key, "") for key in keys)
        if NAME.fullmatch(namespace) and NAME.fullmatch(pod):
            return PodName(namespace, pod, container if NAME.fullmatch(container) else None)
    return None


def _names(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry.name for entry in islice(entries, MAX_ENTRIES))
    except OSError:
        return
