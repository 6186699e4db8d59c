"""
The same question to several objects, each in a process of its own where there are several.

Lambda gives a function more processors with more memory, and has no shared
semaphores: Process and Pipe work there, Pool and Queue do not. A process holds
nothing that is not in the table as well, so it is ended by killing it, and
none outlives its run: the environment stands still between two invocations.
"""

from __future__ import annotations

import multiprocessing
import os
from contextlib import contextmanager
from functools import partial
from multiprocessing import connection
from typing import TYPE_CHECKING, Any, Final, Protocol

from aggregator.reading.clock import OutOfTimeError
from aggregator.storage.values import LedgerError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

    class Ask(Protocol):
        """Calls the method of each object; the answers, in the order of the objects."""

        def __call__(self, method: str, *arguments: object, **named: object) -> list[Any]: ...


PROCESSOR_MB: Final = 1_769
"""Of a function's memory, for which Lambda gives one processor."""

_FORK: Final = multiprocessing.get_context("fork")
_LAST_WORD_S: Final = 1.0  # before a run is killed, to say that a process did not answer


class ProcessLostError(Exception):
    """A process ended or fell silent; the run is repeated by the next."""


def processes_for(memory_mb: int) -> int:
    """How many processes a function of that memory keeps busy."""
    return max(1, min(round(memory_mb / PROCESSOR_MB), os.cpu_count() or 1))


@contextmanager
def working(objects: Sequence[object], remaining_s: Callable[[], float]) -> Iterator[Ask]:
    """
    Fork a process for each of *objects*; a single one works in this process.

    Raises:
        ProcessLostError: If a process ends, or has not answered when the run's
            time is over.
        TableError: That an object raised.
        OutOfTimeError: That an object raised.
    """
    if len(objects) == 1:
        yield lambda method, *arguments, **named: [getattr(objects[0], method)(*arguments, **named)]
        return
    children: list[_Child] = []
    try:
        for each in objects:
            children.append(_forked(each, children))
        yield partial(_ask, children, remaining_s)
    finally:
        for child in children:
            child.process.kill()
        for child in children:
            child.pipe.close()
            child.process.join()


class _Child:
    def __init__(self, process: ForkProcess, pipe: Connection) -> None:
        self.process = process
        self.pipe = pipe


def _forked(each: object, elders: Sequence[_Child]) -> _Child:
    ours, theirs = _FORK.Pipe()
    process = _FORK.Process(target=_serve, args=(each, theirs, [ours, *_pipes(elders)]))
    try:
        process.start()
    finally:
        theirs.close()
    return _Child(process, ours)


def _pipes(children: Sequence[_Child]) -> list[Connection]:
    return [child.pipe for child in children]


def _serve(each: object, pipe: Connection, inherited: Sequence[Connection]) -> None:
    for other in inherited:
        other.close()  # or no process would see the end of the one that forked it
    while True:
        try:
            method, arguments, named = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = getattr(each, method)(*arguments, **named)
        except (TableError, LedgerError, OutOfTimeError) as error:
            answer = error
        pipe.send(answer)


def _ask(
    children: Sequence[_Child],
    remaining_s: Callable[[], float],
    method: str,
    *arguments: object,
    **named: object,
) -> list[Any]:
    answers: dict[Connection, Any] = {}
    try:
        for pipe in _pipes(children):
            pipe.send((method, arguments, named))
        while waiting := [pipe for pipe in _pipes(children) if pipe not in answers]:
            ready = connection.wait(waiting, max(0.0, remaining_s() - _LAST_WORD_S))
            if not ready:
                msg = f"{len(waiting)} of {len(children)} processes did not finish in time"
                raise ProcessLostError(msg)
            answers.update((pipe, pipe.recv()) for pipe in waiting if pipe in ready)
    except (EOFError, OSError) as error:
        msg = f"one of {len(children)} processes of this run exited before it finished"
        raise ProcessLostError(msg) from error
    for answer in answers.values():
        if isinstance(answer, Exception):
            raise answer
    return [answers[pipe] for pipe in _pipes(children)]
