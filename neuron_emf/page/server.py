"""
Serve the page by HTTP, on 127.0.0.1 only.

Every program on this machine can read the files; data needs the token. The token is in the fragment
of the address, which a browser never sends, and there is no cookie that a browser would send by
itself. A request that names another host is refused, so that no other page can read this one
through a name of its own. The page loads nothing from anywhere else.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import threading
import urllib.parse
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from neuron_emf.account import NoOutputError, refusal_cause
from neuron_emf.page.view import UnknownClusterError
from neuron_emitter.errors import EmitterError, SettingsError, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typing_extensions import Self

    from neuron_emf.page.view import Answers, PageView
    from neuron_wire.line_members import JsonObject

HOST: Final = "127.0.0.1"
STATIC: Final = Path(__file__).resolve().parent / "static"
TOKEN_BYTES: Final = 32
TOKEN_HEADER: Final = "Neuron-Emf-Token"  # noqa: S105  # the name of a header
_CONTENT_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_STATIC_NAME: Final = re.compile(r"(?:vendor/)?[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_KINDS: Final = {
    "access": "denied", "missing": "stack",
    **dict.fromkeys(("client", "credentials", "expired", "no_region", "signature"), "credentials"),
}  # fmt: skip
"""The kind of an answer, by the cause in `neuron_emf.account`."""

_ACTIONS: Final = {
    "stack": "neuron-emf deploy", "ledger": "neuron-emf deploy Ledger=true",
    "credentials": "aws sso login",
}  # fmt: skip
_IAM_ACTION: Final = re.compile(r"[a-z0-9-]+:[A-Za-z]+")
_IDLE_CONNECTION_S: Final = 10.0
_MAX_VALUE_CHARS: Final = 1024


class PageServer(ThreadingHTTPServer):
    """Serves one view until its context ends."""

    daemon_threads = True
    block_on_close = False  # a tab that keeps its connection must not block the exit
    allow_reuse_address = True

    def __init__(
        self,
        address: tuple[str, int],
        view: PageView,
        public: Mapping[str, Callable[[], object]] | None = None,
    ) -> None:
        """
        Listen at *address*; port 0 takes a free one.

        *public* are documents by path that need no token and contain no secret.

        Raises:
            SettingsError: If it is not on this machine.
            OSError: If the port is taken.
        """
        if address[0] != HOST:
            msg = f"The page is served on {HOST} only. Found {address[0]!r}."
            raise SettingsError(msg)
        super().__init__(address, _Handler)
        self.view = view
        self.public = public or {}
        self.token = secrets.token_urlsafe(TOKEN_BYTES)  # required in every request for data
        self._thread = threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True)

    @property
    def port(self) -> int:
        """The port."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """The address to open."""
        return f"http://{HOST}:{self.port}/#token={self.token}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  # as inherited
        """Ignore the error: a closed tab is not an error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "neuron-emf"
    sys_version = ""
    timeout = _IDLE_CONNECTION_S
    server: PageServer

    def do_GET(self) -> None:
        """Answer one request."""
        self._respond(self._read)

    do_HEAD = do_GET  # noqa: N815  # as the library calls it; the same without the content

    def do_POST(self) -> None:
        """Do an action that has a cost; the body is not read, and the connection ends."""
        self.close_connection = True
        self._respond(partial(self._data, self.server.view.runs))

    def _respond(self, answer: Callable[[str, str], None]) -> None:
        hosts = [f"{name}:{self.server.port}" for name in (HOST, "localhost")]
        if self.headers.get("Host", "") not in hosts:
            self._refuse(HTTPStatus.FORBIDDEN, f"The page answers at http://{HOST} only.")
            return
        try:
            address = urllib.parse.urlsplit(self.path)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST, "The address is not a path of the page.")
            return
        try:
            answer(address.path, address.query)
        except OSError:
            raise  # the tab has closed
        except Exception as error:  # noqa: BLE001  # whatever it is, the tab must not wait for it
            status, problem = problem_of(error)
            self._json(problem, status)

    def _read(self, path: str, query: str) -> None:
        if path == "/":
            self._static("index.html")
        elif path.startswith("/static/"):
            self._static(path.removeprefix("/static/"))
        elif path in self.server.public:
            self._json(self.server.public[path]())
        else:
            self._data(self.server.view.reads, path, query)

    def _data(self, answers: Answers, path: str, query: str) -> None:
        given = self.headers.get(TOKEN_HEADER, "").encode("utf-8", "replace")
        if not hmac.compare_digest(given, self.server.token.encode()):
            sentence = "The token is missing or wrong. Open the address that the command printed."
            self._refuse(HTTPStatus.UNAUTHORIZED, sentence, "token")
        elif path not in answers:
            self._refuse(HTTPStatus.NOT_FOUND, "There is no such page.")
        else:
            self._json(answers[path](_values(query)))

    def _static(self, name: str) -> None:
        content = static(name)
        if content is None:
            self._refuse(HTTPStatus.NOT_FOUND, "There is no such file.")
        else:
            self._send(HTTPStatus.OK, content, _CONTENT_TYPES[Path(name).suffix])

    def _json(self, document: object, status: HTTPStatus = HTTPStatus.OK) -> None:
        text = json.dumps(document, allow_nan=False, separators=(",", ":"))
        self._send(status, text.encode(), "application/json")

    def _refuse(self, status: HTTPStatus, sentence: str, kind: str = "fault") -> None:
        self._json({"error": sentence, "kind": kind, "action": ""}, status)

    def _send(self, status: HTTPStatus, content: bytes, content_type: str) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": content_type,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": CONTENT_SECURITY_POLICY,
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
        """Print nothing: the terminal belongs to the command."""


def problem_of(error: Exception) -> tuple[HTTPStatus, JsonObject]:
    """Return the status and the answer for *error*: a sentence, its kind, and what to do."""
    status, kind = HTTPStatus.SERVICE_UNAVAILABLE, "busy"
    cause = error.__cause__
    if isinstance(error, UnknownClusterError):
        status, kind = HTTPStatus.NOT_FOUND, "cluster"
    elif isinstance(error, NoOutputError):
        kind = "ledger"
    elif isinstance(error, SettingsError):
        kind = "fault"
    elif not isinstance(error, EmitterError):
        status, kind = HTTPStatus.INTERNAL_SERVER_ERROR, "fault"
        error = SourceError(f"The page failed: {type(error).__name__}.")
    elif isinstance(cause, Exception):
        kind = _KINDS.get(refusal_cause(cause), kind)
    action = _ACTIONS.get(kind, "")
    if kind == "denied" and (match := _IAM_ACTION.match(str(error))):
        action = match[0]
    return status, {"error": str(error), "kind": kind, "action": action}


def static(name: str) -> bytes | None:
    """Return the file *name* of the page, such as `vendor/ui.js`; None without one."""
    if not _STATIC_NAME.fullmatch(name) or Path(name).suffix not in _CONTENT_TYPES:
        return None
    try:
        return (STATIC / name).read_bytes()
    except FileNotFoundError:
        return None


def _values(query: str) -> dict[str, str]:
    return {
        name: values[-1][:_MAX_VALUE_CHARS]
        for name, values in urllib.parse.parse_qs(query, keep_blank_values=True).items()
    }
