"""
What one transition means, as people and programs get it.

People get text, by mail the whole and by SMS one line; programs get JSON with the rollup
itself. What Slack and Teams get is in `aggregator.explain.chat`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aggregator.explain.event import ERRORS, HARDWARE, NO_DATA, SILENCE, UNKNOWN
from aggregator.explain.failures import (
    find_failed_executions,
    find_hardware_errors,
    find_silence,
)
from aggregator.explain.finding import AlarmFinding, basis_of
from aggregator.explain.idle import find_idle_cores
from aggregator.explain.topic import (
    MAX_SUBJECT_CHARS,
    TopicMessage,
    ascii_only,
    teams_attribute,
)
from aggregator.query_text import member_is
from neuron_wire.phrases import cells, console_address, duration, iso, printable, safe_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aggregator.environment import Environment
    from aggregator.explain.event import AlarmSubject, Transition
    from aggregator.explain.evidence import Evidence
    from aggregator.explain.topic import Attributes
    from neuron_wire.line_members import JsonObject

LONGEST_CLUSTER: Final = 40  # characters of a cluster's name in a subject line
LONGEST_REASON: Final = 500  # characters of what CloudWatch says
LONGEST_NAME: Final = 256  # characters, as of what follows
LONGEST_ARN: Final = 512
MAX_SMS_CHARS: Final = 140  # more are sent, and billed, as two
MAX_DOCUMENT_BYTES: Final = 30_000
"""
Of the JSON form as it stands in the call, with its quotes escaped. Five
protocols get it, and everything stays under the 262,144 bytes that SNS takes.
"""

JSON_PROTOCOLS: Final = ("sqs", "lambda", "http", "https", "firehose")
_FINDERS: Final = {
    SILENCE.metric: find_silence,
    HARDWARE.metric: find_hardware_errors,
    ERRORS.metric: find_failed_executions,
}
_FILLED: Final = (
    "Missing data points were treated as not breaching, which may be the only reason that the"
    " alarm is OK."
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """
    One transition, and what is known about it.

    Attributes:
        transition: What happened.

        evidence: What the table says of the cluster.

        finding: The evidence in sentences; at the end of an alarm only how it looks now.

        environment: Where runbook, rollups and dashboard are.
    """

    transition: Transition
    evidence: Evidence
    finding: AlarmFinding
    environment: Environment

    @property
    def title(self) -> str:
        """The subject line at full length; it begins with the state as CloudWatch writes it."""
        what = self.finding.short or self.finding.headline
        return ": ".join(filter(None, (self.transition.state, self._about(LONGEST_CLUSTER), what)))

    @property
    def sentences(self) -> list[str]:
        """The sentences before the commands."""
        finding = self.finding
        headline = ": ".join(filter(None, (self._about(LONGEST_NAME), finding.headline)))
        return [*filter(None, (headline, *finding.facts, finding.urgency, *finding.total))]

    @property
    def commands(self) -> list[str]:
        """The commands to type, each behind its purpose."""
        shown = self.finding.commands
        width = 1 + max((len(command.label) for command in shown), default=0)
        return [
            f"{number}. {f'{command.label}:':<{width}}  {command.text}"
            for number, command in enumerate(shown, 1)
        ]

    @property
    def last_sentences(self) -> list[str]:
        """What to do now, and the basis of the numbers."""
        answer = f"Answer now: {self.finding.answer}" if self.finding.answer else ""
        return [*filter(None, (answer, basis_of(self.evidence)))]

    @property
    def runbook(self) -> str:
        """Where the meaning of the alarm is described; may be empty."""
        page, anchor = self.environment.runbook, self.evidence.subject.anchor
        return f"{page}#{anchor}" if page and anchor else page

    @property
    def dashboard(self) -> str:
        """The name of the stack's dashboard."""
        stack, region = self.environment.stack_name, self.transition.region
        return f"{stack}-{region}" if region else stack

    @property
    def dashboard_address(self) -> str:
        """Where the console shows it; empty without a region."""
        region = self.transition.region
        shown = f"{console_address('cloudwatch/home', region)}dashboards/dashboard/{self.dashboard}"
        return shown if region else ""

    @property
    def places(self) -> list[str]:
        """Where to read on."""
        places = {"Evidence": self.dashboard_address or self.dashboard, "Runbook": self.runbook}
        return [f"{what}: {address}" for what, address in places.items() if address]

    @property
    def query(self) -> str:
        """The Logs Insights query for the rollups of the cluster; may be empty."""
        cluster = self.transition.cluster
        if self.evidence.subject == UNKNOWN or cluster is None:
            return ""
        wanted = member_is("ClusterName", printable(cluster, LONGEST_NAME))
        shown = f'filter Kind = "rollup" and {wanted}\n| sort @timestamp desc\n| limit 60'
        return shown if self.environment.rollups_log_group else ""

    @property
    def metric(self) -> str:
        """The metric that the alarm watches; empty when the event names none."""
        watched = (*self.transition.metrics, *self.transition.other_metrics, "")
        return self.evidence.subject.metric or watched[0]

    @property
    def subject(self) -> str:
        """One line of at most 99 ASCII characters."""
        return ascii_only(self.title, MAX_SUBJECT_CHARS)

    @property
    def sms(self) -> str:
        """At most 140 ASCII characters."""
        urgency = self.finding.urgency.partition(":")[0]
        return ascii_only(f"{self.title}. {urgency}." if urgency else self.title, MAX_SMS_CHARS)

    @property
    def text(self) -> str:
        """The whole, for people."""
        lines = *self.sentences, *self.commands, *self.last_sentences, "    ".join(self.places)
        return "".join(f"{line}\n" for line in lines if line)

    @property
    def document(self) -> str:
        """The whole as JSON, for programs."""
        return _document(_members(self), self.evidence.rollup)

    @property
    def attributes(self) -> Attributes:
        """What a subscription may filter by: never empty texts."""
        subject, transition = self.evidence.subject, self.transition
        attributes: Attributes = {
            "Kind": subject.kind,
            "State": transition.state,
            "ClusterName": printable(transition.cluster or "", LONGEST_NAME),
            "Metric": subject.covered_metrics or printable(self.metric, LONGEST_NAME),
            "Muted": "true" if transition.muted_by else "false",
            # Who had the cores is not kept, so the end of an alarm has no team.
            "Team": teams_attribute(self.finding.teams),
        }
        return {name: value for name, value in attributes.items() if value}

    @property
    def topic_message(self) -> TopicMessage:
        """The forms as SNS wants them with MessageStructure json."""
        forms = {"default": self.text, "sms": self.sms}
        forms.update(dict.fromkeys(JSON_PROTOCOLS, self.document))
        return TopicMessage(compact_json(forms), self.attributes, self.subject, is_by_protocol=True)

    def _about(self, longest: int) -> str:
        cluster = safe_name(self.transition.cluster or "", longest)
        return " ".join(filter(None, (cluster, "(muted)" if self.transition.muted_by else "")))


