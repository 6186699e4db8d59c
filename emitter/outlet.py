"""
From the spool to where the lines go, and what to say when they do not get there.

It decides who sends: a thread of its own while the emitter runs, the caller
itself when the input has ended and nothing else is left to do. What cannot be
sent stays in the spool.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Final

from emitter.delivery.cloudwatch_logs import LogStream, stream_name
from emitter.delivery.delivery import Delivery, Flushed
from emitter.delivery.destination import Refused
from emitter.delivery.lines_out import StreamDestination
from emitter.delivery.sender import Sender
from emitter.errors import DeliveryError

if TYPE_CHECKING:
    from emitter.delivery.destination import Destination
    from emitter.settings import RunSettings
    from emitter.spool import Spool

FLUSH_WITHIN_S: Final = 5.0
FINISH_WITHIN_S: Final = 30.0  # for an input that ended: nobody waits to kill us

_log = logging.getLogger(__name__)


class Outlet:
    """
    The sending side of one running emitter.

    Raises:
        SettingsError: If the log group is no name CloudWatch Logs can have.
        DeliveryError: If standard output is closed.
    """

    def __init__(self, settings: RunSettings, spool: Spool) -> None:
        self._settings = settings
        self._spool = spool
        self._to_stdout = settings.output == "stdout"
        self._delivery: Delivery | None = None
        self._sender: Sender | None = None
        self._destination("unnamed")  # a wrong setting is found now, not after the first minute

    def send(self, instance_id: str) -> None:
        """
        Records were appended: send them in time.
        """
        if self._sender is not None:
            self._sender.wake()
            return
        # The end of standard output is the end of the run, and its last sentence.
        destination = self._destination(instance_id)
        self._delivery = Delivery(self._spool, destination, quiet=self._to_stdout)
        spread_s = 0.0 if self._to_stdout else self._settings.spread_seconds
        self._sender = Sender(self._delivery, instance=instance_id, spread_s=spread_s)
        self._sender.start()

    def require_reader(self) -> None:
        """
        Make sure that somebody may still read standard output.

        Raises:
            DeliveryError: If its reader has gone: it never comes back, unlike a service.
        """
        if not self._to_stdout or self._delivery is None or self._sender is None:
            return
        if isinstance(self._delivery.problem, Refused):
            sender, self._sender = self._sender, None
            raise DeliveryError(self._kept(sender.stop(FLUSH_WITHIN_S)))

    def stop(self) -> None:
        """
        End as a planned stop does: send for a short while, keep the rest.
        """
        if self._sender is None:
            return
        sender, self._sender = self._sender, None
        flushed = sender.stop(FLUSH_WITHIN_S)
        if flushed.remaining:
            _log.warning(self._kept(flushed))

    def finish(self, instance_id: str) -> None:
        """
        End as an input does: send everything.

        Raises:
            DeliveryError: If records are left.
        """
        if self._sender is not None:
            sender, self._sender = self._sender, None
            flushed = sender.stop(FINISH_WITHIN_S)
        else:
            delivery = Delivery(self._spool, self._destination(instance_id))
            flushed = delivery.flush(FINISH_WITHIN_S)
            delivery.close()
        if flushed.remaining:
            raise DeliveryError(self._kept(flushed))

    def _destination(self, instance_id: str) -> Destination:
        if not self._to_stdout:
            stream = stream_name(instance_id)
            return LogStream(self._settings.log_group, stream, region=self._settings.region)
        if sys.stdout is None:
            msg = "standard output was expected to take lines and is closed: open it"
            raise DeliveryError(msg)
        return StreamDestination(sys.stdout)

    def _kept(self, flushed: Flushed) -> str:
        place, problem = self._spool.directory, flushed.problem
        why = "time was up" if problem is None else problem.sentence
        fate = "are lost with this process"
        if place is not None:
            fate = f"are kept in {place} for the next run"
        return f"{flushed.remaining} record(s) were not delivered and {fate}, because {why}"
