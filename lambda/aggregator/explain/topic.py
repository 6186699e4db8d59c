"""SNS: the topic that people subscribe to."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from aggregator import aws

if TYPE_CHECKING:
    from aggregator.explain.message import Message


class TopicError(Exception):
    """The topic did not take a message; the invocation must be repeated."""


def publish(topic_arn: str, message: Message) -> None:
    """
    Send *message* to everybody who subscribed to the topic.

    Raises:
        TopicError: If SNS did not take it.
    """
    try:
        aws.call(
            client().publish,
            TopicArn=topic_arn,
            Subject=message.subject,
            Message=message.by_protocol(),
            MessageStructure="json",
            MessageAttributes={
                name: {"DataType": "String", "StringValue": value}
                for name, value in message.attributes.items()
            },
        )
    except aws.AwsError as error:
        msg = (
            f"{topic_arn} {error}; it must exist in this region, and its key, if it has one, must"
            " admit the role of explain"
        )
        raise TopicError(msg) from error


@cache
def client() -> Any:  # noqa: ANN401  # boto3 publishes no types
    """The client, made once."""
    return aws.client("sns")
