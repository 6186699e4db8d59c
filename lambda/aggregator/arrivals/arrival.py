"""What one invocation brought: deliveries of CloudWatch Logs, and the log lines in them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogLine:
    """
    One event of a log group.

    Attributes:
        event_id: CloudWatch's own identity of the event.

        message: The line.

        log_stream: The stream it was written to.
    """

    event_id: str
    message: str
    log_stream: str = ""


@dataclass(frozen=True, slots=True)
class LogDelivery:
    """
    What CloudWatch Logs delivered at once, always of one stream.

    Attributes:
        log_group: Where the lines were written.

        lines: The lines; none when CloudWatch only probes the destination.
    """

    log_group: str
    lines: tuple[LogLine, ...]


@dataclass(frozen=True, slots=True)
class Arrival:
    """
    What one invocation brought.

    Attributes:
        deliveries: What could be read of it, in the order in which it came.

        by_stream: Whether it came through Kinesis, many deliveries in a batch.

        unreadable: Sequence numbers of the batch's records that are no
            deliveries of CloudWatch Logs.

        left: Sequence numbers of those that were not looked at, because what
            came before them is enough for one invocation.

        faults: The kinds of errors they gave; never their text, which may
            quote a line.
    """

    deliveries: tuple[LogDelivery, ...]
    by_stream: bool = False
    unreadable: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def response(self) -> dict[str, object]:
        """What Lambda's poller of the stream expects: which records to bring again."""
        failed = [{"itemIdentifier": number} for number in (*self.unreadable, *self.left)]
        return {"batchItemFailures": failed}
