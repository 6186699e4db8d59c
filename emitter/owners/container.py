"""
The name and the labels of a container, from the engine's own files.

Docker keeps a file for each container, containerd and CRI-O the bundle that
they gave to runc. Root can read them, few others can. They also hold the
environment of the container: only names and labels are decoded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from emitter.instance.small_files import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DOCKER_FILE: Final = "var/lib/docker/containers/{id}/config.v2.json"
BUNDLE_FILES: Final = (
    "run/containerd/io.containerd.runtime.v2.task/k8s.io/{id}/config.json",
    "run/containers/storage/overlay-containers/{id}/userdata/config.json",
)


class _Labelled(msgspec.Struct, frozen=True, gc=False):
    labels: dict[str, str] | None = msgspec.field(name="Labels", default=None)


class _Docker(msgspec.Struct, frozen=True, gc=False):
    name: str | None = msgspec.field(name="Name", default=None)
    config: _Labelled | None = msgspec.field(name="Config", default=None)


class _Bundle(msgspec.Struct, frozen=True, gc=False):
    annotations: dict[str, str] | None = None


_decode_docker: Final = msgspec.json.Decoder(_Docker).decode
_decode_bundle: Final = msgspec.json.Decoder(_Bundle).decode


def docker_container(container: str, root: Path) -> tuple[str | None, Mapping[str, str]]:
    """Name and labels that Docker has for the container with the id *container*."""
    text = read_text(root / DOCKER_FILE.format(id=container))
    try:
        docker = _decode_docker(text or "{}")
    except (ValueError, RecursionError):
        return None, {}
    name = (docker.name or "").removeprefix("/")
    return name or None, (docker.config and docker.config.labels) or {}


def bundle_annotations(container: str, root: Path) -> Mapping[str, str]:
    """The annotations that containerd or CRI-O gave the container with the id *container*."""
    for file in BUNDLE_FILES:
        text = read_text(root / file.format(id=container))
        try:
            bundle = _decode_bundle(text or "{}")
        except (ValueError, RecursionError):
            continue
        if bundle.annotations:
            return bundle.annotations
    return {}
