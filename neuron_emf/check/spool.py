"""
The folder that keeps records until they are delivered.

Nothing of it is changed, and an emitter that runs is not disturbed: its lock is
looked at, never waited for.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING, Final

from emitter.run.service import spool_directory
from emitter.spool.directory_lock import holder_of
from emitter.spool.layout import FILE_NAME, LAYOUT_VERSION
from neuron_emf.check.result import CheckResult, failed, not_needed, ok, warning

if TYPE_CHECKING:
    from pathlib import Path

    from neuron_emf.check.settings import CheckSettings

CHECK: Final = "spool"

_MIB: Final = 1 << 20
_VERSION_AT: Final = slice(60, 64)  # of a database's first bytes: sqlite.org/fileformat.html
_HEADER_BYTES: Final = 100
_ELSEWHERE: Final = "give this user write permission, or choose another folder with --spool-dir"


def check_spool(settings: CheckSettings) -> CheckResult:
    """Whether records can be kept on disk, and for how many of them there is room."""
    directory = spool_directory(settings)
    if directory is None:
        return not_needed(CHECK, "records are kept in memory with --output stdout")
    existing = directory
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        return failed(CHECK, f"{existing} is not a folder", "choose another with --spool-dir")
    try:
        _write_in(existing)
    except OSError as error:
        said = error.strerror or type(error).__name__
        return failed(CHECK, f"cannot write {existing}: {said}", _ELSEWHERE)
    if (version := _version(directory)) > LAYOUT_VERSION:
        return failed(
            CHECK,
            f"{directory / FILE_NAME} has layout {version}, this version knows {LAYOUT_VERSION}",
            "install the newer neuron-emf again, or choose another folder with --spool-dir",
        )
    return _judged(directory, existing, settings.spool_max_mib)


def _judged(directory: Path, existing: Path, max_mib: int) -> CheckResult:
    free_mib = shutil.disk_usage(existing).free // _MIB
    if free_mib < (wanted_mib := max_mib - _used_mib(directory)):
        return warning(
            CHECK,
            f"{directory} is on a disk with {free_mib} MiB free, and it may grow by up to "
            f"{wanted_mib} MiB",
            "free disk space, or lower --spool-max-mib: records that do not fit are kept in memory",
        )
    if holder := holder_of(directory):
        return warning(
            CHECK,
            f"{directory} is writable and held by {holder}",
            "nothing, if that is the emitter; a second one needs its own --spool-dir",
        )
    found = "is writable" if directory.exists() else "can be created"
    return ok(CHECK, f"{directory} {found}, {free_mib} MiB free")


def _write_in(folder: Path) -> None:
    """
    Write one page to a file that has no name where the system allows that.

    Raises:
        OSError: If the folder takes none.
    """
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        file.write(bytes(4096))
        os.fsync(file.fileno())


def _version(directory: Path) -> int:
    try:
        with (directory / FILE_NAME).open("rb") as file:
            return int.from_bytes(file.read(_HEADER_BYTES)[_VERSION_AT], "big")
    except OSError:
        return 0


def _used_mib(directory: Path) -> int:
    try:
        return (directory / FILE_NAME).stat().st_size // _MIB
    except OSError:
        return 0
