"""
Handler: each week, what idle cores cost, to the alarm topic.

Asynchronous, as explain: an exception makes Lambda try again and in the end hand the
event to the failure destination. For another week, invoke it with the hour
after that week, `{"Until": "2026-11-23T00:00Z"}`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from aggregator import runtime
from aggregator.digest.week import Week, digest_message
from aggregator.explain.topic import publish_message
from aggregator.minutes import MARKER_SLACK_MINUTES, hour_of
from aggregator.runtime import LambdaContext, Logger
from aggregator.storage.ledger_objects import LedgerObjects
from neuron_wire.names import DAY_HOURS, HOUR_MINUTES, WEEK_HOURS

if TYPE_CHECKING:
    from aggregator.explain.topic import TopicMessage
    from neuron_wire.line_members import Members

logger = Logger()

_DAY_S: Final = 86_400
_SETTLES_WITHIN_MINUTES: Final = 2 * HOUR_MINUTES  # of when it may: the next tick, and a slow one


@logger.inject_lambda_context
def handler(event: Members, context: LambdaContext) -> dict[str, str]:  # noqa: ARG001
    """Publish the digest of the seven days that are settled, or of those before an hour."""
    stack, _ = runtime.stack()
    end_hour = hour_of(event, "Until")
    if end_hour is None:
        end_hour = last_midnight(time.time(), stack.rules.late_minutes)
    message = write_digest(
        LedgerObjects(stack.ledger_bucket), end_hour, stack.stack_name, stack.region
    )
    publish_message(stack.alarm_topic_arn, message)
    logger.info("digest sent", extra={"subject": message.subject})
    return {"Subject": message.subject, "Text": message.body}


def write_digest(
    objects: LedgerObjects, end_hour: int, stack_name: str, region: str
) -> TopicMessage:
    """
    The digest of the seven days before *end_hour*.

    Raises:
        LedgerError: If the bucket did not answer.
        WireFormatError: If an object of it is damaged.
    """
    ends = (end_hour, end_hour - WEEK_HOURS)
    week, before = (Week(hours=range(end - WEEK_HOURS, end)) for end in ends)
    for each in (week, before):
        each.fold_hours(objects.read_summaries(each.hours))
    return digest_message(week, before, stack_name, region)


def last_midnight(now_s: float, late_minutes: int) -> int:
    """The last midnight UTC before which every hour should be settled, in hours."""
    settled_s = now_s - 60 * (late_minutes + MARKER_SLACK_MINUTES + _SETTLES_WITHIN_MINUTES)
    return int(settled_s) // _DAY_S * DAY_HOURS
