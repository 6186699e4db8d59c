"""
From the spool to where the lines go, and what to say when they do not get there.

It decides who sends: a thread of its own while the emitter runs, the caller
itself when the input has ended and nothing else is left to do. What cannot be
sent stays in the spool, also for another outlet with other settings.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final

from emitter.delivery.delivery import Delivery, Flushed
from emitter.delivery.destination import Refused
from emitter.delivery.outputs import Output
from emitter.delivery.sender import Sender
from emitter.errors import DeliveryError
from emitter.settings.run import LOGS, STDOUT
from neuron_wire.phrases import counted

if TYPE_CHECKING:
    from emitter.errors import SourceError
    from emitter.settings import RunSettings
    from emitter.spool import Spool

FLUSH_WITHIN_S: Final = 5.0
FINISH_WITHIN_S: Final = 30.0  # for an input that ended: nobody waits to kill us
CHANGE_WITHIN_S: Final = 1.0  # reports wait in a pipe meanwhile
LOOK_AFTER_S: Final = 2.0  # for credentials: looking takes seconds, too, and 10 are the promise
HIGH_RESOLUTION_SPREAD_S: Final = 1.0  # of the 5 s after which CloudWatch alarms see half a picture

_log = logging.getLogger(__name__)


class Outlet:
    """
    The sending side of one running emitter.

    *instance_region* is where the instance is: lines go there when neither the
    settings nor the AWS SDK know a region.

    Raises:
        SettingsError: If the lines can go nowhere with these settings.
        DeliveryError: If standard output is closed.
    """

    def __init__(
        self,
        settings: RunSettings,
        spool: Spool,
        *,
        cluster: str = "",
        instance_region: str | None = None,
    ) -> None:
        self._spool = spool
        self._output = Output(settings, cluster or settings.cluster, instance_region)
        self._spread_s = _spread_s(settings)
        self._to_stdout = settings.output == STDOUT
        self._instance_id: str | None = None
        self._delivery: Delivery | None = None
        self._sender: Sender | None = None
        self._look: threading.Timer | None = None
        if settings.output == LOGS:
            self._look = threading.Timer(LOOK_AFTER_S, self._say_lacking)
            self._look.daemon = True  # the SDK may look for credentials in many places

    def look_ahead(self) -> None:
        """
        Say in some seconds what a first call will lack, a minute before there is one.

        An input that has ended by then says it with its last sentence.
        """
        if self._look is not None:
            self._look.start()

    def send(self, instance_id: str) -> None:
        """
        Records were appended: send them in time, as those of *instance_id*.

        It may change during a run, from a guess to the name a report tells.
        """
        if self._sender is None:
            destination = self._output.destination(instance_id)
            # The end of standard output is the end of the run, and its last sentence.
            self._delivery = Delivery(self._spool, destination, quiet=self._to_stdout)
            self._sender = Sender(self._delivery, instance=instance_id, spread_s=self._spread_s)
            self._instance_id = instance_id
            self._sender.start()
            return
        if instance_id != self._instance_id:
            self._instance_id = instance_id
            self._output.rename(instance_id)
            self._sender.rename(instance_id)
        self._sender.wake()

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

    def close_for_change(self) -> None:
        """
        Make place for another outlet on the same spool, which sends what is left.

        It takes a second at most: a call that hangs is left behind, and what it
        had to send may be sent twice.
        """
        self._look_no_more()
        if self._sender is not None:
            sender, self._sender = self._sender, None
            sender.abandon(CHANGE_WITHIN_S)

    def stop(self) -> None:
        """End as a planned stop does: send for a short while, keep the rest."""
        self._look_no_more()
        if self._sender is None:
            return
        sender, self._sender = self._sender, None
        flushed = sender.stop(FLUSH_WITHIN_S)
        if flushed.remaining:
            _log.warning(self._kept(flushed))

    def finish(self, instance_id: str, failure: SourceError | None = None) -> None:
        """
        End as an input does, which may be a *failure*: send everything.

        Raises:
            DeliveryError: If records are left.
            SourceError: The *failure*, if none are.
        """
        self._look_no_more()
        if self._sender is not None:
            sender, self._sender = self._sender, None
            flushed = sender.stop(FINISH_WITHIN_S)
        else:
            delivery = Delivery(self._spool, self._output.destination(instance_id))
            flushed = delivery.flush(FINISH_WITHIN_S)
            delivery.close()
        if flushed.remaining:
            kept = self._kept(flushed)
            raise DeliveryError(kept if failure is None else f"{failure} {kept}")
        if failure is not None:
            raise failure

    def _look_no_more(self) -> None:
        if self._look is not None:
            self._look.cancel()

    def _say_lacking(self) -> None:
        lacking = self._output.lacking()
        if lacking is not None and (self._delivery is None or self._delivery.problem is None):
            extra = {"reason": lacking.reason, "why": lacking.sentence, "attempts": 0}
            _log.error("delivery refused", extra=extra)

    def _kept(self, flushed: Flushed) -> str:
        place, problem = self._spool.directory, flushed.problem
        why = "The shutdown deadline passed." if problem is None else problem.sentence
        fate = "lost"
        if place is not None:
            fate = f"kept in {place} for the next run"
            if in_memory := self._spool.health().in_memory:
                fate += f" except {in_memory}, which the disk did not take"
        return f"{counted(flushed.remaining, 'record')} could not be delivered ({fate}). {why}"


def _spread_s(settings: RunSettings) -> float:
    """What is not sent to a service needs no spread, and one-second metrics cannot wait."""
    if settings.output == STDOUT:
        return 0.0
    if settings.high_resolution_metrics:
        return min(HIGH_RESOLUTION_SPREAD_S, settings.spread_seconds)
    return settings.spread_seconds
