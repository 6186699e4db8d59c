"""Commands that end by themselves, a few at once, while something else is waited for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from local.embedded_aws import EmbeddedAwsError
from local.rehearsal.fleet import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from local.embedded_aws import ChildProcess
    from local.rehearsal.stage import Stage

AT_ONCE: Final = 2  # cores of a small machine
_POLL_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Job:
    """
    One command.

    Attributes:
        output: Takes its stdout; its stderr goes beside it.

        exit_codes: With which it has not failed.
    """

    name: str
    command: Sequence[str]
    output: Path
    environment: Mapping[str, str]
    exit_codes: tuple[int, ...] = (0,)


class Jobs:
    """Chains of jobs: within a chain one after the other, chains beside each other."""

    def __init__(self, stage: Stage, chains: Sequence[Sequence[Job]]) -> None:
        self._stage = stage
        self._waiting = [list(chain) for chain in chains]
        self._running: list[tuple[ChildProcess, Job, list[Job]]] = []

    def poll(self) -> bool:
        """
        Start what may start now; returns whether all is done.

        Raises:
            EmbeddedAwsError: If a job has failed.
        """
        for child, job, rest in [*self._running]:
            code = child.exit_code()
            if code is None:
                continue
            if code not in job.exit_codes:
                msg = f"{child.name} failed with exit code {code}"
                raise EmbeddedAwsError(msg, child.tail())
            self._running.remove((child, job, rest))
            self._waiting.insert(0, rest)  # finish what was begun
        while self._waiting and len(self._running) < AT_ONCE:
            chain = self._waiting.pop(0)
            if chain:
                self._running.append((self._start(chain[0]), chain[0], chain[1:]))
        return not self._running

    def finish(self) -> None:
        """
        Wait until all is done.

        Raises:
            EmbeddedAwsError: If a job fails.
        """
        while not self.poll():
            self._stage.wait(_POLL_S)

    def _start(self, job: Job) -> ChildProcess:
        return self._stage.start(
            job.name,
            job.command,
            environment=job.environment,
            folder=REPOSITORY,
            output=job.output,
            errors=job.output.with_suffix(".err"),
        )
