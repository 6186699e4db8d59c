"""
A CloudWatch Logs on 127.0.0.1 that real boto3 talks to, and that fails on command.

The SDK finds it by AWS_ENDPOINT_URL_CLOUDWATCH_LOGS. It speaks JSON 1.1, the one protocol
that botocore's model of Logs has. What it takes and refuses is `log_rules`;
here is the wire, and what may happen on it: an answer that never comes although
the events were taken, a connection that breaks, a service that is not there.
"""

from __future__ import annotations

import json
import random
import socket
import struct
import sys
import threading
import time
from collections import Counter
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, final

from log_rules import LogRules, ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

CONTENT_TYPE = "application/x-amz-json-1.1"
TARGET_PREFIX = "Logs_20140328."

# What may happen to a call, and whether its events are taken all the same.
THROTTLED = "throttled"  # as PutLogEvents does it: HTTP 400
UNAVAILABLE = "unavailable"
INTERNAL = "internal"
DENIED = "denied"
RESET = "reset"
ANSWER_LOST = "answer lost"  # taken
LATE = "late"  # taken
FAULTS = (THROTTLED, UNAVAILABLE, INTERNAL, DENIED, RESET, ANSWER_LOST, LATE)
LATE_S = 0.3

_ERRORS = {
    THROTTLED: ServiceError("ThrottlingException", "Rate exceeded"),
    UNAVAILABLE: ServiceError("ServiceUnavailableException", "try again", 503),
    INTERNAL: ServiceError("InternalFailure", "an error on the server", 500),
    DENIED: ServiceError("AccessDeniedException", "not authorized to perform: logs:PutLogEvents"),
}
_NOT_JSON = ServiceError("SerializationException", f"expected {CONTENT_TYPE}")
_NOT_SIGNED = ServiceError("MissingAuthenticationTokenException", "Missing Token")


@final
class LogsService:
    """
    The service. Used as a context; stops when the context ends.

    Attributes:
        rules: What it keeps.

        next_faults: Happen to the next PutLogEvents calls, one each, first come first.

        chances: Of each fault for any other PutLogEvents call, from 0 to 1.

        before_taking: Called by each PutLogEvents before anything is decided.

        before_answering: Called when events were taken, before anything is answered.

        happened: Calls by what became of them: a fault, an error's name, or the operation.
    """

    def __init__(self, clock: Callable[[], float] = time.time, seed: int = 0) -> None:
        self.rules = LogRules(clock)
        self.next_faults: list[str] = []
        self.chances: Mapping[str, float] = {}
        self.before_taking: Callable[[], object] = _nothing
        self.before_answering: Callable[[], object] = _nothing
        self.happened: Counter[str] = Counter()
        self._rng = random.Random(seed)
        self._choice = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), self)
        self._thread: threading.Thread | None = None

    @property
    def variables(self) -> dict[str, str]:
        """
        What a process needs in its environment to talk to this service and no other.
        """
        host, port = self._server.server_address[:2]
        return {
            "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS": f"http://{host!s}:{port}",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-west-2",
        }

    @property
    def is_there(self) -> bool:
        """
        Whether it takes connections.
        """
        return self._thread is not None

    def vanish(self) -> None:
        """
        Be gone: connections break, new ones are refused.
        """
        self._stop()
        address = self._server.server_address
        self._server = _Server(address, self)  # holds the port, and does not listen

    def come_back(self) -> None:
        """
        Be there again, at the same address.
        """
        self._server.server_activate()
        server = self._server
        self._thread = threading.Thread(target=lambda: server.serve_forever(0.01), daemon=True)
        self._thread.start()

    def __enter__(self) -> LogsService:
        self.come_back()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None
        self._server.server_close()
        self._server.hang_up()

    def next_fault(self) -> str | None:
        """
        What happens to a PutLogEvents call; None is nothing.
        """
        with self._choice:
            if self.next_faults:
                return self.next_faults.pop(0)
            drawn = self._rng.random()
            for fault, chance in self.chances.items():
                drawn -= chance
                if drawn < 0:
                    return fault
        return None


class _Server(ThreadingHTTPServer):
    """
    A port that is held from the start and listens when told to.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, address: Any, service: LogsService) -> None:
        super().__init__(address, _Handler, bind_and_activate=False)
        self.service = service
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
        super().shutdown_request(request)

    def hang_up(self) -> None:
        for connection in list(self._connections):
            _break(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """
        A client that was killed in the middle of a call is why this service exists.
        """
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """
    One connection.
    """

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: a second one would wait 40 ms for an ACK
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        service = self.server.service
        target = self.headers.get("X-Amz-Target", "")
        operation = target.removeprefix(TARGET_PREFIX)
        fault = None
        if operation == "PutLogEvents":
            fault = service.next_fault()
            service.before_taking()
        status, answer = 200, {}
        if fault in _ERRORS:
            status, answer = _told(_ERRORS[fault])
        elif fault != RESET:
            try:
                self._check(target)
                answer = service.rules.call(operation, json.loads(body))
            except ServiceError as error:
                status, answer = _told(error)
        service.happened[fault or str(answer.get("__type", operation))] += 1
        if operation == "PutLogEvents" and status == 200 and fault != RESET:
            service.before_answering()
        if fault in {RESET, ANSWER_LOST}:
            _break(self.connection)
            return
        if fault == LATE:
            time.sleep(LATE_S)
        self._answer(status, answer)

    def _check(self, target: str) -> None:
        if self.headers.get("Content-Type") != CONTENT_TYPE or "." not in target:
            raise _NOT_JSON
        if not self.headers.get("Authorization", "").startswith("AWS4-HMAC-SHA256 "):
            raise _NOT_SIGNED

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Date", formatdate(self.server.service.rules.clock(), usegmt=True))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_arguments: object) -> None:
        """
        Nobody reads it.
        """


def _told(error: ServiceError) -> tuple[int, dict[str, Any]]:
    return error.status, {"__type": error.code, "message": error.words}


def _nothing() -> None:
    """
    What is called when nobody wants to know.
    """


def _break(connection: socket.socket) -> None:
    """
    End a connection with a reset, as a machine in between does.
    """
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it is gone already
