"""
The explanation of one transition, for people and programs.

People get text: a mail has the whole text, an SMS has one line. Programs get JSON with the rollup.
The form for Slack and Teams is in `aggregator.explain.chat`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from aggregator.explain.alarm_summary import AlarmSummary, basis_of
from aggregator.explain.ending import find_ending
from aggregator.explain.event import UNKNOWN_SUBJECT
from aggregator.explain.failures import find_failure
from aggregator.explain.idle import find_idle_cores
from aggregator.explain.topic import (
    MAX_SUBJECT_CHARS,
    TopicMessage,
    ascii_only,
    teams_attribute,
)
from neuron_wire.line_members import filled
from neuron_words.name_words import cells, member_is, printable, safe_name
from neuron_words.now_words import NOW, TODAY, console_address
from neuron_words.quantity_words import iso

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aggregator.environment import Environment
    from aggregator.explain.event import Transition
    from aggregator.explain.evidence import Evidence
    from aggregator.explain.topic import Attributes
    from neuron_wire.line_members import JsonObject, Members

LONGEST_CLUSTER: Final = 40  # characters of a cluster's name in a subject line
LONGEST_REASON: Final = 500  # characters of CloudWatch's reason
MAX_RESOURCE_NAME_CHARS: Final = 256
LONGEST_ARN: Final = 512  # characters
MAX_SMS_CHARS: Final = 140  # longer ones are sent, and billed, as two
MAX_DOCUMENT_BYTES: Final = 30_000
"""
The most bytes of the JSON form in the call, with its quotes escaped. Five protocols get it, and the
total stays under the 262,144 bytes that SNS accepts.
"""

JSON_PROTOCOLS: Final = ("sqs", "lambda", "http", "https", "firehose")


@dataclass(frozen=True, slots=True)
class Explanation:
    """
    One transition, and the known facts about it.

    Attributes:
        transition: The change of state.

        evidence: The contents of the table about the cluster.

        summary: The evidence in sentences.

        environment: Addresses of runbook, rollups and dashboard.
    """

    transition: Transition
    evidence: Evidence
    summary: AlarmSummary
    environment: Environment

    @property
    def title(self) -> str:
        """The full subject line: CloudWatch's state, urgency, cluster and headline."""
        state = self.transition.state
        urgency = self.summary.urgency
        headline = self.summary.short or self.summary.headline
        return ": ".join(filter(None, (state, urgency, self._about(LONGEST_CLUSTER), headline)))

    @property
    def sentences(self) -> list[str]:
        """The sentences before the commands."""
        summary = self.summary
        headline = ": ".join(filter(None, (self._about(MAX_RESOURCE_NAME_CHARS), summary.headline)))
        return [*filter(None, (headline, *summary.facts, summary.haste, summary.total))]

    @property
    def commands(self) -> list[str]:
        """The commands to type, numbered, each after its purpose."""
        shown = self.summary.commands
        labels = [f"{command.purpose}{'' if command.is_question else ':'}" for command in shown]
        width = max(map(len, labels), default=0)
        return [
            f"{number}. {label:<{width}}  {command.text}"
            for number, (label, command) in enumerate(zip(labels, shown, strict=True), 1)
        ]

    @property
    def last_sentences(self) -> list[str]:
        """The next step, and the basis of the numbers."""
        next_step = f"Next step: {self.summary.next_step}" if self.summary.next_step else ""
        return [*filter(None, (next_step, basis_of(self.evidence)))]

    @property
    def runbook(self) -> str:
        """The address of the alarm's description; may be empty."""
        page = self.environment.runbook
        anchor = self.evidence.subject.anchor
        return f"{page}#{anchor}" if page and anchor else page

    @property
    def dashboard_address(self) -> str:
        """The address of the dashboard in the console; empty without a dashboard or a Region."""
        name = self.environment.dashboard
        return self._console(f"dashboards/dashboard/{name}") if name else ""

    def _console(self, place: str) -> str:
        region = self.transition.region
        return f"{console_address('cloudwatch/home', region)}{place}" if region else ""

    @property
    def places(self) -> list[str]:
        """The addresses of the evidence (the dashboard, otherwise the alarm) and of the runbook."""
        alarm = self._console(
            f"alarmsV2:alarm/{quote(printable(self.transition.alarm, MAX_RESOURCE_NAME_CHARS))}"
        )
        places = {"Evidence": self.dashboard_address or alarm, "Runbook": self.runbook}
        return [f"{what}: {address}" for what, address in places.items() if address]

    @property
    def query(self) -> str:
        """The Logs Insights query for the rollups of the cluster; may be empty."""
        cluster = self.transition.cluster
        if self.evidence.subject == UNKNOWN_SUBJECT or cluster is None:
            return ""
        wanted = member_is("ClusterName", printable(cluster, MAX_RESOURCE_NAME_CHARS))
        shown = f'filter Kind = "rollup" and {wanted}\n| sort @timestamp desc\n| limit 60'
        return shown if self.environment.rollups_log_group else ""

    @property
    def metric(self) -> str:
        """The metric that the alarm watches; empty if the event has none."""
        watched = (*self.transition.metrics, *self.transition.other_metrics, "")
        return self.evidence.subject.metric or watched[0]

    @property
    def subject(self) -> str:
        """The subject of a mail: one line of at most 99 ASCII characters."""
        return ascii_only(self.title, MAX_SUBJECT_CHARS)

    @property
    def sms(self) -> str:
        """The text of an SMS: one line of at most 140 ASCII characters."""
        return ascii_only(self.title, MAX_SMS_CHARS)

    @property
    def text(self) -> str:
        """The whole text, for people."""
        lines = *self.sentences, *self.commands, *self.last_sentences, "    ".join(self.places)
        return "".join(f"{line}\n" for line in lines if line)

    @property
    def document(self) -> str:
        """The whole explanation as JSON, for programs."""
        return _document(_members(self), self.evidence.rollup)

    @property
    def attributes(self) -> Attributes:
        """The attributes for subscription filters: never empty texts."""
        subject = self.evidence.subject
        transition = self.transition
        attributes: Attributes = {
            "Kind": subject.kind,
            "State": transition.state,
            "Urgency": self.summary.urgency,
            "ClusterName": printable(transition.cluster or "", MAX_RESOURCE_NAME_CHARS),
            "Metric": subject.covered_metrics or printable(self.metric, MAX_RESOURCE_NAME_CHARS),
            "Muted": "true" if transition.muted_by else "false",
            # The owners of an ended alarm are not stored, so its end has no team.
            "Team": teams_attribute(self.summary.teams),
        }
        return filled(attributes)

    @property
    def topic_message(self) -> TopicMessage:
        """The message with a form for each protocol of SNS."""
        forms = {"default": self.text, "sms": self.sms}
        forms.update(dict.fromkeys(JSON_PROTOCOLS, self.document))
        return TopicMessage(compact_json(forms), self.attributes, self.subject, is_by_protocol=True)

    def _about(self, longest: int) -> str:
        cluster = safe_name(self.transition.cluster or "", longest)
        return " ".join(filter(None, (cluster, "(muted)" if self.transition.muted_by else "")))


