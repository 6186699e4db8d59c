"""
The running emitter: read, fold, close each minute on time, hand over to delivery.

One loop reads and folds; sending has a thread of its own, so that no answer of
the service stops the reading of reports. A planned stop closes the open minute
with `Bye`, flushes what it can within a bound, and keeps the rest.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emitter.fold import Fold, FoldSettings, Stamp
from emitter.health import process_members, reading_members, spool_members
from emitter.identity.machine import guessed_instance_id
from emitter.lines.emf import lines
from emitter.outlet import Outlet
from emitter.repeats import Repeats
from emitter.reports.framing import Framer
from emitter.reports.monitor import Monitor
from emitter.reports.monitor_config import monitor_config
from emitter.reports.source import Source, no_reports, open_file, standard_input
from emitter.settings import RunSettings, require_cluster
from emitter.spool import Spool, SpoolFailedError
from emitter.spool.records import NewRecord
from neuron_wire import WireFormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

SYSTEM_SPOOL: Final = Path("/var/lib/neuron-emf")
READ_WITHIN_S: Final = 0.5  # bounds how late a minute closes, and how long a stop waits
IDENTITY_PATIENCE_S: Final = 300.0
"""How long to wait for a report to name the instance before a guess does.

A guess that is corrected later leaves an instance behind that never existed,
and that the stack would call silent.
"""

MALFORMED_PATIENCE_S: Final = 10.0
DROPS_LOG_INTERVAL_S: Final = 10.0

_log = logging.getLogger(__name__)


def serve(settings: RunSettings) -> None:
    """
    Run until the input ends or a signal asks to stop.

    Raises:
        SettingsError: If a setting is missing or cannot be used.
        SourceError: If the input held no report, or another emitter runs here.
        DeliveryError: If the input ended and records could not be delivered,
            or standard output takes no more lines.
    """
    cluster = require_cluster(settings.cluster)
    with ExitStack() as stack, _stop_signals() as is_stopping:
        source = _source(settings)
        stack.callback(source.close)
        spool = stack.enter_context(
            Spool.open(_spool_directory(settings), max_bytes=settings.spool_max_mib << 20)
        )
        outlet = Outlet(settings, spool)
        stack.callback(outlet.stop)
        emitter = Emitter(settings, cluster, source, spool, outlet)
        ended = emitter.read_until(is_stopping)
        source.close()
        emitter.finish(input_ended=ended)


class Emitter:
    """
    One source, one fold, one spool, one outlet.
    """

    def __init__(
        self,
        settings: RunSettings,
        cluster: str,
        source: Source,
        spool: Spool,
        outlet: Outlet,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._cluster = cluster
        self._source = source
        self._spool = spool
        self._outlet = outlet
        self._clock = clock
        self._framer = Framer()
        period_s = settings.interval
        if settings.input == "monitor":
            period_s = float(settings.period)
        self._fold = Fold(FoldSettings(settings.idle_below_percent, period_s), spool.state)
        self._fallback_id = settings.instance_id or guessed_instance_id()
        self._started_s = clock()
        self._minutes_dropped = 0
        self._drop_log = Repeats(DROPS_LOG_INTERVAL_S)
        self._malformed_said = 0
        if spool.health().older_records:
            outlet.send(self._instance_id)  # what the last run left waits for no new minute

    def read_until(self, is_stopping: Callable[[], bool]) -> bool:
        """
        Fold reports and close minutes until a stop is asked for or the input ends.

        Returns:
            Whether the input ended by itself.

        Raises:
            SourceError: If the input can no longer be read.
            DeliveryError: If nobody reads standard output any more.
        """
        self._fold.open(self._clock())
        while not is_stopping():
            self._outlet.require_reader()
            chunk = self._source.read(self._patience_s())
            now_s = self._clock()
            if self._fold.is_due(now_s):
                self._close_minute(bye=False)
            self._fold.open(now_s)
            if chunk is None:
                for report in self._framer.end():
                    self._fold.add(report, now_s)
                self._say_malformed()
                # Ctrl-C also stops the program that writes to us: its end is then
                # no end of the input, but part of the stop.
                return not is_stopping()
            for report in self._framer.feed(chunk):
                self._fold.add(report, now_s)
            self._say_malformed()
        return False

    def finish(self, *, input_ended: bool) -> None:
        """
        Close the open minute with `Bye` and send what can be sent in time.

        Raises:
            SourceError: If the input ended without a report.
            SpoolFailedError: If the input ended and its last minute could not be kept.
            DeliveryError: If the input ended and records are left.
        """
        if not input_ended:
            self._close_minute(bye=True)
            self._outlet.stop()
            return
        if not self._fold.reports_read:
            raise no_reports(self._source.name, self._framer.last_problem)
        self._keep_minute(bye=True)
        self._outlet.finish(self._instance_id)

    @property
    def _instance_id(self) -> str:
        return self._fold.instance_id or self._fallback_id

    def _patience_s(self) -> float:
        ends_at_s = self._fold.ends_at_s()
        if ends_at_s is None:
            return READ_WITHIN_S
        return min(READ_WITHIN_S, max(0.0, ends_at_s - self._clock()))

    def _close_minute(self, *, bye: bool) -> None:
        if not self._is_identified():
            # Nothing was ever read: there is no minute to lose, only a name to get wrong.
            self._fold.discard()
            return
        try:
            self._keep_minute(bye=bye)
        except (SpoolFailedError, WireFormatError) as error:
            # A full disk costs this minute; the next one may be kept again.
            self._minutes_dropped += 1
            if count := self._drop_log.due("minute"):
                extra = {"count": count, "stage": "spooling", "why": str(error)}
                _log.error("minutes dropped", extra=extra)
            if self._fold.ends_at_s() is not None:
                self._fold.discard()
        else:
            self._outlet.send(self._instance_id)

    def _keep_minute(self, *, bye: bool) -> None:
        stamp = Stamp(
            cluster=self._cluster,
            boot=self._spool.boot,
            seq=self._spool.next_seq,
            instance_id=self._fallback_id,
            identity_guessed=self._settings.instance_id is None,
            bye=bye,
            health={
                **reading_members(self._fold, self._framer),
                "MonitorRestarts": self._source.restarts,
                **({"MinutesDropped": self._minutes_dropped} if self._minutes_dropped else {}),
                **spool_members(self._spool.health()),
                **process_members(),
            },
        )
        record = self._fold.close(stamp)
        written = lines(record, self._settings.metrics)
        self._spool.append(
            [NewRecord(record.minute_ms, line) for line in written], self._fold.state()
        )

    def _is_identified(self) -> bool:
        return (
            self._fold.instance_id is not None
            or self._settings.instance_id is not None
            or self._fold.reports_read > 0
            or self._clock() - self._started_s > IDENTITY_PATIENCE_S
        )

    def _say_malformed(self) -> None:
        dropped = self._framer.malformed - self._malformed_said
        is_early = self._clock() - self._started_s < MALFORMED_PATIENCE_S
        if not dropped or (is_early and not self._fold.reports_read):
            return  # an input without a single report ends with one sentence, not two
        self._malformed_said = self._framer.malformed
        if count := self._drop_log.due("malformed", dropped):
            _log.warning(
                "%d piece(s) of input were dropped: expected neuron-monitor reports, found that "
                "%s; the rest is read",
                count,
                self._framer.last_problem,
            )


def _source(settings: RunSettings) -> Source:
    if settings.input == "monitor":
        return Monitor(settings.monitor_command, monitor_config(settings.period), settings.period)
    if settings.input == "-":
        return standard_input()
    return open_file(Path(settings.input))


def _spool_directory(settings: RunSettings) -> Path | None:
    if settings.spool_dir is not None:
        return settings.spool_dir
    if settings.output == "stdout":
        return None
    if os.access(SYSTEM_SPOOL if SYSTEM_SPOOL.exists() else SYSTEM_SPOOL.parent, os.W_OK):
        return SYSTEM_SPOOL
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "neuron-emf"


@contextmanager
def _stop_signals() -> Iterator[Callable[[], bool]]:
    """
    SIGTERM and SIGINT ask for a planned stop; a second one is not waited for.
    """
    asked: list[int] = []

    def ask(number: int, _frame: FrameType | None) -> None:
        if asked:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        asked.append(number)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
