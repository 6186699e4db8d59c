"""
The data that the steps of one run share: names, the stacks, the delivered lines.

There are lines of two clusters, as their emitters write them, and one line of a later release:
reports come from the simulated neuron-monitor, lines from the emitter's own replay; a restart
changes the reports, never a line.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from typing import TYPE_CHECKING, Final

from local.alarms.template import load
from local.monitor.play import Play, run
from local.pump import EmfPump, LogEvent
from local.rehearsal.comparison import ClusterMinute, PublishedMinute, add_rollups
from local.rehearsal.rehearsal_stack import overrides
from neuron_emitter.delivery.cloudwatch_logs import LogStream
from neuron_emitter.delivery.destination import Delivered
from neuron_emitter.replay import replay
from neuron_emitter.settings import ReplaySettings
from neuron_emitter.spool.spool_records import SpooledRecord
from neuron_wire import MinuteRecord, WireFormatError, parse
from proof import reference
from proof.accept.call_recording import AcceptError, AccountPlace
from proof.rollup_differences import LIST_PRICES, differences

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from neuron_emf.deploy.package import Package
    from neuron_emf.deploy.stack import Stack
    from proof.accept.resources import Journal
    from proof.rollup_differences import Rollups

ACCEPT_MINUTES: Final = 12
"""Minutes that each instance reports at once: as many as an alarm looks back."""
ACCEPT_IDLE_AFTER_MINUTES: Final = 1  # otherwise no core would be idle in time
ACCEPT_PERIOD_S: Final = 15  # the emitter's longest period


@dataclass(frozen=True)
class Instance:
    """
    One simulated instance.

    Attributes:
        name: Its name, also of its log stream.

        is_restarted: True if its emitter restarts in the middle of a minute.
    """

    name: str
    cluster: str
    instance_type: str
    scenario: str
    is_restarted: bool = False

    @property
    def instance_id(self) -> str:
        """The instance ID in its lines."""
        return f"i-{self.name.encode().hex()[:17]:0>17}"

    def records(self, folder: Path, start_s: int, minutes: int) -> list[SpooledRecord]:
        """
        Return its lines of minutes and runtimes from *start_s* on.

        One more minute is simulated and not delivered: the last line has no `CleanShutdown`.
        """
        reports = self._reports(folder, (minutes + 1) * 60 // ACCEPT_PERIOD_S)
        middle = len(reports) // 2 - 1  # within a minute
        parts = [(reports, start_s)]
        if self.is_restarted:
            parts = [
                (reports[:middle], start_s),
                (reports[middle:], start_s + middle * ACCEPT_PERIOD_S),
            ]
        end_ms = (start_s + 60 * minutes) * 1000
        lines = [line for part, at_s in parts for line in self._written(folder, part, at_s)]
        records = []
        for place, line in enumerate(lines, 1):
            document = json.loads(line)
            timestamp_ms = document.get("Timestamp") or document["_aws"]["Timestamp"]
            if timestamp_ms < end_ms:
                row = place, document["Boot"], document["Seq"], timestamp_ms, line
                records.append(SpooledRecord(*row))
        return records

    def _reports(self, folder: Path, count: int) -> list[bytes]:
        path = folder / f"{self.name}.reports"
        play = Play(
            instance_type=self.instance_type,
            scenario=self.scenario,
            seed=len(self.name),
            instance_id=self.instance_id,
            period_s=ACCEPT_PERIOD_S,
            reports=count,
            start_ms=0,
        )
        with path.open("wb") as file:
            run(play, file.fileno())
        return path.read_bytes().splitlines(keepends=True)

    def _written(self, folder: Path, reports: list[bytes], start_s: float) -> list[str]:
        path = folder / f"{self.name}.part"
        path.write_bytes(b"".join(reports))
        start = datetime.fromtimestamp(start_s + 0.5, timezone.utc).isoformat()
        settings = ReplaySettings(
            cluster=self.cluster, interval=float(ACCEPT_PERIOD_S), start=start
        )
        return [*replay([path], settings)]


@dataclass
class AcceptContext:
    """
    One run.

    Attributes:
        folder: The folder for written files.

        mode: `Mode` of the watched stack.

        has_key: True if a KMS key of the run encrypts what its stacks store.

        start_s: The minute of the first lines, seconds since the epoch.

        stacks: The deployed stacks, by name.

        notes: Output of the present step other than problems.

        delivered_until_s: The end of the delivered minute lines, by stack.
    """

    place: AccountPlace
    journal: Journal
    package: Package
    folder: Path
    mode: str = "direct"
    has_key: bool = False
    start_s: int = field(default_factory=lambda: (int(time.time()) // 60 - ACCEPT_MINUTES - 3) * 60)
    stacks: dict[str, Stack] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    delivered_until_s: dict[str, int] = field(default_factory=dict)

    @property
    def frame(self) -> str:
        """The name of the stack with bucket and queues."""
        return f"{self.journal.run}-frame"

    @property
    def watched(self) -> str:
        """The name of the watched stack, which has a capital letter."""
        return f"{self.journal.run}-Watched"

    @property
    def changed(self) -> str:
        """The name of the stack that is changed and deleted."""
        return f"{self.journal.run}-changed"

    def group(self, stack: str) -> str:
        """Return the log group of the emitters."""
        return f"/neuron-emf/{stack}/records"

    def send(self, stack: str, stream: str, records: list[SpooledRecord]) -> None:
        """
        Deliver with the emitter's own delivery.

        Raises:
            AcceptError: If CloudWatch Logs does not take them all.
        """
        if not records:
            return
        out = LogStream(self.group(stack), stream, region=self.place.region)
        try:
            outcome = out.send(sorted(records, key=lambda record: record.timestamp_ms))
        finally:
            out.close()
        if not isinstance(outcome, Delivered) or any(outcome.rejected.values()):
            msg = f"CloudWatch Logs did not take the lines of {stream}: {outcome}"
            raise AcceptError(msg)
        until_s = max(record.timestamp_ms for record in records) // 1000 + 60
        self.delivered_until_s[stack] = max(until_s, self.delivered_until_s.get(stack, 0))

    def events(self, group: str) -> list[LogEvent]:
        """Return all lines of a log group since the run began."""
        pages = self.place.client("logs").get_paginator("filter_log_events")
        return [
            LogEvent(row["logStreamName"], row["timestamp"], row["message"])
            for page in pages.paginate(logGroupName=group, startTime=self.start_s * 1000)
            for row in page["events"]
        ]

    def rollups(self, stack: str) -> dict[ClusterMinute, PublishedMinute]:
        """Return the rollups that close has printed."""
        minutes: dict[ClusterMinute, PublishedMinute] = {}
        events = self.events(self.stacks[stack].outputs["RollupsLogGroupName"])
        add_rollups(minutes, (event.message for event in events))
        return minutes

    @cached_property
    def _pump(self) -> EmfPump:
        groups = [stack.outputs.get("RollupsLogGroupName") for stack in self.stacks.values()]
        clients = self.place.client("logs"), self.place.client("cloudwatch")
        return EmfPump(*clients, [*filter(None, groups)], self.start_s * 1000)

    def extract_metrics(self) -> None:
        """Extract metrics from all rollups, as CloudWatch does on an account."""
        if self.place.is_embedded:
            self._pump.extract_new_lines()

    def expected(self, stack: str) -> Rollups:
        """Return the expected rollups of the log group, from the reference that shares no code."""
        return reference.rollups(
            self.records(stack),
            idle_after_minutes=ACCEPT_IDLE_AFTER_MINUTES,
            usd_per_hour=LIST_PRICES,
        )

    def messages(self, stack: str) -> list[str]:
        """Return the lines of the log group of *stack*, with copies."""
        return [event.message for event in self.events(self.group(stack))]

    def records(self, stack: str) -> list[MinuteRecord]:
        """Return the minute records among the raw lines."""
        found = []
        for message in self.messages(stack):
            try:
                record = parse(message)
            except WireFormatError:
                continue  # an invalid line
            if isinstance(record, MinuteRecord):
                found.append(record)
        return found

    def close_minutes(self, stack: str) -> None:
        """Run the stack's close function, as its schedule does on AWS."""
        if self.place.is_embedded:
            name = self.stacks[stack].outputs["CloseFunctionName"]
            self.place.client("lambda").invoke(FunctionName=name)["Payload"].read()

    def send_newest_minute(self, stack: str, instance: Instance) -> None:
        """Deliver the last complete minute of *instance*, once: earlier minutes are late."""
        minute_s = int(time.time()) // 60 * 60 - 60
        if minute_s < self.delivered_until_s[stack]:
            return
        minutes = (minute_s - self.start_s) // 60 + 1
        records = instance.records(self.folder, self.start_s, minutes)
        newest = [record for record in records if record.timestamp_ms == minute_s * 1000]
        self.send(stack, instance.name, newest)

    def differences(self, stack: str) -> list[str]:
        """Return the differences between the rollups and the lines."""
        self.close_minutes(stack)
        expected = self.expected(stack)
        if not expected:
            return [f"{stack} has no lines"]
        return [str(difference) for difference in differences(self.rollups(stack), expected)]

    def wait_until_right(self, problems: Callable[[], list[str]], minutes: float) -> list[str]:
        """Ask again until there are no problems; return the last ones."""
        deadline = time.monotonic() + 60 * minutes
        while (found := problems()) and time.monotonic() < deadline:
            time.sleep(0.5 if self.place.is_embedded else 15.0)
        return found


def two_clusters(stack: str) -> list[Instance]:
    """
    Return two instances for each of two clusters of a stack: idle, busy, half idle, with errors.

    No two stacks share a cluster, or metrics add up.
    """
    return [
        Instance("idle", f"{stack}-a", "trn1.2xlarge", "idle"),
        Instance("busy", f"{stack}-a", "inf2.8xlarge", "busy"),
        Instance("half-idle", f"{stack}-b", "trn1.2xlarge", "half-idle", is_restarted=True),
        Instance("errors", f"{stack}-b", "inf2.xlarge", "errors"),
    ]


def deploy_parameters(context: AcceptContext, name: str) -> dict[str, str]:
    """Return the parameters of a stack."""
    frame = context.stacks[context.frame].outputs
    given = {
        "LogGroupName": context.group(name),
        "IdleAfterMinutes": str(ACCEPT_IDLE_AFTER_MINUTES),
        "RetentionDays": "14",
        "KmsKeyArn": frame.get("KeyArn", ""),
    }
    if name == context.watched:  # the other stack makes its own topic
        given.update(Mode=context.mode, AlarmTopicArn=frame["TopicArn"])
    if context.place.is_embedded:
        return {**given, **overrides(load(context.package.source))}
    return {**given, "Athena": "true"}
