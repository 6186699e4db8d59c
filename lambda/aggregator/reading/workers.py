"""
Divide the work of one run between processes, and limit the run's time.

Lambda gives a function more processors with more memory, and has no shared semaphores: Process and
Pipe work there, Pool and Queue do not. A process holds nothing that is not also in the table, so
killing it is safe, and none outlives its run: the environment is frozen between two invocations.
"""

from __future__ import annotations

import multiprocessing
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import connection
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from aggregator.storage.values import LedgerError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess
    from typing import Concatenate, ParamSpec

    from aggregator.minutes import Clock

    _Arguments = ParamSpec("_Arguments")

STOP_BEFORE_S: Final = 5
"""Seconds before its end at which a run starts no new work and saves its results."""

RESTATE_FOR_S: Final = 45
"""Seconds of a run after which it does not start to restate another minute."""

PROCESSOR_MB: Final = 1_769
"""The function memory for which Lambda provides one processor."""

_FORK: Final = multiprocessing.get_context("fork")
_REPORT_LOSS_S: Final = 1.0  # reserved to report that a process did not answer

_Worker = TypeVar("_Worker")
_Answer = TypeVar("_Answer")


class OutOfTimeError(Exception):
    """The run must stop here; the next one continues."""


class ProcessLostError(Exception):
    """A process ended or stopped answering; the next run repeats the work."""


@dataclass(slots=True)
class RunClock:
    """
    The time of one run, which begins with it.

    Attributes:
        remaining_s: Seconds until this run is killed.

        whole_s: The seconds that were left when its work began.
    """

    remaining_s: Clock
    whole_s: float = field(init=False)

    def __post_init__(self) -> None:
        self.whole_s = self.remaining_s()

    def check(self) -> None:
        """
        Return if there is time left.

        Raises:
            OutOfTimeError: If the run must stop.
        """
        if self.remaining_s() < STOP_BEFORE_S:
            raise OutOfTimeError

    def allows_restating(self, remaining_s: float, longest_s: float) -> bool:
        """Return True if another minute may start; the longest of this run took *longest_s*."""
        used_s = self.whole_s - remaining_s
        return used_s < RESTATE_FOR_S and remaining_s >= STOP_BEFORE_S + longest_s


def processes_for(memory_mb: int) -> int:
    """Return the number of processes that a function of that memory keeps busy."""
    return max(1, min(round(memory_mb / PROCESSOR_MB), os.cpu_count() or 1))


@dataclass(frozen=True, slots=True)
class Workers(Generic[_Worker]):
    """The workers of one run, each in its own process; a single one works in this process."""

    _workers: Sequence[_Worker]
    _remaining_s: Clock
    _pipes: Sequence[Connection]  # to the processes; none with a single worker

    def call_each(
        self,
        method: Callable[Concatenate[_Worker, _Arguments], _Answer],
        *arguments: _Arguments.args,
        **named: _Arguments.kwargs,
    ) -> list[_Answer]:
        """
        Return the answers of all workers to *method* of their class, in order.

        Raises:
            ProcessLostError: If a process ends, or has not answered when the run's
                time is over.
            TableError: That a worker raised.
            LedgerError: That a worker raised.
            OutOfTimeError: That a worker raised.
        """
        pipes = self._pipes
        if not pipes:
            return [method(worker, *arguments, **named) for worker in self._workers]
        answers: dict[Connection, Any] = {}
        try:
            for pipe in pipes:
                pipe.send((method, arguments, named))
            while waiting := [pipe for pipe in pipes if pipe not in answers]:
                ready = connection.wait(waiting, max(0.0, self._remaining_s() - _REPORT_LOSS_S))
                if not ready:
                    msg = f"{len(waiting)} of {len(pipes)} processes did not finish in time"
                    raise ProcessLostError(msg)
                answers.update((pipe, pipe.recv()) for pipe in waiting if pipe in ready)
        except (EOFError, OSError) as error:
            msg = f"one of {len(pipes)} processes of this run exited before it finished"
            raise ProcessLostError(msg) from error
        for answer in answers.values():
            if isinstance(answer, Exception):
                raise answer
        return [answers[pipe] for pipe in pipes]


@contextmanager
def forked_workers(workers: Sequence[_Worker], remaining_s: Clock) -> Iterator[Workers[_Worker]]:
    """Run *workers* in their own processes, if there are several, until the end of the block."""
    children: list[tuple[ForkProcess, Connection]] = []
    try:
        for worker in workers if len(workers) > 1 else ():
            ours, theirs = _FORK.Pipe()
            inherited = [ours, *(pipe for _, pipe in children)]
            process = _FORK.Process(target=_serve, args=(worker, theirs, inherited))
            try:
                process.start()
            finally:
                theirs.close()
            children.append((process, ours))
        yield Workers(workers, remaining_s, [pipe for _, pipe in children])
    finally:
        for process, _ in children:
            process.kill()
        for process, pipe in children:
            pipe.close()
            process.join()


def _serve(worker: object, pipe: Connection, inherited: Sequence[Connection]) -> None:
    for other in inherited:
        other.close()  # otherwise no process would see the end of the process that forked it
    while True:
        try:
            method, arguments, named = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = method(worker, *arguments, **named)
        except (TableError, LedgerError, OutOfTimeError) as error:
            answer = error
        pipe.send(answer)
