"""What CloudFormation lets through is what the functions and the services can use."""

from __future__ import annotations

import re

import pytest

TOPIC, KEY = "arn:aws:sns:eu-west-1:111122223333", "arn:aws:kms:eu-west-1:111122223333"
SENSIBLE = {
    "PriceOverrides": ["trn1.32xlarge=13.5,inf2.xlarge=0.4", ""],
    "PaidByType": ["trn1.32xlarge=sunk,trn2.48xlarge=avoidable", ""],
    "Teams": ["research|slurm:4711 ml-user=ml,*|prod/*=serving", "* | unit:* = platform", ""],
    "AlarmTopicArn": [f"{TOPIC}:on-call_1", "arn:aws-cn:sns:cn-north-1:111122223333:pager", ""],
    "AlarmEmail": ["ops@example.org", ""],
    "KmsKeyArn": [f"{KEY}:key/1234abcd-12ab-34cd-56ef-1234567890ab", ""],
    "CloseConcurrency": ["1", ""],
    "PermissionsBoundaryArn": ["arn:aws-us-gov:iam::111122223333:policy/team/bound", ""],
    "RolePath": ["/", "/monitoring/neuron/"],
    "SubnetIds": ["subnet-0a1b,subnet-2c3d", ""],
    "SecurityGroupIds": ["sg-0a1b", ""],
    "Runbook": ["https://wiki.example.org/neuron#alarms", "docs/operations.md"],
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
    "IngestConcurrency": ["0", "10000", "-1"],
    "Runbook": ["", "our wiki"],
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
