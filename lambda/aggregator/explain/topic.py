"""SNS: the topic that people subscribe to."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from aggregator import aws

if TYPE_CHECKING:
    from aggregator.explain.message import Publication


class TopicError(Exception):
    """The topic did not take a message; the invocation must be repeated."""


def publish(topic_arn: str, publication: Publication) -> None:
    """
    Send *publication* to everybody who subscribed to the topic.

    Raises:
        TopicError: If SNS did not take it.
    """
    try:
        aws.call(
            client().publish,
            TopicArn=topic_arn,
            Message=publication.body,
            MessageAttributes={
                name: {"DataType": "String", "StringValue": value}
                if isinstance(value, str)
                else {"DataType": "String.Array", "StringValue": json.dumps(value)}
                for name, value in publication.attributes.items()
            },
            **({"Subject": publication.subject} if publication.subject else {}),
            **({"MessageStructure": "json"} if publication.is_by_protocol else {}),
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
