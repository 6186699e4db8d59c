"""
An hour of history, simulated, replayed and delivered by the emitter's own code.

What the emitter would have kept over a restart (above all for how many minutes
each core has been idle) is left in each spool, so that the live emitters go on
where the history ends.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

import msgspec

from emitter.delivery.cloudwatch_logs import LogStream
from emitter.delivery.delivery import Delivery
from emitter.fold.minute import FoldState
from emitter.spool import Spool
from emitter.spool.records import NewRecord
from local.embedded_aws import EmbeddedAwsError
from local.rehearsal.fleet import (
    FLEET,
    REPOSITORY,
    FleetInstance,
    machine_folder,
    python_environment,
    spool_folder,
)
from neuron_wire import MinuteRecord, parse
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from local.embedded_aws import ChildProcess
    from local.rehearsal.stage import Stage

MINUTES: Final = 60
PERIOD_S: Final = 15  # the longest period the emitter asks for: a third of the reports of 5 s
_FLUSH_S: Final = 20.0
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


@dataclass(frozen=True, slots=True)
class Past:
    """
    The hour before *end_s*.

    Attributes:
        end_s: Start of the first minute that is not in it, seconds since the epoch.
    """

    folder: Path
    end_s: int

    @property
    def start_s(self) -> int:
        """Start of its first minute."""
        return self.end_s - MINUTES * MINUTE_S

    def truth(self, member: FleetInstance) -> Path:
        """What the simulator of *member* says it produced."""
        return self.folder / f"{member.name}.past-truth"

    def lines(self, member: FleetInstance) -> Path:
        """The log lines of *member*."""
        return self.folder / f"{member.name}.lines"

    def jobs(self, stage: Stage, environment: Mapping[str, str]) -> Jobs:
        """What makes the lines: for each member a simulation, then a replay of its reports."""
        ours = python_environment(environment)
        return Jobs(stage, [self._jobs_of(member, ours) for member in FLEET])

    def _jobs_of(self, member: FleetInstance, environment: Mapping[str, str]) -> list[Job]:
        reports = self.folder / f"{member.name}.reports"
        machine = machine_folder(self.folder, member)
        start = datetime.fromtimestamp(self.start_s, timezone.utc).isoformat()
        play = member.play(
            period_s=PERIOD_S,
            reports=MINUTES * MINUTE_S // PERIOD_S,
            start_ms=self.start_s * 1000,
            truth=str(self.truth(member)),
            machine=str(machine),
            owners=member.owners,
        )
        simulation = [sys.executable, "-m", "local.monitor", play]
        replay = [
            *(sys.executable, "-m", "emitter", "replay", str(reports)),
            *("--interval", str(PERIOD_S), "--start", start, "--cluster", member.cluster),
            *("--saved-proc", str(machine / "proc")),
        ]
        return [
            Job(f"the simulator of {member.name}", simulation, reports, environment),
            Job(f"the replay of {member.name}", replay, self.lines(member), environment),
        ]

    def deliver(
        self,
        environment: Mapping[str, str],
        log_group: str,
        wait_until_stored: Callable[[int], None],
    ) -> None:
        """
        Put every line through the emitter's own delivery.

        Calls *wait_until_stored* with the number of lines so far after each
        member: the embedded AWS starts another worker for each delivery that
        finds none free, which takes longer than waiting.

        Raises:
            EmbeddedAwsError: If a line was not delivered.
        """
        delivered = 0
        for member in FLEET:
            with _variables(environment):
                delivered += self._deliver(member, log_group)
            wait_until_stored(delivered)

    def _deliver(self, member: FleetInstance, log_group: str) -> int:
        records = [
            (parse(line), line) for line in self.lines(member).read_text("utf-8").splitlines()
        ]
        minutes = [(record, line) for record, line in records if isinstance(record, MinuteRecord)]
        destination = LogStream(log_group, member.instance_id)
        with Spool.open(spool_folder(self.folder, member)) as spool:
            spool.append(
                [NewRecord(record.minute_ms, line) for record, line in minutes],
                _state_after(minutes[-1][0]),
            )
            flushed = Delivery(spool, destination).flush(_FLUSH_S)
            destination.close()
        if flushed.remaining:
            msg = (
                f"{flushed.remaining} of {len(minutes)} lines of {member.name} were not delivered: "
                f"{flushed.problem}"
            )
            raise EmbeddedAwsError(msg)
        return flushed.delivered


def _state_after(last: MinuteRecord) -> bytes:
    """What the emitter that wrote *last* would have kept for its next start."""
    return msgspec.json.encode(
        FoldState(
            instance_id=last.instance_id,
            instance_type=last.instance_type,
            cores=last.neuron_cores,
            idle_label=last.minute_ms // 1000 // MINUTE_S,
            idle_minutes=list(last.idle_minutes),
        )
    )


@contextlib.contextmanager
def _variables(environment: Mapping[str, str]) -> Iterator[None]:
    """The AWS variables of *environment*, for an SDK client that reads this process's."""
    before = dict(os.environ)
    os.environ.update({name: value for name, value in environment.items() if "AWS" in name})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
