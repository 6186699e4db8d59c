"""
A CloudWatch Logs that says yes to everything: what a running emitter sends to.

JSON 1.1, as botocore speaks it to Logs. It keeps no rule and no record; the
tests have a service of their own that does.
"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from types import TracebackType


@final
class LogsSink:
    """
    The service. Used as a context.

    Attributes:
        calls: PutLogEvents calls so far.
    """

    def __init__(self) -> None:
        self.calls = 0
        sink = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # one packet an answer

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response_only(200)
                self.send_header("Content-Type", "application/x-amz-json-1.1")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")
                sink.calls += self.headers.get("X-Amz-Target", "").endswith("PutLogEvents")

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def variables(self) -> dict[str, str]:
        """
        What a process needs in its environment to send here.
        """
        return {
            "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS": f"http://127.0.0.1:{self._server.server_port}",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-west-2",
        }

    def __enter__(self) -> LogsSink:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
