"""
Open, feed and close minutes, and append their lines to a spool: the same for `run` and `replay`.

The conductor has no clock. Its driver supplies the time: the reading loop the machine's time,
`replay` a recorded time.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

from neuron_emitter.fold import Fold, FoldSettings, LineIdentity
from neuron_emitter.fold.state import with_kernel
from neuron_emitter.health import above_zero, reading_members
from neuron_emitter.lines import LineWriter, parse_choice, require_lines
from neuron_emitter.report_lines import RawReports, ReportQueue
from neuron_emitter.reports.framing import Framer
from neuron_emitter.run.identification import Identification, without_names, without_texts
from neuron_wire import WireFormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from neuron_emitter.logs import Clock
    from neuron_emitter.prometheus.metrics_page import MetricsPage
    from neuron_emitter.reports.report import Report
    from neuron_emitter.run.identification import LocalSources
    from neuron_emitter.settings import MinuteSettings
    from neuron_emitter.spool.spool_records import NewRecord
    from neuron_wire import MinuteRecord


def fold_settings_of(settings: MinuteSettings) -> FoldSettings:
    """Return the fold's settings, without those that neuron-monitor's configuration decides."""
    return FoldSettings(
        idle_below_percent=settings.idle_below_percent,
        runtime_lines=settings.runtime_lines,
        every_report=settings.high_resolution_metrics,
        chosen=parse_choice(settings.metric).names,
    )


class RecordSink(Protocol):
    """A destination of records: the spool, or the output of `replay`."""

    @property
    def boot(self) -> str:
        """The ID of this run of the emitter."""

    @property
    def next_seq(self) -> int:
        """The number of the next record."""

    @property
    def state(self) -> bytes | None:
        """The last appended state, None if there is none."""

    def append(self, records: Sequence[NewRecord], state: bytes | None = None) -> object:
        """Append *records*, and *state* unless it is None."""


class Conductor:
    """
    The open minute of one input, from its reports to its records in *sink*.

    The conductor calls *on_append* after each append, and *on_drop* with the kind and the error of
    a line that cannot be written. *health* returns the driver's own members of a minute line.

    Attributes:
        fold: The fold of the open minute.

        framer: The framer of the input.

        identification: The resolver of the instance ID.

        reports: Reports that wait for their line.

        closed: The record of the minute closed last; None before the first.
    """

    def __init__(
        self,
        settings: MinuteSettings,
        fold_settings: FoldSettings,
        sink: RecordSink,
        local: LocalSources,
        *,
        clock: Clock,
        is_monitor: bool = False,
        only_teams: bool = False,
        page: MetricsPage | None = None,
        on_append: Callable[[], object] = lambda: None,
        on_drop: Callable[[str, WireFormatError], None],
        health: Callable[[], Mapping[str, int | float]] = dict,
    ) -> None:
        self._sink = sink
        self._local = local
        self._faults = local.faults
        self._clock = clock
        self._only_teams = only_teams
        self._page = page
        self._on_append = on_append
        self._on_drop = on_drop
        self._health = health
        self._minutes_dropped = 0
        self.closed: MinuteRecord | None = None
        self.fold = Fold(
            fold_settings,
            sink.state,
            owner_of=local.owner_of,
            current_assignments=local.current_assignments,
            only_teams=only_teams,
            on_event=local.events.add_event,
        )
        self.framer = Framer()
        self.identification = Identification(
            settings, self.fold, local, clock, is_monitor=is_monitor
        )
        self.reports = ReportQueue()
        self._raw = RawReports()
        self.change_settings(settings, fold_settings)

    def change_settings(self, settings: MinuteSettings, fold_settings: FoldSettings) -> None:
        """
        Apply other settings, between two minutes.

        Raises:
            SettingsError: If a tag or a dimension cannot be used; then nothing has changed.
        """
        self._writer = LineWriter(require_lines(settings))
        self._cluster = settings.cluster
        self.fold.configure(fold_settings)
        self._raw.every_minutes = settings.raw_reports

    def pass_time(self, now_s: float) -> bool:
        """
        Close the open minute if it is over at *now_s*, and open the minute of *now_s*.

        Returns:
            True if a minute closed.
        """
        self.identification.learn_facts(0.0)
        is_due = self.fold.clock.is_due(now_s)
        if is_due:
            self.close_or_drop_minute()
        self.fold.clock.open_minute(now_s)
        return is_due

    def fold_report(self, report: Report, now_s: float) -> None:
        """Add the newest *report* of the framer, received at *now_s*, to the open minute."""
        if self._only_teams:
            report = without_names(report)
        self.fold.fold_report(report, now_s)
        newest = self.framer.newest
        self._raw.newest = newest, now_s
        if self._page is not None:
            self._page.show_report(report, newest, self.fold, self.identity(), now_s)
        if self._local.owners is not None and report.neuron_runtime_data:
            self._local.owners.note_pids(runtime.pid for runtime in report.neuron_runtime_data)
        if self.fold.sample is not None and self.identification.is_settled():
            self.reports.add_sample(self.fold.sample)

    def close_or_drop_minute(self, *, is_clean_shutdown: bool = False) -> None:
        """Close the open minute. If its line cannot be written, drop and count the minute."""
        try:
            self.close_minute(is_clean_shutdown=is_clean_shutdown)
        except WireFormatError as error:
            self._minutes_dropped += 1
            self._on_drop("minute", error)
            self.fold.discard_minute()

    def close_minute(self, *, is_clean_shutdown: bool) -> None:
        """
        Write the events up to now, then the open minute.

        A minute without any report is discarded while the instance ID is a guess that may change:
        there are no numbers to lose, only a wrong ID to write.

        Raises:
            WireFormatError: If the line cannot be written.
        """
        if not self.identification.is_settled():
            self.fold.discard_minute()
            return
        self.write_events(is_end=True)
        if (faults := self._faults.count) is not None:
            self.fold.add_hardware_faults(faults)
        self.closed = record = self.fold.close_minute(
            self.identity(),
            self._sink.next_seq,
            is_clean_shutdown=is_clean_shutdown,
            health=self._health_members(),
            is_local=self.identification.is_local(),
        )
        if self._page is not None:
            self._page.show_minute(record, self.fold.holdings)
        self._append(
            self._writer.minute_records(record, self.fold.due_runtimes, self.fold.instance.ami_id),
            self.fold.encode_state(self._faults.minute_state),
        )
        self._faults.end_minute()
        raw = self._raw.due_record(
            record.minute_ms, self._writer, self.identity(), seq=self._sink.next_seq
        )
        if raw is not None:
            self._append([raw])

    def write_reports(self, now_s: float, *, is_end: bool = False) -> None:
        """Write the reports that are due; at the end, write all."""
        if self.reports.ends_at_s() is None:
            return
        identity = self.identity()
        is_known = self._writer.knows_dimensions(identity)
        for sample in self.reports.take_due(now_s, is_every=is_known or is_end):
            seq = self._sink.next_seq
            write = partial(self._writer.report_records, sample, identity)
            self._append_or_drop("report", write)
            if not is_known:
                self.reports.lines_without += self._sink.next_seq - seq

    def write_events(self, *, is_end: bool = False) -> None:
        """Write the events that have no line yet; *is_end* is True at the end of a minute."""
        if not self.identification.is_settled():
            return
        waiting = self._local.events.take_events()
        events = waiting + self._faults.take_events(self._clock(), is_end=is_end)
        if self._only_teams:
            events = [without_texts(event) for event in events]
        if events:
            log = self._faults.event_state
            self._append_or_drop(
                "event",
                lambda seq: self._writer.event_records(events, self.identity(), seq),
                None if log is None else with_kernel(self._sink.state, log),
            )

    def identity(self) -> LineIdentity:
        """Return the identity of a line that is written now."""
        return self.identification.line_identity(self._cluster, self._sink.boot)

    def _append_or_drop(
        self,
        what: str,
        write: Callable[[int], Sequence[NewRecord]],
        state: bytes | None = None,
    ) -> None:
        """Append records that are not minutes. If they are dropped, every minute stays correct."""
        try:
            records = write(self._sink.next_seq)
        except WireFormatError as error:
            self._on_drop(what, error)
        else:
            self._append(records, state)

    def _append(self, records: Sequence[NewRecord], state: bytes | None = None) -> None:
        self._sink.append(records, state)
        self._on_append()

    def _health_members(self) -> dict[str, int | float]:
        return {
            **reading_members(self.fold, self.framer),
            **self._raw.health_members(),
            **self._health(),
            **self.reports.health_members(),
            **above_zero(
                MinutesDropped=self._minutes_dropped, EventsDropped=self._local.events.dropped
            ),
        }
