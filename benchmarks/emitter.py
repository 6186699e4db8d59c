"""
The emitter's cost: processor time of a report, bytes of a minute line, memory.

Two operations that are compared run alternately: a machine that others use is slow for a while and
fast for a while, and alternating operations meet the same conditions. The figure is the median
quotient of the pairs.
"""

from __future__ import annotations

import dataclasses
import gc
import itertools
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from operator import truediv
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from benchmarks import sample_reports
from benchmarks.figures import Figure
from neuron_emitter.fold import Fold, FoldSettings, LineIdentity
from neuron_emitter.lines import LineWriter
from neuron_emitter.reports.framing import Framer
from neuron_emitter.settings import MinuteSettings
from proof.logs.logs_service import LogsService

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

USUAL_LIMIT: Final = 1.5  # by processor time
INSTRUCTIONS_LIMIT: Final = 1.2  # by instructions, which do not include waiting for memory
FEW: Final = 24  # reports of two minutes
RUNTIME_REPORTS: Final = 624
LONG_LIMIT: Final = 1.0
LINE_LIMITS_BYTES: Final[Mapping[int, int]] = {32: 2_400, 64: 2_700, 128: 3_600}
MEMORY_LIMITS_MIB: Final = {"logs": 60, "stdout": 45}
MEASURED_REPORTS: Final = 720  # an hour of reports, read at once
IDLE_MINUTES: Final = 1_000  # most of a day: four digits in a line
LITTLE: Final = 0.01  # utilization of a nearly idle core: two decimals
LINE_WITHIN_S: Final = 120.0  # a minute closes within 60
_MEASURED_PERIOD_S: Final = 5.0
_REPORTS_A_MINUTE: Final = 12
_MEASURED_FROM_S: Final = 1_800_000_000.0
_HEALTH_COUNTS: Final = {
    "ReportsRead": 1_000_000, "ReportsMalformed": 0, "MonitorRestarts": 12,
    "RecordsProduced": 100_000, "RecordsDelivered": 99_990, "RecordsDropped": 0, "SpoolRecords": 10,
    "SpoolBytes": 24_000, "EmitterCpuSeconds": 1_234.56, "EmitterMemory": 55_000_000,
}  # fmt: skip
"""Totals as after two months."""


