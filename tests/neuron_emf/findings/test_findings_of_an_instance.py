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
from tests.neuron_emf.findings.played_account import ModelledAws, bare_instance
from tests.neuron_emf.findings.world import INSTANCE, World, text_of

GUARDS = [guard.name for guard in (*LINE_GUARDS, *ACCOUNT_GUARDS)]
IDLE_HELD = "i-06f58c76ba1c4c2e7"
STORE = {"InstanceTypes": [{"InstanceStorageSupported": True}]}
DENIED = Answer("ssm:DescribeSessions", reason=ACCESS)


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
    """The same of an instance alone that may be given back."""

    def call(*words, later_ms=0, **answers):
        world = World(0)
        world.leave_group()

        def put(account):
            for group, lines in (
                (account.records_group, world.lines),
                (account.rollups_group, world.rollups),
            ):
                account.put(group, "stream", [(at_ms, text_of(line)) for at_ms, line in lines])

        answers = {**world.answers, **answers}
        return of_account(world.now_ms + later_ms, put, answers, INSTANCE, *words)

    return call


def test_an_idle_instance_may_be_stopped_and_nothing_is(of_world):
    """Exit 0, every guard, what is not seen, and the command; AWS is asked to read alone."""
    code, out, err = of_world()
    assert (0, "") == (code, err)
    assert [] == [name for name in GUARDS if f" {name} " not in out]
    assert f"aws ec2 stop-instances --instance-ids {INSTANCE} --region us-west-2\n" in out
    assert "Not seen by any guard: logins that are no Session Manager session" in out
    verbs = re.compile(r"[a-z0-9]+:(Describe|List)[A-Z]")
    assert [] == [action for action in ACTIONS if not verbs.match(action)]


def test_json_says_the_same(of_world, follows_schema):
    """With the state, the reason and the sentence of each guard; what nobody tells never passes."""
    code, out, _ = of_world("--json", describe_sessions=DENIED)
    found = json.loads(out)
    follows_schema("findings", found)
    assert (1, False, ["sessions"], None) == (
        code, found["ok"], found["held_back_by"], found["command"],
    )  # fmt: skip
    last = found["checks"][-1]
    assert ("sessions", "unknown", "ssm:DescribeSessions is denied") == (
        last["check"], last["state"], last["found"],
    )  # fmt: skip
    assert "Nobody has a Session Manager session on it." == last["must_hold"]
    assert GUARDS == [one["check"] for one in found["checks"]]


def test_without_a_line_there_is_no_verdict(of_world):
    """Exit 3, and no command: a day old, or never there."""
    code, out, err = of_world(later_ms=24 * 60 * 60_000)
    assert (3, "") == (code, out)
    assert f"No minute line of {INSTANCE} in the last 70 minutes" in err


@pytest.mark.parametrize("name", ["host-4c2e7", "i-", "i-0;reboot"])
def test_what_is_no_id_of_ec2_is_refused(typed, name):
    """Before anything is asked."""
    code, _, err = typed("findings", name)
    assert 2 == code
    assert "is no id of an EC2 instance" in err


def test_the_page_shows_what_is_printed(of_account, hour, marked, repository):
    """Of a held instance of the rehearsal's fleet, an hour after its start; read in review."""
    own = json.loads(next(line for line in hour.lines if f'"{IDLE_HELD}"' in line))

    def put(account):
        account.put_lines(account.records_group, hour.lines)
        account.put_lines(account.rollups_group, hour.rollups, late_ms=110_000)

    played = {
        **bare_instance(IDLE_HELD, "trn1.32xlarge", own["AvailabilityZone"]),
        "describe_instance_types": STORE, "describe_sessions": DENIED,
    }  # fmt: skip
    _, out, _ = of_account(END_S * 1000 + 150_000, put, played, IDLE_HELD)
    shown = f"```\n$ neuron-emf findings {IDLE_HELD}\n{out}```\n"
    page = repository / "docs" / "reference" / "findings.md"
    marked(page, "verdict", shown)
    text = page.read_text("utf-8")
    assert [] == [action for action in ACTIONS if f'"{action}"' not in text]
