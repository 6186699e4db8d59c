"""
Name, labels and Neuron devices of a container, from the engine's own files.

Docker keeps a file for each container, containerd and CRI-O the bundle that
they gave to runc; Docker's containers run in containerd and have one, too. Root
can read them, few others can. They also hold the environment of the container:
only what is needed is decoded. The bundle's form is that of
https://github.com/opencontainers/runtime-spec/blob/main/config-linux.md
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from emitter.instance.machine import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DOCKER_FILE: Final = "var/lib/docker/containers/{id}/config.v2.json"
BUNDLES: Final = "run/containerd/io.containerd.runtime.v2.task"
"""Folders by namespace and id, of containers that run."""

KUBERNETES: Final = "k8s.io"
BUNDLE_FILES: Final = (
    f"{BUNDLES}/{KUBERNETES}/{{id}}/config.json",
    "run/containers/storage/overlay-containers/{id}/userdata/config.json",
)

_NEURON_DEVICE: Final = re.compile(r"/dev/neuron[0-9]{1,4}")


class _Labelled(msgspec.Struct, frozen=True, gc=False):
    labels: dict[str, str] | None = msgspec.field(name="Labels", default=None)


class _Docker(msgspec.Struct, frozen=True, gc=False):
    name: str | None = msgspec.field(name="Name", default=None)
    config: _Labelled | None = msgspec.field(name="Config", default=None)


class _Device(msgspec.Struct, frozen=True, gc=False):
    path: str = ""
    minor: int | None = None


class _Rule(msgspec.Struct, frozen=True, gc=False):
    allow: bool = False
    major: int | None = None


class _Resources(msgspec.Struct, frozen=True, gc=False):
    devices: list[_Rule] | None = None


class _Linux(msgspec.Struct, frozen=True, gc=False):
    devices: list[_Device] | None = None
    resources: _Resources | None = None


class _Bundle(msgspec.Struct, frozen=True, gc=False):
    annotations: dict[str, str] | None = None
    linux: _Linux | None = None


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


def neuron_devices(text: str) -> frozenset[int]:
    """
    Indexes of the devices that the bundle *text* gives its container, by the host's numbers.

    A privileged one may use every device of the host and was given none.

    Raises:
        ValueError: If it is no bundle.
    """
    linux = _decode_bundle(text).linux or _Linux()
    rules = (linux.resources and linux.resources.devices) or ()
    if any(rule.allow and rule.major is None for rule in rules):
        return frozenset()
    return frozenset(
        device.minor
        for device in linux.devices or ()
        if _NEURON_DEVICE.fullmatch(device.path) and device.minor is not None
    )
