"""
Lines to CloudWatch Logs: `python -m benchmarks.others.shippers ours|watchtower FOLDER < lines`.

By watchtower, as its documentation shows it: a handler of a logger. By the
emitter's own parts: a spool in FOLDER, `Delivery`, `Sender`, `LogStream`. Each
line that has been handed over is counted on standard output. The end of the
input is a planned stop.
"""

from __future__ import annotations

import logging
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from emitter.delivery.cloudwatch_logs import LogStream
from emitter.delivery.delivery import Delivery
from emitter.delivery.sender import Sender
from emitter.spool import NewRecord, Spool

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

GROUP: Final = "/neuron-emf/records"
STREAM: Final = "i-0123456789abcdef0"
SEND_INTERVAL_S: Final = 1
"""Of watchtower, 60 by default: less waits in memory, so less is lost with the process."""

FLUSH_WITHIN_S: Final = 5.0


class Shipper(Protocol):
    """Takes lines, and sends them in its own time."""

    def ship(self, line: str) -> None:
        """Take one line."""

    def stop(self) -> None:
        """A planned end."""


class Watchtower:
    """A logger whose handler is watchtower's."""

    def __init__(self, send_interval_s: int = SEND_INTERVAL_S) -> None:
        # Loaded here: it configures nothing, but whoever measures ours must not pay for it.
        import watchtower  # noqa: PLC0415

        self._handler: Any = watchtower.CloudWatchLogHandler(
            log_group_name=GROUP, log_stream_name=STREAM, send_interval=send_interval_s
        )
        self._logger = logging.getLogger("lines")
        self._logger.setLevel(logging.INFO)
        self._logger.propagate = False
        self._logger.addHandler(self._handler)

    def ship(self, line: str) -> None:
        """Log one line."""
        self._logger.info("%s", line)

    def send(self, lines: Sequence[str]) -> None:
        """Log lines and wait until they were sent."""
        for line in lines:
            self.ship(line)
        self._handler.flush()

    def stop(self) -> None:
        """What `logging` does when a program ends."""
        logging.shutdown()


class Ours:
    """What the emitter does with a line that it has made."""

    def __init__(self, folder: Path) -> None:
        self._spool = Spool.open(folder)
        self._sender = Sender(
            Delivery(self._spool, LogStream(GROUP, STREAM)), instance=STREAM, spread_s=0
        )
        self._sender.start()
        self._sender.wake()  # what the process before left behind

    def ship(self, line: str) -> None:
        """Keep one line on disk, and let it be sent."""
        self._spool.append([NewRecord(int(1000 * time.time()), line)])
        self._sender.wake()

    def stop(self) -> None:
        """Send what can be sent in time; the rest stays on disk."""
        self._sender.stop(FLUSH_WITHIN_S)
        self._spool.close()


def main(arguments: Sequence[str], lines: Iterable[str]) -> int:
    """Ship every line until the input ends; the exit code."""
    match arguments:
        case ["ours", folder]:
            shipper: Shipper = Ours(Path(folder))
        case ["watchtower", _]:
            shipper = Watchtower()
        case _:
            sys.stderr.write("expected ours or watchtower, and a folder\n")
            return 2
    for number, line in enumerate(lines, 1):
        shipper.ship(line.rstrip("\n"))
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
    shipper.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin))
