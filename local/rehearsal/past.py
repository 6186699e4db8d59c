"""
An hour of history, simulated, replayed and delivered by the emitter's own code.

The state that the emitter would have kept over a restart (above all the idle minutes of each core)
is left in each spool, so that the live emitters continue where the history ends.
"""

from __future__ import annotations

import contextlib
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

import msgspec

from local.embedded_aws.child_processes import EmbeddedAwsError
from local.monitor.play import run
from local.rehearsal.comparison import expected_of
from local.rehearsal.live_fleet import REHEARSED_FLEET, FleetInstance, machine_folder, spool_folder
from neuron_emitter.delivery.cloudwatch_logs import LogStream
from neuron_emitter.delivery.delivery import Delivery
from neuron_emitter.fold.state import FoldState
from neuron_emitter.replay import replay
from neuron_emitter.settings import ReplaySettings
from neuron_emitter.spool import Spool
from neuron_emitter.spool.spool_records import NewRecord
from neuron_wire import MinuteRecord, parse
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from local.monitor.simulator_truth import Expected
    from local.rehearsal.comparison import ClusterMinute
    from local.rehearsal.rehearsal_stack import DeployedStack
    from local.rehearsal.workspace import Workspace

    MemberLines = Mapping[FleetInstance, list[str]]
    """The lines of each member of the fleet."""

PAST_MINUTES: Final = 60
LEAD_MINUTES: Final = 10  # simulated beyond the hour: its emitters stay until the live ones start
PAST_PERIOD_S: Final = 15  # the emitter's longest period: a third of the reports of 5 s
_FLUSH_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Past:
    """
    The minutes before *end_s*, at first an hour.

    Attributes:
        end_s: Start of the first minute that is not in it, seconds since the epoch.

        minutes: Number of its minutes.
    """

    folder: Path
    end_s: int
    minutes: int = PAST_MINUTES

    @property
    def start_s(self) -> int:
        """Start of its first minute."""
        return self.end_s - self.minutes * MINUTE_S

    def extended(self, now_s: float) -> Past:
        """Return the past with the minutes up to the one of *now_s*, as far as simulated."""
        minutes = (int(now_s) - self.start_s) // MINUTE_S
        minutes = min(minutes, PAST_MINUTES + LEAD_MINUTES - 1)
        return Past(self.folder, self.start_s + minutes * MINUTE_S, minutes)

    def truth(self, member: FleetInstance) -> Path:
        """Return the truth file of *member*'s simulator."""
        return self.folder / f"{member.name}.past-truth"

    def expected(self) -> dict[ClusterMinute, Expected]:
        """Return the expected rollups of its minutes."""
        expected = expected_of([self.truth(member) for member in REHEARSED_FLEET], 0)
        return {key: rollup for key, rollup in expected.items() if key[1] < self.end_s}

    @contextlib.contextmanager
    def lines(self) -> Iterator[Callable[[], MemberLines]]:
        """Make the lines of each member during other work; yield the call that waits for them."""
        with ThreadPoolExecutor(1) as executor:
            futures = {member: executor.submit(self.replayed, member) for member in REHEARSED_FLEET}
            try:
                yield lambda: {member: future.result() for member, future in futures.items()}
            finally:
                executor.shutdown(cancel_futures=True)

    def replayed(self, member: FleetInstance) -> list[str]:
        """Simulate *member* for the minutes and `LEAD_MINUTES` more, and return its lines."""
        reports = self.folder / f"{member.name}.reports"
        machine = machine_folder(self.folder, member)
        play = member.play(
            period_s=PAST_PERIOD_S,
            reports=(self.minutes + LEAD_MINUTES) * MINUTE_S // PAST_PERIOD_S,
            start_ms=self.start_s * 1000,
            truth=str(self.truth(member)),
            machine=str(machine),
            owners=member.owners,
            assigned=member.assigned,
        )
        with reports.open("wb") as file:
            run(play, file.fileno())
        settings = ReplaySettings(
            cluster=member.cluster,
            interval=float(PAST_PERIOD_S),
            start=datetime.fromtimestamp(self.start_s, timezone.utc).isoformat(),
            saved_proc=machine / "proc",
        )
        return [*replay([reports], settings)]

    def deliver(
        self,
        lines: MemberLines,
        stack: DeployedStack,
        workspace: Workspace,
        *,
        since_s: int = 0,
    ) -> None:
        """
        Put the lines of the minutes from *since_s* on through the emitter's own delivery.

        It waits after each member until *stack* has stored the lines: the embedded AWS starts
        another worker for each delivery without a free one, which takes longer than waiting.

        Raises:
            EmbeddedAwsError: If a line was not delivered.
        """
        delivered = max(0, since_s - self.start_s) // MINUTE_S * len(lines)
        for member, texts in lines.items():
            minutes = minute_lines(texts, range(since_s * 1000, self.end_s * 1000))
            variables = stack.aws.environment()
            of_aws = {name: value for name, value in variables.items() if "AWS" in name}
            spool_path = spool_folder(self.folder, member)
            # The emitter's SDK client reads the variables of this process.
            with patch.dict(os.environ, of_aws), Spool(spool_path) as spool:
                destination = LogStream(stack.place.log_group, member.instance_id)
                new = [NewRecord(record.minute_ms, line) for record, line in minutes]
                spool.append(new, state_after(minutes[-1][0]))
                flushed = Delivery(spool, destination).flush(_FLUSH_S)
                destination.close()
            if flushed.remaining:
                msg = (
                    f"{flushed.remaining} of {len(minutes)} lines of {member.name} were not "
                    f"delivered: {flushed.problem}"
                )
                raise EmbeddedAwsError(msg)
            delivered += len(minutes)
            stack.wait_until_stored(delivered, workspace)


def minute_lines(lines: Iterable[str], span_ms: range) -> list[tuple[MinuteRecord, str]]:
    """Return the minute records among *lines* that begin in *span_ms*, each with its line."""
    records = ((parse(line), line) for line in lines)
    return [
        (record, line)
        for record, line in records
        if isinstance(record, MinuteRecord) and record.minute_ms in span_ms
    ]


def state_after(last: MinuteRecord) -> bytes:
    """Return the state that the emitter of *last* would have kept for its next start."""
    return msgspec.json.encode(
        FoldState(
            instance_id=last.instance_id,
            instance_type=last.instance_type,
            cores=len(last.core_state) or None,
            idle_counted_minute=last.minute_ms // 1000 // MINUTE_S,
            idle_minutes=list(last.idle_minutes),
            quiet_counted_minute=last.minute_ms // 1000 // MINUTE_S,
            quiet_minutes={owner.name: owner.quiet_minutes or 0 for owner in last.owners},
            only_reserved=[owner.name for owner in last.owners if not owner.cores],
        )
    )
