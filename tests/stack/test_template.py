"""What template.yaml promises to whoever deploys it."""

from __future__ import annotations

import re
from dataclasses import asdict
from itertools import product

import pytest
import yaml
from aws_lambda_powertools.shared import constants as powertools

from aggregator import environment
from neuron_wire.catalogue import ROLLUP
from neuron_wire.minute import MinuteRecord
from tests.stack.stated_alarms import EMULATED
from tests.stack.template_resources import of_type

FUNCTION = "AWS::Serverless::Function"
LOG_GROUP = "AWS::Logs::LogGroup"
FUNCTIONS = [
    "IngestFunction",
    "CloseFunction",
    "SettleFunction",
    "DigestFunction",
    "DepartureFunction",
    "ExplainFunction",
]
UNITS = (
    r"\b(seconds|minutes|days|percent|USD|points|shards|deliveries|instances|executions|messages"
    r"|clusters)\b"
)
OWN = {
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
}
RULES = [
    "GraceSeconds",
    "LateMinutes",
    "IdleAfterMinutes",
    "SilentAfterMinutes",
    "MaxClusters",
]


# --- order and words ---


def test_every_parameter_says_what_it_is_and_what_it_may_be(template):
    """
    A default, and bounds or a pattern that CloudFormation itself checks; its description has
    the unit and bounds of a number, and what empty means, in one sentence.
    """
    bounds = ({"AllowedValues"}, {"AllowedPattern"}, {"MinValue", "MaxValue"}, {"MaxLength"})
    for name, parameter in template["Parameters"].items():
        words = parameter["Description"]
        assert any(bound <= parameter.keys() for bound in bounds), name
        assert words.endswith("."), name
        assert ". " not in words, name
        assert parameter["Default"] != "" or "empty means" in words, name
        if parameter["Type"] == "Number":
            values = parameter.get("AllowedValues") or [
                parameter["MinValue"],
                parameter["MaxValue"],
            ]
            assert re.search(UNITS, words, re.IGNORECASE), name
            assert f"{min(values)} to {max(values)}" in words, name


def test_the_console_shows_every_parameter_in_one_group(template):
    """One in no group would appear under *Other parameters*; what to decide first comes first."""
    groups = template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    shown = [name for group in groups for name in group["Parameters"]]
    assert list(template["Parameters"]) == shown
    assert 38 >= len(shown)


def test_every_output_says_who_needs_it(template):
    """Who, or what for: an output that nobody needs is not there."""
    for name, output in template["Outputs"].items():
        assert re.match(r"For \w+.+\.$", output["Description"]), name


def test_no_part_of_the_template_is_an_alias(template_text):
    """CloudFormation reads YAML without them, and the SAM CLI would hide that."""
    tokens = yaml.scan(template_text)
    assert [] == [one for one in tokens if isinstance(one, (yaml.AliasToken, yaml.AnchorToken))]


def test_the_samconfig_names_no_account_no_region_and_no_parameter(repository):
    """
    The same file serves everyone who deploys, and the stack holds its parameters: a saved list is
    replaced whole by the next --parameter-overrides, and what it named falls back to its default.
    """
    text = (repository / "samconfig.toml").read_text(encoding="utf-8")
    assert not re.search(r"\d{12}|region *=|beta|s3_bucket|parameter_overrides *=", text)


# --- two stacks in one account ---


def test_nothing_has_a_name_that_a_second_stack_would_also_want(template):
    """
    Named resources carry the stack's name or a parameter; the rest is named by CloudFormation.
    """
    of_others = {"FunctionName", "MetricName", "PolicyName"}  # the last is within its roles
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


def test_the_schedule_has_no_name_of_sams_making(template):
    """SAM would name every stack's schedule after the function alone."""
    for function in ("CloseFunction", "SettleFunction", "DigestFunction"):
        (schedule,) = template["Resources"][function]["Properties"]["Events"].values()
        assert schedule["Properties"]["OmitName"] is True


# --- what the rehearsal leaves out ---


def test_what_is_not_emulated_is_listed(template, deployed):
    """The list that the rehearsal prints is what its account leaves out, neither more nor less."""
    real, emulated = deployed(), deployed(**EMULATED)
    assert set() == emulated.keys() - real.keys()
    listed = template["Metadata"]["Rehearsal"]["NotEmulated"]
    names = [name for entry in listed for name in entry["Resources"]]
    assert sorted(real.keys() - emulated.keys()) == sorted(names)
    assert all(entry["Why"] for entry in listed)


# --- log groups and functions ---


