"""One event of a log group, as CloudWatch Logs delivers it."""

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
