"""
What arrives of lines that were handed over: a service that goes away, a process that is killed.

The same scene for each way of shipping, in a process of its own:

1. lines while the service is there
2. the service is gone for a while, lines meanwhile, and it comes back
3. the service is gone again, lines meanwhile, and the process is killed
4. the service comes back, the process is started again, lines, a planned stop

A line counts as handed over when the process has said so.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final, final

from benchmarks.reports import environment
from benchmarks.sink import Sink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

LINES: Final = 20  # in each of the four parts


@dataclass(frozen=True, slots=True)
class Pace:
    """
    How fast the scene is played.

    Attributes:
        away_s: The outage that ends. By default longer than watchtower tries one
            batch: five times what boto3 tries, at most 15 s.

        apart_s: Between two lines.

        patience_s: For what arrives late.
    """

    away_s: float = 25.0
    apart_s: float = 0.1
    patience_s: float = 10.0


USUAL: Final = Pace()


@dataclass(frozen=True, slots=True)
class Arrived:
    """
    What became of the lines.

    Attributes:
        handed: Lines that the process took.

        lost: Of these, never arrived.

        lost_while_away: Of these, handed over in the outage that only ended.

        twice: Copies beyond the first.
    """

    handed: int
    lost: int
    lost_while_away: int
    twice: int


def lost(way: str, folder: Path, pace: Pace = USUAL, **variables: str) -> Arrived:
    """Play the scene for one *way*, `ours` or `watchtower`, with more *variables* set."""
    folder.mkdir()
    with Sink() as sink:
        scene = _Scene(way, folder, sink, pace, variables)
        with scene.process() as process:
            before = process.hand_over("before")
            scene.wait(lambda: len(set(sink.lines)) >= LINES)
            sink.vanish()
            ends_s = time.monotonic() + pace.away_s
            meanwhile = process.hand_over("away")
            process.endure(ends_s - time.monotonic())
            sink.come_back()
            scene.wait(lambda: {*meanwhile} <= {*sink.lines})
            sink.vanish()
            killed = process.hand_over("killed")
            process.kill()
        sink.come_back()
        with scene.process() as process:
            after = process.hand_over("after")
            process.end()
        scene.wait(lambda: {*killed, *after} <= {*sink.lines})
        handed = [*before, *meanwhile, *killed, *after]
        return _arrived(handed, meanwhile, sink.lines)


def _arrived(handed: Sequence[str], meanwhile: Sequence[str], found: Iterable[str]) -> Arrived:
    copies = Counter(found)
    return Arrived(
        handed=len(handed),
        lost=sum(not copies[line] for line in handed),
        lost_while_away=sum(not copies[line] for line in meanwhile),
        twice=sum(copies.values()) - len(copies),
    )


@dataclass(frozen=True, slots=True)
class _Scene:
    """Whose turn it is, and where."""

    way: str
    folder: Path
    sink: Sink
    pace: Pace
    variables: dict[str, str]

    def process(self) -> _Process:
        """A process that ships, with what the one before left behind."""
        command = [sys.executable, "-m", "benchmarks.others.shippers", self.way, str(self.folder)]
        variables = {"HOME": str(self.folder), **self.sink.variables, **self.variables}
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # each says that the service is away
            env=environment(**variables),
            text=True,
        )
        return _Process(process, self.pace.apart_s)

    def wait(self, is_so: Callable[[], bool]) -> None:
        """Until it is so, or nothing more is to be expected."""
        deadline_s = time.monotonic() + self.pace.patience_s
        while not is_so() and time.monotonic() < deadline_s:
            time.sleep(0.05)


@final
class _Process:
    """Used as a context: it is surely gone afterwards."""

    def __init__(self, process: subprocess.Popen[str], apart_s: float) -> None:
        self._process = process
        self._apart_s = apart_s

    def hand_over(self, name: str) -> list[str]:
        """Some lines, one after the other; each was taken."""
        lines = [f"{name} {number}" for number in range(LINES)]
        for line in lines:
            _pipe(self._process.stdin).write(line + "\n")
            _pipe(self._process.stdin).flush()
            if not _pipe(self._process.stdout).readline():
                msg = f"the process was to take {line!r}, it has ended with {self._process.wait()}"
                raise RuntimeError(msg)
            time.sleep(self._apart_s)
        return lines

    def endure(self, seconds: float) -> None:
        """
        Let time pass.

        Raises:
            RuntimeError: If the process did not outlive it.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(max(0.0, seconds))
            msg = f"the process was to outlive the outage, it has ended with {code}"
            raise RuntimeError(msg)

    def kill(self) -> None:
        """As the kernel does when memory is short: no chance to do anything."""
        self._process.kill()

    def end(self) -> None:
        """No more lines, and time to send them."""
        self._process.communicate(timeout=60)

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def _pipe(pipe: IO[str] | None) -> IO[str]:
    if pipe is None:
        msg = "the process was started with pipes"
        raise RuntimeError(msg)
    return pipe
