"""
Where a run takes place, and what its steps share: names, the stacks, the delivered lines.

The credentials and the endpoint are those of whoever types, as AWS's own
variables name them.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from emitter.delivery.cloudwatch_logs import LogStream
from emitter.delivery.destination import Delivered
from local.embedded_aws.clients import require_loopback
from local.embedded_aws.processes import EmbeddedAwsError
from local.pump.tail import LogEvent
from local.rehearsal.figures import RollupLines
from neuron_emf.account import AccountSettings, account
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
    from proof.accept.recording import Recorder

ENDPOINT: Final = "AWS_ENDPOINT_URL"
MINUTES: Final = 12
"""That each instance tells at once: what an alarm looks back on."""


IDLE_AFTER_MINUTES: Final = 1  # or nothing would be idle in time


@dataclass(frozen=True)
class Place:
    """
    Where a run takes place.

    Attributes:
        account: Its number, 12 digits.

        endpoint: Of the embedded AWS; empty on a real account.

        recorder: Keeps the answers.
    """

    region: str
    account: str
    endpoint: str
    recorder: Recorder
    _clients: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def find(cls, region: str, recorder: Recorder) -> Place:
        """
        The account that the credentials are of.

        Raises:
            AcceptError: If an endpoint is set that is not on this machine.
        """
        endpoint = os.environ.get(ENDPOINT, "")
        try:
            if endpoint:
                require_loopback(endpoint)
        except EmbeddedAwsError as error:
            msg = f"{ENDPOINT} is {endpoint}, which is neither AWS nor this machine. Unset it."
            raise AcceptError(msg) from error
        place = cls(region, "", endpoint, recorder)
        caller = place.client("sts").get_caller_identity()
        recorder.hide(caller["Account"], caller["UserId"], caller["Arn"])
        return cls(region, str(caller["Account"]), endpoint, recorder, place._clients)

    @property
    def is_embedded(self) -> bool:
        """It is no account, but the embedded AWS on this machine."""
        return bool(self.endpoint)

    @property
    def where(self) -> dict[str, str]:
        """By what a journal recognizes it."""
        return {"account": self.account, "region": self.region, "endpoint": self.endpoint}

    def client(self, service: str) -> Any:
        """The one client of *service*."""
        if service not in self._clients:
            made = account(AccountSettings(region=self.region)).client(service)
            self.recorder.listen(made)
            self._clients[service] = made
        return self._clients[service]

    def close(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()


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
