"""What `neuron-emf findings` lists, and what it reads it from."""

from __future__ import annotations

import json

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from aggregator.storage.table import Table
from neuron_emf.account import Account
from neuron_wire.owners import Owner
from tests import records_table
from tests.aggregator.findings.fleet import Fleet, held, idle, maker


class CloudFormation:
    """Knows one stack."""

    def describe_stacks(self, StackName):  # noqa: N803 - the API's own name
        if StackName != "neuron-emf":
            error = {"Code": "ValidationError", "Message": f"Stack {StackName} does not exist"}
            raise ClientError({"Error": error}, "DescribeStacks")
        outputs = [{"OutputKey": "RecordsTableName", "OutputValue": "records"}]
        return {"Stacks": [{"Outputs": outputs}]}


@pytest.fixture
def fleet(monkeypatch):
    """A stack with an idle instance, an owner of idle cores, and a bus that takes nothing."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        records_table.create(boto3.client("dynamodb"), "records")
        plain = Account.client
        monkeypatch.setattr(
            Account,
            "client",
            lambda account, service: (
                CloudFormation() if service == "cloudformation" else plain(account, service)
            ),
        )
        made = Fleet()
        made.accepts = lambda details: [False] * len(details)
        made.pass_minute(
            maker(idle, minutes=16, cluster="research"),
            held("ab", (20, 0), instance_id="i-2",
                 owners=(Owner("0", "slurm:7 ann", executions=0, quiet_minutes=20),
                         Owner("1", "works"))),
        )  # fmt: skip
        table = Table.connect("records")
        for place, item in made.table.findings.items():
            table.write_findings(place, item, 1 << 33)
        yield made


@pytest.mark.usefixtures("fleet")
def test_what_is_open_is_listed_the_longest_first(typed):
    """Also what no event has told yet."""
    code, out, _ = typed("findings")
    assert 0 == code
    rows = [line.split()[:3] for line in out.splitlines()[1:3]]
    assert [
        ["idle-owner", "training", "slurm:7"], ["idle-instance", "research", "i-1"]
    ] == rows  # fmt: skip
    assert "2 findings open. 2 events not sent yet." == out.splitlines()[-1]


def test_json_has_the_names_of_events(fleet, typed, follows_schema):
    """A program finds the finding of an event by its id."""
    code, out, _ = typed("findings", "--json", "--kind", "idle-instance", "--cluster", "research")
    document = json.loads(out)
    follows_schema("findings", document)
    (found,) = document["findings"]
    (event,) = [
        one for state in fleet.states().values() for one in state.due
        if one["Kind"] == "idle-instance"
    ]  # fmt: skip
    assert 0 == code
    shared = found.keys() & event.keys()
    assert {"Id", "Step", "Kind", "ClusterName", "InstanceId", "Opened", "Since"} == shared
    assert {name: event[name] for name in shared} == {name: found[name] for name in shared}


@pytest.mark.usefixtures("fleet")
def test_another_stack_is_not_there(typed):
    """The sentence names the action that was refused."""
    code, out, err = typed("findings", "--stack-name", "other")
    assert (4, "") == (code, out)
    assert "cloudformation:DescribeStacks failed" in err
