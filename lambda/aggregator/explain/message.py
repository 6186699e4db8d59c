"""
All forms of one message, and how long each may be.

People get text, by mail the whole and by SMS one line; programs get JSON with
the rollup itself. SNS takes all of them in one call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

from aggregator.explain.explanation import LONGEST_REASON
from aggregator.explain.foreign_text import ascii_only
from neuron_wire.holders import MAX_TEAM_CHARS
from neuron_wire.phrases import cell, iso, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aggregator.explain.explanation import Explanation
    from aggregator.explain.members import Members

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

_LONGEST_NAME: Final = 256
_LONGEST_ARN: Final = 512
Attributes = Mapping[str, "str | tuple[str, ...]"]


@dataclass(frozen=True, slots=True)
class Publication:
    """
    What is published to one topic.

    Attributes:
        body: The message.

        attributes: What a subscription may filter by, several where any of them lets it pass.

        subject: Of mails; empty where nobody shows one.

        is_by_protocol: Whether *body* is JSON with a form for each protocol.
    """

    body: str
    attributes: Attributes
    subject: str = ""
    is_by_protocol: bool = False


@dataclass(frozen=True, slots=True)
class Message:
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

    def publication(self) -> Publication:
        """The forms as SNS wants them with MessageStructure json."""
        forms = {"default": self.text, "sms": self.sms}
        forms.update(dict.fromkeys(JSON_PROTOCOLS, self.document))
        return Publication(_json(forms), self.attributes, self.subject, is_by_protocol=True)


def message_of(explanation: Explanation) -> Message:
    """Write *explanation* in all forms."""
    title = explanation.title
    urgency = explanation.finding.urgency.partition(":")[0]
    parts = explanation.sentences, explanation.commands, explanation.last_sentences
    lines = [*chain(*parts), "    ".join(explanation.places)]
    return Message(
        subject=ascii_only(title, MAX_SUBJECT_CHARS),
        text="".join(f"{line}\n" for line in lines if line),
        sms=ascii_only(f"{title}. {urgency}." if urgency else title, MAX_SMS_CHARS),
        document=_document(_members(explanation), explanation.evidence.rollup),
        attributes=attributes_of(explanation),
    )


def attributes_of(explanation: Explanation) -> Attributes:
    """What a subscription may filter by: never empty texts."""
    subject = explanation.subject
    attributes: Attributes = {
        "Kind": subject.kind if subject else "",
        "State": explanation.transition.state,
        "ClusterName": printable(explanation.transition.cluster or "", _LONGEST_NAME),
        "Metric": explanation.told_metrics or printable(explanation.metric, _LONGEST_NAME),
        "Muted": "true" if explanation.transition.muted_by else "false",
        "Team": _teams(explanation),
    }
    return {name: value for name, value in attributes.items() if value}


def teams_attribute(teams: Iterable[str | None]) -> str | tuple[str, ...]:
    """The first of *teams*, each once; one alone is a text, of none it is empty."""
    told = dict.fromkeys(printable(team, MAX_TEAM_CHARS) for team in teams if team)
    first = tuple(told)[:MAX_TEAMS]
    return first[0] if len(first) == 1 else first


def _teams(explanation: Explanation) -> str | tuple[str, ...]:
    """Whose idle cores an alarm is about; who had them when it is over, nobody remembers."""
    return teams_attribute(explanation.finding.teams)


def _members(explanation: Explanation) -> dict[str, object]:
    """The JSON form without the rollup; what is not known has no member."""
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
        "Metrics": list(explanation.told_metrics) or None,
        "Alarm": printable(transition.alarm, _LONGEST_NAME),
        "AlarmArn": printable(transition.alarm_arn, _LONGEST_ARN),
        "Account": printable(transition.account),
        "Region": printable(transition.region),
        "MutedBy": printable(transition.muted_by, _LONGEST_ARN),
        "Reason": printable(transition.reason, LONGEST_REASON),
        "Sentences": [*explanation.sentences, *explanation.last_sentences],
        "Commands": explanation.commands,
        "IdleCostTodayUsd": None if cost is None else _rounded(cost.usd),
        "IdleCostTodayMinutes": None if cost is None else cost.minutes,
        "RollupAgeSeconds": _rounded(evidence.rollup_age_s),
        "QueryLogGroup": explanation.log_group if explanation.query else None,
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
        return [_cells(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _cells(one) for name, one in value.items()}
    return value


def _document(members: Mapping[str, object], rollup: Members | None) -> str:
    """
    *members* and as much of *rollup* as there is room for.

    Its lists are halved until it fits; if it never does, or holds what is no
    JSON, it is left out.
    """
    if rollup is None:
        return _json(members)
    without = _json({**members, "RollupLeftOut": True})
    try:  # infinity, half a character, depth: Python reads all
        kept = {name: _cells(value) for name, value in rollup.given.items() if name != "_aws"}
        longest = max((len(one) for one in kept.values() if isinstance(one, list)), default=0)
        document = _json({**members, "Rollup": kept})
        while len(_json(document).encode()) > MAX_DOCUMENT_BYTES:
            if longest == 0:
                return without
            longest //= 2
            kept = {
                name: value[:longest] if isinstance(value, list) else value
                for name, value in kept.items()
            }
            document = _json({**members, "RollupListsCut": True, "Rollup": kept})
    except (ValueError, RecursionError):
        return without
    return document


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
