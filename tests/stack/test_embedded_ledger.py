"""
The real template on the embedded AWS: lines become rollups, their hour eight objects and a digest.

What the objects hold is reckoned again from the lines themselves.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from fractions import Fraction

import pytest

from local.rehearsal.stack import DeployedStack, overrides
from neuron_wire.ledger import HOUR_MINUTES, PARTS, key_of, rows_of
from neuron_wire.owners import Owner
from neuron_wire.phrases import iso_minute, usd
from proof.factories.records import message, record
from tests.stack.test_embedded_fleet import put, wait_until

INSTANCES = 12
MINUTES = 3
USD_PER_HOUR = Fraction("1.3438")

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.slow,
    pytest.mark.timeout(480),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel"),
]


def lines_of_the_fleet(first):
    """Two cores each: a job keeps one busy, a pod holds the other idle."""
    owners = (Owner("0", "slurm:7 ann", "ml"), Owner("1", "prod/web"))
    made = [
        record(instance_id=f"i-{n:017x}", minute=first + at, seq=at + 1, owners=owners)
        for n in range(INSTANCES)
        for at in range(MINUTES)
    ]
    return [(one.minute_ms, message(one)) for one in made]


def settled(aws, deployment, hour):
    """The objects of *hour*, after settle was told to put it."""
    s3, bucket = aws.client("s3"), deployment.outputs["LedgerBucketName"]

    def stored():
        return s3.list_objects_v2(Bucket=bucket, Prefix="ledger/").get("Contents", [])

    for one in stored():
        s3.delete_object(Bucket=bucket, Key=one["Key"])
    aws.client("lambda").invoke(
        FunctionName=deployment.outputs["SettleFunctionName"],
        InvocationType="Event",
        Payload=json.dumps({"Hour": iso_minute(hour * HOUR_MINUTES)}),
    )
    wait_until(lambda: len(stored()) == PARTS, what="an hour settled", each_s=1)
    return [
        s3.get_object(Bucket=bucket, Key=key_of(hour, part))["Body"].read() for part in range(PARTS)
    ]


def test_an_hour_of_lines_becomes_the_ledger_and_again_the_same_bytes(aws, sam_build, template):
    """Held, busy and idle core-minutes and their cost, by owner, of every instance."""
    deployment = sam_build.sam.deploy(sam_build.template, "ledger", overrides(template), aws)
    now_minute = int(time.time()) // 60
    hour = (now_minute - 3 - MINUTES) // HOUR_MINUTES
    first = max(hour * HOUR_MINUTES, now_minute - 3 - MINUTES)
    stack = DeployedStack(aws, deployment, first * 60_000)
    logs = aws.client("logs")
    logs.create_log_stream(logGroupName=stack.records_group, logStreamName="fleet")
    lines = lines_of_the_fleet(first)
    put(logs, stack.records_group, "fleet", lines)
    wait_until(lambda: stack.stored_records() >= len(lines), what="lines stored")

    def published():
        stack.close_minutes()
        stack.look()
        return len(stack.rollups.minutes) >= MINUTES

    wait_until(published, what="rollups printed", each_s=2)
    objects = settled(aws, deployment, hour)
    rows = [row for body in objects for row in rows_of(body)]
    micro = 1_000_000 * MINUTES
    told = {(row.instance_id, row.owner): row for row in rows if row.owner != "[unknown]"}
    assert 2 * INSTANCES == len(told)
    for (_, owner), row in told.items():
        busy = micro if owner == "slurm:7 ann" else 0
        assert (micro, busy, micro - busy) == (row.held, row.busy, row.idle)
        assert row.team == ("ml" if owner == "slurm:7 ann" else None)
        assert abs(USD_PER_HOUR / 2 * MINUTES / 60 - Fraction(row.list_cost, 10**9)) < 1e-4
    lines_told = [json.loads(one) for body in objects for one in gzip.decompress(body).splitlines()]
    assert len(rows) == len(lines_told)
    assert objects == settled(aws, deployment, hour)
    answer = aws.client("lambda").invoke(
        FunctionName=deployment.outputs["DigestFunctionName"],
        Payload=json.dumps({"Until": iso_minute((hour + 1) * HOUR_MINUTES)}),
    )
    text = json.loads(answer["Payload"].read())["Text"]
    cost = sum(row.idle_cost or 0 for row in rows) / 10**9
    assert f"Idle cores cost {usd(cost)}" in text
    assert "167 hours of 168 not in the ledger" in text
