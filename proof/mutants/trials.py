"""
A copy of the tree, and whether the tests in it see a mutant.

Only the copy is ever changed. The tests run with the same Hypothesis examples
every time, so that a mutant that was killed once is always killed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REPOSITORY: Final = Path(__file__).resolve().parent.parent.parent
FOLDERS: Final = (
    "benchmarks", "docs", "emitter", "lambda", "local", "neuron_emf", "proof", "tests",
)  # fmt: skip
FILES: Final = ("pyproject.toml", "template.yaml", "views.yaml", "README.md")
LONGEST_CLEAN_S: Final = 300.0


class TrialResult(NamedTuple):
    """
    How a trial ended.

    Attributes:
        survived: All tests passed.

        by: The test that failed, or "time".
    """

    survived: bool
    by: str


class TrialError(Exception):
    """The trial says nothing about a mutant: the tests fail, or do not exist, without one."""


class Trials:
    """One server process in one copy of the tree. Made by `trials`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._clean_s: dict[frozenset[str], float] = {}

    def clean(self, tests: Sequence[str]) -> float:
        """
        Run *tests* without a mutant, once; the seconds they took.

        Raises:
            TrialError: If they do not pass.
        """
        known = frozenset(tests)
        if known in self._clean_s:
            return self._clean_s[known]
        began = time.monotonic()
        outcome = self._ask({"tests": list(tests), "seconds": LONGEST_CLEAN_S, "clean": True})
        if outcome["code"]:
            msg = (
                f"expected the tests to pass without a mutant, {outcome['by'] or tests} ended with"
                f" {outcome['code']}: mend them first"
            )
            raise TrialError(msg)
        self._clean_s[known] = time.monotonic() - began
        return self._clean_s[known]

    def outcome(
        self, file: str, source: str, stages: Sequence[Sequence[str]], seconds: float
    ) -> TrialResult:
        """
        Run the tests of each stage with *source* as *file*, until one fails or takes *seconds*.

        They have passed `clean`: whatever stops them now, the mutant did it.
        """
        for tests in stages:
            answer = self._ask(
                {"file": file, "source": source, "tests": list(tests), "seconds": seconds}
            )
            if answer["code"]:
                return TrialResult(survived=False, by=str(answer["by"]))
        return TrialResult(survived=True, by="")

    def _ask(self, request: dict[str, object]) -> dict[str, object]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            msg = "expected an answer of the trial server, found its end: see above"
            raise TrialError(msg)
        return json.loads(answer)


@contextmanager
def trials() -> Iterator[Trials]:
    """A server in a new copy; both are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="neuron-emf-mutants-") as folder:
        copy = Path(folder) / "tree"
        _copy(copy)
        process = subprocess.Popen(
            [sys.executable, "proof/mutants/trial_server.py"],
            cwd=copy,
            env={**os.environ, "CI": "1", "PYTHONHASHSEED": "0", "TMPDIR": folder},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            yield Trials(process)
        finally:
            process.stdin.close()
            process.terminate()
            process.wait()
            process.stdout.close()


def _copy(copy: Path) -> None:
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info", ".*", "build")
    for name in FOLDERS:
        shutil.copytree(REPOSITORY / name, copy / name, ignore=unwanted)
    for name in FILES:
        shutil.copy2(REPOSITORY / name, copy / name)
