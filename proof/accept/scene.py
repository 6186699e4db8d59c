"""What the steps of one run share: names, the stacks, the lines that were delivered."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from emitter.delivery.cloudwatch_logs import LogStream
from emitter.delivery.destination import Delivered
from local.pump.tail import LogEvent
from local.rehearsal.figures import RollupLines
from neuron_wire import MinuteRecord, WireFormatError, parse
from proof import reference
from proof.accept.journal import AcceptError
from proof.accept.lines import two_clusters
from proof.rollup_differences import LIST_PRICES, differences

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from emitter.spool.records import SpooledRecord
    from neuron_emf.deploy.package import Package
    from neuron_emf.deploy.stack import Stack
    from proof.accept.journal import Journal
    from proof.accept.lines import Instance
    from proof.accept.place import Place

MINUTES: Final = 12
"""That each instance tells at once: what an alarm looks back on."""


IDLE_AFTER_MINUTES: Final = 1  # or nothing would be idle in time


@dataclass
class Scene:
    """
    One run.

    Attributes:
        folder: Takes what is written.

        start_s: The minute of the first lines, seconds since the epoch.

        stacks: As deployed, by name.

        notes: What the present step says beside its problems.

        told_until_s: Up to which minute lines were delivered, by stack.
    """

    place: Place
    journal: Journal
    package: Package
    folder: Path
    start_s: int = field(default_factory=lambda: (int(time.time()) // 60 - MINUTES - 3) * 60)
    stacks: dict[str, Stack] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    told_until_s: dict[str, int] = field(default_factory=dict)

    @property
    def frame(self) -> str:
        """The stack with bucket and queues."""
        return f"{self.journal.run}-frame"

    @property
    def watched(self) -> str:
        """The stack that is looked at."""
        return f"{self.journal.run}-watched"

    @property
    def changed(self) -> str:
        """The stack that is changed and deleted."""
        return f"{self.journal.run}-changed"

    @property
    def namespace(self) -> str:
        """Of the metrics of odd lines."""
        return f"NeuronAccept/{self.journal.run}"

    @property
    def instances(self) -> list[Instance]:
        return two_clusters(self.journal.run)

    def group(self, stack: str) -> str:
        """The log group that emitters write to."""
        return f"/neuron-emf/{stack}/records"

    def send(self, stack: str, stream: str, records: list[SpooledRecord]) -> None:
        """
        Deliver by the emitter's own delivery.

        Raises:
            AcceptError: If CloudWatch Logs does not take them all.
        """
        if not records:
            return
        out = LogStream(self.group(stack), stream, region=self.place.region)
        try:
            outcome = out.send(sorted(records, key=lambda one: one.timestamp_ms))
        finally:
            out.close()
        if not isinstance(outcome, Delivered) or any(outcome.rejected.values()):
            msg = f"CloudWatch Logs did not take the lines of {stream}: {outcome}"
            raise AcceptError(msg)
        until_s = max(one.timestamp_ms for one in records) // 1000 + 60
        self.told_until_s[stack] = max(until_s, self.told_until_s.get(stack, 0))

    def events(self, group: str) -> list[LogEvent]:
        """All lines of a log group since the run began."""
        pages = self.place.client("logs").get_paginator("filter_log_events")
        return [
            LogEvent(row["logStreamName"], row["timestamp"], row["message"])
            for page in pages.paginate(logGroupName=group, startTime=self.start_s * 1000)
            for row in page["events"]
        ]

    def rollups(self, stack: str) -> RollupLines:
        """What close has printed."""
        found = RollupLines()
        events = self.events(self.stacks[stack].outputs["RollupsLogGroupName"])
        found.add(one.message for one in events)
        return found

    def expected(self, stack: str) -> Mapping[tuple[int, str], Mapping[str, float]]:
        """What the lines of the log group come to, by the reference that shares no code."""
        return reference.rollups(
            self.records(stack),
            idle_after_minutes=IDLE_AFTER_MINUTES,
            usd_per_hour=LIST_PRICES,
        )

    def records(self, stack: str) -> list[MinuteRecord]:
        """The minute records among the raw lines."""
        found = []
        for event in self.events(self.group(stack)):
            try:
                record = parse(event.message)
            except WireFormatError:
                continue  # a line that nobody should write
            if isinstance(record, MinuteRecord):
                found.append(record)
        return found

    def differences(self, stack: str) -> list[str]:
        """Where the rollups are not yet what the lines come to."""
        if self.place.is_embedded:  # on AWS its schedule does it
            name = self.stacks[stack].outputs["CloseFunctionName"]
            self.place.client("lambda").invoke(FunctionName=name)["Payload"].read()
        expected = self.expected(stack)
        if not expected:
            return [f"{stack} has no lines"]
        return [str(one) for one in differences(self.rollups(stack).minutes, expected)]

    def settle(self, problems: Callable[[], list[str]], minutes: float) -> list[str]:
        """Ask again until there are no problems; those of the last time."""
        deadline = time.monotonic() + 60 * minutes
        while (found := problems()) and time.monotonic() < deadline:
            time.sleep(0.5 if self.place.is_embedded else 15.0)
        return found
