"""
What the kernel says a process listens on.

Reads /proc as proc(5) describes it, so it knows Linux only; elsewhere it
finds nothing.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PROC: Final = Path("/proc")
_LISTEN: Final = "0A"  # TCP_LISTEN in include/net/tcp_states.h


def group_members(group_id: int) -> list[int]:
    """Running processes of one process group; empty where /proc does not exist."""
    members = []
    for entry in _PROC.glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # it ended while we looked
        # The command stands in brackets and may hold anything, also brackets.
        state, _, group, *_ = stat[stat.rindex(")") + 2 :].split()
        if int(group) == group_id and state not in "ZX":
            members.append(int(entry.name))
    return members


def listening(pids: Iterable[int]) -> list[tuple[str, int]]:
    """
    Addresses and ports that any of *pids* accepts TCP connections on.

    No address where the kernel cannot be asked.
    """
    inodes = {inode for pid in pids for inode in _socket_inodes(pid)}
    addresses = []
    for table in ("tcp", "tcp6"):
        try:
            rows = (_PROC / "net" / table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue  # a kernel without IPv6, or no Linux
        for row in rows:
            fields = row.split()
            if fields[3] == _LISTEN and fields[9] in inodes:
                addresses.append(_address(fields[1]))
    return sorted(addresses)


def is_loopback(address: str) -> bool:
    """Whether nobody but this machine can reach *address*."""
    found = ipaddress.ip_address(address)
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


def _socket_inodes(pid: int) -> Iterator[str]:
    try:
        descriptors = list((_PROC / str(pid) / "fd").iterdir())
    except OSError:
        return
    for descriptor in descriptors:
        try:
            target = str(descriptor.readlink())
        except OSError:
            continue
        if target.startswith("socket:["):
            yield target[len("socket:[") : -1]


def _address(field: str) -> tuple[str, int]:
    """`0100007F:3971` as ("127.0.0.1", 14705): words in host order, port in hexadecimal."""
    words, port = field.split(":")
    packed = b"".join(
        struct.pack("=I", int(words[start : start + 8], 16)) for start in range(0, len(words), 8)
    )
    family = socket.AF_INET if len(packed) == 4 else socket.AF_INET6
    return socket.inet_ntop(family, packed), int(port, 16)
