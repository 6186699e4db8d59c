"""
What a minute, an event or a report becomes: records with consecutive numbers.

The running emitter and `replay` write alike; where the records go, and whether
they are kept, is the caller's business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lines import Lines, LineSettings, Source, check_settings, parse_tags
from emitter.spool.records import NewRecord

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.events import Event
    from emitter.fold.runtimes import RuntimeMinute
    from emitter.fold.sample import ReportSample
    from emitter.instance.facts import InstanceFacts
    from emitter.settings import MinuteSettings
    from neuron_wire import MinuteRecord


def line_settings(settings: MinuteSettings) -> LineSettings:
    """
    What *settings* say about lines.

    Raises:
        SettingsError: If a tag or a dimension cannot be used.
    """
    asked = LineSettings(
        tier=settings.metrics,
        namespace=settings.namespace,
        tags=parse_tags(settings.tag),
        tag_dimensions=settings.tag_dimension,
        common_dims=settings.common_dims,
        high_resolution=settings.high_resolution_metrics,
    )
    check_settings(asked)
    return asked


class Writer:
    """Lines of one run, under one set of settings."""

    def __init__(self, settings: LineSettings) -> None:
        self._lines = Lines(settings)

    def know(self, facts: InstanceFacts) -> None:
        """Take over what is known of the instance; metrics may be counted by it."""
        self._lines.know(facts)

    def minute(
        self, record: MinuteRecord, runtimes: Iterable[RuntimeMinute] = ()
    ) -> list[NewRecord]:
        """
        A closed minute; the first record has the number that *record* says.

        Raises:
            neuron_wire.WireFormatError: If CloudWatch would not extract a line.
        """
        source = Source(
            cluster=record.cluster,
            instance_id=record.instance_id,
            identity_guessed=record.identity_guessed,
            boot=record.boot,
        )
        written = self._lines.minute(record)
        for runtime in runtimes:
            seq = record.seq + len(written)
            written.append(
                self._lines.runtime(runtime, source, seq=seq, minute_ms=record.minute_ms)
            )
        return [NewRecord(record.minute_ms, line) for line in written]

    def events(self, events: Iterable[Event], source: Source, *, seq: int) -> list[NewRecord]:
        """Events, numbered from *seq* on."""
        return [
            NewRecord(round(event.at_s * 1000), self._lines.event(event, source, seq=number))
            for number, event in enumerate(events, seq)
        ]

    def report(self, sample: ReportSample, source: Source, *, seq: int) -> list[NewRecord]:
        """One report as lines of one-second metrics, numbered from *seq* on."""
        at_ms = round(sample.at_s * 1000)
        return [NewRecord(at_ms, line) for line in self._lines.report(sample, source, seq=seq)]
