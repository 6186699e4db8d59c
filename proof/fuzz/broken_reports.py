"""What must be true of an emitter that reads a report, whatever is in it."""

from __future__ import annotations

from typing import Any, Final

from emitter.fold import Fold, FoldSettings, Stamp
from emitter.lines import LineIdentity, Lines, LineSettings
from emitter.reports.framing import Framer
from neuron_wire.line import OtherRecord, parse
from neuron_wire.minute import MinuteRecord
from proof.factories import reports as shaped_reports
from proof.factories.reports import START_S, inf1_busy, line
from proof.fuzz import broken_json
from proof.fuzz.target import Target

_LINES: Final = Lines(LineSettings())


class Survival:
    """
    An emitter that must survive what it reads: bytes in, one minute out.

    Attributes:
        framer: What cuts the bytes.

        fold: What folds the reports.

        record: The minute.
    """

    def __init__(self, *contents: bytes, chunk_bytes: int = 1 << 16) -> None:
        self.framer = Framer()
        settings = FoldSettings(period_s=5.0, runtime_lines="all", every_report=True)
        self.fold = Fold(settings)
        self.fold.open(START_S)
        for place, content in enumerate(contents):
            for start in range(0, len(content), chunk_bytes):
                self._take(self.framer.feed(content[start : start + chunk_bytes]), place)
        self._take(self.framer.end(), len(contents))
        stamp = Stamp(cluster="blue", boot="b", seq=1, instance_id="host-guess")
        self.record = self.fold.close(stamp)
        self._check(stamp, settings)

    @property
    def dropped(self) -> int:
        """Pieces, groups and parts that could not be read."""
        return self.framer.malformed + self.fold.malformed

    def _take(self, reports: Any, place: int) -> None:
        for report in reports:
            self.fold.add(report, START_S + 5.0 * place)

    def _check(self, stamp: Stamp, settings: FoldSettings) -> None:
        """The stack reads every line, and a restart the state."""
        assert self.record.reports == self.fold.reports_read
        for percent in self.record.utilization_percent:
            assert percent is None or 0 <= percent <= 100
        minute, *_more = _LINES.minute(self.record)
        found = parse(minute)
        assert isinstance(found, MinuteRecord)
        assert self.record.core_state == found.core_state
        identity = LineIdentity("blue", self.record.instance_id, self.record.identity_guessed, "b")
        of_runtime = {"seq": 3, "minute_ms": self.record.minute_ms}
        written = [_LINES.event(event, identity, seq=2) for event in self.fold.take_events()]
        written += [_LINES.runtime(one, identity, **of_runtime) for one in self.fold.runtimes]
        if self.fold.sample is not None:
            written += _LINES.report(self.fold.sample, identity, seq=4)
        for other in written:
            assert isinstance(parse(other), OtherRecord)
        after = Fold(settings, self.fold.state())
        after.open(START_S + 60)
        after.close(stamp)


def survives(content: bytes, chunk_bytes: int = 1 << 16) -> Survival:
    """Read *content*: no exception, every piece read or counted, and what follows it is read."""
    alone = Survival(content, chunk_bytes=chunk_bytes)
    if content.strip():
        assert alone.fold.reports_read + alone.framer.malformed >= 1
    followed = Survival(content, b"\n", line(inf1_busy()), chunk_bytes=chunk_bytes)
    assert followed.fold.reports_read >= 1
    return alone


def seeds() -> list[bytes]:
    """Reports in the shapes that real ones had."""
    shapes = [
        shaped_reports.inf1_first(),
        inf1_busy(),
        shaped_reports.inf2_loaded(),
        shaped_reports.trn1_nobody(),
        shaped_reports.trn1_job([50.0, 0.0], models=1),
        shaped_reports.trn2_logical(),
        shaped_reports.sidecar(40, 60),
    ]
    return [line(shape) for shape in shapes]


REPORTS: Final = Target("reports", survives, seeds, broken_json.broken)
