"""
Send the records in the spool to the output, and report why they cannot be sent.

A thread sends while the emitter runs; when the input has ended, the caller sends. Records that
cannot be sent stay in the spool, also for another outlet with other settings.
"""

from __future__ import annotations

import logging
import os
import sys
from threading import Timer
from typing import TYPE_CHECKING, Final, TextIO

from neuron_emitter.delivery.cloudwatch_logs import LogStream
from neuron_emitter.delivery.delivery import Delivery, Flushed
from neuron_emitter.delivery.destination import (
    BatchLimits,
    Delivered,
    Outcome,
    Refused,
    stream_name,
)
from neuron_emitter.delivery.sender import Sender
from neuron_emitter.errors import DeliveryError
from neuron_emitter.lines.line_settings import legacy_permissions
from neuron_emitter.settings.run_settings import STDOUT
from neuron_wire.names import region_of_variables
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from neuron_emitter.delivery.destination import Batch, Destination
    from neuron_emitter.errors import SourceError
    from neuron_emitter.settings import RunSettings
    from neuron_emitter.spool import Spool

FLUSH_WITHIN_S: Final = 5.0
FINISH_WITHIN_S: Final = 30.0  # long, because no supervisor kills the process after its input ended
CHANGE_WITHIN_S: Final = 1.0  # reports wait in a pipe meanwhile
CREDENTIALS_AFTER_S: Final = 2.0  # finding credentials can take seconds too, and the limit is 10
# part of the 5 s after which CloudWatch alarms see incomplete data
HIGH_RESOLUTION_SPREAD_S: Final = 1.0

_UNNAMED_STREAM: Final = "unnamed"

_log = logging.getLogger(__name__)


class StreamDestination:
    """
    A `Destination` that is an open text file, a pipe or a terminal; the caller closes it.

    A line counts as delivered when the stream has been flushed.

    Attributes:
        limits: One flush per batch; no limit on age or order.
    """

    limits = BatchLimits()  # by arrival: a record that is read later was written later

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def send(self, batch: Batch) -> Outcome:
        """Write and flush *batch*. If the reader has exited, the batch is refused."""
        try:
            self._stream.write("".join(f"{record.line}\n" for record in batch))
            self._stream.flush()
        except BrokenPipeError:
            return Refused(
                "closed_pipe",
                "The program reading standard output has exited. Keep it running, or use "
                "another --output.",
            )
        except (OSError, ValueError) as error:  # ValueError: the stream was closed
            return Refused("not_writable", f"Cannot write to standard output: {error}.")
        return Delivered()

    def close(self) -> None:
        """Do nothing: the caller closes the stream."""


