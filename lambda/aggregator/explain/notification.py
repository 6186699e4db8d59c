"""
One transition of an alarm: told once, never lost, and one fact by one message.

EventBridge and Lambda deliver at least once. What was told is remembered by the
alarm, its contributor and the time of the transition, after the message is out:
a crash in between tells it again, and nothing is ever taken for told that was
not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from aggregator.explain.chat import chat_publication
from aggregator.explain.claim import pauses, topics_covered
from aggregator.explain.evidence import UNREADABLE, ClusterEvidence, gather
from aggregator.explain.explanation import explain
from aggregator.explain.message import Message, message_of
from aggregator.explain.message_line import message_line
from aggregator.explain.subject import subject_of
from aggregator.explain.topic import TopicError
from aggregator.storage.values import TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aggregator.environment import Environment
    from aggregator.explain.event import Transition
    from aggregator.explain.explanation import Explanation
    from aggregator.explain.message import Publication
    from aggregator.storage.table import Table

REMEMBERED_S: Final = 14 * 24 * 3600
"""As long as the dead-letter queue keeps an event that somebody may deliver again."""


@dataclass(frozen=True, slots=True)
class Notification:
    """
    What became of one transition.

    Attributes:
        outcome: `sent`; `joined`, the message about another alarm told it; `repeated`,
            it was told before; `dropped`, it is no news; `kept`, there is nobody to tell.

        message: The message, if one was written.

        trouble: What did not work and stopped nothing; empty when all did.
    """

    outcome: Literal["sent", "joined", "repeated", "dropped", "kept"]
    message: Message | None = None
    trouble: str = ""


def is_news(transition: Transition) -> bool:
    """
    Whether anybody wants to know.

    Every alarm, and its end: an alarm that is no longer In alarm, or of which nothing
    is known any more. What an alarm that never rang says is none: a new one has
    no data at first, and one that has data again was never rung. A contributor
    that is OK has been in ALARM; its event does not say so.
    """
    return transition.state == "ALARM" or transition.before in {"ALARM", None}


def notify(
    transition: Transition,
    table: Table,
    environment: Environment,
    publish: Callable[[str, Publication], None],
    now_s: float,
    *,
    printer: Callable[[str], None] = print,
    looks: Callable[[], Iterator[None]] = pauses,
) -> Notification:
    """
    Send a message about *transition* to the topics of *environment*, and print it as a line.

    A table that fails makes a message shorter, or one that is sent twice. A topic that
    refuses does not keep the message from the other. *looks* are how often it is looked
    whether a message about another alarm is out.

    Raises:
        TopicError: If it could not be sent to each; the invocation must be repeated.
    """
    if not is_news(transition):
        return Notification("dropped")
    topics, expires_s = _topics(environment), int(now_s) + REMEMBERED_S
    due, trouble = _due(topics, transition, table)
    if topics and not due:
        return Notification("repeated")
    subject = subject_of(transition.metrics)
    # A table that has just failed is not asked again: Lambda's time is for the message.
    evidence = ClusterEvidence(trouble=UNREADABLE if trouble else "")
    if subject is not None and transition.cluster is not None and not trouble:
        evidence = gather(subject, transition.cluster, table, now_s)
    explanation = explain(transition, evidence, environment)
    message = message_of(explanation)
    covered, failure = topics_covered(
        explanation, [topic.mark for topic in due], table, expires_s, looks
    )
    trouble = trouble or failure
    refusals: list[TopicError] = []
    for topic in due:
        if topic.mark not in covered:
            try:
                publish(topic.arn, topic.form(explanation, message))
            except TopicError as error:
                refusals.append(error)
                continue
            if topic.has_line:
                printer(message_line(explanation, message, now_s))
        trouble = _remember(transition.identity + topic.mark, table, expires_s) or trouble
    if refusals:
        raise refusals[0]
    if due and len(covered) == len(due):
        return Notification("joined", trouble=trouble)
    return Notification("sent" if topics else "kept", message, trouble)


@dataclass(frozen=True, slots=True)
class _Topic:
    """
    Whom to tell.

    Attributes:
        arn: The topic.

        mark: What stands behind the identity of a transition where it is remembered that
            they were told of it.

        form: What they get.

        has_line: Whether the message is printed when they were told.
    """

    arn: str
    mark: str
    form: Callable[[Explanation, Message], Publication]
    has_line: bool = False


def _topics(environment: Environment) -> list[_Topic]:
    people = _Topic(
        environment.alarm_topic_arn, "", lambda _, message: message.publication(), has_line=True
    )
    chat = _Topic(
        environment.chat_topic_arn, " chat", lambda explanation, _: chat_publication(explanation)
    )
    return [topic for topic in (people, chat) if topic.arn]


def _due(
    topics: Sequence[_Topic], transition: Transition, table: Table
) -> tuple[Sequence[_Topic], str]:
    """Those that were not told yet, all when the table fails; and why it failed."""
    try:
        return [
            topic for topic in topics if not table.was_notified(transition.identity + topic.mark)
        ], ""
    except TableError as error:
        return topics, str(error)


def _remember(identity: str, table: Table, expires_s: int) -> str:
    """Why it could not be remembered that somebody was told; empty when it was."""
    try:
        table.put_notified(identity, expires_s)
    except TableError as error:
        return str(error)
    return ""
