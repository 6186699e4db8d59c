"""
How much memory a running emitter takes, as the kernel sees it.

Two emitters read reports on standard input, one sends to CloudWatch Logs and
one prints. They are looked at when each has closed a real minute and got rid of
its line: everything has been loaded by then. What 30 hours add is a test's
business (tests/proof).
"""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from benchmarks.figures import Figure
from benchmarks.logs_sink import LogsSink
from benchmarks.reports import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LIMITS_MIB: Final = {"logs": 60, "stdout": 45}
PATIENCE_S: Final = 120.0  # a minute closes within 60
_REPORTS: Final = 720
_MIB: Final = 1 << 20


@contextmanager
def running(folder: Path, minute: Sequence[bytes]) -> Iterator[Callable[[], list[Figure]]]:
    """
    Start the emitters; ask for the figures when other things have been measured.
    """
    with LogsSink() as sink:
        printed = folder / "lines"
        logs = _start(folder, "logs", subprocess.DEVNULL, **sink.variables)
        with printed.open("wb") as file:
            stdout = _start(folder, "stdout", file)
        try:
            for process in (logs, stdout):
                _feed(process, minute)

            def figures() -> list[Figure]:
                _wait(lambda: sink.calls > 0 and printed.stat().st_size > 0)
                return [_figure("logs", logs), _figure("stdout", stdout)]

            yield figures
        finally:
            for process in (logs, stdout):
                process.terminate()
                process.communicate()


def _start(
    folder: Path, output: str, stdout: IO[bytes] | int, **variables: str
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "emitter", "run", "--cluster", "benchmarks", "--input", "-"),
            *("--output", output, "--spool-dir", str(folder / output), "--spread-seconds", "0"),
        ],
        stdin=subprocess.PIPE,
        stdout=stdout,
        env=environment(HOME=str(folder), **variables),
        cwd=folder,
    )


def _feed(process: subprocess.Popen[bytes], minute: Sequence[bytes]) -> None:
    if process.stdin is None:
        return
    for number in range(_REPORTS):
        process.stdin.write(minute[number % len(minute)])
    process.stdin.flush()


def _figure(output: str, process: subprocess.Popen[bytes]) -> Figure:
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    kib = {
        name: int(rest.split()[0])
        for name, _, rest in (line.partition(":") for line in status.splitlines())
        if name in {"VmRSS", "VmHWM"}
    }
    return Figure(
        f"resident memory, --output {output}",
        kib["VmRSS"] * 1024 / _MIB,
        "MiB",
        LIMITS_MIB[output],
        f"after {_REPORTS} reports and a line; {kib['VmHWM'] * 1024 / _MIB:.2f} at most",
    )


def _wait(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > deadline:
            msg = f"no line came within {PATIENCE_S:.0f} s: the emitters write to standard error"
            raise RuntimeError(msg)
        time.sleep(0.1)
