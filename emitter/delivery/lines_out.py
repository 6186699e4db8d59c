"""
Write records to a text stream, one line each: `--output stdout`.

A line counts as delivered when the stream has been flushed. The stream is the
caller's: it is never closed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TextIO

from emitter.delivery.batches import BatchLimits
from emitter.delivery.destination import Delivered, Outcome, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.spool.records import SpooledRecord

_LIMITS: Final = BatchLimits()  # by arrival: what is read later was written later


class StreamDestination:
    """
    A `Destination` that is an open text file, a pipe or a terminal.

    Attributes:
        limits: One flush per batch; no limit on age or order.
    """

    limits = _LIMITS

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def send(self, batch: Sequence[SpooledRecord]) -> Outcome:
        """Write and flush *batch*. A reader that has gone away is a refusal."""
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
        """Nothing to let go of."""
