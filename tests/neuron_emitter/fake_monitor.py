"""A fake neuron-monitor: a script that each test writes."""

from __future__ import annotations

import os
import random
import select
import sys
import textwrap
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuron_emitter.reports.monitor import Monitor
from proof.emitter_process import HUNG_AFTER_S
from tests.neuron_emitter.neuron_reports import counters, report, runtime, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.neuron_emitter.loop_rig import FakeClock

LINE = written(report(runtime(counters([50.0])))) + b"\n"


class Extreme(random.Random):
    """Random jitter that is always the longest, or always the shortest."""

    def __init__(self, *, longest: bool) -> None:
        super().__init__(0)
        self._longest = longest

    def uniform(self, a: float, b: float) -> float:
        """Return one of the two bounds."""
        return b if self._longest else a


def write_script(path: Path, body: str) -> str:
    """Write a Python script that takes `-c FILE` like neuron-monitor; return its path."""
    path.write_text(f"#!{sys.executable} -S\nimport os, signal, sys, time\n{textwrap.dedent(body)}")
    path.chmod(0o755)
    return str(path)


@contextmanager
def running(
    path: str,
    clock: Callable[[], float] | None = None,
    period_s: float = 5.0,
    config: str = "{}",
    **options: Any,
) -> Iterator[Monitor]:
    """Yield a monitor, and close it at the end."""
    if clock is not None:
        options["clock"] = clock
    monitor = Monitor(path, config, period_s, **options)
    try:
        yield monitor
    finally:
        monitor.close()


def read_until(monitor: Monitor, is_enough: Callable[[bytes], object]) -> bytes:
    """Return bytes from the monitor until *is_enough*."""
    output = b""
    while not is_enough(output):
        output += monitor.read_chunk(HUNG_AFTER_S) or b""
    return output


def await_end(pid: int) -> None:
    """Wait for the end of a process, which need not be a child of this process."""
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        assert select.select([descriptor], [], [], HUNG_AFTER_S)[0]
        os.close(descriptor)


def fail_once(monitor: Monitor, clock: FakeClock) -> None:
    """Read until the child has failed once more and its next start is due later."""
    monitor.read_chunk(HUNG_AFTER_S)
    while monitor._start_at_s <= clock():
        monitor.read_chunk(HUNG_AFTER_S)


def alive(pid: int) -> bool:
    """Return True if a process exists and is not a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
