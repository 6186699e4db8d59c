"""
The real template on the embedded AWS: a fleet's rollups are what its raw lines come to.

Two hundred simulated instances for five minutes. Their lines come in two waves
with minutes closed in between, out of order, some of them twice; emitters are
restarted, killed, and doubled on their host. What is expected is worked out
afterwards, by brute force, from what is in the log group.
"""

from __future__ import annotations

import random
import sys
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from emitter.replay import replay
from emitter.settings import ReplaySettings
from local.monitor.play import Play, run
from local.pump import LogTail
from local.rehearsal.stack import DeployedStack, overrides
from neuron_wire import MinuteRecord, parse
from neuron_wire.prices import USD_PER_HOUR
from proof import reference
from proof.rollup_differences import EPSILON, differences

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PERIOD_S = 15  # the longest the emitter asks for
REPORTS_A_MINUTE = 60 // PERIOD_S
KINDS_OF_INSTANCES = (
    ("trn1.2xlarge", "half-idle"),
    ("inf2.xlarge", "busy"),
    ("inf2.8xlarge", "low"),
    ("trn1.32xlarge", "busy"),
    ("inf2.24xlarge", "idle"),
    ("inf2.xlarge", "errors"),
    ("trn1.2xlarge", "empty"),
    ("inf2.48xlarge", "multi-runtime"),
    ("trn2.3xlarge", "busy"),
)
CLUSTERS = ("research", "serving", "training")
FATES = ("plain", "restarted", "plain", "killed", "plain", "two emitters", "plain", "plain")


@dataclass(frozen=True)
class Instance:
    """
    One simulated instance.

    Attributes:
        number: From 0; chooses everything else.
    """

    number: int

    @property
    def cluster(self):
        return CLUSTERS[self.number % len(CLUSTERS)]

    @property
    def fate(self):
        return FATES[self.number % len(FATES)]

    def reports(self, folder: Path, count: int) -> list[bytes]:
        """Its first *count* reports, a line each."""
        instance_type, scenario = KINDS_OF_INSTANCES[self.number % len(KINDS_OF_INSTANCES)]
        path = folder / f"{self.number}.reports"
        play = Play(
            instance_type=instance_type,
            scenario=scenario,
            seed=self.number,
            period_s=PERIOD_S,
            reports=count,
            start_ms=0,
        )
        with path.open("wb") as file:
            run(play, file.fileno())
        return path.read_bytes().splitlines(keepends=True)

    def lines(self, folder: Path, start_s: int, minutes: int) -> Iterator[str]:
        """
        What its emitters wrote in the *minutes* from *start_s* on.

        One minute more is simulated and not told: nobody says goodbye at the end.
        """
        reports = self.reports(folder, (minutes + 1) * REPORTS_A_MINUTE)
        middle = len(reports) // 2 - 1  # within a minute
        parts = [(reports, start_s)]
        if self.fate in ("restarted", "killed"):
            parts = [(reports[:middle], start_s), (reports[middle:], start_s + middle * PERIOD_S)]
        elif self.fate == "two emitters":
            parts.append((reports, start_s + 1))
        for number, (part, part_start_s) in enumerate(parts):
            written = list(self._written(folder, part, part_start_s))
            if self.fate == "killed" and number == 0:
                written = [line for line in written if '"Bye":true' not in line]
            yield from written

    def _written(self, folder: Path, reports: list[bytes], start_s: float) -> Iterator[str]:
        path = folder / f"{self.number}.part"
        path.write_bytes(b"".join(reports))
        start = datetime.fromtimestamp(start_s + 0.5, timezone.utc).isoformat()
        settings = ReplaySettings(
            cluster=self.cluster, interval=float(PERIOD_S), start=start, metrics="none"
        )
        yield from replay([path], settings)
        path.unlink()


INSTANCES = 200
MINUTES = 5
STREAMS = 16  # shared, as {shard:N} makes them: one delivery holds many instances
IDLE_AFTER_MINUTES = 2  # or five minutes would hold no idle core
PATIENCE_S = 300.0

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel"),
]


