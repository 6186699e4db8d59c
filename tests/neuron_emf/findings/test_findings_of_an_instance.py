"""`neuron-emf findings INSTANCE` as it is typed: what it reads, prints and ends with."""

from __future__ import annotations

import json
import re

import pytest

from neuron_emf.check import aws_client
from neuron_emf.check.aws_client import ACCESS, Answer
from neuron_emf.findings.account_reading import ACTIONS
from neuron_emf.findings.guards import GUARDS
from neuron_emf.reading import periods
from proof.account.account import AccountDouble
from tests.hour import END_S
from tests.neuron_emf.findings.histories import INSTANCE, TYPE, ZONE, idle_world
from tests.neuron_emf.findings.played_account import ModelledAws, bare_instance

IDLE_UNHELD = "i-0dca61c356ef14800"
IDLE_HELD = "i-06f58c76ba1c4c2e7"
STORE = {"InstanceTypes": [{"InstanceStorageSupported": True}]}
DENIED = Answer("ssm:DescribeSessions", reason=ACCESS)


@pytest.fixture
def of_account(typed, monkeypatch):
    """`neuron-emf findings` at a moment, on an account with these lines and answers."""

    def call(now_ms, lines, rollups, answers, *words):
        monkeypatch.setattr(periods, "now_ms", lambda: now_ms)
        monkeypatch.setattr(aws_client, "AwsClient", lambda _account: ModelledAws(answers))
        with AccountDouble(lambda: now_ms / 1000) as account:
            for name, value in account.variables.items():
                monkeypatch.setenv(name, value)
            account.put_lines(account.records_group, lines)
            account.put_lines(account.rollups_group, rollups, late_ms=110_000)
            return typed("findings", *words)

    return call


@pytest.fixture
def of_world(of_account):
    """The same of a world whose account holds nothing back."""

    def call(world, *words, **answers):
        rollups = [
            json.dumps({**one, "Timestamp": at_ms})
            for one in world.rollups
            if (at_ms := periods.moment_ms(one["Minute"], "minute", 0))
        ]
        played = {**bare_instance(INSTANCE, TYPE, ZONE), **answers}
        return of_account(world.now_ms, world.lines, rollups, played, INSTANCE, *words)

    return call


@pytest.fixture
def of_hour(of_account, hour):
    """The same of an instance of the rehearsal's fleet, an hour after its start."""
    zones = {
        line["InstanceId"]: line["AvailabilityZone"]
        for line in map(json.loads, hour.lines)
        if "AvailabilityZone" in line
    }

    def call(instance, instance_type, *words, **answers):
        played = {**bare_instance(instance, instance_type, zones[instance]), **answers}
        now_ms = END_S * 1000 + 150_000
        return of_account(now_ms, hour.lines, hour.rollups, played, instance, *words)

    return call


def test_an_idle_instance_may_be_stopped_and_nothing_is(of_world):
    """Exit 0, every guard, what is not seen, and the command; AWS is asked to read alone."""
    code, out, err = of_world(idle_world())
    assert (0, "") == (code, err)
    assert [] == [guard.name for guard in GUARDS if f" {guard.name} " not in out]
    assert f"aws ec2 stop-instances --instance-ids {INSTANCE} --region us-west-2\n" in out
    assert "Not seen by any guard: logins that are no Session Manager session" in out
    verbs = re.compile(r"[a-z0-9]+:(Describe|List)[A-Z]")
    assert [] == [action for action in ACTIONS if not verbs.match(action)]


def test_json_says_the_same(of_world):
    """With the state, the value and the sentence of each guard."""
    code, out, _ = of_world(idle_world(), "--json", describe_sessions=DENIED)
    found = json.loads(out)
    assert (1, False, ["sessions"], None) == (
        code, found["stoppable"], found["held_back_by"], found["command"],
    )  # fmt: skip
    assert {
        "guard": "sessions",
        "state": "unknown",
        "value": "ssm:DescribeSessions is denied",
        "must_hold": "Nobody has a Session Manager session on it.",
    } == found["guards"][-1]
    assert [guard.name for guard in GUARDS] == [one["guard"] for one in found["guards"]]


def test_without_a_line_there_is_no_verdict(of_world):
    """Exit 3, and no command: a day old, or never there."""
    world = idle_world()
    world.now_ms += 24 * 60 * 60_000
    code, out, err = of_world(world)
    assert (3, "") == (code, out)
    assert f"No minute line of {INSTANCE} in the last 70 minutes" in err


@pytest.mark.parametrize("name", ["host-4c2e7", "i-", "i-0;reboot"])
def test_what_is_no_id_of_ec2_is_refused(typed, name):
    """Before anything is asked."""
    code, _, err = typed("findings", name)
    assert 2 == code
    assert "is no id of an EC2 instance" in err


def test_both_idle_instances_of_the_rehearsal_are_explained(of_hour):
    """One is held by a job, the other by nobody; a stop would erase the disks of each."""
    code, out, _ = of_hour(IDLE_UNHELD, "trn1.2xlarge", "--json", describe_instance_types=STORE)
    assert (1, ["instance-store"]) == (code, json.loads(out)["held_back_by"])
    assert 0 == of_hour(IDLE_UNHELD, "trn1.2xlarge")[0]
    code, out, _ = of_hour(IDLE_HELD, "trn1.32xlarge", "--json", describe_instance_types=STORE)
    held_back_by = ["no-holder", "host-cpu", "instance-store"]
    assert (1, held_back_by) == (code, json.loads(out)["held_back_by"])
    assert "slurm:4711 ml-user at " in out


def test_the_page_shows_what_is_printed(of_hour, marked, repository):
    """Read in review."""
    _, out, _ = of_hour(
        IDLE_HELD, "trn1.32xlarge", describe_instance_types=STORE, describe_sessions=DENIED
    )
    shown = f"```\n$ neuron-emf findings {IDLE_HELD}\n{out}```\n"
    page = repository / "docs" / "reference" / "findings.md"
    marked(page, "verdict", shown)
    text = page.read_text("utf-8")
    assert [] == [action for action in ACTIONS if f'"{action}"' not in text]
