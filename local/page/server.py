"""
The page by HTTP, on 127.0.0.1 only.

Answers this machine's browser and nobody else: a request that names another
host is refused, so that no page elsewhere can read this one through a name of
its own. What is sent loads nothing from anywhere else.
"""

from __future__ import annotations

import json
import re
import threading
import urllib.parse
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from local.embedded_aws import EmbeddedAwsError
from local.embedded_aws.clients import SDK_ERRORS
from local.page.view import UnknownClusterError

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from local.page.view import DashboardView

HOST: Final = "127.0.0.1"
PORT: Final = 8600
STATIC: Final = Path(__file__).resolve().parent / "static"
PLOTLY: Final = "plotly.min.js"
_PLOTLY_FILE: Final = "plotly/package_data/plotly.min.js"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_IDLE_CONNECTION_S: Final = 10.0
_MAX_CLUSTER_CHARS: Final = 1024


class PageServer:
    """Serves one view, from `start` to `stop`; also a context manager."""

    def __init__(self, address: tuple[str, int], view: DashboardView) -> None:
        """
        Listen at *address*, whose port 0 takes a free one.

        Raises:
            EmbeddedAwsError: If it is not on this machine.
            OSError: If the port is taken.
        """
        if address[0] != HOST:
            msg = f"the page is served on {HOST} only, not on {address[0]!r}"
            raise EmbeddedAwsError(msg)
        self._http = _Http(address, view)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.1,), daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        """What people open."""
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        """Answer from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Answer no more; safe to call twice."""
        if self._thread.is_alive():
            self._http.shutdown()
            self._thread.join()
        self._http.server_close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a tab that keeps its connection shall not keep us
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], view: DashboardView) -> None:
        super().__init__(address, _Handler)
        self.view = view

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  # as inherited
        """A tab that was closed is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "neuron-emf"
    sys_version = ""
    timeout = _IDLE_CONNECTION_S
    server: _Http

    def do_GET(self) -> None:
        """Answer one request."""
        if self.headers.get("Host", "") not in self._hosts():
            self._refuse(HTTPStatus.FORBIDDEN, f"the page answers at http://{HOST} only")
            return
        try:
            address = urllib.parse.urlsplit(self.path)
        except ValueError:
            self._refuse(
                HTTPStatus.BAD_REQUEST, "the address was expected to be a path of the page"
            )
            return
        try:
            self._answer(address.path, address.query)
        except UnknownClusterError as error:
            self._refuse(HTTPStatus.NOT_FOUND, str(error))
        except (EmbeddedAwsError, *SDK_ERRORS) as error:
            said = " ".join(str(error).split())[:300]
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, f"the embedded AWS did not answer: {said}")
        except OSError:
            raise  # the tab has gone: nobody to tell
        except Exception as error:  # noqa: BLE001  # a fault of ours: the tab must not wait for it
            self._refuse(
                HTTPStatus.INTERNAL_SERVER_ERROR, f"the page has a fault: {type(error).__name__}"
            )

    def do_HEAD(self) -> None:
        """The same without the content."""
        self.do_GET()

    def _hosts(self) -> tuple[str, ...]:
        port = self.server.server_address[1]
        return f"{HOST}:{port}", f"localhost:{port}"

    def _answer(self, path: str, query: str) -> None:
        view = self.server.view
        if path == "/":
            self._static("index.html")
        elif path.startswith("/static/"):
            self._static(path.removeprefix("/static/"))
        elif path == "/page.json":
            self._json(view.page(_cluster(query)))
        elif path == "/cores.json":
            self._json(view.cores(_cluster(query)))
        elif path == "/rehearsal.json":
            self._json(view.place.members())
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")

    def _static(self, name: str) -> None:
        content = static(name)
        if content is None:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such file")
        else:
            self._send(HTTPStatus.OK, content, _TYPES[Path(name).suffix])

    def _json(self, document: object, status: HTTPStatus = HTTPStatus.OK) -> None:
        text = json.dumps(document, allow_nan=False, separators=(",", ":"))
        self._send(status, text.encode(), "application/json")

    def _refuse(self, status: HTTPStatus, sentence: str) -> None:
        self._json({"error": sentence}, status)

    def _send(self, status: HTTPStatus, content: bytes, content_type: str) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": content_type,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": POLICY,
            "Cross-Origin-Resource-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # as inherited
        """Say nothing: the terminal shows the fleet."""


def static(name: str) -> bytes | None:
    """A file of the page, None when there is none of that *name*."""
    if name == PLOTLY:
        return plotly()
    if not _NAME.fullmatch(name) or Path(name).suffix not in _TYPES:
        return None
    try:
        return (STATIC / name).read_bytes()
    except FileNotFoundError:
        return None


@lru_cache(maxsize=1)
def plotly() -> bytes:
    """The charting library, as it is in its package."""
    return Path(str(distribution("plotly").locate_file(_PLOTLY_FILE))).read_bytes()


def _cluster(query: str) -> str:
    found = urllib.parse.parse_qs(query).get("cluster", [""])[-1]
    return found[:_MAX_CLUSTER_CHARS]
