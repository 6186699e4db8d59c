"""
An AWS on this machine that says yes: what everything that is measured sends to.

CloudWatch Logs in JSON 1.1 and CloudWatch in CBOR, as botocore speaks them. It
keeps no rule; the tests have a double of their own that does. It can be gone
for a while: nothing listens on its port then.
"""

from __future__ import annotations

import json
import socket
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from types import TracebackType

PUT_LOG_EVENTS: Final = "PutLogEvents"
PUT_METRIC_DATA: Final = "PutMetricData"
_ANSWERS: Final = {"DescribeLogGroups": b'{"logGroups":[]}'}


@final
class Sink:
    """
    The service. Used as a context.

    Attributes:
        calls: Requests so far, by operation.

        sent_bytes: Of these: request line, headers and body, before TLS.

        lines: Messages of PutLogEvents, in the order they came.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.sent_bytes: Counter[str] = Counter()
        self.lines: list[str] = []
        self._mutex = threading.Lock()
        # Bound and never listening: the port stays ours while nobody listens on it.
        self._place = socket.socket()
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._place.bind(("127.0.0.1", 0))
        self._port: int = self._place.getsockname()[1]
        self._server: _Server | None = _Server(self, self._port)

    @property
    def variables(self) -> dict[str, str]:
        """What a process needs in its environment to send here."""
        address = f"http://127.0.0.1:{self._port}"
        return {
            "AWS_ENDPOINT_URL_CLOUDWATCH": address,
            "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS": address,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-west-2",
        }

    def vanish(self) -> None:
        """Refuse connections from now on, and end those that are open."""
        if self._server is not None:
            self._server.end()
            self._server = None

    def come_back(self) -> None:
        """Listen on the same port again."""
        if self._server is None:
            self._server = _Server(self, self._port)
            self._server.begin()

    def take(self, operation: str, head_bytes: int, body: bytes) -> bytes:
        """Count one request; the answer's body."""
        with self._mutex:
            self.calls[operation] += 1
            self.sent_bytes[operation] += head_bytes + len(body)
            if operation == PUT_LOG_EVENTS:
                self.lines += [event["message"] for event in json.loads(body)["logEvents"]]
        return _ANSWERS.get(operation, b"{}")

    def __enter__(self) -> Sink:
        if self._server is not None:
            self._server.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.vanish()
        self._place.close()


class _Server(ThreadingHTTPServer):
    """One life of the service, between two outages."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, sink: Sink, port: int) -> None:
        self.sink = sink
        self.is_over = False
        super().__init__(("127.0.0.1", port), _Handler)
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)

    def begin(self) -> None:
        """Answer, in a thread of its own."""
        self._thread.start()

    def end(self) -> None:
        """Take no connection and answer no request any more."""
        self.is_over = True
        if self._thread.ident is not None:
            self.shutdown()
            self._thread.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    """One connection, with any number of requests."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet an answer
    server: _Server

    def do_POST(self) -> None:
        """Any operation: the answer is yes."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.is_over:
            self.close_connection = True  # a service that has gone answers nobody
            return
        head_bytes = len(self.requestline) + len(str(self.headers)) + 2
        target = self.headers.get("X-Amz-Target")
        if target is not None:
            answer = self.server.sink.take(target.rpartition(".")[2], head_bytes, body)
            self._say("application/x-amz-json-1.1", answer)
        else:
            self.server.sink.take(self.path.rpartition("/")[2], head_bytes, body)
            self._say("application/cbor", b"\xa0", **{"smithy-protocol": "rpc-v2-cbor"})

    def _say(self, content_type: str, body: bytes, **more: str) -> None:
        self.send_response_only(200)
        headers = {"Content-Type": content_type, "Content-Length": str(len(body)), **more}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
