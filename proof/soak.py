"""
Days of reports through one emitter in ten minutes: `python -m proof.soak [--seconds 600]`.

Memory, descriptors, threads and the spool must not grow, and every minute must arrive whole. The
process, its disk, boto3 and connections are real. Of its neuron-monitor only the process is: the
pipe that is its standard output is opened a second time and filled from here, so that every
report comes when the proof's clock says so.

Exit codes: 0 every promise was kept, 1 one was broken, 2 usage error.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import resource
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from proof.arrivals import Arrivals
from proof.emitter_process import bytes_in, environment, wait_until
from proof.kills.lives import PATIENCE_S, Life
from proof.logs.faults import (
    ANSWER_LOST,
    INTERNAL,
    LATE,
    RESET,
    THROTTLED,
    UNAVAILABLE,
)
from proof.logs.service import LogsService
from proof.wall_clock import WallClock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

START_S = 1_800_000_000
PERIOD_S, MINUTE_S, HOUR_S = 5, 60, 3_600
REPORTS_A_MINUTE, REPORTS_AN_HOUR, REPORTS_IN_TEN_MINUTES = 12, 720, 120
BROKEN_EVERY = 701
FAULTS = (THROTTLED, UNAVAILABLE, INTERNAL, RESET, ANSWER_LOST, LATE)  # in turn
DAY_HOURS = 24
GONE_HOURS = range(14, 20)  # of each day: no network
DEATH_HOUR, FAULT_HOURS = 8, 4
WARM_HOURS = 24  # by then each trouble was there once
KIB, MIB = 1 << 10, 1 << 20
MAX_GROWTH_BYTES = 3 * MIB  # a late burst of troubles took 2.2
MAX_STEADY_BYTES = 36 * KIB  # in nearly every hour: what leaks, leaks always
MAX_SPOOL_GROWTH_BYTES = MIB  # of its files: what was freed in them is used again
MAX_RESIDENT_BYTES = 60 * MIB
MONITOR = """\
#!/bin/sh
echo $$ > "{folder}/monitor.new"
mv "{folder}/monitor.new" "{folder}/monitor.pid"
exec sleep 1000000
"""


@dataclass(frozen=True)
class Look:
    """The process and its spool at the end of an hour, and whether the service was there."""

    resident: int
    descriptors: int
    threads: int
    spool_bytes: int
    is_quiet: bool


def grown(looks: Sequence[Look]) -> list[str]:
    """Sentences, one for each thing that grew after the warm-up."""
    warm, after = looks[:WARM_HOURS], looks[WARM_HOURS:]
    memory = [look.resident for look in after]
    edge = max(1, len(memory) // 8)
    growth = statistics.median(memory[-edge:]) - statistics.median(memory[:edge])
    steps = [later - before for before, later in itertools.pairwise(memory)]
    steady = statistics.quantiles(steps)[0]  # a heap may take a step by chance
    said = []
    if growth >= MAX_GROWTH_BYTES or steady >= MAX_STEADY_BYTES:
        said.append(f"memory grew by {growth / KIB:,.0f} KiB, by {steady / KIB:,.0f} an hour")
    if max(memory) > MAX_RESIDENT_BYTES:
        said.append(f"memory was {max(memory) / MIB:.1f} MiB, over {MAX_RESIDENT_BYTES // MIB}")
    # A connection that broke may not have been opened again while nothing can be sent.
    for what in ("descriptors", "threads"):
        before, later = (
            max(getattr(look, what) for look in part if look.is_quiet) for part in (warm, after)
        )
        if later > before:
            said.append(f"{what} were at most {before} in the warm-up and {later} after it")
    before, later = (max(look.spool_bytes for look in part) for part in (warm, after))
    if later > before + MAX_SPOOL_GROWTH_BYTES:
        said.append(f"the spool's files had {before} bytes in the warm-up and {later} after it")
    return said


def lost(found: Arrivals, hours: int) -> list[str]:
    """Sentences, one for each promise about what arrived that was not kept in so many *hours*."""
    reports = hours * REPORTS_AN_HOUR
    minutes = [document for document in found.documents if document["Kind"] == "minute"]
    expected = {(START_S + MINUTE_S * at) * 1000 for at in range(hours * 60)}
    whole = reports - reports // BROKEN_EVERY
    checks = {
        "minutes have no line, or have one and never were": expected ^ found.minutes(),
        "records did not arrive": found.gaps(),
        "records came as two different lines": found.conflicts,
        "lines do not add up": found.unbalanced(),
        "records were dropped": range(found.dropped()),
        "reports were written and are in no line": range(
            whole - sum(m["Reports"] for m in minutes)
        ),
    }
    return [f"{len(those)} {what}" for what, those in checks.items() if those]


class Watched:
    """One emitter, its monitor and its service."""

    def __init__(self, folder: Path, clock: WallClock, service: LogsService) -> None:
        self.looks: list[Look] = []
        self._folder, self._clock, self._service = folder, clock, service
        self._faults = itertools.cycle(FAULTS)
        self._pipe: IO[bytes] | None = None
        self._seen, self._minutes = 0, set[int]()
        command = folder / "neuron-monitor"
        command.write_text(MONITOR.format(folder=folder), encoding="utf-8")
        command.chmod(0o755)
        options = [
            *("--cluster", "blue", "--spool-dir", folder / "spool", "--spread-seconds", "0"),
            *("--monitor-command", command),
        ]
        self.life = Life.begin(folder / "emitter", clock, options, service.variables)
        self._attach()

    def hour(self, hour: int, lines: Iterator[bytes]) -> None:
        """An hour of *lines*, and its troubles first."""
        service, of_day = self._service, hour % DAY_HOURS
        if hour and service.is_there:
            service.vanish()  # every connection breaks
        if of_day not in GONE_HOURS and not service.is_there:
            service.come_back()
        if hour and service.is_there and hour % FAULT_HOURS == 0:
            service.next_faults["PutLogEvents"] += itertools.islice(self._faults, 2)
        if of_day == DEATH_HOUR:
            os.kill(self._pid, signal.SIGKILL)
            self._attach()
        for number in range(REPORTS_AN_HOUR):
            self._clock.set(START_S + HOUR_S * hour + PERIOD_S * (number + 0.5))
            self._write(next(lines))
            if number % REPORTS_A_MINUTE == REPORTS_A_MINUTE - 1:
                self._was_read()
        self._look(60 * (hour + 1) - 1)

    def _attach(self) -> None:
        """Write to the process of the monitor that was started last."""
        pid = self._folder / "monitor.pid"
        wait_until(pid.exists, PATIENCE_S)
        self._pid = int(pid.read_text(encoding="ascii"))
        pid.unlink()
        if self._pipe is not None:
            self._pipe.close()
        path = Path(f"/proc/{self._pid}/fd/1")
        self._pipe = path.open("wb", buffering=0)
        os.set_blocking(self._pipe.fileno(), False)

    def _write(self, chunk: bytes) -> None:
        left, ready = memoryview(chunk), select.poll()
        assert self._pipe is not None
        ready.register(self._pipe, select.POLLOUT)
        while left:
            assert ready.poll(PATIENCE_S * 1000), "the emitter reads no more"
            left = left[self._pipe.write(left) or 0 :]

    def _was_read(self) -> None:
        """Wait until all that was written was taken: once an empty line was read, too."""
        for chunk in (b"", b"\n"):
            self._write(chunk)
            deadline_s = time.monotonic() + PATIENCE_S
            while bytes_in(self._pipe):
                assert time.monotonic() < deadline_s, "the emitter reads no more"
                time.sleep(0.0003)

    def _have_come(self, minutes: int) -> bool:
        self._write(b"\n")  # one that is silent for 30 s counts as dead
        for event in self._service.rules.applied[self._seen :]:
            self._seen += 1
            if '"Kind":"minute"' in event.message:
                self._minutes.add(event.timestamp_ms)
        return len(self._minutes) >= minutes

    def _look(self, due: int) -> None:
        if self._service.is_there:
            wait_until(lambda: self._have_come(due), PATIENCE_S)
        process = Path(f"/proc/{self.life.process.pid}")
        pages = int((process / "statm").read_text(encoding="ascii").split()[1])
        spool = (self._folder / "spool").glob("spool.sqlite*")
        self.looks.append(
            Look(
                resident=pages * resource.getpagesize(),
                descriptors=len(list((process / "fd").iterdir())),
                threads=len(list((process / "task").iterdir())),
                spool_bytes=sum(path.stat().st_size for path in spool),
                is_quiet=self._service.is_there,
            )
        )


def history(folder: Path) -> Iterator[bytes]:
    """
    Reports without end on which things keep changing: runtimes and pods that come and go,
    counters of corrected errors that rise, and now and then a line that is none.
    """
    play = '{"scenario": "multi-runtime", "reports": 13, "start_ms": 0}'
    command = (sys.executable, "-m", "local.monitor", play)
    variables = environment(folder)
    ended = subprocess.run(command, stdout=subprocess.PIPE, env=variables, check=True)
    templates = ended.stdout.splitlines(keepends=True)[1:]  # the first covers milliseconds
    pids = [runtime["pid"] for runtime in json.loads(templates[0])["neuron_runtime_data"]]
    lines = templates
    for number in itertools.count():
        if number % REPORTS_IN_TEN_MINUTES == 0:
            lines = [_of_its_time(line, number, pids) for line in templates]
        line = lines[number % len(lines)]
        is_broken = number % BROKEN_EVERY == BROKEN_EVERY - 1
        yield line[: len(line) // 3] + b"\n" if is_broken else line


def _of_its_time(line: bytes, number: int, pids: Iterable[int]) -> bytes:
    """One of the runtimes is another one every ten minutes, all of them and the pod every hour."""
    hour = number // REPORTS_AN_HOUR
    for place, pid in enumerate(pids):
        new = 200_000 + 10 * hour + place
        if place == 0:
            new = 100_000 + number // REPORTS_IN_TEN_MINUTES
        line = line.replace(b'"pid":%d,' % pid, b'"pid":%d,' % new)
        line = line.replace(b"/proc/%d/" % pid, b"/proc/%d/" % new)
    line = line.replace(b'"mem_ecc_corrected":0', b'"mem_ecc_corrected":%d' % hour, 1)
    pod = b'{"pod_name":"job-%d","namespace":"team-%d"}' % (hour, hour % 7)
    owners = b'"neuron_k8s_info":{"period":15,"neurondevices_k8s_info":{"0":%s},"error":""}' % pod
    return b"{" + owners + b"," + line[1:]


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m proof.soak", description=__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="real time; default 600")
    seconds = parser.parse_args(arguments).seconds
    deadline_s, hours = time.monotonic() + seconds, 0
    with contextlib.ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="neuron-emf-soak-"))
        clock = stack.enter_context(WallClock(Path(name) / "clock"))
        clock.set(START_S)
        service = stack.enter_context(LogsService(clock))
        watched = Watched(Path(name), clock, service)
        stack.callback(watched.life.process.kill)
        lines = history(Path(name))
        while hours < 2 * WARM_HOURS or time.monotonic() < deadline_s:
            watched.hour(hours, lines)
            hours += 1
        if not service.is_there:
            service.come_back()
        code = watched.life.stop()
        found = Arrivals.of((event.timestamp_ms, event.message) for event in service.rules.applied)
    problems = [*grown(watched.looks), *lost(found, hours)]
    if code:
        problems.append(f"the emitter ended with {code}")
    first, last = watched.looks[WARM_HOURS], watched.looks[-1]
    print(
        f"{hours} hours, {hours * REPORTS_AN_HOUR:,} reports, {len(found.lines):,} lines arrived,"
        f" {found.copies:,} of them once more; memory {first.resident / MIB:.1f} MiB after"
        f" {WARM_HOURS} hours and {last.resident / MIB:.1f} in the end; spool at most"
        f" {max(look.spool_bytes for look in watched.looks) / MIB:.1f} MiB;"
        f" {last.descriptors} descriptors, {last.threads} threads; {len(problems)} promises broken"
    )
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("soak: interrupted")
