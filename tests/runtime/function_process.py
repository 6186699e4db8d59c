"""A built function as Lambda runs it: AWS's own runtime client in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.runtime.runtime_api import NoAnswerError, RuntimeApi


def interpreter_of(version):
    """
    A Python of *version*, such as 3.13: from PATH, or installed beside the one that runs.

    Version managers put each Python into a folder of its own, all of them into one; a command of
    theirs on PATH may stand for a version that it refuses to run. None when there is none.
    """
    for candidate in _candidates(version):
        found = _asked(candidate) if candidate.is_file() else None
        if found is not None and version == found[0]:
            return Path(found[1])
    return None


def _candidates(version):
    name = f"python{version}"
    yield from (Path(folder) / name for folder in os.environ["PATH"].split(os.pathsep))
    prefix = Path(sys.base_prefix)
    yield prefix / "bin" / name
    yield from sorted(prefix.parent.glob(f"*{version}*/bin/{name}"), reverse=True)


def _asked(candidate):
    """
    Its version, and where it really is: a command of a version manager takes 0.1 s to find out.
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


LOG_FRAME_HEADER_BYTES = 16  # of a message on the telemetry descriptor: type, length, time

FIRST_IMPORTS = "import awslambdaric.bootstrap, boto3; boto3.client('dynamodb').close()"


@dataclass(frozen=True)
class FunctionRuntime:
    """
    One Python that Lambda offers: the interpreter, the client for it and the SDK, and a folder
    for the bytecode of these two.
    """

    version: str
    interpreter: Path
    client: Path
    libraries: Path
    bytecode: Path

    def variables(self, *first):
        """How Python finds the folders, *first* before all others, and nothing else."""
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
        Make the bytecode of what the runtime brings, as Lambda has it.

        Functions start with -B: theirs is made at every cold start, because the artefact has none.
        """
        command = [str(self.interpreter), "-S", "-c", FIRST_IMPORTS]
        subprocess.run(command, env=self.variables(), check=True, stdin=subprocess.DEVNULL)


class Function:
    """One execution environment of a function, started when it is made."""

    def __init__(self, runtime, artefact, handler, variables, folder):
        self._ends = ExitStack()
        self._api = self._ends.enter_context(RuntimeApi())
        self._output = folder / "output"
        self._telemetry = folder / "telemetry"
        self._read_bytes = {self._output: 0, self._telemetry: 0}
        # Files, not pipes: what was written before an answer is there once the answer is.
        output = self._ends.enter_context(self._output.open("wb"))
        telemetry = self._ends.enter_context(self._telemetry.open("wb"))
        self._process = subprocess.Popen(
            [runtime.interpreter, "-S", "-B", "-m", "awslambdaric", handler],
            cwd=artefact,
            env={
                **runtime.variables(artefact), "_HANDLER": handler,
                "_LAMBDA_TELEMETRY_LOG_FD": str(telemetry.fileno()), "AWS_ACCESS_KEY_ID": "testing",
                "AWS_SECRET_ACCESS_KEY": "testing",
                "AWS_EXECUTION_ENV": f"AWS_Lambda_python{runtime.version}",
                "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256", "AWS_LAMBDA_FUNCTION_NAME": "neuron-emf",
                "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
                "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
                "AWS_LAMBDA_RUNTIME_API": self._api.address, "AWS_REGION": "us-east-1",
                "LAMBDA_TASK_ROOT": str(artefact), **variables,
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,  # a log group has both
            pass_fds=[telemetry.fileno()],
        )  # fmt: skip

    def start(self):
        """
        Wait until it has started.

        Raises:
            NoAnswerError: If it could not, with what it wrote.
        """
        try:
            self._api.started()
        except NoAnswerError as error:
            raise NoAnswerError(error.args[0], self.output()) from None

    def invoke(self, event):
        """The answer to *event*, a value or the bytes of one."""
        payload = event if isinstance(event, bytes) else json.dumps(event).encode()
        try:
            return self._api.invoke(payload)
        except NoAnswerError as error:
            raise NoAnswerError(error.args[0], self.output()) from None

    def result(self, event):
        """
        What it returns for *event*.

        Raises:
            AssertionError: If it raised instead.
        """
        answer = self.invoke(event)
        assert not answer.failed, answer.body
        return json.loads(answer.body)

    def output(self):
        """What it wrote on stdout and stderr since it was asked last."""
        return self._news(self._output)

    def messages(self):
        """What the runtime client itself logged since it was asked last."""
        found = []
        rest = self._news(self._telemetry)
        while rest:
            length = int.from_bytes(rest[4:8], "big")
            end = LOG_FRAME_HEADER_BYTES + length
            found.append(rest[LOG_FRAME_HEADER_BYTES:end].decode())
            rest = rest[end:]
        return found

    def stop(self):
        """End it as Lambda does in the end: without asking."""
        self._process.kill()
        self._process.wait()
        self._ends.close()

    def _news(self, path):
        with path.open("rb") as file:
            file.seek(self._read_bytes[path])
            news = file.read()
        self._read_bytes[path] += len(news)
        return news
