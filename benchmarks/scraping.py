"""
What the page for Prometheus costs, beside the exporter that people run today.

    python -m benchmarks.scraping [--record]

The exporter is `benchmarks.others.exporter`, which knows the report that it read
last; both are given the same reports and are scraped every 15 s, four times a
minute. Memory is that of real processes which read them on standard input.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from prometheus_client import generate_latest

from benchmarks import record, reports
from benchmarks.figure import HEADS, Figure, table
from benchmarks.instance import PERIOD_S, START_S, stamp
from benchmarks.machine import machine
from benchmarks.others.exporter import Exporter
from benchmarks.page import SCRAPING
from benchmarks.residence import feed, memory_mib, start, wait
from benchmarks.turns import in_turns
from emitter.fold import Fold, FoldSettings
from emitter.lines import LineIdentity
from emitter.prometheus.metrics_page import MetricsPage
from emitter.reports.framing import Framer

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMAND: Final = "python -m benchmarks.scraping --record"
SCRAPES_A_MINUTE: Final = 4
REPORTS: Final = 720
_ROUNDS: Final = 10
_IDENTITY: Final = LineIdentity(
    cluster="training-production",
    instance_id="i-0123456789abcdef0",
    identity_guessed=False,
    boot="01234567890123456789",
)


class Emitter:
    """Reports folded, minutes closed, and the page, where there is one."""

    def __init__(self, *, has_page: bool) -> None:
        self.page: MetricsPage | None = None
        self._now_s = START_S
        self._fold = Fold(FoldSettings(period_s=PERIOD_S))
        self._framer = Framer()
        if has_page:
            # each scrape makes the text anew
            self.page = MetricsPage(clock=lambda: self._now_s, monotonic=self._tick)
            self._framer.keeps_newest = True
        self._ticks = 0.0

    def minute(self, lines: Sequence[bytes]) -> None:
        """One minute of reports, four scrapes, and its end."""
        for place, line in enumerate(lines):
            at_s = self._now_s + PERIOD_S * place
            for report in self._framer.feed(line):
                self._fold.add(report, at_s)
                if self.page is not None:
                    self.page.see(report, self._framer.newest, self._fold, _IDENTITY, at_s)
            if self.page is not None and place % (len(lines) // SCRAPES_A_MINUTE) == 0:
                self.page.text()
        self._now_s += 60
        record_of_minute = self._fold.close(stamp(1))
        if self.page is not None:
            self.page.close(record_of_minute, self._fold.holdings)

    def _tick(self) -> float:
        self._ticks += 60.0
        return self._ticks


def exporter_minute(exporter: Exporter, lines: Sequence[bytes]) -> None:
    """The same reports, and as many scrapes."""
    for place, line in enumerate(lines):
        exporter.process(msgspec.json.decode(line))
        if place % (len(lines) // SCRAPES_A_MINUTE) == 0:
            generate_latest(exporter.registry)


def times(name: str, lines: Sequence[bytes]) -> list[Figure]:
    """A scrape, a minute with the page beside the exporter's, and beside one without."""
    emitter, plain, exporter = Emitter(has_page=True), Emitter(has_page=False), Exporter()
    emitter.minute(lines)
    plain.minute(lines)
    exporter_minute(exporter, lines)
    page = emitter.page
    if page is None:
        msg = "an emitter with a page was expected"
        raise RuntimeError(msg)
    scrape = in_turns(
        page.text, lambda: generate_latest(exporter.registry), rounds=_ROUNDS, times=3
    )
    minute = in_turns(
        lambda: emitter.minute(lines),
        lambda: exporter_minute(exporter, lines),
        rounds=_ROUNDS,
        times=1,
    )
    without = in_turns(
        lambda: emitter.minute(lines), lambda: plain.minute(lines), rounds=_ROUNDS, times=1
    )
    bytes_kb = len(page.text()) / 1000
    theirs_kb = len(generate_latest(exporter.registry)) / 1000
    return [
        Figure(
            f"processor time of a scrape, {name}",
            1000 * min(scrape.ours_s),
            "ms",
            None,
            f"{bytes_kb:,.0f} KB, the exporter's {theirs_kb:,.0f} KB; {_ROUNDS} rounds in turns",
            1000 * min(scrape.theirs_s),
        ),
        Figure(
            f"processor time of a minute with the page, {name}",
            1000 * min(minute.ours_s),
            "ms",
            None,
            f"12 reports, 4 scrapes, the minute closed; beside the exporter's 12 and 4;"
            f" without the page {1000 * min(without.theirs_s):,.2f} ms",
            1000 * min(minute.theirs_s),
        ),
    ]


def memory(folder: Path, minute: Sequence[bytes]) -> list[Figure]:
    """Of an emitter with the page and without it, and of the exporter."""
    common = ["emitter", "run", "--cluster", "benchmarks", "--input", "-", "--output", "stdout"]
    own, theirs = _free_port(), _free_port()
    variables = reports.environment(HOME=str(folder))
    processes = [
        start(common, subprocess.DEVNULL, variables, cwd=folder),
        start([*common, "--prometheus", str(own)], subprocess.DEVNULL, variables, cwd=folder),
        start(["benchmarks.others.exporter", "--port", str(theirs)], subprocess.DEVNULL, variables),
    ]
    try:
        for process in processes:
            feed(process, minute, REPORTS)
        wait(lambda: b"neuron_emf_covered_seconds{" in _page(own))  # a minute was closed
        for _ in range(10):
            _page(own)
            _page(theirs)
            time.sleep(1)
        plain, ours, exporter = (memory_mib(process)["VmRSS"] for process in processes)
    finally:
        for process in processes:
            process.terminate()
            process.communicate()
    return [
        Figure(
            "resident memory, --output stdout --prometheus",
            ours,
            "MiB",
            None,
            f"the exporter; after {REPORTS} reports of 32 cores and more than 10 scrapes;"
            f" without the page {plain:.2f} MiB",
            exporter,
        )
    ]


def measure(folder: Path) -> list[Figure]:
    """Every figure, in the order of the table."""
    return [
        *times("2 cores, 1 runtime", reports.usual()),
        *times("32 cores, 1 runtime", reports.wide(32)),
        *times("32 cores, 32 runtimes", reports.long() * 6),
        *memory(folder, reports.wide(32)),
    ]


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as opened:
        port: int = opened.getsockname()[1]
        return port


def _page(port: int) -> bytes:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            text: bytes = answer.read()
            return text
    except OSError:
        return b""


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and with `--record` keep; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scraping")
    parser.add_argument("--record", action="store_true", help="write docs/figures/scraping.json")
    chosen = parser.parse_args(arguments)
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="neuron-emf-benchmarks-") as name:
        figures = measure(Path(name))
    sys.stdout.write(f"{machine()}\n\n{table(figures)}\n")
    if chosen.record:
        rows = [figure.row() for figure in figures]
        record.made(SCRAPING, COMMAND, time.monotonic() - begun_s, HEADS, rows).write()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
