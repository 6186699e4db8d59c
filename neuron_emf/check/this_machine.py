"""
What `run` would use of this machine.

Owners that can be named, the kernel's messages, the folder that keeps records
until they are delivered, and where lines go when not to CloudWatch Logs:
standard output. Nothing of the folder is changed, and an emitter that runs is
not disturbed: its lock is looked at, never waited for.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING, Final

from emitter.instance.machine import INPUTS_OF_THIS_MACHINE
from emitter.kernel.kmsg import JOURNAL, NONE, choice_for, opener
from emitter.kernel.message import UnreadableLogError
from emitter.owners import Places, reach, sees_sluids
from emitter.owners.lookup import OFF
from emitter.run.service import spool_directory
from emitter.settings.run import LOGS
from emitter.spool.directory_lock import holder_of
from emitter.spool.layout import FILE_NAME, LAYOUT_VERSION
from neuron_emf.check.result import CheckResult, failed, not_needed, ok, warning

if TYPE_CHECKING:
    from pathlib import Path

    from neuron_emf.check.settings import CheckSettings

ATTRIBUTION: Final = "attribution"
KERNEL_LOG: Final = "kernel log"
SPOOL: Final = "spool"
OUTPUT: Final = "output"
SLUID_ADVICE: Final = (
    "Slurm names control groups here by SLUID: CgroupJobIdPaths=yes in cgroup.conf (26.05.2 and "
    "later) restores the job's number"
)

_MIB: Final = 1 << 20
_VERSION_AT: Final = slice(60, 64)  # of a database's first bytes: sqlite.org/fileformat.html
_HEADER_BYTES: Final = 100
_ELSEWHERE: Final = "give this user write permission, or choose another folder with --spool-dir"


def check_attribution(settings: CheckSettings) -> CheckResult:
    """What can be named and what cannot; never a failure, because every number is right without."""
    if settings.attribution == OFF:
        return not_needed(ATTRIBUTION, "--attribution none: owners are not named")
    if settings.input not in INPUTS_OF_THIS_MACHINE:
        return not_needed(ATTRIBUTION, "the pids in a file may be of another machine")
    places = Places.beside(settings.proc_dir)
    access = reach(places)
    if access.why_not:
        return warning(ATTRIBUTION, f"owners are not named: {access.why_not}", access.advice)
    if access.limits:
        advice = f"{access.advice}; {SLUID_ADVICE}" if sees_sluids(places) else access.advice
        return warning(
            ATTRIBUTION, f"owners are named, but for {' and '.join(access.limits)}", advice
        )
    return ok(ATTRIBUTION, f"owners are named from {settings.proc_dir}")


def check_kernel_log(settings: CheckSettings) -> CheckResult:
    """Where faults are read; never a failure, because every other number is right without."""
    open_log = opener(choice_for(settings.kernel_messages, settings.input))
    if open_log is None:
        if settings.kernel_messages == NONE:
            return not_needed(KERNEL_LOG, "--kernel-messages none: hardware faults are not counted")
        return not_needed(KERNEL_LOG, "the reports in a file may be of another machine")
    try:
        ring = open_log()
        ring.close()
    except UnreadableLogError as error:
        return warning(
            KERNEL_LOG, "hardware faults are not counted: no permission to read it", str(error)
        )
    counted = f"hardware faults are counted by what {ring.name} says"
    if settings.kernel_messages == JOURNAL:
        advice = "use --kernel-messages auto"
        return warning(KERNEL_LOG, f"{counted}: the journal is no longer read", advice)
    return ok(KERNEL_LOG, counted)


def check_spool(settings: CheckSettings) -> CheckResult:
    """Whether records can be kept on disk, and for how many of them there is room."""
    directory = spool_directory(settings)
    if directory is None:
        return not_needed(SPOOL, "records are kept in memory with --output stdout")
    existing = directory
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        return failed(SPOOL, f"{existing} is not a folder", "choose another with --spool-dir")
    try:
        _write_in(existing)
    except OSError as error:
        said = error.strerror or type(error).__name__
        return failed(SPOOL, f"cannot write {existing}: {said}", _ELSEWHERE)
    if (version := _version(directory)) > LAYOUT_VERSION:
        return failed(
            SPOOL,
            f"{directory / FILE_NAME} has layout {version}, this version knows {LAYOUT_VERSION}",
            "install the newer neuron-emf again, or choose another folder with --spool-dir",
        )
    return _judged(directory, existing, settings.spool_max_mib)


def check_output(settings: CheckSettings) -> CheckResult:
    """Whether the lines can go where `--output` says; nothing is written."""
    if settings.output == LOGS:
        return not_needed(OUTPUT, "lines go to CloudWatch Logs")
    if sys.stdout is None:
        return failed(OUTPUT, "standard output is closed", "open it")
    return ok(OUTPUT, "standard output")


def _judged(directory: Path, existing: Path, max_mib: int) -> CheckResult:
    free_mib = shutil.disk_usage(existing).free // _MIB
    if free_mib < (wanted_mib := max_mib - _used_mib(directory)):
        return warning(
            SPOOL,
            f"{directory} is on a disk with {free_mib} MiB free, and it may grow by up to "
            f"{wanted_mib} MiB",
            "free disk space, or lower --spool-max-mib: records that do not fit are kept in memory",
        )
    if holder := holder_of(directory):
        return warning(
            SPOOL,
            f"{directory} is writable and held by {holder}",
            "nothing, if that is the emitter; a second one needs its own --spool-dir",
        )
    found = "is writable" if directory.exists() else "can be created"
    return ok(SPOOL, f"{directory} {found}, {free_mib} MiB free")


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
