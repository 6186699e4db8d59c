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
from fractions import Fraction

import pytest

from local.pump.tail import LogTail
from local.rehearsal.stack import DeployedStack, overrides
from neuron_wire import MinuteRecord, parse
from neuron_wire.prices import USD_PER_HOUR
from proof import reference
from proof.rollup_differences import EPSILON, differences
from tests.stack.fleet_lines import CLUSTERS, Instance

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
        wait_until(lambda: stack.look() or stack.rollups.minutes, what="a rollup printed")


def closed_until_right(stack, expected):
    """Closes minutes until every rollup is as expected; what is not, in the end."""
    deadline = time.monotonic() + PATIENCE_S
    while found := differences(stack.rollups.minutes, expected):
        if time.monotonic() > deadline:
            return found
        stack.close_minutes()
        time.sleep(2)
        stack.look()
    return []


def test_every_rollup_is_what_the_raw_lines_come_to(aws, sam_build, template, tmp_path):
    """Gauges of the last line, and tallies of all lines with each RollupId once."""
    parameters = {**overrides(template), "IdleAfterMinutes": str(IDLE_AFTER_MINUTES)}
    deployment = sam_build.sam.deploy(sam_build.template, "fleet", parameters, aws)
    start_s = (int(time.time()) // 60 - MINUTES - 3) * 60
    stack = DeployedStack(aws, deployment, start_s * 1000)
    logs = aws.client("logs")
    lines = lines_of_the_fleet(tmp_path, start_s)
    assert len(lines) > INSTANCES * MINUTES  # restarts and doubles
    deliver(stack, logs, lines, random.Random(4))

    raw = LogTail(logs, stack.records_group, start_s * 1000).new_events()
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
