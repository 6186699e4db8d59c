"""
The counters of one boot, and what of it the disk does not know yet.

In memory, so that numbers and health need no working disk; the disk has a copy
that is as old as its last transaction.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from emitter.spool.records import DropReason, SpooledRecord
    from emitter.spool.state_file import DeliveredState

_STATES_KEPT: Final = 64  # an hour of minutes that nobody took, while the disk refuses


@dataclass(slots=True)
class BootCounters:
    """
    What became of one boot's records: produced = delivered + records + dropped.

    Attributes:
        records: Backlog, wherever they are.

        bytes: UTF-8 bytes of their lines.

        changed: Whether the disk has other numbers.
    """

    produced: int = 0
    delivered: int = 0
    dropped: Counter[DropReason] = field(default_factory=Counter)
    records: int = 0
    bytes: int = 0
    changed: bool = True


@dataclass(slots=True)
class PendingChanges:
    """
    Changes the disk does not have yet, of this boot and of older ones.

    Attributes:
        added: Records in order of arrival, with the UTF-8 bytes of their lines.

        settled_to: Everything on the disk up to this id has left the spool.

        settled: Further ids on the disk that have left it.

        state: The fold's state last given.

        state_changed: Whether the disk has another.

        states: Those given since the disk's, the oldest first, each with the last id before it.

        delivered: The newest of them whose records were delivered, until it is kept.
    """

    added: dict[int, tuple[SpooledRecord, int]] = field(default_factory=dict)
    settled_to: int | None = None
    settled: set[int] = field(default_factory=set)
    state: bytes | None = None
    state_changed: bool = False
    states: deque[tuple[int, DeliveredState]] = field(
        default_factory=lambda: deque(maxlen=_STATES_KEPT)
    )
    delivered: DeliveredState | None = None

    def deliver_to(self, record_id: int) -> None:
        """Records up to *record_id* were delivered."""
        while self.states and self.states[0][0] <= record_id:
            _, self.delivered = self.states.popleft()

    def written(self) -> None:
        """The disk has it all now."""
        self.added.clear()
        self.settled.clear()
        self.settled_to = None
        self.state_changed = False
        self.states.clear()
        self.delivered = None