def explain_transition(
    transition: Transition, evidence: Evidence, environment: Environment
) -> Explanation:
    """Explain *transition* with the *evidence* about its cluster."""
    find = _find_alarm if transition.state == "ALARM" else find_ending
    return Explanation(transition, evidence, find(transition, evidence), environment)


def _find_alarm(transition: Transition, evidence: Evidence) -> AlarmSummary:
    """Find the subject of an alarm that fires."""
    subject = evidence.subject
    if subject == UNKNOWN_SUBJECT:
        watched = safe_name(", ".join((*transition.metrics, *transition.other_metrics)), 200)
        unknown = f"The alarm watches {watched or 'no metric that its event names'}."
        reason = f"CloudWatch: {printable(transition.reason, LONGEST_REASON)}"
        unknown = f"{unknown} neuron-emf does not know this alarm."
        return AlarmSummary(f"alarm {safe_name(transition.alarm)}", (unknown, reason))
    if evidence.rollup:
        return find_idle_cores(evidence) if subject.is_idle else find_failure(evidence)
    which = "" if subject.about == "minute" else " with such errors"
    missing = evidence.trouble or f"The table has no rollup of this cluster{which}."
    if transition.cluster is None:
        missing = "The event names no cluster, so there are no details."
    return AlarmSummary(subject.title, (missing,), TODAY if subject.is_idle else NOW)


def _members(explanation: Explanation) -> Members:
    """Return the JSON form without the rollup; an unknown value has no member."""
    transition = explanation.transition
    evidence = explanation.evidence
    cost = evidence.cost_today
    members: Members = {
        "Schema": 1,
        "Title": explanation.title,
        "State": transition.state,
        "StateBefore": printable(transition.before or ""),
        "Urgency": explanation.summary.urgency,
        "Since": iso(1000 * transition.at_s),
        "LastedMinutes": _rounded(transition.lasted_minutes),
        "ClusterName": printable(transition.cluster or "", MAX_RESOURCE_NAME_CHARS),
        "Metric": printable(explanation.metric, MAX_RESOURCE_NAME_CHARS),
        "Metrics": list(evidence.subject.covered_metrics) or None,
        "Alarm": printable(transition.alarm, MAX_RESOURCE_NAME_CHARS),
        "AlarmArn": printable(transition.alarm_arn, LONGEST_ARN),
        "Account": printable(transition.account),
        "Region": printable(transition.region),
        "MutedBy": printable(transition.muted_by, LONGEST_ARN),
        "Reason": printable(transition.reason, LONGEST_REASON),
        "Sentences": [*explanation.sentences, *explanation.last_sentences],
        "Commands": explanation.commands,
        "IdleCostTodayUsd": _rounded(cost.usd) if cost else None,
        "IdleCostTodayMinutes": cost.minutes if cost else None,
        "RollupAgeSeconds": _rounded(evidence.age_s),
        "QueryLogGroup": explanation.environment.rollups_log_group if explanation.query else None,
        "Query": explanation.query,
        "Runbook": explanation.runbook,
        "Dashboard": explanation.environment.dashboard,
        "DashboardAddress": explanation.dashboard_address,
    }
    present = {name: value for name, value in members.items() if value not in (None, "", [])}
    return {name: cells(value) for name, value in present.items()}


def _document(members: Mapping[str, object], rollup: JsonObject) -> str:
    """
    Return *members* and as much of *rollup* as fits.

    The lists of the rollup are halved until it fits. A rollup that still does not fit, or that
    cannot be written as JSON, is omitted.
    """
    if not rollup:
        return compact_json(members)
    without = compact_json({**members, "RollupLeftOut": True})
    cut = dict[str, object]()
    try:  # Python parses infinity, half a character and deep nesting, but cannot write them
        kept = {name: cells(value) for name, value in rollup.items() if name != "_aws"}
        longest = max((len(value) for value in kept.values() if isinstance(value, list)), default=0)
        while True:
            document = compact_json({**members, **cut, "Rollup": kept})
            if len(compact_json(document).encode()) <= MAX_DOCUMENT_BYTES:
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


def compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
