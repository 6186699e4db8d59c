"""
HTTP for scrapers: a thread for each of a bounded number of connections.

Nothing here is on the way of a report: the loop neither waits for these threads
nor is waited for. A connection without a whole request is closed after 1 s, and
sooner when another needs its place, so that silent and slow ones keep no scrape
out. Who does not read within 10 s, as Prometheus gives a scrape, is cut off.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final, final

from emitter.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.settings.listen_address import ListenAddress

PATH: Final = "/metrics"
MAX_CONNECTIONS: Final = 16
REQUEST_S: Final = 1.0
ANSWER_S: Final = 10.0
_POLL_S: Final = 0.1  # how soon a stop, or a request that is overdue, is seen

_log = logging.getLogger(__name__)


@final
class ScrapeServer(ThreadingHTTPServer):
    """
    Serves *page*, a text of *content_type*, until it is closed.

    Attributes:
        address: Where it is reached, with the port that was found for 0.

    Raises:
        SettingsError: If nothing can be opened at *address*.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(
        self,
        address: ListenAddress,
        page: Callable[[], bytes],
        content_type: str,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.content_type = content_type
        self._page, self._monotonic, self._is_failing = page, monotonic, False
        self._changing = threading.Lock()
        self._ends_s: dict[socket.socket, float] = {}
        try:
            found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
            self.address_family = found[0][0]
            super().__init__((address.host, address.port), _Handler)
        except OSError as error:
            msg = (
                f"--prometheus cannot listen on {address}: {error.strerror or error}. Use "
                "another port, or an address of this machine."
            )
            raise SettingsError(msg) from error
        self.address = address._replace(port=self.socket.getsockname()[1])
        threading.Thread(
            target=self.serve_forever, args=(_POLL_S,), name="scrapes", daemon=True
        ).start()

    def close(self) -> None:
        """Serve nobody any more; who is being served keeps its thread, which holds up nothing."""
        self.shutdown()
        self.server_close()

    def server_bind(self) -> None:
        """Bind without asking a name server how this machine is called."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)

    def process_request(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]
        """Serve it in a thread of its own; where there is no room, who is due first makes it."""
        with self._changing:
            if len(self._ends_s) >= MAX_CONNECTIONS:
                self._hang_up(min(self._ends_s, key=self._ends_s.__getitem__))
            self._ends_s[request] = self._monotonic() + REQUEST_S
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """Close what is overdue."""
        with self._changing:
            now_s = self._monotonic()
            for request in [one for one, ends_s in self._ends_s.items() if ends_s <= now_s]:
                self._hang_up(request)

    def page(self, request: socket.socket) -> bytes | None:
        """
        What answers *request*, whose whole text is here.

        None where the page fails, which is logged once until it works again.
        """
        with self._changing:
            if request in self._ends_s:
                self._ends_s[request] = self._monotonic() + ANSWER_S
        try:
            page = self._page()
        except Exception:  # noqa: BLE001 - who scrapes is told, the server lives
            if not self._is_failing:
                _log.exception("The page for Prometheus failed.")
            self._is_failing = True
            return None
        self._is_failing = False
        return page

    def shutdown_request(self, request: socket.socket) -> None:  # type: ignore[override]
        """Close it, and make room."""
        with self._changing:
            self._ends_s.pop(request, None)
        super().shutdown_request(request)

    def _hang_up(self, request: socket.socket) -> None:
        """Let its thread, which waits for it, see its end."""
        del self._ends_s[request]
        with suppress(OSError):
            request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of who hung up."""


@final
class _Handler(BaseHTTPRequestHandler):
    server: ScrapeServer

    def do_GET(self) -> None:
        """Answer with the page."""
        if self.path.partition("?")[0] != PATH:
            self.send_error(404, f"The page is {PATH}")
            return
        page = self.server.page(self.connection)
        if page is None:
            self.send_error(500, "See what the emitter logged")
            return
        self.send_response(200)
        self.send_header("Content-Type", self.server.content_type)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_words: object) -> None:
        """Nobody reads of a scrape."""
