"""What CloudFormation lets through is what the functions and the services can use."""

from __future__ import annotations

import json
import re

import pytest

from local.alarms.template import Template

TOPIC, KEY = "arn:aws:sns:eu-west-1:111122223333", "arn:aws:kms:eu-west-1:111122223333"
SENSIBLE = {
    "PriceOverrides": ["trn1.32xlarge=13.5,inf2.xlarge=0.4", ""],
    "PaidByType": ["trn1.32xlarge=sunk,trn2.48xlarge=avoidable", ""],
    "Teams": ["research|slurm:4711 ml-user=ml,*|prod/*=serving", "* | unit:* = platform", ""],
    "AlarmTopicArn": [f"{TOPIC}:on-call_1", "arn:aws-cn:sns:cn-north-1:111122223333:pager", ""],
    "AlarmEmail": ["ops@example.org", ""],
    "KmsKeyArn": [f"{KEY}:key/1234abcd-12ab-34cd-56ef-1234567890ab", ""],
    "Metrics": ["IdleCores,NeuronCores", "TeraFlops", ""],
    "PermissionsBoundaryArn": ["arn:aws-us-gov:iam::111122223333:policy/team/bound", ""],
    "RolePath": ["/", "/monitoring/neuron/"],
    "SubnetIds": ["subnet-0a1b,subnet-2c3d", ""],
    "SecurityGroupIds": ["sg-0a1b", ""],
    "Runbook": ["https://wiki.example.org/neuron#alarms", "docs/operations.md", ""],
    "LedgerBucketName": ["neuron-emf-ledgerbucket-1a2b3c4d5e6f", "the.ledger", ""],
}
USELESS = {
    "PriceOverrides": [
        *(f"trn1.32xlarge{end}" for end in ("", "=13.5,", "=-1", "=1.2.3", "=100001")),
        ",".join(["trn1.32xlarge=13.5"] * 60),
    ],
    "PaidByType": ["trn1.32xlarge", "trn1.32xlarge=reserved", "trn1.32xlarge=sunk,"],
    "Teams": ["ml", "research=ml", "research|slurm:*", " | = ", "a|b=c,", "a|b='c'", "a|b=c\n"],
    "AlarmTopicArn": [f"{TOPIC}:pager.fifo", "pager"],
    "AlarmEmail": ["ops", "ops@example.org, more@example.org"],
    "KmsKeyArn": ["alias/neuron", f"{KEY}:alias/neuron"],
    "PermissionsBoundaryArn": ["bound", "arn:aws:iam::111122223333:role/bound"],
    "RolePath": ["", "monitoring", "/monitoring", "//"],
    "SubnetIds": ["subnet-0a1b, subnet-2c3d", "vpc-0a1b"],
    "SecurityGroupIds": ["default"],
    "Metrics": ["IdleCores,", "IdleCores NeuronCores", "neuron-cores", "a," * 240 + "b"],
    "Runbook": ["our wiki", "https://wiki.example.org/\u00e9"],
    "LedgerBucketName": ["arn:aws:s3:::ledger", "s3://ledger", "Ledger", "ab"],
}


@pytest.mark.parametrize(("table", "expected"), [(SENSIBLE, True), (USELESS, False)])
def test_what_cannot_work_is_refused_before_anything_is_made(template, table, expected):
    """And what somebody would type is accepted: a pattern is matched as a whole."""
    for name, values in table.items():
        parameter = template["Parameters"][name]
        for value in values:
            within = len(value) <= parameter.get("MaxLength", len(value))
            accepted = within and bool(re.fullmatch(parameter["AllowedPattern"], value))
            assert expected == accepted, f"{name}={value}"


MAX_ENVIRONMENT_BYTES = 4096  # of all variables of a function, says Lambda, as JSON


def test_whatever_the_parameters_hold_the_variables_of_each_function_fit(template):
    """Each at its longest: a list that is one entry too long must not end an upgrade."""
    longest = {name: longest_value(one) for name, one in template["Parameters"].items()}
    longest["AWS::StackName"] = "s" * 128
    physical = {name: f"{'s' * 128}-{name}-{'x' * 13}" for name in template["Resources"]}
    physical |= {"ChatTopic": "x" * 320}  # an ARN
    resolved = Template(template, longest, physical)
    shared = template["Globals"]["Function"]["Environment"]["Variables"]
    for name, function in resolved.resources("AWS::Serverless::Function"):
        variables = {**resolved.resolve(shared), **function["Environment"]["Variables"]}
        text = json.dumps(variables, separators=(",", ":"))
        assert len(text) <= MAX_ENVIRONMENT_BYTES, f"{name}: {len(text)}"


def longest_value(parameter):
    """Of what CloudFormation accepts, as long as it may be; each character is a byte."""
    if parameter["Default"] in {"true", "false"}:
        return "true"
    if "AllowedValues" in parameter:
        return max(map(str, parameter["AllowedValues"]), key=len)
    if parameter["Type"] == "Number":
        return str(parameter["MaxValue"])
    return "x" * parameter.get("MaxLength", 100)
