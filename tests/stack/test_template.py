"""The resources of template.yaml and the values that its parameters accept."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from itertools import product

import pytest
from aws_lambda_powertools.shared import constants as powertools

from aggregator import environment
from local.alarms.template import Template
from neuron_wire.catalogue import DEFAULT_ROLLUP_METRICS
from neuron_wire.minute_record import MinuteRecord
from tests.stack.stack_template import EMULATED, of_type

FUNCTION_TYPE = "AWS::Serverless::Function"
LOG_GROUP_TYPE = "AWS::Logs::LogGroup"
FUNCTION_IDS = [
    "IngestFunction",
    "CloseFunction",
    "SettleFunction",
    "DigestFunction",
    "DepartureFunction",
    "ExplainFunction",
]
UNIT_WORDS = (
    r"\b(seconds|minutes|days|percent|USD|points|shards|deliveries|instances|executions|messages"
    r"|clusters)\b"
)
OWN_VARIABLES = {
    "MESSAGES_LOG_GROUP": ["Ingest"],
    "GRACE_SECONDS": ["Close"],
    "MAX_CLUSTERS": ["Close"],
    "METRICS": ["Close"],
    "FINDINGS_BUS": ["Close"],
    "PRICE_OVERRIDES": ["Close", "Settle"],
    "PAID_BY_TYPE": ["Close", "Settle"],
    "TEAMS": ["Close", "Settle"],
    "LEDGER_BUCKET": ["Settle", "Digest"],
    "ALARM_TOPIC_ARN": ["Explain", "Digest"],
    "RECORDS_LOG_GROUP": ["Close", "Explain"],
    "CHAT_TOPIC_ARN": ["Explain"],
    "RUNBOOK": ["Explain"],
    "DASHBOARD": ["Explain"],
}
RULE_PARAMETERS = [
    "GraceSeconds",
    "LateMinutes",
    "IdleAfterMinutes",
    "SilentAfterMinutes",
    "MaxClusters",
]


# --- parameters ---


def test_every_parameter_has_a_description_and_its_allowed_values(template):
    """
    Every parameter has a default, bounds or a pattern, and sentences with unit, bounds and the
    meaning of empty.
    """
    bounds = ({"AllowedValues"}, {"AllowedPattern"}, {"MinValue", "MaxValue"}, {"MaxLength"})
    for name, parameter in template["Parameters"].items():
        words = parameter["Description"]
        assert any(bound <= parameter.keys() for bound in bounds), name
        assert words.endswith("."), name
        assert parameter["Default"] != "" or "Empty means" in words, name
        if parameter["Type"] == "Number":
            values = parameter.get("AllowedValues") or [
                parameter["MinValue"],
                parameter["MaxValue"],
            ]
            assert re.search(UNIT_WORDS, words, re.IGNORECASE), name
            assert f"{min(values)} to {max(values)}" in words, name


# --- two stacks in one account ---


def test_nothing_has_a_name_that_a_second_stack_would_also_want(template):
    """
    A resource has the stack's name or a parameter in its name, or a name that CloudFormation makes.
    """
    # FunctionName, MetricName and PolicyName are names of other resources
    of_others = {"FunctionName", "MetricName", "PolicyName"}
    names = {
        f"{logical_id}.{member}": value
        for logical_id, resource in template["Resources"].items()
        for member, value in resource["Properties"].items()
        if member.endswith("Name") and member not in of_others
    }
    for name, value in names.items():
        for way in value["Fn::If"][1:] if "Fn::If" in value else [value]:
            assert "Ref" in way or "${AWS::StackName}" in way["Fn::Sub"], name
    fixed = {"RoleName", "ManagedPolicyName", "TableName", "QueueName", "AlarmName"}
    assert set() == fixed & {name.partition(".")[2] for name in names}


# --- the rehearsal ---


def test_what_is_not_emulated_is_listed(template, deployed):
    """The list that the rehearsal prints is exactly what its account does not emulate."""
    real = deployed()
    emulated = deployed(**EMULATED)
    assert set() == emulated.keys() - real.keys()
    listed = template["Metadata"]["Rehearsal"]["NotEmulated"]
    names = [name for entry in listed for name in entry["Resources"]]
    assert sorted(real.keys() - emulated.keys()) == sorted(names)
    assert all(entry["Why"] for entry in listed)


# --- log groups and functions ---


def test_the_raw_lines_outlive_the_stack(deployed):
    """
    The raw lines outlive the stack, because they are the only copy. A failed first deployment does
    not block the next.
    """
    records = deployed()["RecordsLogGroup"]
    assert records["DeletionPolicy"] == "RetainExceptOnCreate"
    assert records["UpdateReplacePolicy"] == "Retain"
    assert records["Properties"]["LogGroupClass"] == "STANDARD"


class Recorded(dict):
    """Variables that remember which of them were read."""

    def __init__(self, variables):
        super().__init__(variables)
        self.read = set()

    def get(self, name, default=None):
        """Return a variable as a dictionary does."""
        self.read.add(name)
        return super().get(name, default)

    def __getitem__(self, name):
        self.read.add(name)
        return super().__getitem__(name)


def variables_of(template, deployed, function, **parameters):
    """Return the environment of one function in a deployment; all values are text."""
    shared = template["Globals"]["Function"]["Environment"]["Variables"]
    values = {"RecordsTable": "table", "RollupsLogGroup": "rollups", "AWS::StackName": "stack"}
    defaults = {name: parameter["Default"] for name, parameter in template["Parameters"].items()}
    values |= {name: str(value) for name, value in {**defaults, **parameters}.items()}
    own = deployed(**parameters)[function]["Properties"]["Environment"]["Variables"]
    texts = {name: str(value) for name, value in own.items()}
    return {name: values[value["Ref"]] for name, value in shared.items()} | texts


@pytest.mark.parametrize("function", FUNCTION_IDS)
def test_a_function_gets_the_variables_that_it_reads(template, deployed, function):
    """
    A function has exactly the variables that it reads. Lambda sets AWS_ variables; `OWN` lists
    variables of some functions.
    """
    given = Recorded(variables_of(template, deployed, function))
    environment.read_environment(given)
    read = {name for name in given.read if not name.startswith("AWS_")}
    read -= {
        name
        for name, owners in OWN_VARIABLES.items()
        if function.removesuffix("Function") not in owners
    }
    of_powertools = {
        value for name, value in vars(powertools).items() if name.endswith("_ENV")
    } & given.keys()
    assert given.keys() == read | of_powertools


def test_the_template_and_the_code_have_the_same_defaults(template, deployed):
    """
    Template and code have the same defaults, so that tests without rules use the deployed ones.
    """
    given = variables_of(template, deployed, "CloseFunction")
    assert environment.Rules() == environment.read_environment(given).rules


@pytest.mark.parametrize(("name", "bound"), [*product(RULE_PARAMETERS, ["MinValue", "MaxValue"])])
def test_what_cloudformation_accepts_the_functions_accept(template, deployed, name, bound):
    """
    Functions accept what CloudFormation accepts, so that a deployment does not fail at its first
    event.
    """
    value = template["Parameters"][name][bound]
    given = variables_of(template, deployed, "CloseFunction", **{name: value})
    assert value in asdict(environment.read_environment(given).rules).values()


# --- the subscription ---


def test_the_filter_passes_minute_lines_and_no_rollups(deployed):
    """The filter's term is a member of every minute record and in no rollup."""
    properties = deployed()["RecordsSubscription"]["Properties"]
    term = properties["FilterPattern"].strip('"')
    assert f'"{term}"' == properties["FilterPattern"]
    smallest = MinuteRecord(
        cluster="training",
        instance_id="i-0",
        boot="0" * 20,
        seq=1,
        minute_ms=0,
        covered_seconds=0.0,
        reports=0,
    )
    assert term in smallest.members()
    assert not [name for name in DEFAULT_ROLLUP_METRICS if term in name]
    assert properties["FilterName"]
    counter = deployed()["LinesCounter"]["Properties"]
    for member in ("FilterPattern", "LogGroupName"):
        assert properties[member] == counter[member]


