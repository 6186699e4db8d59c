"""
Lines into CloudWatch Logs, by the emitter's own delivery and its permissions.

Without a spool: whoever types sees what failed, and can type it again. A line
that arrived twice has one ProfileId.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from emitter.backoff import Backoff
from emitter.delivery.batches import cut
from emitter.delivery.destination import Delivered, Invalid, Refused, Retry
from emitter.errors import DeliveryError
from emitter.spool.records import SpooledRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emitter.delivery.destination import Destination

STREAM: Final = "profiles/{cluster}"
ATTEMPTS: Final = 6  # over about 10 s


def put(
    lines: Sequence[str],
    timestamp_ms: int,
    destination: Destination,
    *,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """
    Give *lines*, all of one moment, to *destination*.

    Raises:
        DeliveryError: If it did not take one of them.
    """
    records = [
        SpooledRecord(id=number, boot="", seq=number, timestamp_ms=timestamp_ms, line=line)
        for number, line in enumerate(lines, 1)
    ]
    parts = cut(records, now_ms=int(clock() * 1000), limits=destination.limits)
    if parts.unsendable:
        _refuse(f"{', '.join(sorted(parts.unsendable))}; see --time")
    for batch in parts.batches:
        _put(batch, destination, sleep)


def _put(
    batch: tuple[SpooledRecord, ...], destination: Destination, sleep: Callable[[float], None]
) -> None:
    backoff = Backoff(shortest_s=1.0, longest_s=5.0)
    for attempt in range(1, ATTEMPTS + 1):
        outcome = destination.send(batch)
        if isinstance(outcome, Delivered):
            if outcome.rejected:
                _refuse(f"{', '.join(sorted(outcome.rejected))}; see --time")
            return
        if isinstance(outcome, Refused):
            raise DeliveryError(outcome.sentence)
        if isinstance(outcome, Invalid):
            _refuse(outcome.reason)
        if isinstance(outcome, Retry) and attempt == ATTEMPTS:
            msg = f"{outcome.sentence}, {ATTEMPTS} times: try again later"
            raise DeliveryError(msg)
        sleep(backoff.next_s())


def _refuse(why: str) -> None:
    msg = f"CloudWatch Logs rejected at least one line: {why}."
    raise DeliveryError(msg)
