"""
Notify people of one transition of an alarm: once, never lost, one message for one fact.

EventBridge and Lambda deliver at least once. A transition is stored by the alarm, its contributor
and its time after the message was sent: after a crash in between, the message is repeated, and a
message that was not sent is never recorded as sent.

Idle cores, their cost and low utilization of a cluster are one fact. The first of these alarms that
changes sends one message for all. Another of them that changes to the same state within a quarter
of an hour sends none, if the first message was sent. In doubt a message is sent.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from aggregator.explain.chat import chat_message
from aggregator.explain.event import find_subject
from aggregator.explain.evidence import UNREADABLE, Evidence, gather_evidence
from aggregator.explain.explanation import explain_transition
from aggregator.explain.topic import TopicError
from aggregator.storage.values import Claim, TableError
from neuron_wire.line import sendable_line
from neuron_wire.line_members import filled
from neuron_wire.names import MESSAGE_KIND, VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aggregator.environment import Environment
    from aggregator.explain.event import Transition
    from aggregator.explain.explanation import Explanation
    from aggregator.explain.topic import TopicMessage
    from aggregator.minutes import Clock
    from aggregator.storage.table import Table
    from neuron_wire.line_members import Members

REMEMBERED_S: Final = 14 * 24 * 3600
"""Seconds for which the dead-letter queue keeps an event that an operator may redeliver."""

WITHIN_MS: Final = 15 * 60_000
"""Transitions closer together than this are one fact."""

EVIDENCE_TIMEOUT_S: Final = 20  # of the 60 seconds of explain
_EVIDENCE_POLL_S: Final = 1.0
# attempts to claim: after a rejected put, the second read finds the holder of the claim
_TRIES: Final = 2
_CHAT: Final = " chat"  # suffix of the identity under which a message to the chat is stored


@dataclass(frozen=True, slots=True)
class Notification:
    """
    The outcome of one transition.

    Attributes:
        outcome: `sent`, `joined` if the message about another alarm covers it, `repeated` if it was
            sent before, `dropped` if it is not news, or `kept` if there is no topic.

        message: The message, if one was written.

        trouble: A failure that did not stop the message; empty if there was none.
    """

    outcome: Literal["sent", "joined", "repeated", "dropped", "kept"]
    message: Explanation | None = None
    trouble: str = ""


def is_news(transition: Transition) -> bool:
    """
    Return True for every alarm and its end, including an end without data.

    A new alarm starts without data, and an alarm without data can become OK: neither is news. A
    contributor that is OK was in ALARM, although its event does not say so.
    """
    return transition.state == "ALARM" or transition.before in {"ALARM", None}


def pauses(
    clock: Clock = time.monotonic, sleep: Callable[[float], None] = time.sleep
) -> Iterator[None]:
    """Yield now, and every second while a message is awaited."""
    until_s = clock() + EVIDENCE_TIMEOUT_S
    yield
    while clock() < until_s:
        sleep(_EVIDENCE_POLL_S)
        yield


def notify(
    transition: Transition,
    table: Table,
    environment: Environment,
    publish: Callable[[str, TopicMessage], None],
    now_s: float,
    *,
    printer: Callable[[str], None] = print,
    looks: Callable[[], Iterator[None]] = pauses,
) -> Notification:
    """
    Send a message about *transition* to the topics of *environment*, and print it as a line.

    If the table fails, the message is shorter, or is sent twice. A topic that rejects the message
    does not keep it from the other topic. *looks* paces the wait for a message about another alarm.

    Raises:
        TopicError: If a topic refused; the invocation must be repeated.
    """
    if not is_news(transition):
        return Notification("dropped")
    topics = filled({"": environment.alarm_topic_arn, _CHAT: environment.chat_topic_arn})
    due, trouble = _due([*topics], transition, table)
    if topics and not due:
        return Notification("repeated")
    idle_after = environment.rules.idle_after_minutes
    table_problem = UNREADABLE if trouble else ""
    evidence = Evidence(
        find_subject(transition.metrics), transition.region, idle_after, trouble=table_problem
    )
    # a table that has just failed is not asked again: the time is left for the message
    if not trouble:
        evidence = gather_evidence(evidence, transition.cluster, table, now_s)
    explanation = explain_transition(transition, evidence, environment)
    expires_s = int(now_s) + REMEMBERED_S
    covered, failure = topics_covered(explanation, due, table, expires_s, looks)
    trouble = trouble or failure
    refusals: list[TopicError] = []
    for mark in due:
        if mark not in covered:
            form = chat_message(explanation) if mark == _CHAT else explanation.topic_message
            try:
                publish(topics[mark], form)
            except TopicError as error:
                refusals.append(error)
                continue
            if mark != _CHAT:
                printer(message_line(explanation, now_s))
        trouble = _remember(transition.identity + mark, table, expires_s) or trouble
    if refusals:
        raise refusals[0]
    if due and len(covered) == len(due):
        return Notification("joined", trouble=trouble)
    return Notification("sent" if topics else "kept", explanation, trouble)


def _due(marks: list[str], transition: Transition, table: Table) -> tuple[list[str], str]:
    """Return the *marks* without a message, all of them if the table fails; and the failure."""
    try:
        return [mark for mark in marks if not table.was_notified(transition.identity + mark)], ""
    except TableError as error:
        return marks, str(error)


def _remember(identity: str, table: Table, expires_s: int) -> str:
    """Store that the message was sent. Return why the table could not; otherwise empty."""
    try:
        table.put_notified(identity, expires_s)
    except TableError as error:
        return str(error)
    return ""


def message_line(explanation: Explanation, now_s: float) -> str:
    """
    Return *explanation*, sent at *now_s*, as a log line of Kind `message`.

    An unknown value has no member. The line is printed, never logged: a logger would wrap it.
    """
    subject = explanation.evidence.subject
    members: Members = {
        "Timestamp": int(now_s * 1000),
        "Schema": VERSION,
        "Kind": MESSAGE_KIND,
        "AlarmName": explanation.transition.alarm,
        "ClusterName": explanation.transition.cluster,
        "Metrics": list(subject.covered_metrics or filter(None, [explanation.metric])),
        "State": explanation.transition.shown_state,
        "Urgency": explanation.summary.urgency,
        "Subject": explanation.subject,
        "Text": explanation.text,
        "Runbook": explanation.runbook,
        "DashboardAddress": explanation.dashboard_address,
    }
    return sendable_line(filled(members))


def topics_covered(
    explanation: Explanation,
    marks: Sequence[str],
    table: Table,
    expires_s: int,
    looks: Callable[[], Iterator[None]],
) -> tuple[Sequence[str], str]:
    """
    Return the topics that already have the message about another alarm, and the failure.

    *marks* are suffixes of the identities under which messages to the topics are stored. A message
    without the cluster's numbers covers no other, so it claims nothing.
    """
    evidence = explanation.evidence
    covered = list[str]()
    if not marks or not evidence.subject.is_idle or not evidence.rollup:
        return (), ""
    try:
        claimer = _claimer(explanation.transition, table, expires_s)
        for _ in looks() if claimer else ():
            covered = [mark for mark in marks if table.was_notified(claimer + mark)]
            if len(covered) == len(marks):
                break
    except TableError as error:
        return (), str(error)
    return covered, ""


def _claimer(transition: Transition, table: Table, expires_s: int) -> str:
    """Return the transition whose message covers *transition*; empty for its own."""
    # Subscribers that filter by Muted do not get a muted message, so it covers only muted ones. All
    # states share one claim, because an alarm that fires after another one ended is news.
    group = json.dumps([transition.cluster, bool(transition.muted_by)])
    own = Claim(transition.identity, transition.shown_state, round(1000 * transition.at_s))
    for _ in range(_TRIES):
        held = table.read_claim(group)
        if held is not None and held.state == own.state and abs(held.at_ms - own.at_ms) < WITHIN_MS:
            return "" if held.identity == own.identity else held.identity
        if table.write_claim(group, own, held, expires_s):
            break
    return ""
