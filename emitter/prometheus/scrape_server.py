"""
HTTP for scrapers: one thread, a bounded number of connections, a bounded time for each.

Prometheus closes what does not answer within its `scrape_timeout`, 10 s unless
somebody changed it; so do we with who does not ask or does not read. More
connections than fit wait in the listening socket's queue. Nothing here is on
the way of a report: the loop neither waits for this thread nor is waited for.
"""

from __future__ import annotations

import contextlib
import logging
import selectors
import socket
import threading
import time
from typing import TYPE_CHECKING, Final, final

from emitter.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.settings.listen_address import ListenAddress

PATH: Final = "/metrics"
MAX_CONNECTIONS: Final = 16
CONNECTION_S: Final = 10.0
MAX_REQUEST_BYTES: Final = 16_384
_QUEUE: Final = 64
_CHUNK_BYTES: Final = 1 << 16
_STOP_WITHIN_S: Final = 1.0
_RETRY_S: Final = 0.2
_HEAD_END: Final = b"\r\n\r\n"

_log = logging.getLogger(__name__)


@final
class ScrapeServer:
    """
    Serves *page*, a text of *content_type*, until it is closed.

    Attributes:
        address: Where it is reached, with the port that was found for 0.

    Raises:
        SettingsError: If nothing can be opened at *address*.
    """

    def __init__(
        self, address: ListenAddress, page: Callable[[], bytes], content_type: str
    ) -> None:
        self._page = page
        self._content_type = content_type
        self._listener = _listener(address)
        self.address = address._replace(port=self._listener.getsockname()[1])
        self._selector = selectors.DefaultSelector()
        self._connections: set[_Connection] = set()
        self._wake, self._woken = socket.socketpair()
        self._is_closing = False
        self._has_failed = False
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="scrapes", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Serve nobody any more. Who is being served is cut off."""
        self._is_closing = True
        with contextlib.suppress(OSError):
            self._wake.send(b".")
        self._thread.join(_STOP_WITHIN_S)

    def _run(self) -> None:
        while not self._is_closing:
            try:
                self._turn()
            except Exception:  # noqa: BLE001, PERF203 - the next scrape is worth another turn
                self._say_failed()
                time.sleep(_RETRY_S)
        for connection in self._connections:
            connection.socket.close()
        self._selector.close()
        for opened in (self._listener, self._woken, self._wake):
            opened.close()

    def _turn(self) -> None:
        ends_s = [connection.ends_s for connection in self._connections]
        wait_s = max(0.0, min(ends_s) - time.monotonic()) if ends_s else None
        for key, _ in self._selector.select(wait_s):
            if key.fileobj is self._listener:
                self._accept()
            elif isinstance(key.data, _Connection):
                self._serve(key.data)
        now_s = time.monotonic()
        for connection in [one for one in self._connections if one.ends_s <= now_s]:
            self._drop(connection)

    def _accept(self) -> None:
        try:
            opened, _ = self._listener.accept()
        except BlockingIOError:  # it went away again
            return
        except OSError:  # such as no descriptor left: it would be asked again at once
            time.sleep(_RETRY_S)
            return
        opened.settimeout(0)
        connection = _Connection(opened)
        self._connections.add(connection)
        self._selector.register(opened, selectors.EVENT_READ, connection)
        if len(self._connections) == MAX_CONNECTIONS:
            self._selector.unregister(self._listener)

    def _serve(self, connection: _Connection) -> None:
        try:
            if connection.answer is None:
                is_over = connection.read()
                if (head := connection.head()) is not None:
                    connection.answer = memoryview(self._answer(head))
                    self._selector.modify(connection.socket, selectors.EVENT_WRITE, connection)
                    is_over = connection.write()
            else:
                is_over = connection.write()
        except BlockingIOError:
            return
        except OSError:  # the other side has gone
            is_over = True
        if is_over:
            self._drop(connection)

    def _drop(self, connection: _Connection) -> None:
        if connection not in self._connections:
            return
        if len(self._connections) == MAX_CONNECTIONS:
            self._selector.register(self._listener, selectors.EVENT_READ)
        self._connections.discard(connection)
        self._selector.unregister(connection.socket)
        connection.socket.close()

    def _answer(self, head: bytes) -> bytes:
        method, _, rest = head.partition(b"\r\n")[0].partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0]
        if method not in {b"GET", b"HEAD"}:
            return _response("405 Method Not Allowed", b"GET it\n", headers="Allow: GET, HEAD\r\n")
        if path != PATH.encode():
            return _response("404 Not Found", f"Not found. The page is {PATH}.\n".encode())
        try:
            page = self._page()
        except Exception:  # noqa: BLE001 - who scrapes is told, the thread lives
            self._say_failed()
            return _response("500 Internal Server Error", b"see what the emitter logged\n")
        answer = _response("200 OK", page, self._content_type)
        return answer[: -len(page)] if method == b"HEAD" and page else answer

    def _say_failed(self) -> None:
        if not self._has_failed:
            self._has_failed = True
            _log.exception("The page for Prometheus failed. This is logged once.")


class _Connection:
    """
    One scraper.

    Attributes:
        socket: Its side, not blocking.

        ends_s: When it is cut off, on the monotonic clock.

        answer: What is still to be written, None before the request is there.
    """

    def __init__(self, opened: socket.socket) -> None:
        self.socket = opened
        self.ends_s = time.monotonic() + CONNECTION_S
        self.answer: memoryview | None = None
        self._request = bytearray()

    def read(self) -> bool:
        """Take what came; whether nothing more comes, or too much did."""
        chunk = self.socket.recv(_CHUNK_BYTES)
        self._request += chunk
        return not chunk or len(self._request) > MAX_REQUEST_BYTES

    def head(self) -> bytes | None:
        """The request and its headers, None before they are whole."""
        request = bytes(self._request[:MAX_REQUEST_BYTES])
        return request if _HEAD_END in request else None

    def write(self) -> bool:
        """Give what is taken; whether that was the last of it."""
        if self.answer is None:
            return True
        self.answer = self.answer[self.socket.send(self.answer) :]
        return not self.answer


def _response(
    status: str, body: bytes, content_type: str = "text/plain; charset=utf-8", headers: str = ""
) -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\n"
        f"Content-Type: {content_type}\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        f"{headers}"
        "Connection: close\r\n\r\n"
    )
    return head.encode("ascii") + body


def _listener(address: ListenAddress) -> socket.socket:
    """
    A socket that listens at *address*.

    Raises:
        SettingsError: If there is no such address here, or its port is taken.
    """
    opened = None
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        opened = socket.socket(family, kind, protocol)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(place)
        opened.listen(_QUEUE)
    except OSError as error:
        if opened is not None:
            opened.close()
        msg = (
            f"--prometheus cannot listen on {address}: {error.strerror or error}. Use "
            "another port, or an address of this machine."
        )
        raise SettingsError(msg) from error
    opened.settimeout(0)
    return opened
