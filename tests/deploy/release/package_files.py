"""
The files of a deb and of an rpm, each read as its format says; no program of either is needed.

A deb is an `ar` archive with a tar in it. An rpm is a lead, two headers and a cpio archive
("newc"): https://rpm-software-management.github.io/rpm/manual/format_v4.html
"""

from __future__ import annotations

import gzip
import hashlib
import io
import stat
import struct
import tarfile
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_AR_ENTRY = 60
_RPM_LEAD = 96
_RPM_HEADER = b"\x8e\xad\xe8\x01"
_CPIO_HEADER = 110
_CPIO_END = "TRAILER!!!"


class Packed(NamedTuple):
    """One file or link: its rights, and the SHA-256 of what is in it or where it leads."""

    rights: int
    digest: str


def files_of_deb(path: Path) -> dict[str, Packed]:
    """What a deb installs, by path; folders left out."""
    data = path.read_bytes()
    place = len(b"!<arch>\n")
    while place < len(data):
        name = data[place : place + 16].decode().strip().rstrip("/")
        size = int(data[place + 48 : place + 58])
        place += _AR_ENTRY
        if name.startswith("data.tar"):
            with tarfile.open(fileobj=io.BytesIO(data[place : place + size])) as archive:
                return dict(_of_tar(archive))
        place += size + size % 2
    msg = f"{path} has no data.tar"
    raise ValueError(msg)


def _of_tar(archive: tarfile.TarFile) -> Iterator[tuple[str, Packed]]:
    for member in archive:
        name = member.name.lstrip("./")
        if member.issym():
            yield name, _packed(0o777, member.linkname.encode())
        elif member.isfile():
            yield name, _packed(member.mode, archive.extractfile(member).read())


def files_of_rpm(path: Path) -> dict[str, Packed]:
    """What an rpm installs, by path; folders left out."""
    data = path.read_bytes()
    place = _RPM_LEAD
    for alignment in (8, 1):  # the signature is padded, the header is not
        assert data[place : place + 4] == _RPM_HEADER
        entries, size = struct.unpack_from(">II", data, place + 8)
        length = 16 + 16 * entries + size
        place += -(-length // alignment) * alignment
    return dict(_of_cpio(gzip.decompress(data[place:])))


def _of_cpio(data: bytes) -> Iterator[tuple[str, Packed]]:
    place = 0
    while True:
        fields = [int(data[place + 6 + 8 * n : place + 14 + 8 * n], 16) for n in range(13)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        start = place + _CPIO_HEADER
        name = data[start : start + name_size - 1].decode()
        if name == _CPIO_END:
            return
        start = -(-(start + name_size) // 4) * 4
        place = -(-(start + size) // 4) * 4
        if not stat.S_ISDIR(mode):
            rights = 0o777 if stat.S_ISLNK(mode) else stat.S_IMODE(mode)
            yield name.lstrip("./"), _packed(rights, data[start : start + size])


def _packed(rights: int, content: bytes) -> Packed:
    return Packed(rights, hashlib.sha256(content).hexdigest())
