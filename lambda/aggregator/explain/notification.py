"""
One transition of an alarm: told once, never lost.

EventBridge and Lambda deliver at least once. What was told is remembered by the
alarm, its contributor and the time of the transition, after the message is out:
a crash in between tells it again, and nothing is ever taken for told that was
not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from aggregator.explain.evidence import UNREADABLE, ClusterEvidence, gather
from aggregator.explain.explanation import explain
from aggregator.explain.message import Message, message_of
from aggregator.explain.subject import subject_of
from aggregator.storage.values import TableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from aggregator.environment import Environment
    from aggregator.explain.event import Transition
    from aggregator.storage.table import Table

REMEMBERED_S: Final = 14 * 24 * 3600
"""As long as the dead-letter queue keeps an event that somebody may deliver again."""


@dataclass(frozen=True, slots=True)
class Notification:
    """
    What became of one transition.

    Attributes:
        outcome: `sent`; `repeated`, it was told before; `dropped`, it is no
            news; `kept`, there is nobody to tell.

        message: The message, if one was written.

        trouble: What did not work and stopped nothing; empty when all did.
    """

    outcome: Literal["sent", "repeated", "dropped", "kept"]
    message: Message | None = None
    trouble: str = ""


def is_news(transition: Transition) -> bool:
    """
    Whether anybody wants to know.

    Every alarm, and its end: an alarm that rings no longer, or of which nothing
    is known any more. What an alarm that never rang says is none: a new one has
    no data at first, and one that has data again was never rung. A contributor
    that is OK has been in ALARM; its event does not say so.
    """
    return transition.state == "ALARM" or transition.before in {"ALARM", None}


def notify(
    transition: Transition,
    table: Table,
    environment: Environment,
    publish: Callable[[str, Message], None],
    now_s: float,
) -> Notification:
    """
    Send a message about *transition* to the topic of *environment*.

    A table that fails makes a message shorter, or one that is sent twice.

    Raises:
        TopicError: If it could not be sent; the invocation must be repeated.
    """
    if not is_news(transition):
        return Notification("dropped")
    trouble = ""
    try:
        if table.was_notified(transition.identity):
            return Notification("repeated")
    except TableError as error:
        trouble = str(error)
    subject = subject_of(transition.metrics)
    # A table that has just failed is not asked again: Lambda's time is for the message.
    evidence = ClusterEvidence(trouble=UNREADABLE if trouble else "")
    if subject is not None and transition.cluster is not None and not trouble:
        evidence = gather(subject, transition.cluster, table, now_s)
    message = message_of(explain(transition, evidence, environment, now_s))
    if not environment.alarm_topic_arn:
        return Notification("kept", message, trouble)
    publish(environment.alarm_topic_arn, message)
    try:
        table.put_notified(transition.identity, int(now_s) + REMEMBERED_S)
    except TableError as error:
        trouble = str(error)
    return Notification("sent", message, trouble)
