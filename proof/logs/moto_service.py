"""CloudWatch Logs as moto plays it: nobody of this project wrote its rules."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def moto_url() -> Iterator[str]:
    """
    Where it is, on a port of 127.0.0.1, while the block lasts.

    What it keeps is one for a whole process: who makes a log group removes it.
    """
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 - takes a second

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def events_in(client: Any, group: str, stream: str) -> list[tuple[int, str]]:
    """Timestamps, ms since the epoch, and messages, page by page from the first."""
    found: list[tuple[int, str]] = []
    place = {"logGroupName": group, "logStreamName": stream, "startFromHead": True}
    token: dict[str, str] = {}
    while True:
        page = client.get_log_events(**place, **token)
        found += [(one["timestamp"], one["message"]) for one in page["events"]]
        if page["nextForwardToken"] == token.get("nextToken"):
            return found
        token = {"nextToken": page["nextForwardToken"]}
