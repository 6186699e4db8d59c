"""SNS: what is published to a topic, and the call that publishes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from aggregator import aws

Attributes = Mapping[str, "str | tuple[str, ...]"]


class TopicError(Exception):
    """The topic did not take a message; the invocation must be repeated."""


@dataclass(frozen=True, slots=True)
class TopicMessage:
    """
    What is published to one topic.

    Attributes:
        body: The message.

        attributes: What a subscription may filter by; of several values any may match.

        subject: Of mails; empty for readers that show none.

        is_by_protocol: Whether *body* is JSON with a form for each protocol.
    """

    body: str
    attributes: Attributes
    subject: str = ""
    is_by_protocol: bool = False


def publish(topic_arn: str, message: TopicMessage) -> None:
    """
    Send *message* to all subscribers of the topic.

    Raises:
        TopicError: If SNS did not take it.
    """
    try:
        aws.call(
            client().publish,
            TopicArn=topic_arn,
            Message=message.body,
            MessageAttributes={
                name: {"DataType": "String", "StringValue": value}
                if isinstance(value, str)
                else {"DataType": "String.Array", "StringValue": json.dumps(value)}
                for name, value in message.attributes.items()
            },
            **({"Subject": message.subject} if message.subject else {}),
            **({"MessageStructure": "json"} if message.is_by_protocol else {}),
        )
    except aws.AwsError as error:
        msg = (
            f"Cannot publish to {topic_arn}: it {error}. The topic must exist in this "
            "region, and the policy of its KMS key, if any, must allow the role of "
            "this function."
        )
        raise TopicError(msg) from error


@cache
def client() -> Any:  # noqa: ANN401  # boto3 publishes no types
    """The client, made once."""
    return aws.client("sns")
