"""Whether an instance may be given back, by histories of which their maker knows whether it may."""

from __future__ import annotations

import json

import pytest

from neuron_emf.account import Account
from neuron_emf.check import aws_client
from neuron_emf.findings.account_guards import ACCOUNT_GUARDS
from neuron_emf.findings.account_reading import ACTIONS, read_account_facts
from neuron_emf.findings.facts import Untold
from neuron_emf.findings.line_guards import LINE_GUARDS
from neuron_emf.reading import periods
from proof.logs.forms import matcher
from tests.neuron_emf.findings.histories import CLEAN, WRONG
from tests.neuron_emf.findings.played_account import ModelledAws
from tests.neuron_emf.findings.world import INSTANCE, World, text_of

SEEDS = range(3)
IN_GROUP = "autoscaling terminate-instance-in-auto-scaling-group"
SHRINK = "--should-decrement-desired-capacity"


class Logs:
    """Both log groups of a world, whose lines of one moment are in any order."""

    def __init__(self, world):
        self.groups = {"records": world.lines, "rollups": world.rollups}
        for lines in self.groups.values():
            world.rng.shuffle(lines)

    def filter_log_events(self, logGroupName, startTime, endTime, filterPattern="", **_):  # noqa: N803
        name = "rollups" if logGroupName.endswith("/rollups") else "records"
        matches = matcher(filterPattern)
        events = [
            {"timestamp": at_ms, "message": text_of(line)}
            for at_ms, line in sorted(self.groups[name], key=lambda entry: entry[0])
            if startTime <= at_ms <= endTime
        ]
        return {"events": [one for one in events if matches(one["message"])]}


@pytest.fixture
def judged(typed, monkeypatch):
    """What `neuron-emf findings` says of a history: its exit code and its JSON."""

    def call(kind, seed):
        world = World(seed)
        kind(world)
        monkeypatch.setattr(Account, "client", lambda *_: Logs(world))
        monkeypatch.setattr(periods, "now_ms", lambda: world.now_ms)
        monkeypatch.setattr(aws_client, "AwsClient", lambda _: ModelledAws(world.answers))
        code, out, err = typed("findings", INSTANCE, "--json", "-r", "us-west-2", *world.words)
        assert "" == err
        return code, json.loads(out)

    return call


@pytest.mark.parametrize("name", WRONG)
def test_no_wrong_history_is_given_back(judged, name):
    """It is held back by the guards that see it and by no others, and no command is printed."""
    for seed in SEEDS:
        code, found = judged(WRONG[name].spoil, seed)
        assert WRONG[name].held_back_by.split() == found["held_back_by"], seed
        assert (1, None) == (code, found["command"]), seed


@pytest.mark.parametrize("name", CLEAN)
def test_every_clean_history_is_given_back(judged, name):
    """Else a guard that always fails would do."""
    for seed in SEEDS:
        code, found = judged(CLEAN[name], seed)
        assert ([], 0) == (found["held_back_by"], code), seed


def test_each_guard_is_needed():
    """Of each there is a history that it alone holds back."""
    alone = {kind.held_back_by for kind in WRONG.values()}
    assert [] == [one.name for one in (*LINE_GUARDS, *ACCOUNT_GUARDS) if one.name not in alone]


def test_what_was_found_is_said(judged, golden, repository):
    """Of each kind, by the guards that hold it back; read in review."""
    lines = [
        f"{name}: {one['check']} {one['state']}: {one['found']}\n"
        for name, kind in WRONG.items()
        for one in judged(kind.spoil, 0)[1]["checks"]
        if one["state"] != "ok"
    ]
    clean = judged(CLEAN["nothing else"], 0)[1]["checks"]
    lines += [f"{one['check']} {one['state']}: {one['found']}\n" for one in clean]
    golden(repository / "tests/data/shown/guards.txt", "".join(lines))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (CLEAN["in a group"], f"{IN_GROUP} --instance-id {INSTANCE} {SHRINK}"),
        (World.leave_group, f"ec2 stop-instances --instance-ids {INSTANCE}"),
        (lambda w: (w.leave_group(), w.instance.update(InstanceLifecycle="spot")),
         f"ec2 terminate-instances --instance-ids {INSTANCE}"),
    ],
)  # fmt: skip
def test_the_command_gives_the_instance_back_for_good(judged, kind, words):
    """A group would replace a stopped instance, and EC2 stops no spot instance."""
    assert f"aws {words} --region us-west-2" == judged(kind, 0)[1]["command"]


def test_it_asks_what_the_page_allows_and_no_more():
    """Of an instance that is in a group and in an ECS cluster, so that every question is asked."""
    world = World(0)
    world.join_group()
    world.join_ecs({"containerInstances": [{"ec2InstanceId": INSTANCE}]})
    aws = ModelledAws(world.answers)
    assert ("prod",) == read_account_facts(aws, INSTANCE).ecs_clusters
    assert list(ACTIONS) == sorted(set(aws.asked))


def test_a_list_without_an_end_is_untold():
    """Pages that never stop say nothing of what follows."""
    endless = {**World(0).answers, "describe_sessions": {"Sessions": [], "NextToken": "more"}}
    found = read_account_facts(ModelledAws(endless), INSTANCE)
    assert Untold("ssm:DescribeSessions: too many pages") == found.sessions