def test_no_function_writes_to_the_group_it_is_fed_from(deployed):
    """No function writes to the log group that invokes it, because that is an endless loop."""
    resources = deployed()
    source = resources["RecordsLogGroup"]["Properties"]["LogGroupName"]
    for name, properties in of_type(resources, LOG_GROUP_TYPE).items():
        if name != "RecordsLogGroup":
            assert source != properties["LogGroupName"]
    for name, properties in of_type(resources, FUNCTION_TYPE).items():
        assert properties["LoggingConfig"]["LogGroup"] != "<RecordsLogGroup>", name


TOPIC = "arn:aws:sns:eu-west-1:111122223333"
KEY = "arn:aws:kms:eu-west-1:111122223333"
TOPICS = [f"{TOPIC}:on-call_1", "arn:aws-cn:sns:cn-north-1:111122223333:pager", ""]
NO_TOPICS = [f"{TOPIC}:pager.fifo", "pager"]
SENSIBLE = {
    "AlarmTopicArn": TOPICS,
    "DigestTopicArn": TOPICS,
    "AlarmEmail": ["ops@example.org", ""],
    "KmsKeyArn": [f"{KEY}:key/1234abcd-12ab-34cd-56ef-1234567890ab", ""],
    "Metrics": ["IdleCores,NeuronCores", "TeraFlops", ""],
    "PermissionsBoundaryArn": ["arn:aws-us-gov:iam::111122223333:policy/team/bound", ""],
    "RolePath": ["/", "/monitoring/neuron/"],
    "SubnetIds": ["subnet-0a1b,subnet-2c3d", ""],
    "SecurityGroupIds": ["sg-0a1b", ""],
    "Runbook": ["https://wiki.example.org/neuron#alarms", ""],
    "LedgerBucketName": ["neuron-emf-ledgerbucket-1a2b3c4d5e6f", "the.ledger", ""],
}
USELESS = {
    "AlarmTopicArn": NO_TOPICS,
    "DigestTopicArn": NO_TOPICS,
    "AlarmEmail": ["ops", "ops@example.org, more@example.org"],
    "KmsKeyArn": ["alias/neuron", f"{KEY}:alias/neuron"],
    "PermissionsBoundaryArn": ["bound", "arn:aws:iam::111122223333:role/bound"],
    "RolePath": ["", "monitoring", "/monitoring", "//"],
    "SubnetIds": ["subnet-0a1b, subnet-2c3d", "vpc-0a1b"],
    "SecurityGroupIds": ["default"],
    "Metrics": ["IdleCores,", "IdleCores NeuronCores", "neuron-cores", "a," * 240 + "b"],
    "Runbook": [
        "our wiki",
        "docs/operations.md",
        "http://wiki.example.org",
        "https://",
        "https://wiki.example.org/\u00e9",
    ],
    "LedgerBucketName": ["arn:aws:s3:::ledger", "s3://ledger", "Ledger", "ab"],
}


