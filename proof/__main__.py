"""
Run every part of the proof, print a summary and fail if one failed: `python -m proof`.

A part that fails does not stop the parts behind it. Takes about an hour; the parts are
programs of their own and run one after another.

Exit codes: 0 every part passed, 1 a part failed, 2 usage error.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT: Final = Path(__file__).resolve().parent.parent
SELECTION: Final = "not bench and not slow and not embedded and not proof"


class Part(NamedTuple):
    """
    One part of the proof.

    Attributes:
        name: Name in the summary.

        command: Program and arguments, run in the root of the checkout.

        variables: Environment variables that the part needs.

        unavailable: Exit code that means "could not be tried here", or None.
    """

    name: str
    command: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()
    unavailable: int | None = None


class PartResult(NamedTuple):
    """The exit code of a part and its duration in seconds."""

    part: Part
    exit_code: int
    duration_s: float

    @property
    def state(self) -> str:
        """`passed`, `not tried` or `FAILED`."""
        if self.exit_code == 0:
            return "passed"
        if self.exit_code == self.part.unavailable:
            return "not tried"
        return "FAILED"


def run_part(part: Part) -> int:
    """Run *part* with its output on ours; return its exit code."""
    print(f"\n=== {part.name}: {' '.join(part.command[:6])}", flush=True)
    environment = {**os.environ, **dict(part.variables)}
    return subprocess.run(part.command, cwd=ROOT, env=environment, check=False).returncode


def prove(parts: Sequence[Part], run: Callable[[Part], int]) -> list[PartResult]:
    """Run each of *parts* with *run*, whatever the others returned."""
    results = []
    for part in parts:
        start_s = time.monotonic()
        exit_code = run(part)
        results.append(PartResult(part, exit_code, time.monotonic() - start_s))
    return results


def all_parts() -> list[Part]:
    """Return the parts in the order in which they run."""
    python = sys.executable
    listing = subprocess.run(
        ("git", "grep", "-lw", "hypothesis", "--", "tests/**/test_*.py"),
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    laws = listing.stdout.split()
    return [
        Part("chaos", (python, "-m", "proof.chaos")),
        Part("soak", (python, "-m", "proof.soak")),
        Part("acceptance", ("make", "--no-print-directory", "accept", "EMBEDDED=1")),
        Part("build", ("make", "--no-print-directory", "venvs", "build")),
        Part("kills", (python, "-m", "pytest", "--built", "-m", "proof")),
        Part(
            "fresh laws",
            (python, "-m", "pytest", "-m", SELECTION, *laws),
            variables=(("FRESH_EXAMPLES", "1"),),
        ),
        Part("audit", (python, "-m", "proof.audit"), unavailable=3),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all parts, or those named; return the exit code."""
    parts = all_parts()
    names = [part.name for part in parts]
    parser = argparse.ArgumentParser(prog="python -m proof", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PART", help=f"default: {', '.join(names)}")
    chosen = parser.parse_args(arguments).names
    if unknown := set(chosen) - set(names):
        parser.error(f"unknown part {min(unknown)}. Choose from: {', '.join(names)}")
    results = prove([part for part in parts if not chosen or part.name in chosen], run_part)
    print("\nPart          Result     Seconds")
    for result in results:
        print(f"{result.part.name:<13} {result.state:<9} {result.duration_s:>8.0f}")
    return 1 if any(result.state == "FAILED" for result in results) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("proof: interrupted")
