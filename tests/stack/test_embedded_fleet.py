"""
The whole system on the embedded AWS: a fleet's rollups are what its raw lines come to.

The lines of the rehearsal's fleet come in two waves with minutes closed in between, out of
order, some of them twice. The reference computes what is expected from the log group.
"""

from __future__ import annotations

import random
import sys
import time

import pytest

from local.pump import LogTail
from local.rehearsal.fleet import FLEET
from local.rehearsal.stack import DeployedStack, overrides
from neuron_wire import parse
from proof import reference
from proof.rollup_differences import LIST_PRICES, differences
from tests.hour import lines_of, timestamp_ms

MINUTES = 5
STREAMS = 4  # shared, as {shard:N} makes them: one delivery holds many instances
IDLE_AFTER_MINUTES = 2  # or five minutes would hold no idle core
PATIENCE_S = 300.0

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel"),
]


def wait_until(condition, what):
    """Ask again until *condition* holds; the bound only ends a run that hangs."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {PATIENCE_S:.0f} s"
        time.sleep(0.5)


def waves(lines, draw):
    """Two waves of (stream, line): what comes later, and what comes twice, is drawn."""
    found = [], []
    for line in lines:
        stream, first = f"shard-{draw.randrange(STREAMS)}", int(draw.random() < 0.3)
        found[first].append((stream, line))
        if draw.random() < 0.2:
            found[draw.randrange(first, 2)].append((stream, line))
    return found


def deliver(stack, logs, lines, draw):
    """Both waves, each with a run of close once ingest has stored it."""
    streams = [f"shard-{number}" for number in range(STREAMS)]
    for stream in streams:
        logs.create_log_stream(logGroupName=stack.records_group, logStreamName=stream)
    stored = set()
    for wave in waves(lines, draw):
        for stream in draw.sample(streams, STREAMS):
            texts = sorted({line for name, line in wave if name == stream}, key=timestamp_ms)
            events = [{"timestamp": timestamp_ms(line), "message": line} for line in texts]
            place = {"logGroupName": stack.records_group, "logStreamName": stream}
            logs.put_log_events(**place, logEvents=events)
            stored |= set(texts)
        count = len(stored)
        wait_until(lambda count=count: stack.stored_records() >= count, f"{count} lines stored")
        assert stack.stored_records() == count
        stack.close_minutes()
        wait_until(lambda: stack.read_new_rollups() or stack.rollups.minutes, "a rollup printed")


def test_every_rollup_is_what_the_raw_lines_come_to(aws, sam_build, template, tmp_path):
    """Gauges of the last line, tallies of all lines, each RollupId once."""
    parameters = {**overrides(template), "IdleAfterMinutes": str(IDLE_AFTER_MINUTES)}
    deployment = sam_build.sam.deploy(sam_build.template, "fleet", parameters, aws)
    start_s = (int(time.time()) // 60 - MINUTES - 3) * 60
    stack, logs = DeployedStack(aws, deployment, start_s * 1000), aws.client("logs")
    written = [line for member in FLEET for line in lines_of(member, tmp_path, start_s, MINUTES)]
    lines = [line for line in written if '"Kind":"minute"' in line]
    deliver(stack, logs, lines, random.Random(4))

    raw = LogTail(logs, stack.records_group, start_s * 1000).read_new_events()
    assert len(raw) > len(lines)  # some came twice
    records = [parse(event.message) for event in raw]
    expected = reference.rollups(
        records, idle_after_minutes=IDLE_AFTER_MINUTES, usd_per_hour=LIST_PRICES
    )

    def is_right():
        stack.close_minutes()
        stack.read_new_rollups()
        return not differences(stack.rollups.minutes, expected)

    wait_until(is_right, "every rollup right")
    rollups = [stack.rollups.minutes[cluster, minute * 60] for minute, cluster in expected]
    assert 2 * MINUTES == len(rollups)
    assert max(len(rollup.publications) for rollup in rollups) > 1  # late lines were added
    assert sum(rollup.gauge("IdleCores") for rollup in rollups) > 0
