"""
The emitter's minute in one process: reports folded, the minute closed, kept and sent.

The parts are the emitter's own, put together as `emitter.run.loop` does, with a
clock that a benchmark turns: a minute need not take a minute.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from emitter.delivery.delivery import Delivery
from emitter.delivery.destination import Delivered
from emitter.fold import Fold, FoldSettings, Stamp
from emitter.lines import Lines, LineSettings
from emitter.reports.framing import Framer
from emitter.spool import NewRecord, Spool

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from emitter.delivery.destination import Destination
    from neuron_wire.minute import MinuteRecord

PERIOD_S: Final = 5.0
REPORTS_A_MINUTE: Final = 12
START_S: Final = 1_800_000_000
HEALTH: Final = {
    "ReportsRead": 1_000_000, "ReportsMalformed": 0, "MonitorRestarts": 12,
    "RecordsProduced": 100_000, "RecordsDelivered": 99_990, "RecordsDropped": 0, "SpoolRecords": 10,
    "SpoolBytes": 24_000, "EmitterCpuSeconds": 1_234.56, "EmitterMemory": 55_000_000,
}  # fmt: skip
"""As after two months."""


def stamp(seq: int) -> Stamp:
    """What a minute is known by."""
    return Stamp(
        cluster="training-production",
        boot="01234567890123456789",
        seq=seq,
        instance_id="i-0123456789abcdef0",
        health=HEALTH,
    )


class Minutes:
    """Reports in, closed minutes out. Minutes follow one another, beginning with *start_s*."""

    def __init__(self, start_s: int = START_S) -> None:
        self.now_s: float = start_s
        self.fold = Fold(FoldSettings(period_s=PERIOD_S))
        self._framer = Framer()

    def read(self, reports: Sequence[bytes]) -> None:
        """The reports of one minute."""
        for place, line in enumerate(reports):
            for report in self._framer.feed(line):
                self.fold.add(report, self.now_s + PERIOD_S * place + 2)

    def close(self, seq: int) -> MinuteRecord:
        """What the minute was; the next one begins."""
        self.now_s += 60
        return self.fold.close(stamp(seq))


class MeasuredEmitter:
    """
    One emitter, its spool in *folder*, which sends to *destination*.

    Attributes:
        printed_bytes: Of the lines so far.
    """

    def __init__(self, folder: Path, destination: Destination) -> None:
        self.printed_bytes = 0
        self._minutes = Minutes(int(time.time()) // 60 * 60)
        self._lines = Lines(LineSettings())
        self.spool = Spool.open(folder, clock=self._clock)
        self._delivery = Delivery(self.spool, destination, clock=self._clock)

    def minute(self, reports: Sequence[bytes]) -> None:
        """One minute: read, closed, kept on disk, sent, and taken off the disk."""
        self._minutes.read(reports)
        record = self._minutes.close(self.spool.next_seq)
        lines = self._lines.minute(record)
        self.printed_bytes += sum(len(line.encode()) + 1 for line in lines)
        new = [NewRecord(record.minute_ms, line) for line in lines]
        self.spool.append(new, self._minutes.fold.state())
        self.send()

    def ship(self, lines: Sequence[str]) -> None:
        """Lines as they are, each on disk before the next, then sent."""
        for line in lines:
            self.spool.append([NewRecord(int(1000 * self._clock()), line)])
        self.send()

    def send(self) -> None:
        """
        Offer what waits, once.

        Raises:
            RuntimeError: If it was not taken: what failed would have been cheap.
        """
        outcome = self._delivery.attempt().outcome
        if not isinstance(outcome, Delivered) or outcome.rejected:
            msg = f"every record was to be taken, the answer was {outcome}"
            raise RuntimeError(msg)

    def close(self) -> None:
        """Let go of the spool and of connections."""
        self._delivery.close()
        self.spool.close()

    def _clock(self) -> float:
        return self._minutes.now_s
