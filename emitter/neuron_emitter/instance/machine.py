"""
The instance's ID and type from the machine itself, and small files of the machine.

Instances on the Nitro system, such as all instances with Neuron devices, have their ID in the asset
tag of the virtual mainboard and their type in its product name. Every user of the machine may read
them, also in a container, without a network or permission. From
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/identify_ec2_instances.html

If neither a report nor EC2 has the ID, one is generated. It must survive a restart: each new name
is an instance that appears, and the old name is an instance that the stack reports as silent. In a
container the host name changes each time. If the host's file is not mounted, a container's machine
ID comes from its image: most images have none, and all containers of another image have the same
one. The last resort is the boot ID. It comes from the kernel, so every container of the machine has
the same boot ID until the machine restarts.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from errno import EINVAL
from hashlib import sha256
from os import O_CLOEXEC, O_NONBLOCK, O_RDONLY
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Final

from neuron_accounts.instance_types import is_instance_type
from neuron_wire.names import EC2_INSTANCE_ID

if TYPE_CHECKING:
    from collections.abc import Iterator

# Inputs of `run` whose reports are certainly of this machine; a file may be of any machine.
INPUTS_OF_THIS_MACHINE: Final = frozenset({"monitor", "-"})
ASSET_TAG_FILE: Final = "sys/devices/virtual/dmi/id/board_asset_tag"
PRODUCT_NAME_FILE: Final = "sys/devices/virtual/dmi/id/product_name"
MACHINE_ID_FILE: Final = "etc/machine-id"
BOOT_ID_FILE: Final = "proc/sys/kernel/random/boot_id"
MOUNTS_FILE: Final = "proc/self/mountinfo"
# Files that Docker, Podman, Kubernetes and ECS leave inside their containers.
_MARKER_FILES: Final = (".dockerenv", "run/.containerenv")
POD_MARK: Final = "KUBERNETES_SERVICE_HOST"
TASK_MARK: Final = "ECS_CONTAINER_METADATA_URI_V4"
_MARKER_VARIABLES: Final = (POD_MARK, TASK_MARK, "container")
MAX_MACHINE_FILE_BYTES: Final = 1 << 20  # enough for a slurm.conf of thousands of nodes


def board_instance_id(root: Path) -> str | None:
    """Return the instance ID, or None on a machine that is not a Nitro instance."""
    tag = read_text(root / ASSET_TAG_FILE)
    return tag if tag and EC2_INSTANCE_ID.fullmatch(tag) else None


def board_instance_type(root: Path) -> str | None:
    """Return the instance type, or None on a machine that is not a Nitro instance."""
    name = read_text(root / PRODUCT_NAME_FILE)  # other hypervisors write `HVM domU` or `KVM`
    return name if name and is_instance_type(name) else None


def guessed_instance_id(root: Path = Path("/")) -> str:
    """
    Return a name that survives restarts, such as `host-3f2a9c0d1e4b5a67`.

    It is a hash, because the machine ID itself must not be published (machine-id(5)).
    """
    digest = sha256(f"neuron-emf {_seed(root)}".encode())
    return f"host-{digest.hexdigest()[:16]}"


def is_container(root: Path) -> bool:
    """Return True if *root* belongs to a container and not to the machine."""
    return (
        any((root / marker).exists() for marker in _MARKER_FILES)
        or any(os.environ.get(variable) for variable in _MARKER_VARIABLES)
        or _mounts(root).get("/") == "overlay"
    )


def _seed(root: Path) -> str:
    mounts = _mounts(root)
    is_contained = is_container(root)
    is_hosts_file = "/etc/machine-id" in mounts or "/etc" in mounts
    if not is_contained or is_hosts_file:
        machine_id = read_text(root / MACHINE_ID_FILE) or ""
        # An image contains `uninitialized` before its first boot.
        if machine_id != "uninitialized" and machine_id.isascii() and machine_id:
            return machine_id
    if is_contained and (boot_id := read_text(root / BOOT_ID_FILE)):
        return boot_id
    return socket.gethostname()


def _mounts(root: Path) -> dict[str, str]:
    """Return the file system type by mount point, from proc_pid_mountinfo(5)."""
    mounts = {}
    for line in (read_text(root / MOUNTS_FILE) or "").splitlines():
        left, dash, right = line.partition(" - ")
        fields = left.split()
        kinds = right.split()
        if dash and len(fields) > 4 and kinds:
            mounts[fields[4]] = kinds[0]
    return mounts


def read_text(path: Path) -> str | None:
    """Return the beginning of *path*, stripped; None if it cannot be read."""
    with suppress(OSError, ValueError):  # ValueError: a null byte in a path from a variable
        return read_bytes(path).decode("utf-8", errors="replace").strip()
    return None


def read_bytes(
    path: Path | str, max_bytes: int = MAX_MACHINE_FILE_BYTES, *, folder: int | None = None
) -> bytes:
    """
    Return the beginning of *path*, below the open *folder* if one is passed.

    A FIFO or a device is not read: reading it could wait forever.

    Raises:
        OSError: If it cannot be read, or is not a regular file.
    """
    flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC
    with os.fdopen(os.open(path, flags, dir_fd=folder), "rb") as file:
        if not S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(EINVAL, "not a regular file")
        return file.read(max_bytes)


def assignments(text: str) -> Iterator[tuple[str, str]]:
    """
    Yield key and value of each line `KEY=VALUE`, as shells and Slurm write them.

    Comments, quotes around the value and `export` before the key are removed.

    >>> list(assignments("export NAME='trn1'"))
    [('NAME', 'trn1')]
    """
    for line in text.splitlines():
        key, equals, value = line.partition("#")[0].partition("=")
        if equals:
            yield key.strip().removeprefix("export ").strip(), value.strip().strip("\"'")
