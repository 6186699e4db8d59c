"""The settle function as Lambda invokes it: its table, bucket, EC2 and output."""

from __future__ import annotations

import json
import weakref
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from aggregator import aws, runtime
from aggregator.ingest.intake import take_in
from aggregator.settle import function, purchases
from aggregator.storage.table import Table
from aggregator.storage.values import LedgerError, Publication
from neuron_accounts.instance_hours import Ec2Instance
from neuron_accounts.ledger import PARTS_OF_HOUR, part_key
from neuron_accounts.then import summary_key
from neuron_emf.reading.ledger_bucket import rows as read_rows
from neuron_wire.line_members import iso_minute
from neuron_wire.names import HOUR_MINUTES
from proof.factories.records import MINUTE, lines, record
from tests.aggregator.handler_traces import CurrentStdout

LEDGER_BUCKET = "neuron-emf-ledger"
HANDLED_HOUR = MINUTE // HOUR_MINUTES
HOUR_EVENT = {"Hour": iso_minute(HANDLED_HOUR * HOUR_MINUTES)}


class SettleContext:
    """The Lambda context of an invocation."""

    aws_request_id = function_name = invoked_function_arn = "settle"
    memory_limit_in_mb = "1769"

    def get_remaining_time_in_millis(self):
        """Return more time than the function needs."""
        return 900_000


@pytest.fixture
def invoke(functions, monkeypatch):  # noqa: ARG001 - its variables and its table
    """Return the handler, with one minute of one instance in the table and a bucket to write to."""
    monkeypatch.setenv("LEDGER_BUCKET", LEDGER_BUCKET)
    runtime.stack.cache_clear()
    monkeypatch.setattr(function.logger.registered_handler, "stream", CurrentStdout())
    boto3.client("s3").create_bucket(Bucket=LEDGER_BUCKET)
    table = Table.connect("records")
    take_in(lines(record()), table, 120, lambda: MINUTE * 60.0 + 90, in_packs=False)
    table.write_publication(MINUTE, "training", Publication(1, {}, "", 1), 2**31)
    context: Any = SettleContext()
    return lambda event: function.handler(event, context)


def objects():
    """Return the objects in the bucket."""
    s3 = boto3.client("s3")
    keys = (part_key(HANDLED_HOUR, part) for part in range(PARTS_OF_HOUR))
    return [s3.get_object(Bucket=LEDGER_BUCKET, Key=key)["Body"].read() for key in keys]


def rows():
    """Return every row in the bucket."""
    return list(read_rows((HANDLED_HOUR, payload) for payload in objects()))


def test_an_hour_becomes_eight_objects_and_their_summary(invoke, capsys):
    """
    An hour becomes eight objects with the rows of its minutes, and its counts become metrics of the
    stack.
    """
    counts = invoke(HOUR_EVENT)
    assert 1 == counts["HoursSettled"]
    assert 2 == counts["LedgerRows"]
    owners = {row.owner: row.allocated for row in rows()}
    assert {"[not reported]": 2_000_000, "[unknown]": 118_000_000} == owners
    metrics = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "_aws" in line]
    assert {"HoursWaiting": [0], "HoursSettled": 1, "HoursDropped": 0}.items() <= metrics[0].items()
    key = summary_key(HANDLED_HOUR)
    summary = boto3.client("s3").get_object(Bucket=LEDGER_BUCKET, Key=key)["Body"].read()
    assert counts["LedgerBytes"] == sum(map(len, [*objects(), summary]))


def test_a_bucket_that_takes_nothing_is_an_error(invoke):
    """If the bucket rejects an object, the run fails, and the next run starts the hour again."""
    boto3.client("s3").delete_bucket(Bucket=LEDGER_BUCKET)
    with pytest.raises(LedgerError, match=LEDGER_BUCKET):
        invoke(HOUR_EVENT)


def test_every_page_of_ec2_is_read(monkeypatch):
    """
    Every page of EC2's answer is read. An instance without a lifecycle is on demand, and the
    request names only Neuron types.
    """
    request = {
        "Filters": [{"Name": "instance-type", "Values": ["inf*", "trn*"]}],
        "MaxResults": 1_000,
    }
    on_demand = {"InstanceId": "i-1", "InstanceType": "inf2.xlarge"}
    block = {
        "InstanceId": "i-2",
        "InstanceLifecycle": "capacity-block",
        "CapacityReservationId": "cr-1",
    }
    client = boto3.client("ec2", region_name="us-east-1")
    with Stubber(client) as stubber:
        first = {"Reservations": [{"Instances": [on_demand]}], "NextToken": "2"}
        stubber.add_response("describe_instances", first, request)
        last = {"Reservations": [{"Instances": [block]}]}
        stubber.add_response("describe_instances", last, {**request, "NextToken": "2"})
        monkeypatch.setattr(aws, "client", lambda _: client)
        reported = purchases.asked_of_ec2()
    assert {
        "i-1": Ec2Instance("on-demand", None, "inf2.xlarge"),
        "i-2": Ec2Instance("capacity-block", "cr-1"),
    } == reported
    parts = purchases.packed_parts(reported)
    assert reported == {
        key: instance for part in parts for key, instance in purchases.unpacked(part).items()
    }


class Page(dict[str, Any]):
    """A page of an answer that a weak reference can watch."""


def test_pages_of_ec2_are_not_kept(monkeypatch):
    """At most two pages of EC2's answer are in memory, because a large fleet has a hundred."""
    watched = []

    def paginate(**_request):
        for _ in range(9):
            page = Page()
            watched.append(weakref.ref(page))
            yield page
            del page
            assert sum(reference() is not None for reference in watched) < 2

    client = SimpleNamespace(get_paginator=lambda _: SimpleNamespace(paginate=paginate))
    monkeypatch.setattr(aws, "client", lambda _: client)
    assert {} == purchases.asked_of_ec2()
    assert 9 == len(watched)
