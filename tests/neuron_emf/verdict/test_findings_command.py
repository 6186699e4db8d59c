"""The command `neuron-emf findings [INSTANCE]`: its input, its output and its exit codes."""

from __future__ import annotations

import json
import re

import boto3
import pytest
from moto import mock_aws

from aggregator.storage.table import Table
from neuron_emf.check.aws_client import ACCESS, Answer
from neuron_emf.findings import command
from neuron_emf.verdict.account_guards import ACCOUNT_GUARDS
from neuron_emf.verdict.line_guards import LINE_GUARDS
from neuron_wire.owners import Owner
from proof.account.account_double import AccountDouble
from proof.factories.records import AN_INSTANCE
from tests.aggregator.findings.findings_fleet import FindingsFleet, held, idle, maker
from tests.aggregator.memory_stack import create_table
from tests.hour import HOUR_END_S
from tests.neuron_emf.fake_aws import FakeAws, StackClient
from tests.neuron_emf.verdict.account_histories import OWNED_HISTORIES
from tests.neuron_emf.verdict.instance_world import InstanceWorld, bare_instance


@pytest.fixture
def fleet(monkeypatch, clients):
    """Return a stack with an idle instance, an owner of idle cores, and a bus that rejects."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        create_table(boto3.client("dynamodb"), "records")
        clients["cloudformation"] = StackClient(RecordsTableName="records")
        made = FindingsFleet()
        made.accepts = lambda details: [False] * len(details)
        made.pass_minute(
            maker(idle, minutes=16, cluster="research"),
            held(
                "ab",
                (20, 0),
                instance_id="i-2",
                owners=(
                    Owner("0", "slurm:7 ann", executions=0, quiet_minutes=20),
                    Owner("1", "works"),
                ),
            ),
        )
        table = Table.connect("records")
        for place, item in made.table.findings.items():
            table.write_findings(place, item, 1 << 33)
        yield made


@pytest.mark.usefixtures("fleet")
def test_open_findings_are_listed_longest_first(typed):
    """Open findings are listed longest first, also those without a sent event."""
    code, out, _ = typed("findings")
    assert 0 == code
    rows = [line.split()[:3] for line in out.splitlines()[1:3]]
    assert [["idle-owner", "training", "slurm:7"], ["idle-instance", "research", "i-1"]] == rows
    assert "2 findings open. 2 events not sent yet." == out.splitlines()[-1]


def test_json_has_the_names_of_events(fleet, typed, follows_schema):
    """The JSON of a finding has the names and the ID of its event."""
    code, out, _ = typed("findings", "--json", "--kind", "idle-instance", "--cluster", "research")
    document = json.loads(out)
    follows_schema("findings", document)
    (found,) = document["findings"]
    (event,) = [
        event
        for state in fleet.states().values()
        for event in state.due
        if event["Kind"] == "idle-instance"
    ]
    assert 0 == code
    shared = found.keys() & event.keys()
    assert {"Id", "Step", "Kind", "ClusterName", "InstanceId", "Opened", "Since"} == shared
    assert {name: event[name] for name in shared} == {name: found[name] for name in shared}


@pytest.mark.usefixtures("fleet")
def test_an_unknown_stack_is_an_error(typed):
    """An unknown stack is an error that names the rejected action."""
    code, out, err = typed("findings", "--stack-name", "other")
    assert 4 == code
    assert "" == out
    assert "cloudformation:DescribeStacks failed" in err


IDLE_HELD = "i-06f58c76ba1c4c2e7"
WAITING_RANK = OWNED_HISTORIES["rank that waits"][-1]


@pytest.fixture
def of_account(typed, monkeypatch):
    """Return a function that asks at a moment about an account with given lines and answers."""

    def call(now_ms, put, answers, *words):
        monkeypatch.setattr(command, "now_ms", lambda: now_ms)
        monkeypatch.setattr(command, "AwsClient", lambda _account: FakeAws(answers))
        with AccountDouble(lambda: now_ms / 1000) as account:
            for name, value in account.variables.items():
                monkeypatch.setenv(name, value)
            put(account)
            return typed("findings", *words)

    return call


@pytest.fixture
def of_world(of_account):
    """Return a function that asks about an EKS node that can be released unless changed."""

    def call(*words, spoil=lambda _: None, later_ms=0):
        world = InstanceWorld(0, "EKS node group")
        spoil(world)
        return of_account(
            world.now_ms + later_ms, world.put_into, world.answers, AN_INSTANCE, *words
        )

    return call


def test_the_page_shows_what_is_printed(of_account, of_world, hour, marked, repository):
    """The page shows each printed verdict, one of them about the rehearsal's fleet."""

    def put(account):
        account.put_lines(account.records_group, hour.lines)
        account.put_lines(account.rollups_group, hour.rollups, late_ms=110_000)

    own = json.loads(next(line for line in hour.lines if f'"{IDLE_HELD}"' in line))
    answers = bare_instance(IDLE_HELD, "trn1.32xlarge", own["AvailabilityZone"], 128)
    answers["describe_sessions"] = Answer("ssm:DescribeSessions", reason=ACCESS)
    page = repository / "docs" / "how-to" / "acting.md"
    for name, instance, (code, out, err) in (
        ("release", AN_INSTANCE, of_world()),
        ("ask", IDLE_HELD, of_account(HOUR_END_S * 1000 + 150_000, put, answers, IDLE_HELD)),
        ("keep", AN_INSTANCE, of_world(spoil=WAITING_RANK)),
    ):
        assert {"release": 0, "ask": 1, "keep": 3}[name] == code
        assert "" == err
        marked(page, name, f"```\n$ neuron-emf findings {instance}\n{out}```\n")


def test_json_follows_its_schema(of_world, follows_schema):
    """The JSON of each verdict follows its schema and has the guards."""
    kinds = (lambda _: None, InstanceWorld.own, WAITING_RANK)
    verdicts = [json.loads(of_world("--json", spoil=spoil)[1]) for spoil in kinds]
    follows_schema("findings", *verdicts)
    assert ["release", "ask", "keep"] == [document["answer"] for document in verdicts]
    guards = [guard.name for guard in (*LINE_GUARDS, *ACCOUNT_GUARDS)]
    assert guards == [result["check"] for result in verdicts[0]["checks"]]
    out = of_world("--all")[1]
    assert [] == [name for name in guards if f" {name} " not in out]


def test_it_is_asked_again_where_it_was_asked(of_world):
    """The command to ask again has the options that select the lines."""
    typed = "--paid-by-type trn1.32xlarge=avoidable --stack-name other"
    out = of_world(*typed.split(), "--rollups-log-group", "/neuron-emf/neuron-emf/rollups")[1]
    (again,) = re.findall("2[.].*(neuron-emf .*)", out)
    assert again.startswith(f"neuron-emf findings {AN_INSTANCE} --region us-west-2 ")
    assert {*typed.split()} <= {*again.split()}


def test_without_a_line_the_lookup_fails(of_world):
    """Without a line in the last 70 minutes, the exit code is 4 and no command is shown."""
    code, out, err = of_world(later_ms=24 * 60 * 60_000)
    assert 4 == code
    assert "" == out
    assert f"No minute line of {AN_INSTANCE} in the last 70 minutes" in err


@pytest.mark.parametrize("name", ["host-4c2e7", "i-", "i-0;reboot"])
def test_a_name_that_is_not_an_ec2_id_is_refused(typed, name):
    """A name that is not an EC2 instance ID is refused before any call."""
    code, _, err = typed("findings", name)
    assert 2 == code
    assert "Invalid instance ID" in err
