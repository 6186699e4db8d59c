"""
Which place the kernel log is read from.

`auto` prefers /dev/kmsg, which needs no journal, and takes the journal where
the ring may not be read: a member of systemd-journal needs no capability.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from emitter.kernel import kmsg
from emitter.kernel.journal import COMMAND, Journal, require_messages
from emitter.kernel.message import UnreadableLogError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emitter.kernel.message import LogSource
    from emitter.kernel.position import Position

AUTO: Final = "auto"
KMSG: Final = "kmsg"
JOURNAL: Final = "journal"
NONE: Final = "none"
FILE_PREFIX: Final = "file:"


_OF_THIS_MACHINE: Final = ("monitor", "-")  # inputs whose reports are surely of it


def choice_for(choice: str, reports: str) -> str:
    """
    What *choice* means where the reports come from *reports*, the setting `input`.

    Reports in a file may be of another machine: then this one's kernel is
    asked only by name.
    """
    return choice if reports in _OF_THIS_MACHINE or choice != AUTO else NONE


class Opener(Protocol):
    """Opens the kernel log, to be read on from a position."""

    def __call__(self, position: Position | None) -> LogSource:
        """
        The log.

        Raises:
            UnreadableLogError: If none can be read.
        """


def opener(
    choice: str,
    *,
    root: Path = Path("/"),
    journal: Sequence[str] = (COMMAND,),
    clock: Callable[[], float] = time.time,
    since_boot_s: Callable[[], float] = time.monotonic,
) -> Opener | None:
    """
    What *choice* asks for: `auto`, `kmsg`, `journal`, or `file:PATH` that speaks like /dev/kmsg.

    None for `none`.
    """

    def ring(path: Path) -> LogSource:
        return kmsg.KernelRing(path, kmsg.boot_id(root), clock=clock, since_boot_s=since_boot_s)

    def entries(position: Position | None) -> LogSource:
        require_messages(journal)
        begun_s = clock() - since_boot_s()
        return Journal(journal, begun_s if position is None else position.at_s)

    def either(position: Position | None) -> LogSource:
        try:
            return ring(root / kmsg.DEVICE)
        except UnreadableLogError as no_ring:
            try:
                return entries(position)
            except UnreadableLogError as no_journal:
                msg = f"{no_ring}; {no_journal}"
                raise UnreadableLogError(msg) from no_journal

    if choice == NONE:
        return None
    if choice == KMSG:
        return lambda _position: ring(root / kmsg.DEVICE)
    if choice == JOURNAL:
        return entries
    if choice.startswith(FILE_PREFIX):
        return lambda _position: ring(Path(choice.removeprefix(FILE_PREFIX)))
    return either
