"""
How much memory a running emitter takes, as the kernel sees it, and how much the naive ones.

Two emitters read reports on standard input, one sends to CloudWatch Logs and
one prints. They are looked at when each has closed a real minute and got rid of
its line: everything has been loaded by then. The naive ones (`benchmarks.others`)
read the same reports, and are looked at when all have been sent or printed. What
weeks add is the soak's business.
"""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from benchmarks.figure import Figure
from benchmarks.reports import environment
from benchmarks.sink import PUT_LOG_EVENTS, PUT_METRIC_DATA, Sink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

LIMITS_MIB: Final = {"logs": 60, "stdout": 45}
PATIENCE_S: Final = 120.0  # a minute closes within 60
REPORTS: Final = 720
_MIB: Final = 1 << 20


@contextmanager
def running(folder: Path, minute: Sequence[bytes]) -> Iterator[Callable[[], list[Figure]]]:
    """Start the emitters; ask for the figures when other things have been measured."""
    with Sink() as sink:
        printed = folder / "lines"
        logs = _emitter(folder, "logs", subprocess.DEVNULL, **sink.variables)
        with printed.open("wb") as file:
            stdout = _emitter(folder, "stdout", file)
        try:
            for process in (logs, stdout):
                feed(process, minute, REPORTS)

            def figures() -> list[Figure]:
                naive = naive_mib(folder, minute)
                wait(lambda: sink.calls[PUT_LOG_EVENTS] > 0 and printed.stat().st_size > 0)
                return [
                    _figure("logs", logs, naive["metric_calls"], "a PutMetricData call a report"),
                    _figure("stdout", stdout, naive["embedded"], "aws-embedded-metrics a report"),
                ]

            yield figures
        finally:
            for process in (logs, stdout):
                process.terminate()
                process.communicate()


def naive_mib(folder: Path, minute: Sequence[bytes], reports: int = REPORTS) -> dict[str, float]:
    """What each naive emitter takes after so many reports, in MiB."""
    mib_by_way = {}
    with Sink() as sink:
        documents = folder / "documents"
        for module, is_done in (
            ("metric_calls", lambda: sink.calls[PUT_METRIC_DATA] >= reports),
            ("embedded", lambda: documents.read_bytes().count(b"\n") >= reports),
        ):
            with documents.open("wb") as file:
                process = start(
                    [f"benchmarks.others.{module}"],
                    file,
                    environment(HOME=str(folder), AWS_EMF_ENVIRONMENT="Local", **sink.variables),
                    PYTHONUNBUFFERED="1",
                )
            try:
                feed(process, minute, reports)
                wait(is_done)
                mib_by_way[module] = memory_mib(process)["VmRSS"]
            finally:
                process.terminate()
                process.communicate()
    return mib_by_way


def _emitter(
    folder: Path, output: str, stdout: IO[bytes] | int, **variables: str
) -> subprocess.Popen[bytes]:
    command = ["emitter", "run", "--cluster", "benchmarks", "--input", "-", "--output", output]
    command += ["--spool-dir", str(folder / output), "--spread-seconds", "0"]
    return start(command, stdout, environment(HOME=str(folder), **variables), cwd=folder)


def start(
    module: Sequence[str],
    stdout: IO[bytes] | int,
    variables: Mapping[str, str],
    *,
    cwd: Path | None = None,
    **more: str,
) -> subprocess.Popen[bytes]:
    """A module as a process that reads standard input."""
    return subprocess.Popen(
        [sys.executable, "-m", *module],
        stdin=subprocess.PIPE,
        stdout=stdout,
        env={**variables, **more},
        cwd=cwd,
    )


def feed(process: subprocess.Popen[bytes], minute: Sequence[bytes], reports: int) -> None:
    """Give it so many reports, those of *minute* over and over."""
    if process.stdin is None:
        return
    for number in range(reports):
        process.stdin.write(minute[number % len(minute)])
    process.stdin.flush()


def memory_mib(process: subprocess.Popen[bytes]) -> dict[str, float]:
    """What the kernel says it takes now (`VmRSS`) and took at most (`VmHWM`), in MiB."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    return {
        name: int(rest.split()[0]) * 1024 / _MIB
        for name, _, rest in (line.partition(":") for line in status.splitlines())
        if name in {"VmRSS", "VmHWM"}
    }


def _figure(output: str, process: subprocess.Popen[bytes], naive: float, beside: str) -> Figure:
    mib = memory_mib(process)
    return Figure(
        f"resident memory, --output {output}",
        mib["VmRSS"],
        "MiB",
        LIMITS_MIB[output],
        f"{beside}; after {REPORTS} reports, ours and a line; {mib['VmHWM']:.2f} at most",
        naive,
    )


def wait(is_so: Callable[[], bool]) -> None:
    """
    Wait until something is so.

    Raises:
        RuntimeError: If it is not within `PATIENCE_S`.
    """
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > deadline:
            msg = (
                f"every process was to be done within {PATIENCE_S:.0f} s, one is not: look at what"
                " it wrote to standard error"
            )
            raise RuntimeError(msg)
        time.sleep(0.1)
