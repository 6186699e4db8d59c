"""`python -m benchmarks`: measure, print, with `--check` judge, and with `--record` keep."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks import (
    fresh_clone,
    minutes,
    month,
    page,
    reading,
    record,
    reports,
    residence,
    spooling,
)
from benchmarks.figure import HEADS, Figure, table
from benchmarks.machine import machine
from benchmarks.others import rows as others
from benchmarks.stack import findings
from benchmarks.stack import rows as stack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COMMAND: Final = "make bench RECORD=1"
_OTHERS_SHARE: Final = 5  # a round of theirs is a whole minute
_SPOOL_SHARE: Final = 20  # records for a round


def main(arguments: Sequence[str]) -> int:
    """Measure everything; the exit code."""
    chosen = _parser().parse_args(arguments)
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="neuron-emf-benchmarks-") as name:
        is_fresh = chosen.fresh or chosen.record
        figures = measure(Path(name), rounds=chosen.rounds, fresh=is_fresh)
    sys.stdout.write(f"{machine()}\n\n{table(figures)}\n")
    if chosen.record:
        rows = [one.row() for one in figures]
        kept = record.made(page.NAME, COMMAND, time.monotonic() - begun_s, HEADS, rows)
        kept.write()
        page.main()
    over = sum(one.is_over for one in figures)
    if over and chosen.check:
        sys.stderr.write(f"{over} figure(s) over the limit\n")
        return 1
    return 0


def measure(folder: Path, *, rounds: int, fresh: bool = False) -> list[Figure]:
    """Every figure, in the order of the table."""
    few = max(2, rounds // _OTHERS_SHARE)
    with residence.running(folder, reports.wide(32)) as resident, ThreadPoolExecutor() as pool:
        usual = reports.usual()
        read = [
            reading.usual(usual, rounds),
            reading.long(reports.long(), rounds),
            minutes.replaying(folder, usual, few),
        ]
        whole_minutes = others.whole_minutes(folder, few)
        shipped = others.shipping(folder, few)
        lines = [*minutes.line_sizes(), minutes.making(rounds), *minutes.closing(folder, rounds)]
        spooled = spooling.throughput(folder, _SPOOL_SHARE * rounds)
        lost = pool.submit(others.losses, folder)  # both mostly wait
        memory = resident()
        losses = lost.result()
    parts = {
        "report": read,
        "minute": [*lines, *spooled],
        "memory": memory,
        "whole minute": whole_minutes,
        "shipping": [*shipped, *losses],
        "stack": [*stack.ingest(rounds), *stack.closing(folder), *findings.figures()],
        "cost": month.costs(),
        "rehearsal": fresh_clone.rehearsal(folder) if fresh else [],
    }
    return [*_named(parts.items())]


def _named(parts: Iterable[tuple[str, Sequence[Figure]]]) -> Iterable[Figure]:
    for part, figures in parts:
        for one in figures:
            yield replace(one, part=part)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="What the emitter and the stack cost on this machine, beside what they may "
        "cost and beside what people run today. Takes about five minutes: a real one must pass "
        "for the memory of a running emitter, and a minute of 100,000 instances is closed twice.",
        epilog="Exit codes: 0 measured, 1 with --check a figure is over its limit, 2 usage error.",
    )
    parser.add_argument(
        "--check", action="store_true", help="exit with code 1 when a figure is over its limit"
    )
    parser.add_argument(
        "--rounds", type=_rounds, default=100, help="pairs of turns that are measured; default 100"
    )
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="also the rehearsal from a fresh clone: fetches every package, about three minutes",
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="with --fresh, and write docs/figures/benchmarks.json and the page of benchmarks",
    )
    return parser


def _rounds(text: str) -> int:
    if not text.isdecimal() or not 2 <= int(text) <= 10_000:
        msg = f"expected 2 to 10000 rounds, found {text[:20]!r}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


if __name__ == "__main__":
    # Whatever was started is ended on the way out.
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, lambda number, _frame: sys.exit(128 + number))
    sys.exit(main(sys.argv[1:]))
