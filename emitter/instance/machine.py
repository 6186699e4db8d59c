"""
Who this instance is when neither a report nor EC2 says so.

The name must outlive a restart: each new one is an instance that appears, and
leaves one behind that the stack calls silent. A container gives little to go
by. Its host name is new each time; its machine id is the image's, which is
empty in most images and the same in all copies of the others, unless the host's
file is mounted there. The boot id is the kernel's, so every container of the
machine sees the same until the machine starts again: the best that is left.
"""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emitter.instance.small_files import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

INPUTS_OF_THIS_MACHINE: Final = frozenset({"monitor", "-"})
"""Inputs of `run` whose reports are surely of this machine; a file may be of any."""

MACHINE_ID_FILE: Final = "etc/machine-id"
BOOT_ID_FILE: Final = "proc/sys/kernel/random/boot_id"
MOUNTS_FILE: Final = "proc/self/mountinfo"
NO_MACHINE_ID: Final = "uninitialized"  # what an image has before its first boot

# What Docker, Podman, Kubernetes and ECS leave where their containers can see it.
_MARKER_FILES: Final = (".dockerenv", "run/.containerenv")
_MARKER_VARIABLES: Final = ("KUBERNETES_SERVICE_HOST", "ECS_CONTAINER_METADATA_URI_V4", "container")


def guessed_instance_id(root: Path = Path("/"), *, environ: Mapping[str, str] | None = None) -> str:
    """
    A name that stays the same over restarts, such as `host-3f2a9c0d1e4b5a67`.

    It is a hash: the machine id itself is not to be published (machine-id(5)).
    """
    seed = _seed(root, os.environ if environ is None else environ)
    digest = hashlib.sha256(f"neuron-emf {seed}".encode())
    return f"host-{digest.hexdigest()[:16]}"


def is_container(root: Path = Path("/"), *, environ: Mapping[str, str] | None = None) -> bool:
    """Whether *root* is that of a container, and not the machine's own."""
    variables = os.environ if environ is None else environ
    return (
        any((root / marker).exists() for marker in _MARKER_FILES)
        or any(variables.get(variable) for variable in _MARKER_VARIABLES)
        or _mounts(root).get("/") == "overlay"
    )


def _seed(root: Path, environ: Mapping[str, str]) -> str:
    mounts = _mounts(root)
    is_contained = is_container(root, environ=environ)
    is_hosts_file = "/etc/machine-id" in mounts or "/etc" in mounts
    if not is_contained or is_hosts_file:
        machine_id = read_text(root / MACHINE_ID_FILE) or ""
        if machine_id != NO_MACHINE_ID and machine_id.isascii() and machine_id:
            return machine_id
    if is_contained and (boot_id := read_text(root / BOOT_ID_FILE)):
        return boot_id
    return socket.gethostname()


def _mounts(root: Path) -> dict[str, str]:
    """File system type by mount point, as proc_pid_mountinfo(5) has them."""
    found = {}
    for line in (read_text(root / MOUNTS_FILE) or "").splitlines():
        left, dash, right = line.partition(" - ")
        fields, kinds = left.split(), right.split()
        if dash and len(fields) > 4 and kinds:
            found[fields[4]] = kinds[0]
    return found
