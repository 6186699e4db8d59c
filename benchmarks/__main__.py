"""
`python -m benchmarks`: measure, print, and with `--check` judge.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchmarks import minutes, reading, reports, residence, spooling
from benchmarks.figures import Figure, table
from benchmarks.stack import figures as stack

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """
    Measure everything; the exit code.
    """
    chosen = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="neuron-emf-benchmarks-") as name:
        figures = measure(Path(name), rounds=chosen.rounds)
    sys.stdout.write(f"{_machine()}\n{table(figures)}\n")
    if chosen.json is not None:
        document = {"machine": _machine(), "figures": [one.document() for one in figures]}
        chosen.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    over = sum(one.is_over for one in figures)
    if over and chosen.check:
        sys.stderr.write(f"{over} figure(s) over the limit\n")
        return 1
    return 0


def measure(folder: Path, *, rounds: int) -> list[Figure]:
    """
    Every figure, in the order of the table.
    """
    usual, long = reports.usual(), reports.long()
    with residence.running(folder, reports.wide(32)) as resident:
        reading_figures = [reading.usual(usual, rounds), reading.long(long, rounds)]
        minute_figures = [*minutes.line_sizes(), *minutes.closing(folder, rounds)]
        spool_figures = spooling.throughput(folder, 20 * rounds)
        emitter_figures = [*reading_figures, *resident(), *minute_figures, *spool_figures]
    return [*emitter_figures, *stack.ingest(rounds), *stack.closing(folder)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="What the emitter and the stack cost on this machine, beside what they may "
        "cost. Takes about four minutes: a real one must pass for the memory of a running emitter, "
        "and closing a minute of 100,000 instances is measured in four ways.",
    )
    parser.add_argument(
        "--check", action="store_true", help="exit with code 1 when a figure is over its limit"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this too")
    parser.add_argument(
        "--rounds", type=int, default=100, help="pairs of turns that are measured; default 100"
    )
    return parser


def _machine() -> str:
    python = f"Python {platform.python_version()}, msgspec {msgspec.__version__}"
    return f"{python}, {platform.system()} {platform.machine()}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
