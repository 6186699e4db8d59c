"""A built function as Lambda runs it: AWS's own runtime client in a process of its own."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
import uuid
from contextlib import ExitStack
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

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


def interpreter_of(version):
    """
    Return a Python of *version*, such as 3.13, from PATH or next to the running one; None if
    missing.

    Version managers install each Python in a folder of its own, next to each other. Their command
    on PATH may refuse to run a version.
    """
    for candidate in _candidates(version):
        answer = _asked(candidate) if candidate.is_file() else None
        if answer is not None and version == answer[0]:
            return Path(answer[1])
    return None


def _candidates(version):
    name = f"python{version}"
    yield from (Path(folder) / name for folder in os.environ["PATH"].split(os.pathsep))
    prefix = Path(sys.base_prefix)
    yield prefix / "bin" / name
    yield from sorted(prefix.parent.glob(f"*{version}*/bin/{name}"), reverse=True)


def _asked(candidate):
    """
    Return the version and real path of a Python; a version manager's command takes 0.1 s for it.
    """
    code = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
    run = subprocess.run(
        [candidate, "-E", "-S", "-c", code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout.strip().split(" ", 1) if run.returncode == 0 else None


LOG_FRAME_HEADER_BYTES = 16  # header of a message on the telemetry descriptor: type, length, time

FIRST_IMPORTS = "import awslambdaric.bootstrap, boto3; boto3.client('dynamodb').close()"


@dataclass(frozen=True)
class FunctionRuntime:
    """
    One Python of Lambda: the interpreter, the runtime client, the SDK, and a folder for the
    bytecode of both.
    """

    version: str
    interpreter: Path
    client: Path
    libraries: Path
    bytecode: Path

    def variables(self, *first):
        """Return the environment that has only these folders, *first* before the others."""
        return {
            "PATH": os.environ["PATH"],
            "LANG": "en_US.UTF-8",
            "TZ": ":UTC",
            "AWS_DEFAULT_REGION": "us-east-1",
            "PYTHONPATH": os.pathsep.join(map(str, [*first, self.client, self.libraries])),
            "PYTHONPYCACHEPREFIX": str(self.bytecode),
        }

    def compile(self):
        """
        Compile the runtime's libraries to bytecode, as Lambda does.

        Functions start with -B: their bytecode is made at every cold start, because the artefact
        has none.
        """
        command = [str(self.interpreter), "-S", "-c", FIRST_IMPORTS]
        subprocess.run(command, env=self.variables(), check=True, stdin=subprocess.DEVNULL)


class Function:
    """One execution environment of a function, which starts at construction."""

    def __init__(self, runtime, artefact, handler, variables, folder):
        self._ends = ExitStack()
        self._api = self._ends.enter_context(RuntimeApi())
        self._output = folder / "output"
        self._telemetry = folder / "telemetry"
        self._read_bytes = {self._output: 0, self._telemetry: 0}
        # Files instead of pipes: what was written before an answer is there with the answer.
        output = self._ends.enter_context(self._output.open("wb"))
        telemetry = self._ends.enter_context(self._telemetry.open("wb"))
        self._process = subprocess.Popen(
            [runtime.interpreter, "-S", "-B", "-m", "awslambdaric", handler],
            cwd=artefact,
            env={
                **runtime.variables(artefact),
                "_HANDLER": handler,
                "_LAMBDA_TELEMETRY_LOG_FD": str(telemetry.fileno()),
                "AWS_ACCESS_KEY_ID": "testing",
                "AWS_SECRET_ACCESS_KEY": "testing",
                "AWS_EXECUTION_ENV": f"AWS_Lambda_python{runtime.version}",
                "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256",
                "AWS_LAMBDA_FUNCTION_NAME": "neuron-emf",
                "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
                "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
                "AWS_LAMBDA_RUNTIME_API": self._api.address,
                "AWS_REGION": "us-east-1",
                "LAMBDA_TASK_ROOT": str(artefact),
                **variables,
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,  # a log group has both streams
            pass_fds=[telemetry.fileno()],
        )

    def start(self):
        """
        Wait until the function has started.

        Raises:
            NoAnswerError: The function could not start; the message has its output.
        """
        try:
            self._api.started()
        except NoAnswerError as error:
            raise NoAnswerError(error.args[0], self.output()) from None

    def invoke(self, event):
        """Return the answer to *event*, which is a value or the bytes of one."""
        payload = event if isinstance(event, bytes) else json.dumps(event).encode()
        try:
            return self._api.invoke(payload)
        except NoAnswerError as error:
            raise NoAnswerError(error.args[0], self.output()) from None

    def result(self, event):
        """
        Return the function's result for *event*.

        Raises:
            AssertionError: The function raised an error.
        """
        answer = self.invoke(event)
        assert not answer.failed, answer.body
        return json.loads(answer.body)

    def output(self):
        """Return the output on stdout and stderr since the last call."""
        return self._news(self._output)

    def messages(self):
        """Return the runtime client's own log since the last call."""
        logged = []
        rest = self._news(self._telemetry)
        while rest:
            length = int.from_bytes(rest[4:8], "big")
            end = LOG_FRAME_HEADER_BYTES + length
            logged.append(rest[LOG_FRAME_HEADER_BYTES:end].decode())
            rest = rest[end:]
        return logged

    def stop(self):
        """End the function as Lambda does: with a kill."""
        self._process.kill()
        self._process.wait()
        self._ends.close()

    def _news(self, path):
        with path.open("rb") as file:
            file.seek(self._read_bytes[path])
            news = file.read()
        self._read_bytes[path] += len(news)
        return news
