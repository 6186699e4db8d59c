"""`neuron-emf check --deployment`: what a region or an account lacks, before anything is made."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from local.alarms.template import Template, load_template
from neuron_emf.check import command, deployment
from neuron_emf.check.aws_client import MISSING, REFUSED, Answer

GROUP = "/neuron-emf/records"
STACK = {"Mode": "kinesis", "StreamShards": "1"}


class PlayedAws:
    """An account and a region by what each operation answers; the default lacks nothing."""

    region = "us-gov-west-1"

    def __init__(self, **answers):
        self.answers = {
            "get_caller_identity": {"Arn": "arn:aws-us-gov:iam::111122223333:user/ops"},
            "describe_stacks": Answer("", reason=REFUSED, words="ValidationError: does not exist"),
            "get_account_settings": {"AccountLimit": {"ConcurrentExecutions": 1000}},
            "describe_subscription_filters": Answer("", reason=MISSING),
            **answers,
        }

    def ask(self, service, operation, **asked):
        if operation == "describe_type" and operation not in self.answers:
            members = {one.member: {} for one in deployment.NEEDS if one.kind == asked["TypeName"]}
            return Answer("", {"Schema": json.dumps({"properties": members})})
        answer = self.answers.get(operation, {})
        return answer if isinstance(answer, Answer) else Answer(f"{service}:{operation}", answer)

    def ask_all(self, service, operation, member, **asked):
        answer = self.ask(service, operation, **asked)
        return answer, list(answer.response.get(member, ()))


@pytest.fixture
def check(monkeypatch):
    """Run the command against a played account; its exit code and its rows by check."""

    def run(**answers):
        monkeypatch.setattr(deployment, "AwsClient", lambda _account: PlayedAws(**answers))
        words = ["--deployment", "--region", "us-gov-west-1", "--json"]
        ended = CliRunner().invoke(command.command, words, standalone_mode=False)
        rows = json.loads(ended.output)["checks"]
        return ended.return_value, {one["check"]: one for one in rows}

    return run


def filters(count):
    """So many subscription filters of others."""
    return {"subscriptionFilters": [{"filterName": f"other-{one}"} for one in range(count)]}


def test_a_region_that_has_everything_is_ok(check):
    """Every row, and the exit code."""
    code, rows = check()
    assert (0, {"ok"}) == (code, {one["state"] for one in rows.values()})
    assert {one.check for one in deployment.NEEDS} <= rows.keys()


@pytest.mark.parametrize(
    ("answers", "name", "state", "words"),
    [
        ({"describe_type": {"Schema": '{"properties": {}}'}}, "alarm warm-up", "warning", "False"),
        ({"describe_type": {"Schema": '{"properties": {}}'}}, "schedules", "failed", "region"),
        (
            {"describe_type": Answer("", reason=REFUSED, words="TypeNotFoundException: no")},
            "query parameters",
            "warning",
            "NewFeatures=false",
        ),
        ({"describe_type": {"Schema": "{"}}, "schedules", "warning", "again"),
        (
            {"get_account_settings": {"AccountLimit": {"ConcurrentExecutions": 10}}},
            "concurrency",
            "warning",
            "reserve none",
        ),
        (
            {"describe_log_groups": {"logGroups": [{"logGroupName": GROUP}]}},
            "log group",
            "warning",
            "AdoptLogGroup=true",
        ),
        ({"describe_subscription_filters": filters(5)}, "subscription filters", "failed", "delete"),
        ({"describe_subscription_filters": filters(4)}, "subscription filters", "ok", ""),
    ],
)
def test_what_is_lacking_is_said_with_what_to_do(check, answers, name, state, words):
    """What the template does without is a warning, what it needs a failure."""
    code, rows = check(**answers)
    assert state == rows[name]["state"]
    assert words.lower() in (rows[name]["advice"] or "").lower()
    assert (code == 1) == ("failed" in {one["state"] for one in rows.values()})


def test_a_stack_with_a_stream_hears_which_shards_it_reaches(check):
    """From 1 to 5 by the steps that the pages name."""
    parameters = [{"ParameterKey": key, "ParameterValue": one} for key, one in STACK.items()]
    _, rows = check(
        describe_stacks={"Stacks": [{"Parameters": parameters}]},
        describe_stack_resource={"StackResourceDetail": {"PhysicalResourceId": "s"}},
        describe_stream_summary={"StreamDescriptionSummary": {"OpenShardCount": 1}},
        describe_log_groups={"logGroups": [{"logGroupName": GROUP}]},
    )
    assert (
        "1 open: the next deployment reaches 1 to 2, and 5 are reached by 2, 4, 5"
        == (rows["shards"]["found"])
    )
    assert "ok" == rows["log group"]["state"]  # it is the stack's own


def test_what_is_young_is_what_the_template_does_without(repository):
    """Nothing else goes with NewFeatures=false, and every young property is asked for."""
    template = load_template(repository / "template.yaml")
    ways = [Template(template, {"NewFeatures": value}) for value in ("true", "false")]
    gone = set()
    for name, resource in template["Resources"].items():
        new, old = (one.resolve(resource["Properties"]) for one in ways)
        assert set() == old.keys() - new.keys()
        gone |= {(resource["Type"], member) for member in new.keys() - old.keys()}
        assert "{{" not in json.dumps(old), name
    assert {(one.kind, one.member) for one in deployment.NEEDS if one.is_young} == gone
