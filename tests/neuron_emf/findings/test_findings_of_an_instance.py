"""`neuron-emf findings INSTANCE` as it is typed: what it reads, prints and ends with."""

from __future__ import annotations

import json
import re

import pytest

from neuron_emf.check import aws_client
from neuron_emf.check.aws_client import ACCESS, Answer
from neuron_emf.findings.account_guards import ACCOUNT_GUARDS
from neuron_emf.findings.account_reading import ACTIONS
from neuron_emf.findings.line_guards import LINE_GUARDS
from neuron_emf.reading import periods
from proof.account.account import AccountDouble
from tests.hour import END_S
from tests.neuron_emf.findings.owned_histories import OWNED
from tests.neuron_emf.findings.played_account import ModelledAws, bare_instance
from tests.neuron_emf.findings.world import INSTANCE, World, text_of

IDLE_HELD = "i-06f58c76ba1c4c2e7"
RANK = OWNED["rank that waits"][-1]


@pytest.fixture
def of_account(typed, monkeypatch):
    """`neuron-emf findings` at a moment, on an account with the lines that are put and answers."""

    def call(now_ms, put, answers, *words):
        monkeypatch.setattr(periods, "now_ms", lambda: now_ms)
        monkeypatch.setattr(aws_client, "AwsClient", lambda _account: ModelledAws(answers))
        with AccountDouble(lambda: now_ms / 1000) as account:
            for name, value in account.variables.items():
                monkeypatch.setenv(name, value)
            put(account)
            return typed("findings", *words)

    return call


@pytest.fixture
def of_world(of_account):
    """The same of a node of EKS that may be given back, unless it is spoilt."""

    def call(*words, spoil=lambda _: None, later_ms=0):
        world = World(0, "EKS node group")
        spoil(world)

        def put(account):
            for group, lines in (
                (account.records_group, world.lines),
                (account.rollups_group, world.rollups),
            ):
                account.put(group, "stream", [(at_ms, text_of(line)) for at_ms, line in lines])

        return of_account(world.now_ms + later_ms, put, world.answers, INSTANCE, *words)

    return call


def test_the_page_shows_what_is_printed(of_account, of_world, hour, marked, repository):
    """Each answer, one of them of the rehearsal's fleet an hour after its start; read in review."""

    def put(account):
        account.put_lines(account.records_group, hour.lines)
        account.put_lines(account.rollups_group, hour.rollups, late_ms=110_000)

    own = json.loads(next(line for line in hour.lines if f'"{IDLE_HELD}"' in line))
    answers = bare_instance(IDLE_HELD, "trn1.32xlarge", own["AvailabilityZone"], 128)
    answers["describe_sessions"] = Answer("ssm:DescribeSessions", reason=ACCESS)
    page = repository / "docs" / "reference" / "findings.md"
    for name, instance, (code, out, err) in (
        ("give-back", INSTANCE, of_world()),
        ("ask", IDLE_HELD, of_account(END_S * 1000 + 150_000, put, answers, IDLE_HELD)),
        ("leave", INSTANCE, of_world(spoil=RANK)),
    ):
        assert ({"give-back": 0, "ask": 1, "leave": 3}[name], "") == (code, err)
        marked(page, name, f"```\n$ neuron-emf findings {instance}\n{out}```\n")
    text = page.read_text("utf-8")
    assert [] == [action for action in ACTIONS if f'"{action}"' not in text]
    assert all(re.fullmatch("[a-z0-9]+:(Describe|List)[A-Z][A-Za-z]+", one) for one in ACTIONS)


def test_json_follows_its_schema(of_world, follows_schema):
    """Each answer, and the guards that it is made of."""
    kinds = (lambda _: None, World.own, RANK)
    found = [json.loads(of_world("--json", spoil=spoil)[1]) for spoil in kinds]
    follows_schema("findings", *found)
    assert ["give-back", "ask", "leave"] == [one["answer"] for one in found]
    guards = [guard.name for guard in (*LINE_GUARDS, *ACCOUNT_GUARDS)]
    assert guards == [one["check"] for one in found[0]["checks"]]
    out = of_world("--all")[1]
    assert [] == [name for name in guards if f" {name} " not in out]


def test_it_is_asked_again_where_it_was_asked(of_world):
    """With the options that decide which lines are looked at."""
    typed = "--paid-by-type trn1.32xlarge=avoidable --stack-name other"
    out = of_world(*typed.split(), "--rollups-log-group", "/neuron-emf/neuron-emf/rollups")[1]
    (again,) = re.findall("2[.].*(neuron-emf .*)", out)
    assert again.startswith(f"neuron-emf findings {INSTANCE} --region us-west-2 ")
    assert {*typed.split()} <= {*again.split()}


def test_without_a_line_there_is_no_answer(of_world):
    """Exit 4, and no command: a day old, or never there."""
    code, out, err = of_world(later_ms=24 * 60 * 60_000)
    assert (4, "") == (code, out)
    assert f"No minute line of {INSTANCE} in the last 70 minutes" in err


@pytest.mark.parametrize("name", ["host-4c2e7", "i-", "i-0;reboot"])
def test_what_is_no_id_of_ec2_is_refused(typed, name):
    """Before anything is asked."""
    code, _, err = typed("findings", name)
    assert 2 == code
    assert "is no id of an EC2 instance" in err
