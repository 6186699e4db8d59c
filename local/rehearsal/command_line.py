"""
The command line: the whole system on this machine, for a time or until Ctrl-C.

Exit codes: 0 ended as told and every rollup was right, 1 a rollup was missing or
wrong, 2 usage error, 3 something could not be started or ended early, 128 + n
stopped by signal n before its end.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from local.differences import limits
from local.embedded_aws import EmbeddedAwsError
from local.embedded_aws.clients import SDK_ERRORS
from local.rehearsal.fleet import REPOSITORY
from local.rehearsal.page import PORT
from local.rehearsal.rehearsal import Rehearsal
from local.rehearsal.stage import Stage, StepProgress, StoppedError
from local.rehearsal.table import Screen, render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from local.rehearsal.rehearsal import Verdict

EXIT_WRONG_ROLLUP: Final = 1
EXIT_COULD_NOT: Final = 3
REPORT: Final = Path("demo.json")
PROGRAMS: Final = (
    REPOSITORY / ".venv-embedded" / "bin" / "ministack",
    REPOSITORY / ".venv-sam" / "bin" / "sam",
)
SHOWN_PROBLEMS: Final = 25


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one rehearsal; returns the exit code."""
    options = _parser().parse_args(arguments)
    screen = Screen()
    progress = StepProgress()
    started_s = time.monotonic()
    with Stage(keep=options.keep) as stage:
        try:
            rehearsal = Rehearsal(PROGRAMS, stage, progress, screen, options.page_port)
            verdict = rehearsal.run(options.seconds)
        except StoppedError as stopped:
            print(f"\nStopping everything that was started: {stopped}.", flush=True)
            code = 128 + stopped.signal_number
        except EmbeddedAwsError as error:
            print(f"\nrehearsal: {error}", file=sys.stderr)
            if error.output:
                print(f"\n{error.output}", file=sys.stderr)
            code = EXIT_COULD_NOT
        except SDK_ERRORS as error:
            print(f"\nrehearsal: the embedded AWS did not answer: {error}", file=sys.stderr)
            code = EXIT_COULD_NOT
        else:
            code = EXIT_WRONG_ROLLUP if verdict.problems else 0
            _report(verdict, rehearsal, progress, time.monotonic() - started_s)
    if code > 128:
        print("All its processes have stopped.")
    if options.keep:
        print(f"All files are kept in {stage.folder}.")
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.rehearsal",
        description="The whole of neuron-emf on this machine, without an AWS account.",
        epilog="Exit codes: 0 every rollup was right, 1 one was missing or wrong, 2 "
        "wrong use, 3 something could not be started or ended early, 128 + n stopped by signal n.",
    )
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=None,
        metavar="N",
        help="Run for N seconds, then compare every rollup with what the simulators produced and "
        f"write {REPORT}; default: until Ctrl-C.",
    )
    parser.add_argument(
        "--page-port",
        type=_port,
        default=PORT,
        metavar="N",
        help="Port of the page on 127.0.0.1; a free one when it is taken, or with 0; default: "
        "%(default)s, where neuron-emf --rehearsal looks.",
    )
    parser.add_argument(
        "--keep", action="store_true", help="Keep the folder with every log; default: remove it."
    )
    return parser


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 1 <= seconds <= 86_400:
        msg = f"expected 1 to 86400 seconds, found {text[:20]!r}"
        raise argparse.ArgumentTypeError(msg)
    return seconds


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65_535:
        msg = f"expected a port from 0 to 65535, found {text[:20]!r}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _report(verdict: Verdict, rehearsal: Rehearsal, progress: StepProgress, taken_s: float) -> None:
    not_emulated = limits(rehearsal.template)
    print("\nDifferences from AWS, in this rehearsal:")
    for sentence in not_emulated:
        print(f"  * {sentence}")
    print(f"\n{render(verdict.rows, time.time())}\n")
    compared = (
        f"{verdict.history_rollups} rollups of the replayed hour and {verdict.live_rollups} live "
        "ones with the simulators' record"
    )
    if verdict.problems:
        print(f"WRONG: compared {compared}, {len(verdict.problems)} problems:")
        for problem in verdict.problems[:SHOWN_PROBLEMS]:
            print(f"  * {problem}")
        if len(verdict.problems) > SHOWN_PROBLEMS:
            print(f"  * and {len(verdict.problems) - SHOWN_PROBLEMS} more, all in {REPORT}")
    else:
        print(f"RIGHT: compared {compared}.")
        for agreement in verdict.agreements:
            print(agreement)
    if not verdict.live_rollups:
        print("No live minute ended in time to be compared: use more seconds.")
    steps = [{"what": what, "seconds": seconds} for what, seconds in progress.seconds.items()]
    report = {
        "right": not verdict.problems,
        "problems": verdict.problems,
        "rollups_compared": {"history": verdict.history_rollups, "live": verdict.live_rollups},
        "clusters": [asdict(row) for row in verdict.rows],
        "not_emulated": not_emulated,
        "steps": steps,
        "seconds": round(taken_s, 1),
    }
    REPORT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(f"\nWritten to {REPORT}. It took {taken_s:.0f} s.", flush=True)
