"""
All forms of one message, how long each may be, and the call of SNS that sends it.

People get text, by mail the whole and by SMS one line; programs get JSON with
the rollup itself. SNS takes all of them in one call. Slack and Teams get a custom
notification of Amazon Q Developer, alone in its message: Amazon Q drops plain text and every
other JSON without an error. Its markdown is the chat's own, so addresses stand as they
are, which every chat makes a link of. Fields and limits:
https://docs.aws.amazon.com/chatbot/latest/adminguide/custom-notifs.html
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from aggregator import aws
from aggregator.explain.explanation import LONGEST_REASON
from neuron_wire.holders import MAX_TEAM_CHARS
from neuron_wire.phrases import cell, iso, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aggregator.explain.evidence import StoredMembers
    from aggregator.explain.explanation import Explanation

MAX_SUBJECT_CHARS: Final = 99  # SNS: less than 100
MAX_SMS_CHARS: Final = 140  # more are sent, and billed, as two
MAX_DOCUMENT_BYTES: Final = 30_000
"""
Of the JSON form as it stands in the call, with its quotes escaped. Five
protocols get it, and everything stays under the 262,144 bytes that SNS takes.
"""

JSON_PROTOCOLS: Final = ("sqs", "lambda", "http", "https", "firehose")
MAX_TEAMS: Final = 4
"""Of a message: those of the owners that it names first. SNS compares 256 characters."""

MAX_TITLE_CHARS: Final = 250
MAX_DESCRIPTION_CHARS: Final = 8000
MAX_STEP_CHARS: Final = 350
MAX_KEYWORD_CHARS: Final = 75
_LONGEST_NAME: Final = 256
_LONGEST_ARN: Final = 512


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


@dataclass(frozen=True, slots=True)
class AlarmMessage:
    """
    What is sent about one transition.

    Attributes:
        subject: One line of at most 99 ASCII characters.

        text: The whole, for people.

        sms: At most 140 ASCII characters.

        document: The whole as JSON, for programs.

        attributes: What a subscription may filter by: never empty texts.
    """

    subject: str
    text: str
    sms: str
    document: str
    attributes: Attributes

    def topic_message(self) -> TopicMessage:
        """The forms as SNS wants them with MessageStructure json."""
        forms = {"default": self.text, "sms": self.sms}
        forms.update(dict.fromkeys(JSON_PROTOCOLS, self.document))
        return TopicMessage(_json(forms), self.attributes, self.subject, is_by_protocol=True)


def write_message(explanation: Explanation) -> AlarmMessage:
    """Write *explanation* in all forms but the chat's."""
    title = explanation.title
    urgency = explanation.finding.urgency.partition(":")[0]
    parts = explanation.sentences, explanation.commands, explanation.last_sentences
    lines = [*chain(*parts), "    ".join(explanation.places)]
    return AlarmMessage(
        subject=ascii_only(title, MAX_SUBJECT_CHARS),
        text="".join(f"{line}\n" for line in lines if line),
        sms=ascii_only(f"{title}. {urgency}." if urgency else title, MAX_SMS_CHARS),
        document=_document(_members(explanation), explanation.evidence.rollup),
        attributes=message_attributes(explanation),
    )


def ascii_only(text: str, longest: int) -> str:
    """*text* on one line of at most *longest* ASCII characters."""
    return printable(text.encode("ascii", "replace").decode(), longest)


def message_attributes(explanation: Explanation) -> Attributes:
    """What a subscription may filter by: never empty texts."""
    subject = explanation.evidence.subject
    attributes: Attributes = {
        "Kind": subject.kind,
        "State": explanation.transition.state,
        "ClusterName": printable(explanation.transition.cluster or "", _LONGEST_NAME),
        "Metric": subject.tells or printable(explanation.metric, _LONGEST_NAME),
        "Muted": "true" if explanation.transition.muted_by else "false",
        # After an alarm nobody remembers who had the cores, so an end has no team.
        "Team": teams_attribute(explanation.finding.teams),
    }
    return {name: value for name, value in attributes.items() if value}


def teams_attribute(teams: Iterable[str | None]) -> str | tuple[str, ...]:
    """The first of *teams*, each once; a single one as a text, none as an empty text."""
    distinct = dict.fromkeys(printable(team, MAX_TEAM_CHARS) for team in teams if team)
    first = tuple(distinct)[:MAX_TEAMS]
    return first[0] if len(first) == 1 else first


