"""How much the spool keeps, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.spool.ledger import cost_bytes

if TYPE_CHECKING:
    from emitter.spool.records import DropReason, NewRecord

MAX_BYTES: Final = 256 << 20
MAX_AGE_S: Final = 13 * 86_400.0
MEMORY_BYTES: Final = 16 << 20  # while the disk refuses: days of minute lines


@dataclass(frozen=True, slots=True)
class Bounds:
    """
    Of one spool.

    Attributes:
        max_bytes: Room in the file.

        max_age_s: Of a record, when something is appended. None is no limit.

        memory_bytes: Room for what the disk refuses.
    """

    max_bytes: int = MAX_BYTES
    max_age_s: float | None = MAX_AGE_S
    memory_bytes: int = MEMORY_BYTES

    def earliest_ms(self, now_s: float) -> int | None:
        """The oldest timestamp that is kept; None for any."""
        return None if self.max_age_s is None else round((now_s - self.max_age_s) * 1000)

    def unkeepable(self, record: NewRecord, earliest_ms: int | None) -> DropReason | None:
        """Why *record* is not kept, None when it is."""
        if earliest_ms is not None and record.timestamp_ms < earliest_ms:
            return "too_old"
        try:
            line_bytes = len(record.line.encode())
        except UnicodeEncodeError:
            return "invalid"  # half a surrogate pair: nothing could be sent it
        if cost_bytes(line_bytes) > self.max_bytes:
            return "too_large"  # would push out everything, then itself
        return None