class Outlet:
    """
    The sending side of one running emitter.

    *instance_region* is the Region of the instance: lines go there if neither the settings nor the
    AWS SDK have a Region.

    Raises:
        SettingsError: If the lines can go nowhere with these settings.
        DeliveryError: If standard output is closed.
    """

    def __init__(
        self,
        settings: RunSettings,
        spool: Spool,
        *,
        instance_region: str | None = None,
    ) -> None:
        self._spool = spool
        self._settings = settings
        self._instance_region = instance_region
        # The Region in the stream's name: as the SDK finds it, except in a profile's file.
        self._region = settings.region or region_of_variables(os.environ) or instance_region
        self._log_stream: LogStream | None = None
        self._to_stdout = settings.output == STDOUT
        self._sender: Sender | None = None
        self._look = Timer(CREDENTIALS_AFTER_S, self._log_missing)
        self._look.daemon = True  # the SDK may search for credentials in many places
        self._destination(
            _UNNAMED_STREAM
        )  # an invalid setting is found now, not after the first minute

    def look_ahead(self) -> None:
        """
        Log after two seconds why the first call would fail, long before that call.

        If the input has ended by then, its error has the reason.
        """
        if not self._to_stdout:
            self._look.start()

    def send_records(self, instance_id: str) -> None:
        """
        Send appended records in time, as records of *instance_id*.

        The ID may change during a run, from a generated ID to the one in a report.
        """
        if self._sender is None:
            self._sender = self._new_sender(instance_id)
            self._sender.start()
            return
        if self._log_stream is not None:
            self._log_stream.rename(self._stream_name(instance_id))
        self._sender.rename(instance_id)
        self._sender.wake()

    def require_reader(self) -> None:
        """
        Check that standard output may still have a reader.

        Raises:
            DeliveryError: If its reader has gone: it never comes back, unlike a service.
        """
        if not self._to_stdout or self._sender is None:
            return
        if isinstance(self._sender.delivery.problem, Refused):
            raise DeliveryError(self._kept(self._stop_sender(FLUSH_WITHIN_S)))

    def close_for_change(self) -> None:
        """
        Stop, so that another outlet on the same spool can send the rest.

        It takes at most a second: a call that hangs is abandoned, and its records may be sent
        twice.
        """
        self._stop_sender(CHANGE_WITHIN_S, is_replaced=True)

    def stop_sending(self) -> None:
        """Stop as planned: send for a few seconds, and keep the rest."""
        flushed = self._stop_sender(FLUSH_WITHIN_S)
        if flushed.remaining:
            _log.warning(self._kept(flushed))

    def finish_sending(self, instance_id: str, failure: SourceError | None = None) -> None:
        """
        Send all records, because the input has ended; the end may be a *failure*.

        Raises:
            DeliveryError: If records are left.
            SourceError: The *failure*, if none are.
        """
        self._sender = self._sender or self._new_sender(instance_id)
        flushed = self._stop_sender(FINISH_WITHIN_S)
        if flushed.remaining:
            kept = self._kept(flushed)
            raise DeliveryError(kept if failure is None else f"{failure} {kept}")
        if failure is not None:
            raise failure

    def _new_sender(self, instance_id: str) -> Sender:
        # The end of standard output ends the run; this is its last sentence.
        destination = self._destination(instance_id)
        delivery = Delivery(self._spool, destination, quiet=self._to_stdout)
        return Sender(delivery, instance=instance_id, spread_s=_spread_s(self._settings))

    def _stop_sender(self, within_s: float, *, is_replaced: bool = False) -> Flushed:
        """Stop the sender, if there is one, within *within_s* seconds."""
        self._look.cancel()
        sender = self._sender
        self._sender = None
        if sender is None:
            return Flushed(0)
        return sender.stop(within_s, is_replaced=is_replaced)

    def _log_missing(self) -> None:
        missing = self._stream_of(_UNNAMED_STREAM).missing_for_call()
        sender = self._sender
        if missing is not None and (sender is None or sender.delivery.problem is None):
            extra = {"reason": missing.reason, "why": missing.sentence, "attempts": 0}
            _log.error("delivery refused", extra=extra)

    def _destination(self, instance_id: str) -> Destination:
        if not self._to_stdout:
            self._log_stream = self._stream_of(instance_id)
            return self._log_stream
        if sys.stdout is None:
            msg = "Standard output is closed. Open it, or use another --output."
            raise DeliveryError(msg)
        return StreamDestination(sys.stdout)

    def _stream_of(self, instance_id: str) -> LogStream:
        return LogStream(
            self._settings.log_group,
            self._stream_name(instance_id),
            region=self._settings.region,
            instance_region=self._instance_region,
            needed=legacy_permissions(self._settings.metrics, self._settings.log_group),
        )

    def _stream_name(self, instance_id: str) -> str:
        return stream_name(
            self._settings.log_stream,
            cluster=self._settings.cluster,
            instance_id=instance_id,
            region=self._region,
        )

    def _kept(self, flushed: Flushed) -> str:
        place = self._spool.directory
        problem = flushed.problem
        why = "The shutdown deadline passed." if problem is None else problem.sentence
        fate = "lost"
        if place is not None:
            fate = f"kept in {place} for the next run"
            if in_memory := self._spool.health().in_memory:
                fate += f" except {in_memory}, which the disk refused"
        return f"{counted(flushed.remaining, 'record')} could not be delivered ({fate}). {why}"


def _spread_s(settings: RunSettings) -> float:
    """Return the spread: 0 for standard output, and short for one-second metrics."""
    if settings.output == STDOUT:
        return 0.0
    if settings.high_resolution_metrics:
        return min(HIGH_RESOLUTION_SPREAD_S, settings.spread_seconds)
    return settings.spread_seconds
