"""The wire of the loopback CloudWatch Logs: a port, its connections, and how they break."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import sys
import time
from dataclasses import dataclass
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from proof.logs.faults import (
    ANSWER_LOST,
    CUT,
    GARBLED,
    LATE,
    LATE_S,
    NEVER_ANSWERED,
    RESET,
    UNHEARD,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_RESET_AT_CLOSE = struct.pack("ii", 1, 0)  # linger for no time


@dataclass(frozen=True)
class Response:
    """
    What goes back, or would.

    Attributes:
        fault: What becomes of it on the way; None lets it through.

        at_s: When, by the service's clock, seconds since the epoch.
    """

    status: int
    content_type: str
    body: bytes
    at_s: float
    number: int
    fault: str | None = None


class Port(ThreadingHTTPServer):
    """A port that is held from the start and listens when told to."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, address: Any, reply: Callable[[Mapping[str, str], bytes], Response]) -> None:
        super().__init__(address, Connection, bind_and_activate=False)
        self.reply = reply
        self._connections: set[socket.socket] = set()
        try:
            self.server_bind()
        except OSError:
            self.server_close()
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        if _is_to_be_reset(request):
            self.close_request(request)  # an orderly end first would be an answer of its own
        else:
            super().shutdown_request(request)

    def hang_up(self) -> None:
        """Break every connection."""
        for connection in list(self._connections):
            reset_at_close(connection)
            with contextlib.suppress(OSError):  # it is gone already
                connection.shutdown(socket.SHUT_RDWR)  # whoever reads it wakes up

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed in the middle of a call is why this service exists."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Connection(BaseHTTPRequestHandler):
    """One connection of a client's."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: a second one would wait 40 ms for an ACK
    server: Port

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:  # the client was killed while it sent
            self.close_connection = True
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        response = self.server.reply(headers, body)
        if response.fault in {RESET, ANSWER_LOST}:
            reset_at_close(self.connection)
            self.close_connection = True
        elif response.fault in {UNHEARD, NEVER_ANSWERED}:
            self._wait_for_the_end()
            self.close_connection = True
        elif response.fault == GARBLED:
            self._answer(response, _half(response.body), len(_half(response.body)))
        elif response.fault == CUT:
            self._answer(response, _half(response.body), len(response.body))
            self.close_connection = True
        else:
            if response.fault == LATE:
                time.sleep(LATE_S)
            self._answer(response, response.body, len(response.body))

    def _wait_for_the_end(self) -> None:
        watch = select.poll()
        watch.register(self.connection, select.POLLIN | select.POLLRDHUP)
        watch.poll()

    def _answer(self, response: Response, body: bytes, promised_bytes: int) -> None:
        self.send_response_only(response.status)
        self.send_header("x-amzn-RequestId", f"00000000-0000-4000-8000-{response.number:012d}")
        self.send_header("Content-Type", response.content_type)
        self.send_header("Content-Length", str(promised_bytes))
        self.send_header("Date", formatdate(response.at_s, usegmt=True))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_arguments: object) -> None:
        """Nobody reads it."""


def reset_at_close(connection: socket.socket) -> None:
    """Let a connection end with a reset, as a machine in between ends it."""
    with contextlib.suppress(OSError):  # it is gone already
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_AT_CLOSE)


def _is_to_be_reset(connection: socket.socket) -> bool:
    try:
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, len(_RESET_AT_CLOSE))
    except OSError:
        return False
    return found == _RESET_AT_CLOSE


def _half(body: bytes) -> bytes:
    return body[: len(body) // 2]
