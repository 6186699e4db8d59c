"""`neuron-emf check --deployment` names what a Region or an account lacks before a deployment."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from local.alarms.template import Template, load_template
from neuron_emf.check import command, deployment, listing
from neuron_emf.check.aws_client import ACCESS, CALL_REFUSED, NO_LOG_GROUP, UNREACHABLE, Answer
from neuron_emf.check_results import CHECK_UNKNOWN, CheckResult
from proof.factories.records import RECORDS_GROUP
from tests.neuron_emf.fake_aws import FakeAws


def stack(**parameters):
    """Return DescribeStacks's answer about a stack with these parameters."""
    named = {"StackName": "neuron-emf", "CreationTime": 0, "StackStatus": "CREATE_COMPLETE"}
    given = [
        {"ParameterKey": key, "ParameterValue": parameter} for key, parameter in parameters.items()
    ]
    return {"Stacks": [{**named, "Parameters": given}]}


def memory(most):
    """Return the Lambda quotas of Service Quotas, including the memory of a function."""
    rows = {"Concurrent executions": 1000, "Function memory maximum": most}
    return {"Quotas": [{"QuotaName": name, "Value": float(row)} for name, row in rows.items()]}


def type_of(TypeName, **_):  # noqa: N803  # as boto3 has it
    """Return the registry's description of a type with every required property."""
    members = {member: {} for kind, member in deployment.NEEDS.values() if kind == TypeName}
    return {"Schema": json.dumps({"properties": members})}


LACKS_NOTHING = {
    "describe_account_policies": {},
    "describe_log_groups": {},
    "describe_stacks": Answer("", reason=CALL_REFUSED, words="ValidationError: does not exist"),
    "describe_subscription_filters": Answer("", reason=NO_LOG_GROUP),
    "describe_type": type_of,
    "get_account_settings": {"AccountLimit": {"ConcurrentExecutions": 1000}},
    "get_caller_identity": {"Arn": "arn:aws:iam::111122223333:user/ops"},
    "list_service_quotas": memory(10240),
}


@pytest.fixture
def check(monkeypatch):
    """Return a function that runs the command on answers and returns exit code and rows."""

    def run(region="eu-south-2", **answers):
        fake = FakeAws({**LACKS_NOTHING, **answers}, region)
        monkeypatch.setattr(deployment, "connect", lambda *_: fake)
        words = ["--deployment", "--region", region, "--json"]
        ended = CliRunner().invoke(command.command, words, standalone_mode=False)
        rows = json.loads(ended.output)["checks"]
        return ended.return_value, {row["check"]: row for row in rows}

    return run


def filters(count):
    """Return *count* subscription filters of other owners."""
    return {"subscriptionFilters": [{"filterName": f"other-{number}"} for number in range(count)]}


GROUP_THERE = {"describe_log_groups": {"logGroups": [{"logGroupName": RECORDS_GROUP}]}}
ABSENT_PARTS: dict[str, dict[str, Any]] = {
    "a property": {"describe_type": {"Schema": '{"properties": {}}'}},
    "a type": {"describe_type": Answer("", reason=CALL_REFUSED, words="TypeNotFoundException: no")},
    "a schema that can be read": {"describe_type": {"Schema": "{"}},
    "concurrency": {"get_account_settings": {"AccountLimit": {"ConcurrentExecutions": 10}}},
    "room for the log group": GROUP_THERE,
    "memory": {"list_service_quotas": memory(256)},
    "the permission to read quotas": {
        "list_service_quotas": Answer("servicequotas:L", reason=ACCESS, words="denied")
    },
    "a subscription filter": {"describe_subscription_filters": filters(5)},
    "nothing next to four filters": {"describe_subscription_filters": filters(4)},
}


def test_a_region_that_has_everything_is_ok(check):
    """Every row is ok and the exit code is 0 in a Region that has everything."""
    code, rows = check()
    assert 0 == code
    assert {"ok"} == {row["state"] for row in rows.values()}
    assert deployment.NEEDS.keys() <= rows.keys()
    _, elsewhere = check("us-gov-west-1")
    assert {*deployment.YOUNG} == rows.keys() - elsewhere.keys()