class MeasuredReading:
    """Two ways through the same endless *lines*: the emitter's, and an untyped decode."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = itertools.cycle(lines)
        self._framer = Framer()
        self._fold = Fold(FoldSettings(period_s=_MEASURED_PERIOD_S))
        self._decode = msgspec.json.Decoder().decode
        self._reports = 0

    def read_report(self) -> None:
        """Read, decode and fold one report."""
        self._reports += 1
        if self._reports % _REPORTS_A_MINUTE == 0:
            self._fold.discard_minute()
        for frame in self._framer.frame_chunk(next(self._lines)):
            self._fold.fold_report(frame, _MEASURED_FROM_S)

    def decode_report(self) -> None:
        """Decode one report without any other work."""
        self._decode(next(self._lines))

    def require_reports(self) -> None:
        """
        Raise an error unless every report was read: a dropped report would have been cheap.

        Raises:
            RuntimeError: If a report was not read.
        """
        read = self._fold.reports_read
        if read != self._reports or self._framer.malformed + self._fold.malformed:
            msg = f"every report was to be read, {read} of {self._reports} were"
            raise RuntimeError(msg)


def usual_report() -> Figure:
    """
    Measure a report of 4 KB by instructions, which do not vary; by time if valgrind is missing.

    The instructions of few reports are subtracted from those of many, so that the start does not
    count.
    """
    if shutil.which("valgrind") is None:
        return report(sample_reports.usual(), USUAL_LIMIT, rounds=50, times=1_000)
    _instructions("read_report", 1)  # compiles changed modules
    ours, bare = (
        (_instructions(way, RUNTIME_REPORTS) - _instructions(way, FEW)) / (RUNTIME_REPORTS - FEW)
        for way in ("read_report", "decode_report")
    )
    return Figure(
        "instructions of a report of 4 KB: read, decode, fold",
        ours / bare,
        "x",
        INSTRUCTIONS_LIMIT,
        f"bare msgspec decode {bare:,.0f}, ours {ours:,.0f}, counted by valgrind",
    )


def run_reports(way: str, times: int) -> None:
    """Run usual reports in one *way* a number of *times*, in this process."""
    reading = MeasuredReading(sys.stdin.buffer.readlines())
    work = getattr(reading, way)
    for _ in range(times):
        work()
    if way == "read_report":
        reading.require_reports()


def _instructions(way: str, times: int) -> int:
    code = f"from benchmarks.emitter import run_reports; run_reports({way!r}, {times})"
    command = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}")
    ended = subprocess.run(
        [*command, sys.executable, "-c", code],
        input=b"".join(sample_reports.usual()),
        capture_output=True,
        env=sample_reports.environment(PYTHONHASHSEED="0"),
        check=True,
    )
    counted = re.search(rb"Collected : ([0-9]+)", ended.stderr)
    if counted is None:
        msg = f"valgrind counted no instructions: {ended.stderr[-400:]!r}"
        raise RuntimeError(msg)
    return int(counted[1])


def report(lines: Sequence[bytes], limit: float, *, rounds: int, times: int) -> Figure:
    """Compare reading, decoding and folding a report with an untyped decode of the same bytes."""
    ours = MeasuredReading(lines)
    bare = MeasuredReading(lines)
    read = ours.read_report
    read()
    ours_s: list[float] = []
    theirs_s: list[float] = []
    for number in range(rounds):
        pair = [(ours_s, read), (theirs_s, bare.decode_report)]
        for spent_s, work in pair if number % 2 else pair[::-1]:
            spent_s.append(processor_s(work, times))
    ours.require_reports()
    return Figure(
        f"processor time of a report of {len(lines[-1]) / 1000:.0f} KB: read, decode, fold",
        statistics.median(map(truediv, ours_s, theirs_s)),
        "x",
        limit,
        f"bare msgspec decode {1e6 * min(theirs_s):,.1f} us, ours {1e6 * min(ours_s):,.1f} us,"
        f" {rounds} rounds in turns",
    )


def processor_s(work: Callable[[], object], times: int) -> float:
    """
    Return the processor time of one execution, in seconds, with the garbage collector on.

    The collection before it empties the processor's caches, so *times* must be large for short
    work.
    """
    gc.collect()
    started_ns = time.process_time_ns()
    for _ in range(times):
        work()
    return (time.process_time_ns() - started_ns) / times / 1e9


def line_size(cores: int) -> Figure:
    """Measure the minute line of an instance whose held cores were idle for long."""
    framer = Framer()
    fold = Fold(FoldSettings(period_s=_MEASURED_PERIOD_S))
    minute = sample_reports.wide(cores, share=LITTLE)
    now_s = _MEASURED_FROM_S
    record = None
    for seq in range(100_000, 100_000 + IDLE_MINUTES):
        # Idle minutes count whole minutes: twelve equal reports each.
        for place, line in enumerate(minute):
            for frame in framer.frame_chunk(line):
                fold.fold_report(frame, now_s + _MEASURED_PERIOD_S * place + 2)
        now_s += 60
        record = fold.close_minute(
            LineIdentity(
                "training-production",
                "i-0123456789abcdef0",
                identity_guessed=True,
                boot="01234567890123456789",
            ),
            seq,
            health=_HEALTH_COUNTS,
        )
    if record is None or len(record.core_state) != cores:
        msg = f"a minute of {cores} cores was expected"
        raise RuntimeError(msg)
    bare = dataclasses.replace(record, holders=(), holders_more=0, owners=(), owners_more="")
    size, whole = (
        len(LineWriter(MinuteSettings()).minute_records(document)[0].line.encode())
        for document in (bare, record)
    )
    return Figure(
        f"minute line of {cores} cores, without Holders and Owners",
        size,
        "bytes",
        LINE_LIMITS_BYTES[cores],
        f"idle for {IDLE_MINUTES} minutes; Holders and Owners add {whole - size}",
    )


@contextmanager
def running(folder: Path) -> Iterator[Callable[[], list[Figure]]]:
    """
    Start an emitter for each output. The returned function measures their memory.

    It measures after each emitter has closed a real minute and delivered its line: by then
    everything has been loaded.
    """
    minute = sample_reports.wide(32)
    printed = folder / "lines"
    with LogsService() as service, printed.open("wb") as file:
        variables = {
            "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS": service.url,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-west-2",
        }
        emitters = {
            output: subprocess.Popen(
                [
                    *(sys.executable, "-m", "neuron_emitter", "run", "--cluster", "benchmarks"),
                    *("--input", "-", "--output", output, "--spread-seconds", "0"),
                    *("--spool-dir", str(folder / output)),
                ],
                stdin=subprocess.PIPE,
                stdout=file,
                env=sample_reports.environment(HOME=str(folder), **variables),
                cwd=folder,
            )
            for output in MEMORY_LIMITS_MIB
        }
        try:
            for process in emitters.values():
                if process.stdin is not None:
                    process.stdin.writelines(
                        itertools.islice(itertools.cycle(minute), MEASURED_REPORTS)
                    )
                    process.stdin.flush()

            def figures() -> list[Figure]:
                wait(lambda: bool(service.rules.applied) and printed.stat().st_size > 0)
                return [
                    Figure(
                        f"resident memory, --output {output}",
                        memory_mib(process.pid),
                        "MiB",
                        MEMORY_LIMITS_MIB[output],
                        f"after {MEASURED_REPORTS} reports of 32 cores and a line",
                    )
                    for output, process in emitters.items()
                ]

            yield figures
        finally:
            for process in emitters.values():
                process.terminate()
                process.communicate()


def memory_mib(process: int | str, name: str = "VmRSS") -> float:
    """Return the kernel's value of the memory of *process*; `VmHWM` is the maximum."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    values = dict(line.split(":", 1) for line in status.splitlines())
    return int(values[name].split()[0]) / 1024


def wait(is_so: Callable[[], bool]) -> None:
    """
    Wait until a condition holds.

    Raises:
        RuntimeError: If it is not within `PATIENCE_S`.
    """
    deadline = time.monotonic() + LINE_WITHIN_S
    while not is_so():
        if time.monotonic() > deadline:
            msg = f"an emitter wrote no line within {LINE_WITHIN_S:.0f} s: see its standard error"
            raise RuntimeError(msg)
        time.sleep(0.1)
