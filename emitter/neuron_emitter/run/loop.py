"""
The reading loop: fold reports, close each minute on time, append its lines to the spool.

Sending has a thread of its own, so that no answer of the service stops the
reading. A planned stop closes the open minute with `CleanShutdown`, flushes what it can
within a bound, and keeps the rest; so does the end of a file. A stream that
ends has failed: its minute closes without `CleanShutdown`, so that the stack sees the
instance fall silent.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final

from neuron_emitter.errors import SourceError
from neuron_emitter.fold import Fold, FoldSettings
from neuron_emitter.fold.state import with_kernel
from neuron_emitter.health import (
    PulseFile,
    above_zero,
    process_members,
    reading_members,
    spool_members,
)
from neuron_emitter.lines import LineWriter, require_lines
from neuron_emitter.logs import Repeats
from neuron_emitter.report_lines import RawReports, ReportQueue
from neuron_emitter.reports.framing import Framer
from neuron_emitter.reports.source import ended_event, no_reports
from neuron_emitter.run.identification import (
    Identification,
    LocalSources,
    without_names,
    without_texts,
)
from neuron_emitter.run.signals import is_stopping_within
from neuron_emitter.settings.run import STDOUT, TEAM_ATTRIBUTION
from neuron_wire import WireFormatError
from neuron_wire.line_members import iso_minute
from neuron_wire.names import MINUTE_S
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from neuron_emitter.fold import LineIdentity
    from neuron_emitter.logs import Clock
    from neuron_emitter.prometheus.metrics_page import MetricsPage
    from neuron_emitter.reports.report import Report
    from neuron_emitter.reports.source import Source
    from neuron_emitter.run.outlet import Outlet
    from neuron_emitter.settings import RunSettings
    from neuron_emitter.spool import Spool
    from neuron_emitter.spool.records import NewRecord

REPORT_READ_TIMEOUT_S: Final = 0.5  # bounds how late a minute closes, and how long a stop waits
METADATA_PATIENCE_S: Final = 2.5  # for an input that ended before the metadata service answered
SIGNAL_AFTER_END_S: Final = 1.0  # from the end of a stream to the signal that ended its writer, too
MALFORMED_PATIENCE_S: Final = 10.0
DROPS_LOG_INTERVAL_S: Final = 10.0

_log = logging.getLogger(__name__)


class Emitter:
    """
    One source, one fold, one spool, one outlet.

    Attributes:
        outlet: Where the records go.
    """

    def __init__(
        self,
        settings: RunSettings,
        source: Source,
        spool: Spool,
        outlet: Outlet,
        fold_settings: FoldSettings,
        *,
        local: LocalSources,
        page: MetricsPage | None = None,
        clock: Clock = time.time,
    ) -> None:
        """Start with *settings*, whose `cluster` has been resolved."""
        self.outlet = outlet
        self._source = source
        self._spool = spool
        self._local = local
        self._events, self._faults = local.events, local.faults
        self._page = page
        self._clock = clock
        self._started_s = clock()
        self._framer = Framer()
        self._only_teams = settings.attribution == TEAM_ATTRIBUTION
        self._fold = Fold(
            fold_settings, spool.state,
            owner_of=lambda pid: self._who.owner_of(pid),  # noqa: PLW0108 - it is made below
            current_assignments=lambda: self._who.current_assignments(),  # noqa: PLW0108 - as above
            only_teams=self._only_teams,
            on_event=self._events.add_event,
        )  # fmt: skip
        self._who = Identification(settings, self._fold, self._local, clock)
        self._raw = RawReports()
        self._reports = ReportQueue()
        self._pulse = PulseFile(spool.directory)
        self._drop_log = Repeats(DROPS_LOG_INTERVAL_S)
        self._minutes_dropped = self._malformed_logged = 0
        self.change_settings(settings, fold_settings)
        if spool.health().older_records:
            # What the last run left waits for no new minute.
            outlet.send_records(self._who.instance_id)

    def change_settings(self, settings: RunSettings, fold_settings: FoldSettings) -> None:
        """
        Apply other settings, between two minutes.

        Raises:
            SettingsError: If a tag or a dimension cannot be used; then nothing has changed.
        """
        self._writer = LineWriter(require_lines(settings))
        self._settings = settings
        self._fold.configure(fold_settings)
        self._raw.every_minutes = settings.raw_reports

    def replace_outlet(self, outlet: Outlet) -> None:
        """Send through *outlet* from now on, including what is waiting."""
        self.outlet.close_for_change()
        self.outlet = outlet
        outlet.send_records(self._who.instance_id)

    def read_until(
        self, is_stopping: Callable[[], bool], between_minutes: Callable[[], None] = lambda: None
    ) -> bool:
        """
        Fold reports and close minutes until a stop is asked for or the input ends.

        *between_minutes* is called after each closed minute.

        Returns:
            Whether the input ended by itself.

        Raises:
            SourceError: If the input can no longer be read.
            DeliveryError: If the reader of standard output has exited.
        """
        self._fold.clock.open_minute(self._clock())
        self._log_first_due()
        while not is_stopping():
            if self._pulse.is_due():
                self._pulse.write_beat(self._fold.reports_read, self._spool.health())
            self.outlet.require_reader()
            chunk = self._source.read(self._patience_s())
            now_s = self._clock()
            self._who.learn_facts(0.0)
            if self._fold.clock.is_due(now_s):
                self._close_minute(is_clean_shutdown=False)
                between_minutes()
            self._fold.clock.open_minute(now_s)
            for report in (
                self._framer.end_input() if chunk is None else self._framer.frame_chunk(chunk)
            ):
                self._fold_report(report, now_s)
            self._keep_reports(now_s)
            self._log_malformed()
            if chunk is None:
                # Ctrl-C also stops the program that writes to us: then its end is a part of that.
                patience_s = SIGNAL_AFTER_END_S if self._source.is_stream else 0.0
                return not is_stopping_within(patience_s, is_stopping)
            self._keep_events()
        return False

    def finish(self, *, input_ended: bool) -> None:
        """
        Close the open minute and send what can be sent in time.

        The line has `CleanShutdown` unless a stream ended.

        Raises:
            SourceError: If the input ended without a report, or is a stream.
            WireFormatError: If the input ended and its last minute could not be written.
            DeliveryError: If the input ended and records are left.
        """
        if input_ended:
            if not self._fold.reports_read:
                raise no_reports(self._source.name, self._framer.last_problem)
            if self._fold.instance.instance_id is None or self._reports.ends_at_s() is not None:
                self._who.learn_facts(METADATA_PATIENCE_S)
        self._keep_reports(self._clock(), is_end=True)
        if not input_ended:
            self._close_minute(is_clean_shutdown=True)
            self._keep_events()
            self.outlet.stop_sending()
            return
        failure = None
        if self._source.is_stream:
            failure = SourceError(
                f"The program writing to {self._source.name} has exited. Let a supervisor restart "
                "both, or let `neuron-emf run` start neuron-monitor."
            )
            self._events.add_event(ended_event(self._source.name, self._clock()))
        self._keep_events(is_end=True)
        self._keep_minute(is_clean_shutdown=failure is None)
        self._keep_events()
        self.outlet.finish_sending(self._who.instance_id, failure)

    def _patience_s(self) -> float:
        ends_s = (self._fold.clock.ends_at_s(), self._reports.ends_at_s())
        now_s = self._clock()
        waits_s = [max(0.0, end_s - now_s) for end_s in ends_s if end_s is not None]
        return min([REPORT_READ_TIMEOUT_S, *waits_s])

    def _fold_report(self, report: Report, now_s: float) -> None:
        if self._only_teams:
            report = without_names(report)
        self._fold.fold_report(report, now_s)
        newest = self._framer.newest
        self._raw.newest = newest, now_s
        if self._page is not None:
            self._page.show_report(report, newest, self._fold, self._identity(), now_s)
        if self._local.owners is not None and report.neuron_runtime_data:
            self._local.owners.note_pids(runtime.pid for runtime in report.neuron_runtime_data)
        if self._fold.sample is not None and self._who.is_settled():
            self._reports.add_sample(self._fold.sample)

    def _close_minute(self, *, is_clean_shutdown: bool) -> None:
        if not self._who.is_settled():
            # Nothing was ever read: there is no minute to lose, only a name to get wrong.
            self._fold.discard_minute()
            return
        self._keep_events(is_end=True)
        try:
            self._keep_minute(is_clean_shutdown=is_clean_shutdown)
        except WireFormatError as error:
            # It costs this minute; the next one may be kept again.
            self._minutes_dropped += 1
            self._log_dropped("minute", error)
            if self._fold.clock.ends_at_s() is not None:
                self._fold.discard_minute()
        else:
            self.outlet.send_records(self._who.instance_id)

    def _keep_minute(self, *, is_clean_shutdown: bool) -> None:
        if (faults := self._faults.count) is not None:
            self._fold.add_hardware_faults(faults)
        record = self._fold.close_minute(
            self._identity(), self._spool.next_seq,
            is_clean_shutdown=is_clean_shutdown, health=self._health(), paid=self._settings.paid,
        )  # fmt: skip
        if self._page is not None:
            self._page.show_minute(record, self._fold.holdings)
        state = self._fold.encode_state(self._faults.minute_state)
        records = self._writer.minute_records(
            record, self._fold.due_runtimes, self._fold.instance.ami_id
        )
        self._spool.append(records, state)
        self._faults.end_minute()
        seq = self._spool.next_seq
        if raw := self._raw.due_record(record.minute_ms, self._writer, self._identity(), seq=seq):
            self._append("raw report", lambda _seq: [raw])

    def _keep_events(self, *, is_end: bool = False) -> None:
        if not self._who.is_settled():
            return
        events = self._events.take_events() + self._faults.take_events(self._clock(), is_end=is_end)
        if self._only_teams:
            events = [without_texts(event) for event in events]
        if events:
            identity = self._identity()
            log = self._faults.event_state
            state = None if log is None else with_kernel(self._spool.state, log)
            self._append(
                "event", lambda seq: self._writer.event_records(events, identity, seq), state
            )

    def _keep_reports(self, now_s: float, *, is_end: bool = False) -> None:
        for write in self._reports.due(self._writer, self._identity, now_s, is_end=is_end):
            self._append("report", write)

    def _append(
        self, what: str, write: Callable[[int], Sequence[NewRecord]], state: bytes | None = None
    ) -> None:
        """Spool records other than a minute's; when it fails, no number of a minute is wrong."""
        try:
            self._spool.append(write(self._spool.next_seq), state)
        except WireFormatError as error:
            self._log_dropped(what, error)
        else:
            self.outlet.send_records(self._who.instance_id)

    def _identity(self) -> LineIdentity:
        return self._who.line_identity(self._settings.cluster, self._spool.boot)

    def _health(self) -> dict[str, int | float]:
        return {
            **reading_members(self._fold, self._framer),
            **self._raw.health_members(),
            "MonitorRestarts": self._source.restarts,
            **spool_members(self._spool.health()),
            **process_members(),
            **self._reports.health_members(),
            **above_zero(MinutesDropped=self._minutes_dropped, EventsDropped=self._events.dropped),
        }

    def _log_dropped(self, what: str, error: Exception) -> None:
        if count := self._drop_log.due(what):
            extra = {"count": count, "stage": "spooling", "why": str(error)}
            _log.error("%ss dropped", what, extra=extra)

    def _log_first_due(self) -> None:
        """Log when the first line is due: standard output shows nothing for up to a minute."""
        ends_at_s = self._fold.clock.ends_at_s()
        is_printed = self._settings.output == STDOUT and self._source.is_stream
        if is_printed and ends_at_s is not None:
            _log.info(
                "The first line is due at %s, in %d s, then one each minute.",
                iso_minute(int(ends_at_s) // MINUTE_S),
                ends_at_s - self._clock(),
            )

    def _log_malformed(self) -> None:
        dropped = self._framer.malformed - self._malformed_logged
        is_early = self._clock() - self._started_s < MALFORMED_PATIENCE_S
        if not dropped or (is_early and not self._fold.reports_read):
            return  # an input without a single report ends with one sentence, not two
        self._malformed_logged = self._framer.malformed
        if count := self._drop_log.due("malformed", dropped):
            _log.warning(
                "Dropped %s of input, no neuron-monitor report: %s. The rest is read.",
                counted(count, "piece"),
                self._framer.last_problem,
            )
