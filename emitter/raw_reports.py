"""
Which reports are written as they came: the last one of every so-many-th minute.

The first minute that has a report is one of them, so who asks for raw reports
sees one at once, and a fleet that was not started in one minute does not send
all of them in one.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from neuron_wire.extraction import MAX_LINE_BYTES
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from emitter.lines import LineIdentity, LineWriter
    from emitter.reports.framing import Framer
    from emitter.spool.records import NewRecord

MEMBER: Final = "RawReportsTooLarge"

_log = logging.getLogger(__name__)


class RawReports:
    """
    The choice among the reports of one run.

    Attributes:
        too_large: Reports that were due and not written, because no log event is so long.
    """

    def __init__(self, every_minutes: int | None, framer: Framer) -> None:
        self.too_large = 0
        self._framer = framer
        self._newest: tuple[bytes, float] | None = None  # its bytes and its receipt
        self._written: int | None = None  # epoch minute
        self.configure(every_minutes)

    def configure(self, every_minutes: int | None) -> None:
        """Write one every so many minutes from now on; None for none."""
        self._every_minutes = every_minutes
        self._framer.keeps_newest = every_minutes is not None
        self._framer.newest = b""
        self._newest = None

    def see(self, at_s: float) -> None:
        """Note the report that the framer gave last, received at *at_s*."""
        if self._every_minutes is not None:
            self._newest = self._framer.newest, at_s

    def due_record(
        self, minute_ms: int, writer: LineWriter, identity: LineIdentity, *, seq: int
    ) -> NewRecord | None:
        """
        The report to write of the minute that closed, None where none is due.

        One that no log event can hold is counted, and the first is said.
        """
        newest, self._newest = self._newest, None
        if newest is None or self._every_minutes is None:
            return None
        minute = minute_ms // MINUTE_MS
        if self._written is not None and 0 <= minute - self._written < self._every_minutes:
            return None
        self._written = minute
        record = writer.raw_record(*newest, identity, seq)
        if record is not None:
            return record
        self.too_large += 1
        if self.too_large == 1:
            _log.warning(
                "--raw-reports dropped a report of %d bytes: a log event holds at most "
                "%d. It is counted in %s; this is logged once.",
                len(newest[0]),
                MAX_LINE_BYTES,
                MEMBER,
            )
        return None

    def members(self) -> dict[str, int]:
        """What the next minute line says of it."""
        return {MEMBER: self.too_large} if self.too_large else {}
