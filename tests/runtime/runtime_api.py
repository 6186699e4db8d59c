"""
Lambda's side of the Lambda Runtime API.

A function's process requests the next event and waits; its answer belongs to that event. Only the
part for functions without extensions:

https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

from __future__ import annotations

import queue
import threading
import time
import uuid
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

API_VERSION = "2018-06-01"
FUNCTION_ARN = "arn:aws:lambda:us-east-1:123456789012:function:neuron-emf"


class NoAnswerError(Exception):
    """The function did not answer: it hangs, died or could not start."""


@dataclass(frozen=True)
class InvocationAnswer:
    """A function's answer to one event: its result or its error."""

    body: bytes
    failed: bool


class RuntimeApi:
    """A server for one function on a port of its own; `with` starts and ends it."""

    def __init__(self, timeout_s=55.0):
        self.timeout_s = timeout_s
        self.init_error = None
        self._asked = threading.Event()
        self._events = queue.SimpleQueue()
        self._answers = queue.SimpleQueue()
        self._handed_s = 0.0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def address(self):
        """Return the value of AWS_LAMBDA_RUNTIME_API."""
        return f"127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exception):
        self._events.put(None)
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def started(self):
        """
        Wait until the function has requested its first event.

        Raises:
            NoAnswerError: The function reported an error, or nothing.
        """
        if not self._asked.wait(self.timeout_s) or self.init_error is not None:
            raise NoAnswerError(self.init_error or b"the function did not start")

    def invoke(self, payload):
        """
        Send one event; return the function's answer.

        Raises:
            NoAnswerError: The function did not answer in time.
        """
        request_id = str(uuid.uuid4())
        self._events.put((request_id, payload))
        try:
            answered_id, failed, body = self._answers.get(timeout=self.timeout_s)
        except queue.Empty:
            msg = f"the function did not answer {request_id} in {self.timeout_s} s"
            raise NoAnswerError(msg) from None
        if answered_id != request_id:
            msg = f"the function answered {answered_id}, expected {request_id}"
            raise NoAnswerError(msg)
        return InvocationAnswer(body, failed)

    def next_event(self):
        """Return the response to the function's request for an event: status, headers and body."""
        self._asked.set()
        event = self._events.get()
        if event is None:
            return None  # the end: the waiting process is gone
        request_id, payload = event
        deadline_ms = int((time.time() + self.timeout_s) * 1000)
        return (
            200,
            {
                "Content-Type": "application/json",
                "Lambda-Runtime-Aws-Request-Id": request_id,
                "Lambda-Runtime-Deadline-Ms": str(deadline_ms),
                "Lambda-Runtime-Invoked-Function-Arn": FUNCTION_ARN,
                "Lambda-Runtime-Trace-Id": "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Sampled=0",
            },
            payload,
        )

    def take(self, place, body):
        """Take a message of the function: an answer, or an error at its start."""
        if place[0] == "init":
            self.init_error = body
            self._asked.set()
        else:
            _, request_id, outcome = place
            self._answers.put((request_id, outcome == "error", body))


def _handler_of(api):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # without it, each answer waits 40 ms for an acknowledgement

        def do_GET(self):
            event = api.next_event()
            if event is None:
                self.close_connection = True
            else:
                self._answer(*event)

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            api.take(self.path.removeprefix(f"/{API_VERSION}/runtime/").split("/"), body)
            self._answer(202, {"Content-Type": "application/json"}, b'{"status":"OK"}')

        def _answer(self, status, headers, body):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            del arguments  # the tests' own server needs no log

    return Handler