def _members(explanation: Explanation) -> dict[str, object]:
    """The JSON form without the rollup; what is unknown has no member."""
    transition, evidence = explanation.transition, explanation.evidence
    cost = evidence.cost_today
    members: dict[str, object] = {
        "Schema": 1,
        "Title": explanation.title,
        "State": transition.state,
        "StateBefore": printable(transition.before or ""),
        "Since": iso(1000 * transition.at_s),
        "LastedMinutes": _rounded(transition.lasted_minutes),
        "ClusterName": printable(transition.cluster or "", _LONGEST_NAME),
        "Metric": printable(explanation.metric, _LONGEST_NAME),
        "Metrics": list(evidence.subject.tells) or None,
        "Alarm": printable(transition.alarm, _LONGEST_NAME),
        "AlarmArn": printable(transition.alarm_arn, _LONGEST_ARN),
        "Account": printable(transition.account),
        "Region": printable(transition.region),
        "MutedBy": printable(transition.muted_by, _LONGEST_ARN),
        "Reason": printable(transition.reason, LONGEST_REASON),
        "Sentences": [*explanation.sentences, *explanation.last_sentences],
        "Commands": explanation.commands,
        "IdleCostTodayUsd": _rounded(cost.usd) if cost else None,
        "IdleCostTodayMinutes": cost.minutes if cost else None,
        "RollupAgeSeconds": _rounded(evidence.age_s),
        "QueryLogGroup": explanation.environment.rollups_log_group if explanation.query else None,
        "Query": explanation.query,
        "Runbook": explanation.runbook,
        "Dashboard": explanation.dashboard,
        "DashboardAddress": explanation.dashboard_address,
    }
    return {name: _cells(value) for name, value in members.items() if value not in (None, "", [])}


def _cells(value: object) -> object:
    """*value* with no text in it that a spreadsheet takes for a formula."""
    if isinstance(value, str):
        return cell(value)
    if isinstance(value, list):
        return [_cells(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _cells(item) for name, item in value.items()}
    return value


def _document(members: Mapping[str, object], rollup: StoredMembers) -> str:
    """
    *members* and as much of *rollup* as there is room for.

    Its lists are halved until it fits; a rollup that never does, or cannot be
    written as JSON, is left out.
    """
    if not rollup.given:
        return _json(members)
    without, cut = _json({**members, "RollupLeftOut": True}), dict[str, object]()
    try:  # infinity, half a character, depth: Python reads all
        kept = {name: _cells(value) for name, value in rollup.given.items() if name != "_aws"}
        longest = max((len(value) for value in kept.values() if isinstance(value, list)), default=0)
        while True:
            document = _json({**members, **cut, "Rollup": kept})
            if len(_json(document).encode()) <= MAX_DOCUMENT_BYTES:
                return document
            if longest == 0:
                return without
            longest //= 2
            cut = {"RollupListsCut": True}
            for name, value in kept.items():
                kept[name] = value[:longest] if isinstance(value, list) else value
    except (ValueError, RecursionError):
        return without


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


# --- SNS ---


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
def sns_client() -> Any:  # noqa: ANN401  # boto3 publishes no types
    """The client, made once."""
    return aws.client("sns")


# --- chats ---


def chat_message(explanation: Explanation) -> TopicMessage:
    """*explanation* for a topic whose only reader is Amazon Q."""
    return TopicMessage(_json(_notification(explanation)), message_attributes(explanation))


def _notification(explanation: Explanation) -> dict[str, object]:
    transition = explanation.transition
    title = printable(_without_mentions(explanation.title), MAX_TITLE_CHARS)
    content: dict[str, object] = {
        "textType": "client-markdown",
        "title": title,
        "description": _description(explanation),
    }
    steps = [f"{command.label}: `{command.text}`" for command in explanation.finding.commands]
    if fitting := [_without_mentions(step) for step in steps if len(step) <= MAX_STEP_CHARS]:
        content["nextSteps"] = fitting
    words = filter(None, (transition.cluster, explanation.metric, transition.state))
    content["keywords"] = [printable(_without_mentions(word), MAX_KEYWORD_CHARS) for word in words]
    context = {
        name: value if isinstance(value, str) else ", ".join(value)
        for name, value in message_attributes(explanation).items()
    }
    context |= {
        "Metric": printable(explanation.metric, _LONGEST_NAME),
        "AlarmName": printable(transition.alarm, _LONGEST_NAME),
        "Since": iso(1000 * transition.at_s),
        "Region": transition.region,
    }
    covered = explanation.evidence.subject.tells
    fact = f"{explanation.dashboard} {covered}" if covered else ""
    thread = f"{fact or transition.alarm_arn or transition.alarm}\n{transition.cluster}"
    arn = printable(transition.alarm_arn, _LONGEST_ARN)
    return {
        "version": "1.0",
        "source": "custom",
        "id": _digest(transition.identity),
        "content": content,
        "metadata": {
            "threadId": _digest(thread),
            "summary": title,
            "eventType": "neuron-emf alarm",
            "relatedResources": [arn] if arn else [],
            "additionalContext": {name: value for name, value in context.items() if value},
        },
    }


def _description(explanation: Explanation) -> str:
    """What is known, then where to read on: the links stay when the rest is cut."""
    end = "".join(f"\n{place}" for place in explanation.places)
    text = "\n".join([*explanation.sentences, *explanation.last_sentences])
    room = MAX_DESCRIPTION_CHARS - len(end)
    return _without_mentions(text if len(text) <= room else text[: room - 3] + "...") + end


def _without_mentions(text: str) -> str:
    """*text* that mentions nobody: `<!channel>` in an alarm's name would wake a whole channel."""
    return text.replace("<", "?")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