def explain_transition(
    transition: Transition, evidence: Evidence, environment: Environment
) -> Explanation:
    """Explain *transition* by the *evidence* about its cluster."""
    finding = _finding(transition, evidence)
    if transition.state != "ALARM":
        filled = (_FILLED,) if transition.is_filled else ()
        finding = AlarmFinding(_end_headline(transition, evidence.subject), (finding.over, *filled))
    return Explanation(transition, evidence, finding, environment)


def _end_headline(transition: Transition, subject: AlarmSubject) -> str:
    """The headline of an alarm that is resolved, or that has no data any more."""
    what = subject.title or f"alarm {printable(transition.alarm)}"
    if transition.shown_state == NO_DATA:
        return f"{what}, no data: it was in alarm; unknown, not resolved"
    lasted = transition.lasted_minutes
    return f"{what}, resolved{'' if lasted is None else f' after {duration(lasted)}'}"


def _finding(transition: Transition, evidence: Evidence) -> AlarmFinding:
    subject = evidence.subject
    if subject == UNKNOWN:
        watched = printable(", ".join((*transition.metrics, *transition.other_metrics)), 200)
        unknown = f"It watches {watched or 'nothing that its event names'}, unknown to neuron-emf."
        reason = f"CloudWatch: {printable(transition.reason, LONGEST_REASON)}"
        return AlarmFinding(f"alarm {printable(transition.alarm)}", (unknown, reason))
    if evidence.rollup:
        return _FINDERS.get(subject.metric, find_idle_cores)(evidence)
    which = "" if subject.about == "minute" else " with such errors"
    missing = evidence.trouble or f"The table has no rollup of this cluster{which}."
    if transition.cluster is None:
        missing = "The event names no cluster, so there are no details."
    return AlarmFinding(subject.title, (missing,), over=missing)


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
        "ClusterName": printable(transition.cluster or "", LONGEST_NAME),
        "Metric": printable(explanation.metric, LONGEST_NAME),
        "Metrics": list(evidence.subject.covered_metrics) or None,
        "Alarm": printable(transition.alarm, LONGEST_NAME),
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
        "Dashboard": explanation.dashboard,
        "DashboardAddress": explanation.dashboard_address,
    }
    present = {name: value for name, value in members.items() if value not in (None, "", [])}
    return {name: cells(value) for name, value in present.items()}


def _document(members: Mapping[str, object], rollup: JsonObject) -> str:
    """
    *members* and as much of *rollup* as there is room for.

    Its lists are halved until it fits; a rollup that never does, or cannot be
    written as JSON, is left out.
    """
    if not rollup:
        return compact_json(members)
    without, cut = compact_json({**members, "RollupLeftOut": True}), dict[str, object]()
    try:  # infinity, half a character, depth: Python reads all
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
