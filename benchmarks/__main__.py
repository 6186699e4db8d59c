"""`python -m benchmarks`: measure and print; `--check` compares with limits, `--record` stores."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import emitter, ledger_month, page, sample_reports, stack_figures
from benchmarks.figures import HEADS, keep, machine, terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.figures import Figure


def main(arguments: Sequence[str]) -> int:
    """Measure everything, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="What the emitter and the stack cost on this machine, and what they may "
        "cost. Takes about five minutes: a real one must pass for the memory of an emitter.",
        epilog="Exit codes: 0 measured, 1 with --check a figure is over its limit, 2 usage error.",
    )
    parser.add_argument(
        "--check", action="store_true", help="exit with code 1 when a figure is over its limit"
    )
    parser.add_argument("--record", action="store_true", help="write docs/figures/benchmarks.json")
    chosen = parser.parse_args(arguments)
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="neuron-emf-benchmarks-") as name:
        figures = measure(Path(name))
    rows = [figure.row() for figure in figures]
    sys.stdout.write(f"{machine()}\n\n{terminal(HEADS, rows)}\n")
    if chosen.record:
        keep(figures, time.monotonic() - begun_s)
    over = sum(figure.is_over for figure in figures)
    if over and chosen.check:
        sys.stderr.write(f"{over} figure(s) over the limit\n")
        return 1
    return 0


def measure(folder: Path) -> list[Figure]:
    """Return every figure, in the order of the table."""
    with emitter.running(folder) as resident:
        return [
            emitter.usual_report(),
            emitter.report(sample_reports.long(), emitter.LONG_LIMIT, rounds=100, times=2),
            *(emitter.line_size(cores) for cores in emitter.LINE_LIMITS_BYTES),
            *resident(),
            *stack_figures.figures(folder / "minute"),
            ledger_month.figure(folder / "month"),
            *ledger_month.bill_figures(folder / "month"),
            *page.figures(),
        ]


if __name__ == "__main__":
    # Every started process is stopped at the end.
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, lambda number, _frame: sys.exit(128 + number))
    sys.exit(main(sys.argv[1:]))
