"""
A message in the form of SNS for the subscribers of a topic, and the call that sends it.

Fields and limits: https://docs.aws.amazon.com/sns/latest/api/API_Publish.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from aggregator import aws
from neuron_wire.holders import MAX_TEAM_CHARS
from neuron_words.name_words import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_SUBJECT_CHARS: Final = 99  # SNS: under 100
MAX_TEAMS: Final = 4
"""Teams of a message: those of the owners that it names first. SNS compares 256 characters."""

_DROPPING: Final = str.maketrans(dict.fromkeys('"\\', "?"))

Attributes = Mapping[str, "str | tuple[str, ...]"]


class TopicError(Exception):
    """The topic did not accept a message; the invocation must be repeated."""


@dataclass(frozen=True, slots=True)
class TopicMessage:
    """
    A message for one topic.

    Attributes:
        body: The message.

        attributes: Attributes for subscription filters; of several values any may match.

        subject: The subject of mails; empty for readers that show none.

        is_by_protocol: True if *body* is JSON with a form for each protocol.
    """

    body: str
    attributes: Attributes
    subject: str = ""
    is_by_protocol: bool = False


def ascii_only(text: str, longest: int) -> str:
    """Return *text* on one line of at most *longest* ASCII characters."""
    return printable(text.encode("ascii", "replace").decode(), longest)


def teams_attribute(teams: Iterable[str | None]) -> str | tuple[str, ...]:
    """Return the first of *teams*, each once: a tuple, or a text if there is only one team."""
    distinct = dict.fromkeys(printable(team, MAX_TEAM_CHARS) for team in teams if team)
    first = tuple(distinct)[:MAX_TEAMS]
    return first[0] if len(first) == 1 else first


def attribute_value(value: str | tuple[str, ...]) -> dict[str, str]:
    """
    Return *value* in the form of SNS, with `?` in place of quotes and backslashes.

    A subscription with a filter does not get a message with such characters in the attribute.
    """
    if isinstance(value, str):
        return {"DataType": "String", "StringValue": value.translate(_DROPPING)}
    texts = [text.translate(_DROPPING) for text in value]
    return {"DataType": "String.Array", "StringValue": json.dumps(texts, ensure_ascii=False)}


def publish_message(topic_arn: str, message: TopicMessage) -> None:
    """
    Send *message* to all subscribers of the topic.

    Raises:
        TopicError: If SNS did not take it.
    """
    try:
        aws.call(
            sns_client().publish,
            TopicArn=topic_arn,
            Message=message.body,
            MessageAttributes={
                name: attribute_value(value) for name, value in message.attributes.items()
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
def sns_client() -> Any:  # noqa: ANN401  # boto3 publishes no types
    """Return the client, which is created once."""
    return aws.client("sns")
