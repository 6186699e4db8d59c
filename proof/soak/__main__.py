"""
Weeks through one emitter, in minutes: `python -m proof.soak`, from the repository's root.

First with the log service as receiver, then two days with a file. What goes
wrong and when is the same each time (`timetable`), so there is no seed.

Exit codes: 0 every promise was kept, 1 one was broken, 2 usage error.
"""

from __future__ import annotations

import argparse
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import record
from proof.soak import account
from proof.soak.receivers import FileReceiver, LogsReceiver
from proof.soak.run import Soaked, soak
from proof.soak.timetable import DAYS_A_WEEK, HOURS_A_DAY, days
from proof.soak.verdict import broken
from proof.wall_clock import WallClock

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "images" / "soak.svg"
DRAW = Path(__file__).with_name("picture.py")
PAINTER = ROOT / ".venv-pictures" / "bin" / "python"
WARM_DAYS = 3
FILE_DAYS = 2
FILE_WARM_DAYS = 1
MOST_WEEKS = 8  # a spool keeps records for 13 days: more weeks say no more


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both, print the table, keep it when asked to; the exit code."""
    options = _asked(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # no process is left behind
    began_s = time.monotonic()
    soaks = [_soak("logs", options), _soak("file", options)]
    kept = record.made(
        "soak",
        "make soak" if options.weeks == 2 else f"make soak WEEKS={options.weeks}",
        time.monotonic() - began_s,
        account.heads(soaks),
        account.rows(soaks),
        weeks=options.weeks,
        file_days=FILE_DAYS,
        file_warm_days=FILE_WARM_DAYS,
        drawn=drawn(soaks[0]),
    )
    print(kept.text())
    print(kept.how)
    problems = [f"--output {one.output}: {problem}" for one in soaks for problem in broken(one)]
    for problem in problems:
        print(problem, file=sys.stderr)
    if options.record and not problems:
        _paint(keep(kept))
    return 1 if problems else 0


def drawn(soaked: Soaked) -> dict[str, object]:
    """What the picture shows."""
    gone = sorted(soaked.timetable.gone_hours)
    starts = [hour for hour in gone if hour - 1 not in soaked.timetable.gone_hours]
    return {
        "title": f"{soaked.timetable.hours // HOURS_A_DAY} days of reports through one emitter",
        "curves": account.curves(soaked),
        "limits": account.limits(soaked),
        "warm_hours": soaked.timetable.warm_hours,
        "gone_hours": [[hour, hour + HOURS_A_DAY] for hour in starts],
    }


def _soak(output: str, asked: argparse.Namespace) -> Soaked:
    with tempfile.TemporaryDirectory(prefix="neuron-emf-soak-") as name:
        folder = Path(name)
        with WallClock(folder / "clock") as clock:
            if output == "file":
                timetable = days(FILE_DAYS, warm=FILE_WARM_DAYS)
                return soak(folder, clock, timetable, FileReceiver(folder), say=_say)
            timetable = days(DAYS_A_WEEK * asked.weeks, warm=WARM_DAYS)
            return soak(folder, clock, timetable, LogsReceiver(clock), say=_say)


def _say(sentence: str) -> None:
    print(f"soak: {sentence}", file=sys.stderr, flush=True)  # it takes minutes


def keep(made: record.Record) -> Path:
    """Write it where the pages look for it."""
    return made.write()


def _paint(kept: Path) -> None:
    if not PAINTER.exists():
        command = shlex.join([".venv-pictures/bin/python", *map(str, (DRAW, kept, PICTURE))])
        print(f"no picture: {PAINTER} was expected and is missing: make it, and run {command}")
        return
    subprocess.run([PAINTER, DRAW, kept, PICTURE], check=True)
    print(f"recorded in {kept} and {PICTURE}")


def _asked(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m proof.soak",
        description="Weeks of reports through one emitter; nothing grows, nothing is lost.",
    )
    parser.add_argument(
        "--weeks", type=int, default=2, help=f"how long, 1 to {MOST_WEEKS}; default 2"
    )
    parser.add_argument(
        "--record", action="store_true", help="write docs/figures/soak.json and the picture"
    )
    asked = parser.parse_args(arguments)
    if not 1 <= asked.weeks <= MOST_WEEKS:
        parser.error(f"--weeks was expected to be 1 to {MOST_WEEKS}, and is {asked.weeks}")
    return asked


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("soak: interrupted")
