"""
Services of an instance as HTTP servers on 127.0.0.1.

The module does not depend on the emitter. A route is a body, a status, or a function that writes to
the connection.
"""

from __future__ import annotations

import contextlib
import http.server
import itertools
import json
import threading
from typing import Any

IDENTITY_DOCUMENT = {
    "instanceId": "i-0123456789abcdef0",
    "instanceType": "trn1.32xlarge",
    "region": "eu-north-1",
    "availabilityZone": "eu-north-1b",
    "imageId": "ami-0123456789abcdef0",
    "accountId": "123456789012",
}
DOCUMENT_PATH = "/latest/dynamic/instance-identity/document"
TOKEN_PATH = "/latest/api/token"
TAGS_PATH = "/latest/meta-data/tags/instance"


class PlayedService:
    """A server with routes that a test may change while the server runs."""

    def __init__(self, routes: dict[str, Any]) -> None:
        self.routes = routes
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.closed = threading.Event()
        played = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                played.asked.append((self.command, self.path, dict(self.headers)))
                with contextlib.suppress(OSError):
                    played.answer(self)

            do_PUT = do_GET  # noqa: N815 - http.server's names
            do_POST = do_GET  # noqa: N815

            def log_message(self, *_arguments: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        poll = {"poll_interval": 0.01}
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs=poll, daemon=True)
        self._thread.start()

    def answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        """Send the answer in the route of the request."""
        reply(request, self.routes.get(request.path, 404))

    def paths(self, method: str = "GET") -> list[str]:
        """Return the requested paths, in order."""
        return [path for used, path, _headers in self.asked if used == method]

    def never(self, _request: http.server.BaseHTTPRequestHandler) -> None:
        """Accept the request and do not answer before the end of the test."""
        self.closed.wait()

    def drip(self, request: http.server.BaseHTTPRequestHandler) -> None:
        """Answer so slowly that no single wait is long, and never finish."""
        request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not self.closed.wait(0.02):
            request.wfile.write(b" ")

    def close(self) -> None:
        """Stop the server and the requests that still wait."""
        self.closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class PlayedImds(PlayedService):
    """The instance metadata service, version 2: it requires a token, which can expire."""

    def __init__(self) -> None:
        super().__init__({DOCUMENT_PATH: json.dumps(IDENTITY_DOCUMENT), TAGS_PATH: ""})
        self._numbers = itertools.count(1)
        self._token = ""

    def answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        """Answer like the metadata service."""
        if request.path == TOKEN_PATH and TOKEN_PATH not in self.routes:
            lives_s = request.headers.get("X-aws-ec2-metadata-token-ttl-seconds", "")
            if request.command != "PUT" or not lives_s.isdigit():
                reply(request, 400)
                return
            self._token = f"token-{next(self._numbers)}=="
            reply(request, self._token)
        elif (
            request.path != TOKEN_PATH
            and request.headers.get("X-aws-ec2-metadata-token") != self._token
        ):
            reply(request, 401)
        else:
            super().answer(request)

    def expire(self) -> None:
        """Make the current token invalid."""
        self._token = "expired"

    def tag(self, tags: dict[str, str]) -> None:
        """Set the tags of the instance."""
        self.routes[TAGS_PATH] = "\n".join(tags)
        self.routes.update({f"{TAGS_PATH}/{key}": value for key, value in tags.items()})


def reply(request: http.server.BaseHTTPRequestHandler, route: Any) -> None:
    """Answer with a body, a status, a JSON object or a function."""
    if callable(route):
        route(request)
        return
    status = route if isinstance(route, int) else 200
    body = b"" if isinstance(route, int) else route
    if isinstance(body, dict | list):
        body = json.dumps(body)
    if isinstance(body, str):
        body = body.encode()
    request.send_response(status)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


def redirect_to(url: str) -> Any:
    """Return a route that redirects to *url*."""

    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(302)
        request.send_header("Location", url)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return answer
