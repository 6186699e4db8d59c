"""Whom the template's alarms tell."""

from __future__ import annotations

import json
import re

import pytest

from tests.stack.stated_alarms import ONE_CLUSTER, SUBJECTS, on_pipeline, on_rollups
from tests.stack.template_resources import of_type

RULE = "AWS::Events::Rule"
PERMISSION = "AWS::Lambda::Permission"
DAY_S = 86_400


def test_chat_hears_of_pipeline_alarms_from_the_alarms_themselves(template, deployed):
    """A second action where Chat is true; of clusters explain tells it, in the form it shows."""
    resources = deployed(Chat="true", Mode="kinesis")
    for name in on_pipeline(template):
        assert ["<AlarmTopic>", "<ChatTopic>"] == resources[name]["Properties"]["AlarmActions"], (
            name
        )


@pytest.mark.parametrize("given", ["", "arn:aws:sns:us-east-1:123456789012:people"])
def test_pipeline_alarms_tell_the_topic_themselves(template, deployed, given):
    """
    Of ALARM alone, whether the topic is the stack's own or was given; explain may be what is
    broken.
    """
    expected = [given or "<AlarmTopic>"]
    resources = deployed(AlarmTopicArn=given, Mode="kinesis")
    for name in on_pipeline(template):
        properties = resources[name]["Properties"]
        assert expected == properties["AlarmActions"], name
        assert not {"OKActions", "InsufficientDataActions"} & properties.keys(), name


def test_alarms_on_rollups_leave_telling_to_explain(template):
    """Otherwise everybody would be told twice, once without a reason."""
    for name in on_rollups(template):
        actions = {"AlarmActions", "OKActions", "InsufficientDataActions"}
        assert not actions & template["Resources"][name]["Properties"].keys(), name


@pytest.mark.parametrize("parameters", [{}, ONE_CLUSTER], ids=str)
def test_explain_hears_of_every_alarm_on_rollups_and_of_no_other(deployed, parameters):
    """
    Of a query's contributors and not of the query; of this stack's alarms and not of a neighbour's.
    """
    resources = deployed(**parameters)
    rules = {
        name: rule
        for name, rule in of_type(resources, RULE).items()
        if "aws.cloudwatch" in rule["EventPattern"]["source"]
    }
    ((name, rule),) = rules.items()
    assert rule["EventPattern"] == {
        "source": ["aws.cloudwatch"],
        "detail-type": ["CloudWatch Alarm Contributor State Change"],
        "resources": [f"<{subject}Alarm.Arn>" for subject in SUBJECTS],
    }
    (target,) = rule["Targets"]
    assert target["Arn"] == "<ExplainFunction.Arn>"
    assert target["DeadLetterConfig"] == {"Arn": "<UndeliveredQueue.Arn>"}
    assert 0 < target["RetryPolicy"]["MaximumEventAgeInSeconds"] <= DAY_S
    (permission,) = [
        one
        for one in of_type(resources, PERMISSION).values()
        if one["SourceArn"] == f"<{name}.Arn>"
    ]
    assert permission == {
        "Action": "lambda:InvokeFunction",
        "FunctionName": "<ExplainFunction>",
        "Principal": "events.amazonaws.com",
        "SourceArn": f"<{name}.Arn>",
        "SourceAccount": "123456789012",
    }


def test_a_pattern_fits_whatever_the_stack_is_called(deployed):
    """EventBridge takes 2,048 characters; a stack's name has up to 128, a generated suffix 13."""
    arn = "arn:aws-us-gov:cloudwatch:us-gov-west-1:123456789012:alarm:"
    for parameters in ({}, ONE_CLUSTER):
        for rule in of_type(deployed(**parameters), RULE).values():
            pattern = dict(rule["EventPattern"])
            names = [re.sub(r"[<>]|\.Arn", "", one) for one in pattern.get("resources", [])]
            pattern["resources"] = [f"{arn}{'s' * 128}-{name}-{'X' * 13}" for name in names]
            assert len(json.dumps(pattern)) <= 2048
