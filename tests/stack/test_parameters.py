"""What CloudFormation lets through is what the functions and the services can use."""

from __future__ import annotations

import re

import pytest


@pytest.fixture(scope="module")
def accepts(template):
    """Whether CloudFormation accepts a value for a parameter: a pattern is matched as a whole."""

    def matches(name, value):
        parameter = template["Parameters"][name]
        within = len(value) <= parameter.get("MaxLength", len(value))
        return within and bool(re.fullmatch(parameter["AllowedPattern"], value))

    return matches


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PriceOverrides", "trn1.32xlarge=13.5,inf2.xlarge=0.4"),
        ("PriceOverrides", ""),
        ("AlarmTopicArn", "arn:aws:sns:eu-west-1:111122223333:on-call_1"),
        ("AlarmTopicArn", "arn:aws-cn:sns:cn-north-1:111122223333:pager"),
        ("AlarmTopicArn", ""),
        ("AlarmEmail", "ops@example.org"),
        ("AlarmEmail", ""),
        (
            "KmsKeyArn",
            "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
        ),
        ("KmsKeyArn", ""),
        ("IngestConcurrency", "1"),
        ("CloseConcurrency", ""),
        ("Runbook", "https://wiki.example.org/neuron#alarms"),
        ("Runbook", "docs/operations.md"),
    ],
)
def test_a_sensible_value_is_accepted(accepts, name, value):
    """As somebody would type it."""
    assert accepts(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PriceOverrides", "trn1.32xlarge"),
        ("PriceOverrides", "trn1.32xlarge=13.5,"),
        ("PriceOverrides", "trn1.32xlarge=-1"),
        ("PriceOverrides", "trn1.32xlarge=1.2.3"),
        ("PriceOverrides", "trn1.32xlarge=100001"),
        ("PriceOverrides", ",".join(["trn1.32xlarge=13.5"] * 60)),
        ("AlarmTopicArn", "arn:aws:sns:eu-west-1:111122223333:pager.fifo"),
        ("AlarmTopicArn", "pager"),
        ("AlarmEmail", "ops"),
        ("AlarmEmail", "ops@example.org, more@example.org"),
        ("KmsKeyArn", "alias/neuron"),
        ("KmsKeyArn", "arn:aws:kms:eu-west-1:111122223333:alias/neuron"),
        ("IngestConcurrency", "0"),
        ("IngestConcurrency", "10000"),
        ("ExplainConcurrency", "-1"),
        ("Runbook", ""),
        ("Runbook", "our wiki"),
    ],
)
def test_what_cannot_work_is_refused(accepts, name, value):
    """Before anything is made."""
    assert not accepts(name, value)
