"""
HTTP for scrapers: one thread for each of a limited number of connections.

The reading loop and these threads never wait for each other. prometheus_client makes
the answers; its server is not used, because it starts a thread for every connection without a
limit, even for a silent one.
"""

from __future__ import annotations

import logging
import socket
import sys
from contextlib import suppress
from socketserver import ThreadingTCPServer
from threading import Condition, Thread
from typing import TYPE_CHECKING, Final, cast, final

from prometheus_client import MetricsHandler

from neuron_emitter.errors import SettingsError
from neuron_emitter.instance.local_http import TimedSocket
from neuron_emitter.logs import Repeats

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

    from neuron_emitter.settings.run_settings import ListenAddress

METRICS_PATH: Final = "/metrics"
MAX_CONNECTIONS: Final = 16
ASKED_WITHIN_S: Final = 1.0  # from the connection to the end of its request
TAKEN_WITHIN_S: Final = 10.0  # for the page: as long as Prometheus allows a scrape
SAY_AGAIN_S: Final = 60.0

_log = logging.getLogger(__name__)


@final
class ScrapeServer(ThreadingTCPServer):
    """
    Serves *page* until it is closed.

    Attributes:
        address: The address, with the chosen port if 0 was set.

    Raises:
        SettingsError: If nothing can be opened at *address*.
    """

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1024  # if it is full, the kernel lets a client wait for seconds

    def __init__(self, address: ListenAddress, page: Collector) -> None:
        self._failures = Repeats(SAY_AGAIN_S)
        self._changing = Condition()
        self._connections: list[socket.socket] = []
        self._answered: set[socket.socket] = set()  # connections with a complete request
        try:
            self.address_family = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0][0]
            super().__init__(address, ScrapeHandler.factory(page))
        except OSError as error:
            msg = (
                f"--prometheus cannot listen on {address}: {error.strerror or error}. Use "
                "another port, or an address of this machine."
            )
            raise SettingsError(msg) from error
        self.address = address._replace(port=self.server_address[1])
        Thread(target=self.serve_forever, name="scrapes", daemon=True).start()

    def close(self) -> None:
        """Stop serving. A connection that is being answered keeps its thread."""
        self.shutdown()
        self.server_close()

    def get_request(self) -> tuple[socket.socket, object]:
        """Return the next connection, with a short time for its request."""
        connection, address = super().get_request()
        return TimedSocket(connection, ASKED_WITHIN_S), address

    def process_request(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]
        """
        Serve a connection in its own thread.

        If there is no room, the oldest connection without a request is closed. If all have sent
        their request, the new connection is closed.
        """
        with self._changing:
            if len(self._connections) == MAX_CONNECTIONS:
                silent = [one for one in self._connections if one not in self._answered]
                if not silent:
                    super().shutdown_request(request)
                    return
                with suppress(OSError):
                    silent[0].shutdown(socket.SHUT_RDWR)
                self._changing.wait()  # until its thread has seen the closed connection
            self._connections.append(request)
        super().process_request(request, client_address)

    def keep_connection(self, request: socket.socket) -> None:
        """Mark *request* as being answered: a new connection does not close it."""
        with self._changing:
            self._answered.add(request)

    def shutdown_request(self, request: socket.socket) -> None:  # type: ignore[override]
        """Make room, and close the connection."""
        with self._changing:
            self._connections.remove(request)
            self._answered.discard(request)
            self._changing.notify()
        super().shutdown_request(request)

    def handle_error(self, *_connection: object) -> None:
        """Log why a page could not be made; a closed connection is not logged."""
        if not isinstance(sys.exc_info()[1], OSError) and self._failures.due("page"):
            _log.exception("The page for Prometheus failed.")


class ScrapeHandler(MetricsHandler):
    """Answers a GET of the page, and closes the connection."""

    def do_GET(self) -> None:  # noqa: N802 - as the library calls it
        """Answer with the page."""
        cast("ScrapeServer", self.server).keep_connection(self.connection)
        self.connection.settimeout(TAKEN_WITHIN_S)
        if self.path.partition("?")[0] != METRICS_PATH:
            self.send_error(404, f"The page is {METRICS_PATH}")
            return
        self.path = METRICS_PATH  # always the whole page: the query may not select names
        super().do_GET()