def test_the_raw_lines_outlive_the_stack(deployed):
    """
    They are the only copy; a first deployment that fails leaves nothing in the way of the next.
    """
    records = deployed()["RecordsLogGroup"]
    assert records["DeletionPolicy"] == "RetainExceptOnCreate"
    assert records["UpdateReplacePolicy"] == "Retain"
    assert records["Properties"]["LogGroupClass"] == "STANDARD"


def test_every_function_states_where_its_output_and_its_failures_go(deployed):
    """
    A log group of its own, a role of its own, a destination for what failed; of close and settle
    the next tick makes up for it. What prints the product does so in Text format, which no level
    stands before.
    """
    functions = of_type(deployed(), FUNCTION)
    for name, properties in functions.items():
        if name in {"CloseFunction", "SettleFunction"}:
            assert "DestinationConfig" not in properties["EventInvokeConfig"]
            (tick,) = properties["Events"].values()
            assert "DeadLetterConfig" not in tick["Properties"]
        else:
            failed = properties["EventInvokeConfig"]["DestinationConfig"]["OnFailure"]
            assert failed["Destination"] == "<UndeliveredQueue.Arn>", name
        prints = name in {"CloseFunction", "ExplainFunction"}
        logging = properties["LoggingConfig"]
        assert ("Text" if prints else "JSON") == logging["LogFormat"], name
        assert not prints or logging.keys() == {"LogFormat", "LogGroup"}, name
    for member in ("Role", "Handler"):
        assert len(functions) == len({properties[member] for properties in functions.values()})
    groups = {properties["LoggingConfig"]["LogGroup"] for properties in functions.values()}
    assert len(functions) == len(groups)


class Recorded(dict):
    """Variables that remember which of them were asked for."""

    def __init__(self, variables):
        super().__init__(variables)
        self.read = set()

    def get(self, name, default=None):
        """As a dictionary does."""
        self.read.add(name)
        return super().get(name, default)

    def __getitem__(self, name):
        self.read.add(name)
        return super().__getitem__(name)


def variables_of(template, deployed, function, **parameters):
    """The environment that a deployment gives to one function, all of it text."""
    shared = template["Globals"]["Function"]["Environment"]["Variables"]
    values = {"RecordsTable": "table", "RollupsLogGroup": "rollups", "AWS::StackName": "stack"}
    defaults = {name: one["Default"] for name, one in template["Parameters"].items()}
    values |= {name: str(value) for name, value in {**defaults, **parameters}.items()}
    own = deployed(**parameters)[function]["Properties"]["Environment"]["Variables"]
    texts = {name: str(value) for name, value in own.items()}
    return {name: values[value["Ref"]] for name, value in shared.items()} | texts


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_gets_the_variables_that_it_reads(template, deployed, function):
    """
    None too few, none that nobody reads. AWS_ variables are set by Lambda itself; those of `OWN`
    are for some of them alone.
    """
    given = Recorded(variables_of(template, deployed, function))
    environment.read(given)
    read = {name for name in given.read if not name.startswith("AWS_")}
    read -= {
        name for name, owners in OWN.items() if function.removesuffix("Function") not in owners
    }
    of_powertools = {
        value for name, value in vars(powertools).items() if name.endswith("_ENV")
    } & given.keys()
    assert given.keys() == read | of_powertools


def test_the_template_and_the_code_have_the_same_defaults(template, deployed):
    """A rule that is not given in a test is the rule that is deployed."""
    given = variables_of(template, deployed, "CloseFunction")
    assert environment.Rules() == environment.read(given).rules


@pytest.mark.parametrize(("name", "bound"), [*product(RULES, ["MinValue", "MaxValue"])])
def test_what_cloudformation_accepts_the_functions_accept(template, deployed, name, bound):
    """A deployment that succeeds does not fail at its first event."""
    value = template["Parameters"][name][bound]
    given = variables_of(template, deployed, "CloseFunction", **{name: value})
    assert value in asdict(environment.read(given).rules).values()


# --- the subscription ---


def test_the_filter_passes_minute_lines_and_no_rollups(deployed):
    """The quoted term is a member of every minute record and the name of no rollup metric."""
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
    assert not [name for name in ROLLUP if term in name]
    assert properties["FilterName"]
    counter = deployed()["LinesCounter"]["Properties"]
    for member in ("FilterPattern", "LogGroupName"):
        assert properties[member] == counter[member]


def test_no_function_writes_to_the_group_it_is_fed_from(deployed):
    """Otherwise its own output would invoke it, for ever."""
    resources = deployed()
    source = resources["RecordsLogGroup"]["Properties"]["LogGroupName"]
    for name, properties in of_type(resources, LOG_GROUP).items():
        if name != "RecordsLogGroup":
            assert source != properties["LogGroupName"]
    for name, properties in of_type(resources, FUNCTION).items():
        assert properties["LoggingConfig"]["LogGroup"] != "<RecordsLogGroup>", name
