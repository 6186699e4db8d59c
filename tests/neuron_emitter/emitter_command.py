"""Run `neuron-emf` to its end and read its messages."""

from __future__ import annotations

import logging
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from proof.emitter_process import environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

EMITTER_COMMAND = (sys.executable, "-m", "neuron_emf")


@contextmanager
def logging_restored() -> Iterator[None]:
    """Restore logging after a command, which sets it up for a whole process."""
    root = logging.getLogger()
    ours = logging.getLogger("neuron_emitter")
    handlers = root.handlers[:]
    levels = (root.level, ours.level)
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(levels[0])
        ours.setLevel(levels[1])


def neuron_emf(
    *arguments: object, home: Path, variables: Mapping[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end; return its output and exit code."""
    if "input" not in options and "stdin" not in options:
        options["stdin"] = subprocess.DEVNULL
    if "stdout" not in options:
        options["stdout"] = subprocess.PIPE
    return subprocess.run(
        [*EMITTER_COMMAND, *map(str, arguments)],
        env=environment(home, **(variables or {})),
        cwd=options.pop("cwd", home),
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,  # a loaded machine starts processes slowly
        check=False,
        **options,
    )


def error_lines(output: str) -> list[str]:
    """Return the lines of standard error except the announcement of the first line."""
    return [line for line in output.splitlines() if "The first line is due" not in line]


def sentence(ended: subprocess.CompletedProcess[str], code: int) -> str:
    """Return the only sentence of a failed command, and check that nothing else was printed."""
    lines = ended.stderr.splitlines()
    assert code == ended.returncode, ended.stderr
    assert 1 == len(lines), ended.stderr
    assert not ended.stdout
    assert lines[0].startswith("neuron-emf: ")
    return lines[0].removeprefix("neuron-emf: ")