@pytest.mark.parametrize(("table", "expected"), [(SENSIBLE, True), (USELESS, False)])
def test_what_cannot_work_is_refused_before_anything_is_made(template, table, expected):
    """
    An impossible value is refused before a resource is made, and usual values are accepted: a
    pattern matches the whole value.
    """
    for name, values in table.items():
        parameter = template["Parameters"][name]
        for value in values:
            within = len(value) <= parameter.get("MaxLength", len(value))
            accepted = within and bool(re.fullmatch(parameter["AllowedPattern"], value))
            assert expected == accepted, f"{name}={value}"


MAX_ENVIRONMENT_BYTES = 4096  # Lambda's limit for all variables of a function as JSON


def test_whatever_the_parameters_hold_the_variables_of_each_function_fit(template):
    """
    Variables of each function fit with every value at its longest, because one entry too many must
    not fail an upgrade.
    """
    longest = {name: longest_value(parameter) for name, parameter in template["Parameters"].items()}
    longest["AWS::StackName"] = "s" * 128
    physical = {name: f"{'s' * 128}-{name}-{'x' * 13}" for name in template["Resources"]}
    physical |= {"ChatTopic": "x" * 320}  # length of an ARN
    resolved = Template(template, longest, physical)
    shared = template["Globals"]["Function"]["Environment"]["Variables"]
    for name, function in resolved.resources("AWS::Serverless::Function"):
        variables = {**resolved.resolve(shared), **function["Environment"]["Variables"]}
        text = json.dumps(variables, separators=(",", ":"))
        assert len(text) <= MAX_ENVIRONMENT_BYTES, f"{name}: {len(text)}"


def longest_value(parameter):
    """Return the longest value that CloudFormation accepts; each character is a byte."""
    if parameter["Default"] in {"true", "false"}:
        return "true"
    if "AllowedValues" in parameter:
        return max(map(str, parameter["AllowedValues"]), key=len)
    if parameter["Type"] == "Number":
        return str(parameter["MaxValue"])
    return "x" * parameter.get("MaxLength", 100)
