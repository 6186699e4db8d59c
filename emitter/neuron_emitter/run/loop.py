"""
The reading loop: fold reports, close each minute on time, append its lines to the spool.

Sending has its own thread, so that no response of the service delays reading. A planned stop closes
the open minute with `CleanShutdown`, sends records within a time limit, and keeps the rest; so does
the end of a file. A stream that ends has failed: its minute closes without `CleanShutdown`, so that
the stack sees the instance become silent.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final

from neuron_emitter.errors import SourceError
from neuron_emitter.health import PulseFile, process_members, spool_members
from neuron_emitter.logs import Repeats
from neuron_emitter.reports.source import ended_event, no_reports
from neuron_emitter.run.conductor import Conductor
from neuron_emitter.run.signals import is_stopping_within
from neuron_emitter.settings.run_settings import MONITOR_INPUT, STDOUT, TEAM_ATTRIBUTION
from neuron_wire.line_members import iso_minute
from neuron_wire.names import MINUTE_S
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from neuron_emitter.fold import FoldSettings
    from neuron_emitter.logs import Clock
    from neuron_emitter.prometheus.metrics_page import MetricsPage
    from neuron_emitter.reports.source import Source
    from neuron_emitter.run.identification import LocalSources
    from neuron_emitter.run.outlet import Outlet
    from neuron_emitter.settings import RunSettings
    from neuron_emitter.spool import Spool

REPORT_READ_TIMEOUT_S: Final = 0.5  # limits how late a minute closes, and how long a stop waits
METADATA_PATIENCE_S: Final = 2.5  # for an input that ended before the metadata service answered
SIGNAL_AFTER_END_S: Final = 1.0  # from the end of a stream to the signal that also ended its writer
MALFORMED_PATIENCE_S: Final = 10.0
DROPS_LOG_INTERVAL_S: Final = 10.0

_log = logging.getLogger(__name__)


class Emitter:
    """
    The reading loop of one source: it closes minutes by the machine's clock.

    Attributes:
        outlet: The outlet that sends the records.
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
        self._settings = settings
        self._source = source
        self._spool = spool
        self._events = local.events
        self._clock = clock
        self._started_s = clock()
        self._pulse = PulseFile(spool.directory)
        self._drop_log = Repeats(DROPS_LOG_INTERVAL_S)
        self._malformed_logged = 0
        self._conductor = Conductor(
            settings,
            fold_settings,
            spool,
            local,
            clock=clock,
            is_monitor=settings.input == MONITOR_INPUT,
            only_teams=settings.attribution == TEAM_ATTRIBUTION,
            page=page,
            on_append=self._send_records,
            on_drop=self._log_dropped,
            health=self._health_members,
        )
        self._fold = self._conductor.fold
        self._framer = self._conductor.framer
        if spool.health().older_records:
            # Records of the last run do not wait for a new minute.
            self._send_records()

    def change_settings(self, settings: RunSettings, fold_settings: FoldSettings) -> None:
        """
        Apply other settings, between two minutes.

        Raises:
            SettingsError: If a tag or a dimension cannot be used; then nothing has changed.
        """
        self._conductor.change_settings(settings, fold_settings)
        self._settings = settings

    def replace_outlet(self, outlet: Outlet) -> None:
        """Send through *outlet* from now on, including waiting records."""
        self.outlet.close_for_change()
        self.outlet = outlet
        self._send_records()

    def read_until(
        self, is_stopping: Callable[[], bool], between_minutes: Callable[[], None] = lambda: None
    ) -> bool:
        """
        Fold reports and close minutes until a stop is requested or the input ends.

        *between_minutes* is called after each closed minute.

        Returns:
            True if the input ended by itself.

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
            chunk = self._source.read_chunk(self._patience_s())
            now_s = self._clock()
            if self._conductor.pass_time(now_s):
                between_minutes()
            for report in (
                self._framer.end_input() if chunk is None else self._framer.frame_chunk(chunk)
            ):
                self._conductor.fold_report(report, now_s)
            self._conductor.write_reports(now_s)
            self._log_malformed()
            if chunk is None:
                # Ctrl-C also stops the program that writes to us: its end is then part of the stop.
                patience_s = SIGNAL_AFTER_END_S if self._source.is_stream else 0.0
                return not is_stopping_within(patience_s, is_stopping)
            self._conductor.write_events()
        return False

    def finish(self, *, input_ended: bool) -> None:
        """
        Close the open minute and send records within the time limit.

        The line has `CleanShutdown` unless a stream ended.

        Raises:
            SourceError: If the input ended without a report, or is a stream.
            WireFormatError: If the input ended and its last minute could not be written.
            DeliveryError: If the input ended and records are left.
        """
        conductor = self._conductor
        fold = self._fold
        if input_ended:
            if not fold.reports_read:
                raise no_reports(self._source.name, self._framer.last_problem)
            if fold.instance.instance_id is None or conductor.reports.ends_at_s() is not None:
                conductor.identification.learn_facts(METADATA_PATIENCE_S)
        conductor.write_reports(self._clock(), is_end=True)
        if not input_ended:
            conductor.close_or_drop_minute(is_clean_shutdown=True)
            conductor.write_events()
            self.outlet.stop_sending()
            return
        failure = None
        if self._source.is_stream:
            failure = SourceError(
                f"The program writing to {self._source.name} has exited. Let a supervisor restart "
                "both, or let `neuron-emf run` start neuron-monitor."
            )
            self._events.add_event(ended_event(self._source.name, self._clock()))
        conductor.close_minute(is_clean_shutdown=failure is None)
        conductor.write_events()
        self.outlet.finish_sending(conductor.identification.instance_id, failure)

    def _patience_s(self) -> float:
        ends_s = (self._fold.clock.ends_at_s(), self._conductor.reports.ends_at_s())
        now_s = self._clock()
        waits_s = [max(0.0, end_s - now_s) for end_s in ends_s if end_s is not None]
        return min([REPORT_READ_TIMEOUT_S, *waits_s])

    def _send_records(self) -> None:
        self.outlet.send_records(self._conductor.identification.instance_id)

    def _health_members(self) -> dict[str, int | float]:
        return {
            "MonitorRestarts": self._source.restarts,
            **spool_members(self._spool.health()),
            **process_members(),
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
                "Dropped %s of input that is not a neuron-monitor report: %s. Reading continues.",
                counted(count, "piece"),
                self._framer.last_problem,
            )
