"""The house rules hold for the template as CloudFormation receives it, and each can be broken."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter

import pytest

from tests.programs import run_program

cfn_guard_rs = pytest.importorskip(
    "cfn_guard_rs", reason="cfn-guard-rs has no wheel for this Python"
)

WITHOUT = object()


@pytest.fixture(scope="session")
def rules(repository):
    """The rules as they are written."""
    return (repository / "tests" / "stack" / "house.guard").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def translated(repository, request):
    """template.yaml after AWS's translator."""
    python = repository / ".venv-sam" / "bin" / "python"
    if not python.exists():
        problem = pytest.fail if request.config.getoption("--built") else pytest.skip
        problem(".venv-sam is missing: make venvs makes it")
    run = run_program(
        [str(python), "-B", "tests/stack/translation.py", "template.yaml"], cwd=repository
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


RULE = re.compile(
    r"^rule (?P<name>\w+) \{.+?<<\s*(?P<sentence>.+?)\s*>>.*?^\}\n", re.MULTILINE | re.DOTALL
)


def keeps(template, rules, name):
    """
    Whether *template* keeps one rule. Asked one by one: cfn-guard-rs 0.3.3 cuts a long report, and
    only what is broken is long.
    """
    alone = RULE.sub(lambda rule: rule[0] if rule["name"] == name else "", rules)
    try:
        return name in cfn_guard_rs.run_checks(template, alone).compliant
    except json.JSONDecodeError:
        return False


def names(rules):
    """Every rule of the file."""
    return {rule["name"] for rule in RULE.finditer(rules)}


def test_the_template_keeps_every_house_rule(translated, rules):
    """None is broken, and none has nothing to look at."""
    sentences = {rule["name"]: rule["sentence"] for rule in RULE.finditer(rules)}
    assert {} == {
        name: sentence for name, sentence in sentences.items() if not keeps(translated, rules, name)
    }


def test_the_stack_stays_small(translated):
    """Each resource is something to be billed, read and understood."""
    kinds = Counter(one["Type"] for one in translated["Resources"].values())
    assert 90 >= kinds.total()
    assert 16 >= kinds["AWS::CloudWatch::Alarm"]
    assert 9 >= kinds["AWS::Logs::QueryDefinition"]
    assert 1 == kinds["AWS::CloudWatch::Dashboard"]
    assert 38 >= len(translated["Parameters"])


def statement_of(template, resource, *, choice=False):
    """The first statement of a role's or a policy's document; with *choice* a conditional one."""
    properties = template["Resources"][resource]["Properties"]
    document = properties.get("PolicyDocument") or properties["Policies"][0]["PolicyDocument"]
    if not choice:
        return document["Statement"][0]
    return next(one["Fn::If"][1] for one in document["Statement"] if "Fn::If" in one)


def change(*path, value=WITHOUT):
    """A plant: one member gets another value, or goes."""

    def planted(template):
        place = template["Resources"]
        for step in path[:-1]:
            place = place[step]
        if value is WITHOUT:
            del place[path[-1]]
        else:
            place[path[-1]] = value

    return planted


def state(resource, *, choice=False, **members):
    """A plant: a statement of a policy says something else."""

    def planted(template):
        statement_of(template, resource, choice=choice).update(members)

    return planted


def properties(resource, *path, value=WITHOUT):
    """A plant among a resource's properties."""
    return change(resource, "Properties", *path, value=value)


TARGETS = ("DepartureRule", "Properties", "Targets", 0)
INVOCATION = "IngestFunctionEventInvokeConfig"
PLANTS = [
    ("log_groups_forget", properties("ExplainLogGroup", "RetentionInDays")),
    ("deletion_is_decided", change("RecordsTable", "DeletionPolicy")),
    ("encryption_is_stated", properties("RollupsLogGroup", "KmsKeyId")),
    ("encryption_is_stated", properties("RecordsTable", "SSESpecification")),
    ("encryption_is_stated", properties("AlarmTopic", "KmsMasterKeyId")),
    ("encryption_is_stated", properties("UndeliveredQueue", "KmsMasterKeyId")),
    ("encryption_is_stated", properties("RecordsStream", "StreamEncryption")),
    ("encryption_is_stated", properties("CloseFunction", "KmsKeyArn")),
    ("failed_invocations_are_kept", change("ExplainFunctionEventInvokeConfig")),
    ("failed_invocations_are_kept", properties(INVOCATION, "DestinationConfig")),
    ("failed_batches_are_kept", properties("StreamReader", "DestinationConfig")),
    ("failed_batches_are_kept", properties("StreamReader", "MaximumRetryAttempts", value=-1)),
    ("failed_batches_are_kept", properties("StreamReader", "FunctionResponseTypes")),
    ("failed_deliveries_are_kept", change(*TARGETS, "DeadLetterConfig")),
    ("missing_points_are_decided", properties("UndeliveredAlarm", "TreatMissingData")),
    ("functions_are_bounded", properties("CloseFunction", "Timeout")),
    ("metrics_come_from_log_lines", state("EmitterPolicy", Action="cloudwatch:PutMetricData")),
    ("metrics_come_from_log_lines", state("CloseRole", Action=["CloudWatch:putMetricData"])),
    ("actions_are_named", state("DepartureRole", Action=["dynamodb:Put*"])),
    ("actions_are_named", state("CloseRole", choice=True, Action=["events:*"])),
    ("wildcard_resources_have_a_reason", change("SettleRole", "Metadata")),
    ("wildcard_resources_have_a_reason", state("SubscriptionRole", choice=True, Resource="*")),
    ("policies_only_allow_what_is_listed", state("CloseRole", NotAction="iam:*")),
    ("invokers_are_known", properties("IngestPermission", "SourceAccount")),
    ("services_act_for_this_account", state("AlarmTopicPolicy", Principal="*")),
]


@pytest.mark.parametrize(("rule", "plant"), PLANTS)
def test_a_planted_violation_is_found(translated, rules, rule, plant):
    """By the rule that is meant for it."""
    template = copy.deepcopy(translated)
    plant(template)
    assert not keeps(template, rules, rule)


def test_every_rule_has_a_planted_violation(rules):
    """A rule that cannot be broken guards nothing."""
    assert names(rules) == {rule for rule, _ in PLANTS}
