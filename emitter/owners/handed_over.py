"""
What the kubelet has given, from one container of a pod to another.

The kubelet's socket is root's, and the emitter is no root: a small container beside it asks, and
writes the answer, or why there is none, to a file in a volume that both have.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import msgspec

from emitter.instance.machine import MAX_FILE_BYTES, read_bytes
from emitter.owners.given import Allocation, UnreadError
from emitter.owners.kubelet import verified

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from emitter.owners.given import GivenSource
    from emitter.owners.places import Places

FRESH_S: Final = 30.0  # it is written every 15 s

_LOOK: Final = "Look at the pod's container `reservations`: kubectl describe pod, kubectl logs"


class _Answer(msgspec.Struct, omit_defaults=True, gc=False):
    """At a time, in seconds since the epoch: allocations, or why not and what to do."""

    at_s: float
    allocations: tuple[Allocation, ...] = ()
    reason: str = ""
    remedy: str = ""


class HandedOver:
    """The file in which another container hands over what it was told, asked moments ago."""

    name = "the container reservations of this pod"

    def __init__(self, places: Places, *, clock: Callable[[], float] = time.time) -> None:
        self._places = places
        self._clock = clock

    def read(self) -> Sequence[Allocation]:
        """
        What it was told.

        Raises:
            UnreadError: If it was told nothing, or nothing lately.
        """
        try:
            content = read_bytes(self._places.handed_over)
            answer = msgspec.json.decode(content, type=_Answer)
        except (OSError, ValueError) as error:
            reason = f"{self._places.handed_over} cannot be read ({type(error).__name__})"
            raise UnreadError(reason, _LOOK) from error
        if abs(self._clock() - answer.at_s) > FRESH_S:
            reason = f"{self._places.handed_over} was written more than {FRESH_S:.0f} s ago"
            raise UnreadError(reason, _LOOK)
        if answer.reason:
            raise UnreadError(answer.reason, answer.remedy)
        return verified(answer.allocations, self._places)


def hand_over(source: GivenSource, file: Path, now_s: float) -> None:
    """
    Write to *file* what *source* tells, whole or not at all.

    Raises:
        OSError: If it cannot be written.
    """
    try:
        answer = _Answer(now_s, tuple(source.read()))
    except UnreadError as error:
        answer = _Answer(now_s, reason=str(error), remedy=error.remedy)
    content = msgspec.json.encode(answer)
    if len(content) > MAX_FILE_BYTES:
        reason = f"the answer is larger than {MAX_FILE_BYTES >> 20} MiB"
        content = msgspec.json.encode(_Answer(now_s, reason=reason, remedy=_LOOK))
    written = file.with_suffix(".new")
    written.write_bytes(content)
    written.chmod(0o644)
    written.replace(file)
