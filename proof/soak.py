"""
Days of reports through one emitter in ten minutes: `python -m proof.soak`.

Memory, descriptors, threads and the spool must not grow. The process, its disk, boto3 and its
connections are real; the reports come on its standard input as fast as it reads them, and the proof
sets the clock. Exit codes: 0 nothing grew, 1 something did.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from proof.emitter_process import HUNG_AFTER_S, bytes_in, environment, wait_until
from proof.kills.lives import CLOCKED
from proof.logs.logs_service import LogsService
from proof.logs.service_faults import ANSWER_LOST, RESET, THROTTLED
from proof.wall_clock import WallClock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SOAK_S = 600
SOAK_START_S = 1_800_000_000
SOAK_PERIOD_S = 5
REPORTS_A_MINUTE = 12
REPORTS_IN_TEN_MINUTES = 120
REPORTS_AN_HOUR = 720
BROKEN_EVERY = 701
SOAK_FAULTS = (THROTTLED, RESET, ANSWER_LOST)
FAULT_HOURS = 4
DAY_HOURS = 24
GONE_HOURS = range(14, 20)  # hours of each day without a network
WARM_HOURS = 24  # by then each fault has happened once


class Look(NamedTuple):
    """The process and its spool at the end of an hour."""

    resident_bytes: int
    spool_bytes: int
    descriptors: int
    threads: int


MAX_GROWTH = Look(3 << 20, 1 << 20, 0, 0)  # a late burst of faults took 2.2 MiB


def grown(looks: Sequence[Look]) -> list[str]:
    """Return one sentence for each figure whose maximum grew after the warm-up."""
    warm, after = (
        Look(*map(max, zip(*part, strict=True)))
        for part in (looks[:WARM_HOURS], looks[WARM_HOURS:])
    )
    return [
        f"{name}: at most {before:,} in the warm-up and {later:,} after it"
        for name, before, later, growth in zip(Look._fields, warm, after, MAX_GROWTH, strict=True)
        if later > before + growth
    ]


class SoakedEmitter:
    """One emitter that reads its reports from us, and the service that it sends to."""

    def __init__(self, folder: Path, clock: WallClock, service: LogsService) -> None:
        self._folder = folder
        self._clock = clock
        self._service = service
        self._events_read = 0
        self._minutes_ms: set[int] = set()
        command = (
            *(sys.executable, CLOCKED, clock.path, "neuron_emitter", "run", "--input", "-"),
            *("--cluster", "blue", "--spool-dir", folder / "spool", "--spread-seconds", "0"),
        )
        self.process = subprocess.Popen(
            [*map(str, command)],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=folder,
            env=environment(folder, **service.variables),
        )

    def feed_hour(self, hour: int, reports: Iterator[bytes]) -> Look:
        """Inject the faults of *hour*, feed its reports and wait for their lines."""
        service = self._service
        if hour and service.is_there:
            service.vanish()  # every connection breaks
        if hour % DAY_HOURS not in GONE_HOURS and not service.is_there:
            service.come_back()
        if hour % FAULT_HOURS == 0:
            service.next_faults["PutLogEvents"] += SOAK_FAULTS
        for number in range(hour * REPORTS_AN_HOUR, (hour + 1) * REPORTS_AN_HOUR):
            self._clock.set(SOAK_START_S + SOAK_PERIOD_S * (number + 0.5))
            self._write(next(reports))
            if number % REPORTS_A_MINUTE == REPORTS_A_MINUTE - 1:
                self._wait_until_read()
        if service.is_there:
            expected = 60 * (hour + 1) - 1
            wait_until(
                lambda: self.arrived_minutes() >= expected,
                event=f"delivery of {expected:,} minutes",
            )
        return self._look()

    def arrived_minutes(self) -> int:
        """
        Return the number of different minutes that have a line at the service.

        Each event is read once: by the end of a soak there are millions.
        """
        applied = self._service.rules.applied
        count = len(applied)
        new_events = applied[self._events_read : count]
        self._minutes_ms.update(
            event.timestamp_ms for event in new_events if '"Kind":"minute"' in event.message
        )
        self._events_read = count
        return len(self._minutes_ms)

    def _write(self, content: bytes) -> None:
        assert self.process.stdin is not None
        rest = memoryview(content)
        while rest:
            rest = rest[self.process.stdin.write(rest) :]

    def _wait_until_read(self) -> None:
        """Wait until the emitter has read an empty line, so that all input before it is folded."""
        for content in (b"", b"\n"):
            self._write(content)
            wait_until(lambda: not bytes_in(self.process.stdin), event="reading of the reports")

    def _look(self) -> Look:
        process = Path(f"/proc/{self.process.pid}")
        pages = int((process / "statm").read_text(encoding="ascii").split()[1])
        return Look(
            resident_bytes=pages * resource.getpagesize(),
            spool_bytes=sum(path.stat().st_size for path in (self._folder / "spool").iterdir()),
            descriptors=len(list((process / "fd").iterdir())),
            threads=len(list((process / "task").iterdir())),
        )


def endless_reports(folder: Path) -> Iterator[bytes]:
    """Yield reports whose runtimes and pods change; sometimes a line that is not a report."""
    play = '{"scenario": "multi-runtime", "reports": 13, "start_ms": 0}'
    command = (sys.executable, "-m", "local.monitor", play)
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment(folder), check=True)
    templates = done.stdout.splitlines(keepends=True)[1:]  # the first covers milliseconds
    pids = [runtime["pid"] for runtime in json.loads(templates[0])["neuron_runtime_data"]]
    lines = templates
    for number in itertools.count():
        if number % REPORTS_IN_TEN_MINUTES == 0:
            lines = [_with_other_runtimes(line, number, pids) for line in templates]
        line = lines[number % len(lines)]
        is_broken = number % BROKEN_EVERY == BROKEN_EVERY - 1
        yield line[: len(line) // 3] + b"\n" if is_broken else line


def _with_other_runtimes(line: bytes, number: int, pids: Sequence[int]) -> bytes:
    """Change the first runtime every ten minutes, and all of them and the pod every hour."""
    hour = number // REPORTS_AN_HOUR
    first = 100_000 + number // REPORTS_IN_TEN_MINUTES
    others = itertools.count(200_000 + 10 * hour)
    for pid, other in zip(pids, itertools.chain((first,), others), strict=False):
        line = line.replace(b'"pid":%d,' % pid, b'"pid":%d,' % other)
    pod = b'{"pod_name":"job-%d","namespace":"team-%d"}' % (hour, hour % 7)
    owners = b'"neuron_k8s_info":{"period":15,"neurondevices_k8s_info":{"0":%s},"error":""}' % pod
    return b"{" + owners + b"," + line[1:]


def main() -> int:
    """Soak one emitter. Return the exit code."""
    deadline_s = time.monotonic() + SOAK_S
    looks: list[Look] = []
    with contextlib.ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="neuron-emf-soak-"))
        clock = stack.enter_context(WallClock(Path(name) / "clock"))
        clock.set(SOAK_START_S)
        service = stack.enter_context(LogsService(clock))
        emitter = SoakedEmitter(Path(name), clock, service)
        stack.callback(emitter.process.kill)
        reports = endless_reports(Path(name))
        while len(looks) < 2 * WARM_HOURS or time.monotonic() < deadline_s:
            looks.append(emitter.feed_hour(len(looks), reports))
        problems = grown(looks)
        emitter.process.terminate()
        if code := emitter.process.wait(HUNG_AFTER_S):
            problems.append(f"the emitter ended with {code}")
        minutes = emitter.arrived_minutes()
    print(
        f"{len(looks)} hours, {minutes:,} minutes arrived; after {WARM_HOURS} hours"
        f" {looks[WARM_HOURS]}, in the end {looks[-1]}"
    )
    print(*problems, sep="\n", end="", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("soak: interrupted")
