"""
A CloudWatch Logs on 127.0.0.1 that enforces every rule of PutLogEvents, and fails as it does.

Nobody else does both: moto knows order, age and missing names, but not number, size and span.
"""

from __future__ import annotations

import http.server
import json
import socket
import struct
import threading
import time
from email.utils import formatdate

from emitter.spool.records import SpooledRecord

GROUP = "/neuron-emf/records"
STREAM = "training/i-0123456789abcdef0"
REGION = "eu-north-1"
BOOT = "019aa3c5d2f04f1e2d3c"
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def now_ms() -> int:
    """
    The service's clock is the real one.
    """
    return int(time.time() * 1000)


def batch_of(*lines, ages_ms=()):
    """
    Records to put; the first ages_ms are those of the first lines.
    """
    ages = [*ages_ms, *[0] * (len(lines) - len(ages_ms))]
    return [
        SpooledRecord(i, BOOT, i, now_ms() - age_ms, line)
        for i, (line, age_ms) in enumerate(zip(lines, ages, strict=True), 1)
    ]


class Answer:
    """
    What the double says instead of doing its work; *applied* does the work first.
    """

    def __init__(self, status, code, message="", *, applied=False):
        self.status = status
        self.code = code
        self.message = message
        self.applied = applied


RESET = Answer(0, "reset")
RESET_APPLIED = Answer(0, "reset", applied=True)
HANG = Answer(0, "hang")
THROTTLED = Answer(400, "ThrottlingException", "Rate exceeded")


class LogsDouble(http.server.ThreadingHTTPServer):
    """
    A CloudWatch Logs on 127.0.0.1 that enforces every rule of PutLogEvents.

    Attributes:
        script: Answers for the next calls, by operation; without one it does its work.

        events: What it holds, by stream.

        calls: Operations in order, with the headers of the newest.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), DoubleHandler)
        self.script: dict[str, list[Answer]] = {}
        self.groups = {GROUP}
        self.events: dict[str, list[str]] = {}
        self.calls: list[str] = []
        self.headers = None
        self.skew_s = 0.0
        self.rejected: dict[str, int] = {}
        self.released = threading.Event()
        self.at_work = threading.Lock()

    @property
    def url(self) -> str:
        """
        For AWS_ENDPOINT_URL.
        """
        return f"http://127.0.0.1:{self.server_port}"

    def work(self, operation, request):
        """
        What the service does, or the error it answers with.
        """
        with self.at_work:
            return self.answer(operation, request)

    def answer(self, operation, request):
        """
        The same, one call at a time.
        """
        group, stream = request["logGroupName"], request["logStreamName"]
        if group not in self.groups:
            return Answer(
                400, "ResourceNotFoundException", "The specified log group does not exist."
            )
        if operation == "CreateLogStream":
            if stream in self.events:
                return Answer(
                    400, "ResourceAlreadyExistsException", "The specified log stream already exists"
                )
            self.events[stream] = []
            return {}
        if stream not in self.events:
            return Answer(
                400, "ResourceNotFoundException", "The specified log stream does not exist."
            )
        events = request["logEvents"]
        times = [event["timestamp"] for event in events]
        sizes = [len(event["message"].encode()) for event in events]
        for broken, message in (
            (len(events) > 10_000, "Member must have length less than or equal to 10000"),
            (sum(sizes) + 26 * len(events) > 1_048_576, "Upload too large"),
            (times[-1] - times[0] >= DAY_MS, "The batch spans more than 24 hours"),
            (sorted(times) != times, "Log events must be in chronological order"),
            ("poison" in {event["message"] for event in events}, "1 validation error detected"),
        ):
            if broken:
                return Answer(400, "InvalidParameterException", message)
        self.events[stream] += [event["message"] for event in events]
        return {"rejectedLogEventsInfo": self.rejected} if self.rejected else {}


class DoubleHandler(http.server.BaseHTTPRequestHandler):
    """
    AWS JSON 1.1: the operation is in a header, errors carry `__type`.
    """

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """
        One call.
        """
        double = self.server
        operation = self.headers["X-Amz-Target"].rpartition(".")[2]
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        double.calls.append(operation)
        double.headers = self.headers
        planned = double.script.get(operation)
        answer = planned.pop(0) if planned else double.work(operation, request)
        if isinstance(answer, Answer) and answer.applied:
            double.work(operation, request)
        if answer is HANG:
            double.released.wait(9)
            self.close_connection = True
        elif isinstance(answer, Answer) and answer.code == "reset":
            # Linger 0: a reset, not an orderly end.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
        elif isinstance(answer, Answer):
            self.reply(answer.status, {"__type": answer.code, "message": answer.message})
        else:
            self.reply(200, answer)

    def reply(self, status, document):
        """
        One answer, with the service's own clock.
        """
        body = json.dumps(document).encode()
        self.send_response_only(status)
        self.send_header("Date", formatdate(time.time() + self.server.skew_s, usegmt=True))
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def finish(self):
        """
        A connection that was reset has nothing left to finish.
        """
        if self.connection.fileno() >= 0:
            super().finish()

    def log_message(self, *_):
        """
        Silence: pytest shows what matters.
        """