def wait_until(condition, *, what):
    """Ask again until it holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {PATIENCE_S:.0f} s"
        time.sleep(0.5)


def waves(lines, draw):
    """Two waves of lines by stream: what comes later, and what comes twice, is drawn."""
    found = [[[] for _ in range(STREAMS)] for _ in range(2)]
    for stream, timestamp_ms, line in lines:
        first = 0 if draw.random() < 0.7 else 1
        found[first][stream].append((timestamp_ms, line))
        if draw.random() < 0.2:
            found[draw.randrange(first, 2)][stream].append((timestamp_ms, line))
    return found


def put(logs, group, stream, events):
    """One PutLogEvents with what a stream got, in time order."""
    logs.put_log_events(
        logGroupName=group,
        logStreamName=stream,
        logEvents=[{"timestamp": at_ms, "message": line} for at_ms, line in sorted(events)],
    )


def lines_of_the_fleet(folder, start_s):
    """Stream, timestamp and text of every minute line of the fleet."""
    end_ms = (start_s + MINUTES * 60) * 1000
    found = []
    for number in range(INSTANCES):
        for line in Instance(number).lines(folder, start_s, MINUTES):
            record = parse(line)
            if isinstance(record, MinuteRecord) and record.minute_ms < end_ms:
                found.append((number % STREAMS, record.minute_ms, line))
    return found


def deliver(stack, logs, lines, draw):
    """Both waves, with a run of close after each; a wave is told when ingest has stored it."""
    for stream in range(STREAMS):
        logs.create_log_stream(logGroupName=stack.records_group, logStreamName=f"shard-{stream}")
    told = set()
    for wave in waves(lines, draw):
        for stream in draw.sample(range(STREAMS), STREAMS):
            if wave[stream]:
                put(logs, stack.records_group, f"shard-{stream}", wave[stream])
                told |= {line for _, line in wave[stream]}
        count = len(told)
        wait_until(
            lambda count=count: stack.stored_records() >= count, what=f"{count} lines stored"
        )
        assert stack.stored_records() == count
        stack.close_minutes()
        wait_until(
            lambda: stack.read_new_rollups() or stack.rollups.minutes, what="a rollup printed"
        )


def closed_until_right(stack, expected):
    """Closes minutes until every rollup is as expected; what is not, in the end."""
    deadline = time.monotonic() + PATIENCE_S
    while found := differences(stack.rollups.minutes, expected):
        if time.monotonic() > deadline:
            return found
        stack.close_minutes()
        time.sleep(2)
        stack.read_new_rollups()
    return []


def test_every_rollup_is_what_the_raw_lines_come_to(aws, sam_build, template, tmp_path):
    """Gauges of the last line, tallies of all lines, each RollupId once."""
    parameters = {**overrides(template), "IdleAfterMinutes": str(IDLE_AFTER_MINUTES)}
    deployment = sam_build.sam.deploy(sam_build.template, "fleet", parameters, aws)
    start_s = (int(time.time()) // 60 - MINUTES - 3) * 60
    stack = DeployedStack(aws, deployment, start_s * 1000)
    logs = aws.client("logs")
    lines = lines_of_the_fleet(tmp_path, start_s)
    assert len(lines) > INSTANCES * MINUTES  # restarts and doubles
    deliver(stack, logs, lines, random.Random(4))

    raw = LogTail(logs, stack.records_group, start_s * 1000).read_new_events()
    assert len(raw) > len(lines)  # some came twice
    assert {line for _, _, line in lines} == {event.message for event in raw}
    records = [parse(event.message) for event in raw]
    expected = reference.rollups(
        records,
        idle_after_minutes=IDLE_AFTER_MINUTES,
        usd_per_hour={
            name: Fraction(str(price)) for name, price in USD_PER_HOUR["us-east-1"].items()
        },
    )
    assert MINUTES * len(CLUSTERS) == len(expected)
    assert [] == closed_until_right(stack, expected)
    for (minute, cluster), by_type in reference.types(records).items():
        *_, last = stack.rollups.minutes[cluster, minute * 60].publications
        rows = {row.pop("InstanceType"): row for row in map(dict, last["Types"])}
        assert by_type.keys() == rows.keys()
        for name, numbers in by_type.items():
            assert numbers == pytest.approx(rows[name], abs=EPSILON)
    told = [stack.rollups.minutes[cluster, minute * 60] for minute, cluster in expected]
    assert max(len(one.publications) for one in told) > 1  # late lines were added
    for name in ("DuplicateEmitters", "IdleCores", "UnpricedCores"):
        assert sum(one.gauge(name) for one in told) > 0, name
    for name in ("LateRecords", "IdleCost", "ExecutionErrors"):
        assert sum(one.tally(name) or 0 for one in told) > 0, name
