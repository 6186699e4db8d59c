"""
What a minute, an event or a report becomes: records with consecutive numbers.

The running emitter and `replay` write alike; where the records go, and whether
they are kept, is the caller's business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lines import (
    LineIdentity,
    Lines,
    LineSettings,
    check_settings,
    parse_choice,
    parse_tags,
)
from emitter.lines.draft import timestamp_ms
from emitter.spool.records import NewRecord

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.events import Event
    from emitter.fold.runtimes import RuntimeMinute
    from emitter.fold.sample import ReportSample
    from emitter.settings import MinuteSettings
    from neuron_wire import MinuteRecord


def line_settings(settings: MinuteSettings) -> LineSettings:
    """
    What *settings* say about lines.

    Raises:
        SettingsError: If a tag or a dimension cannot be used.
    """
    lines = LineSettings(
        tier=settings.metrics,
        namespace=settings.namespace,
        tags=parse_tags(settings.tag),
        tag_dimensions=settings.tag_dimension,
        common_dims=settings.common_dims,
        high_resolution=settings.high_resolution_metrics,
        choice=parse_choice(settings.metric),
    )
    check_settings(lines)
    return lines


class Writer:
    """
    Records of one run, under one set of settings.

    Attributes:
        lines: What writes them.
    """

    def __init__(self, settings: LineSettings) -> None:
        self.lines = Lines(settings)

    def minute(
        self,
        record: MinuteRecord,
        identity: LineIdentity,
        runtimes: Iterable[RuntimeMinute] = (),
    ) -> list[NewRecord]:
        """
        A closed minute; the first record has the number that *record* says.

        Raises:
            neuron_wire.WireFormatError: If CloudWatch would not extract a line.
        """
        minute_ms = record.minute_ms
        lines = self.lines.minute(record, identity.ami_id)
        lines += [
            self.lines.runtime(runtime, identity, seq=seq, minute_ms=minute_ms)
            for seq, runtime in enumerate(runtimes, record.seq + len(lines))
        ]
        return [NewRecord(minute_ms, line) for line in lines]

    def events(
        self, events: Iterable[Event], identity: LineIdentity, *, seq: int
    ) -> list[NewRecord]:
        """Events, numbered from *seq* on."""
        return [
            NewRecord(timestamp_ms(event.at_s), self.lines.event(event, identity, seq=number))
            for number, event in enumerate(events, seq)
        ]

    def report(self, sample: ReportSample, identity: LineIdentity, *, seq: int) -> list[NewRecord]:
        """One report as lines of one-second metrics, numbered from *seq* on."""
        at_ms = timestamp_ms(sample.at_s)
        return [NewRecord(at_ms, line) for line in self.lines.report(sample, identity, seq=seq)]

    def raw(
        self, report: bytes, at_s: float, identity: LineIdentity, *, seq: int
    ) -> NewRecord | None:
        """One report as it came, received at *at_s*; None if no log event is so long."""
        at_ms = timestamp_ms(at_s)
        line = self.lines.raw(report, at_ms, identity, seq=seq)
        return None if line is None else NewRecord(at_ms, line)
