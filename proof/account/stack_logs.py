"""
What a deployment of template.yaml leaves in CloudWatch Logs: groups, a subscription, queries.

Read from the template itself, so that what the tests of the commands find is
what they would find in an account.
"""

from __future__ import annotations

import functools
import uuid
from pathlib import Path
from typing import Any

from local.alarms.template import Template, load_template

TEMPLATE = Path(__file__).resolve().parents[2] / "template.yaml"
ACCOUNT_ID = "123456789012"
REGION = "us-west-2"
STACK = "neuron-emf"


class StackLogs:
    """
    One deployment, with the defaults of the template.

    Attributes:
        groups: Class and days of retention by the name of a log group.

        subscriptions: As DescribeSubscriptionFilters has them.

        saved: As DescribeQueryDefinitions has them.

        alarms: Properties of the metric alarms, by logical id.
    """

    def __init__(self, name: str, made_ms: int, **parameters: str) -> None:
        pseudo = {"AWS::StackName": name, "AWS::Region": REGION, "AWS::AccountId": ACCOUNT_ID}
        template = Template(_document(), {**pseudo, **parameters})
        named = {
            logical: one["LogGroupName"]
            for logical, one in template.resources("AWS::Logs::LogGroup")
        }
        template = Template(_document(), {**pseudo, **parameters}, named)
        self.groups = {
            one["LogGroupName"]: (one.get("LogGroupClass", "STANDARD"), int(one["RetentionInDays"]))
            for _, one in template.resources("AWS::Logs::LogGroup")
        }
        self.subscriptions = [
            _subscription(one, name, made_ms)
            for _, one in template.resources("AWS::Logs::SubscriptionFilter")
        ]
        self.saved = [
            _saved(logical, one, made_ms)
            for logical, one in template.resources("AWS::Logs::QueryDefinition")
        ]
        self.alarms = dict(template.resources("AWS::CloudWatch::Alarm"))


@functools.cache
def _document() -> dict[str, Any]:
    return load_template(TEMPLATE)


def _subscription(properties: dict[str, Any], stack: str, made_ms: int) -> dict[str, Any]:
    # <IngestFunction.Arn>, as long as nobody deployed it.
    target = properties["DestinationArn"].strip("<>").partition(".")[0]
    functions = f"arn:aws:lambda:{REGION}:{ACCOUNT_ID}:function:{stack}-{target}-0a1B2c3D4e5F"
    stream = f"arn:aws:kinesis:{REGION}:{ACCOUNT_ID}:stream/{stack}-{target}-0a1B2c3D4e5F"
    found = {
        "filterName": properties["FilterName"],
        "logGroupName": properties["LogGroupName"],
        "filterPattern": properties["FilterPattern"],
        "destinationArn": stream if target.endswith("Stream") else functions,
        "distribution": properties.get("Distribution", "ByLogStream"),
        "applyOnTransformedLogs": False,
        "creationTime": made_ms,
    }
    if "RoleArn" in properties:
        found["roleArn"] = f"arn:aws:iam::{ACCOUNT_ID}:role/{stack}-SubscriptionRole-0a1B2c3D4e5F"
    return found


def _saved(logical: str, properties: dict[str, Any], made_ms: int) -> dict[str, Any]:
    found = {
        "queryLanguage": "CWLI",
        "queryDefinitionId": str(uuid.uuid5(uuid.NAMESPACE_OID, logical)),
        "name": properties["Name"],
        "queryString": properties["QueryString"],
        "lastModified": made_ms,
        "logGroupNames": properties.get("LogGroupNames", []),
    }
    if "Parameters" in properties:
        found["parameters"] = [
            {
                "name": one["Name"],
                "defaultValue": one["DefaultValue"],
                "description": one["Description"],
            }
            for one in properties["Parameters"]
        ]
    return found