def test_a_missing_requirement_has_its_next_step(check, golden, repository):
    """Each lack has a row with the next step; a lack that the template needs is a failure."""
    lines = []
    for absent, answers in ABSENT_PARTS.items():
        code, rows = check(**answers)
        lines.append(f"{absent} is missing: exit code {code}\n")
        lines += [
            f"  {row['state']}: {name}: {row['found']}; {row['advice']}\n"
            for name, row in rows.items()
            if row["state"] != "ok"
        ]
    golden(repository / "tests/data/shown/check-deployment.txt", "".join(lines))


@pytest.mark.parametrize("reason", [ACCESS, UNREACHABLE, "throttled"])
def test_an_unanswered_question_is_not_a_success(check, reason):
    """Each unanswered question is exit code 1, except two that the deployment does not need."""
    refusal = Answer("a:B", reason=reason, words="x")
    spared = {
        "describe_account_policies",
        "get_account_settings",
        "get_caller_identity",
        "list_service_quotas",
    }
    for operation in LACKS_NOTHING:
        code, rows = check(**{operation: refusal})
        assert (operation not in spared) == code
        assert {"warning", "unknown"} & {row["state"] for row in rows.values()}
    assert 1 == check(**dict.fromkeys(LACKS_NOTHING, refusal))[0]
    unanswered = [CheckResult(CHECK_UNKNOWN, "not known")]
    assert (
        "It is unknown whether the stack can be deployed: 1 unknown."
        == (listing.for_people(unanswered, [], listing.CAN_DEPLOY)[-1])
    )


def test_a_stack_with_a_stream_hears_which_shards_it_reaches(check):
    """A stack with 1 shard reaches 5 shards in the steps that the pages name."""
    resource: dict[str, Any] = {
        "LogicalResourceId": "RecordsStream",
        "ResourceType": "AWS::Kinesis::Stream",
    }
    resource |= {"LastUpdatedTimestamp": 0, "ResourceStatus": "CREATE_COMPLETE"}
    stream: dict[str, Any] = {
        "StreamName": "s",
        "StreamARN": "arn:aws:kinesis:::s",
        "StreamStatus": "ACTIVE",
    }
    stream |= {"RetentionPeriodHours": 24, "StreamCreationTimestamp": 0, "EnhancedMonitoring": []}
    _, rows = check(
        describe_stacks=stack(Mode="kinesis", StreamShards="1"),
        describe_stack_resource={"StackResourceDetail": {**resource, "PhysicalResourceId": "s"}},
        describe_stream_summary={"StreamDescriptionSummary": {**stream, "OpenShardCount": 1}},
        **GROUP_THERE,
    )
    steps = "1 open: the next deployment reaches 1 to 2, and 5 are reached by 2, 4, 5"
    assert steps == rows["shards"]["found"]
    assert "ok" == rows["log group"]["state"]  # the log group is the stack's own


@pytest.mark.parametrize(("most", "state"), [(5307, "ok"), (3008, "failed")])
def test_the_memory_of_close_is_compared_with_the_limit_of_the_account(check, most, state):
    """The deployment is allowed if the account's limit is at least the memory of close."""
    _, rows = check(describe_stacks=stack(CloseMemory="5307"), list_service_quotas=memory(most))
    assert state == rows["function memory"]["state"]
    assert f"{most} MB" in rows["function memory"]["found"]


def test_the_template_leaves_out_young_properties(repository):
    """The template leaves out the young properties, and no others, outside of the partition aws."""
    template = load_template(repository / "template.yaml")
    ways = [Template(template, {"AWS::Partition": value}) for value in ("aws", "aws-us-gov")]
    gone = set()
    for name, resource in template["Resources"].items():
        new, old = (way.resolve(resource["Properties"]) for way in ways)
        assert set() == old.keys() - new.keys()
        gone |= {(resource["Type"], member) for member in new.keys() - old.keys()}
        assert "{{" not in json.dumps(old), name
    assert {tuple(deployment.NEEDS[name]) for name in deployment.YOUNG} == gone
