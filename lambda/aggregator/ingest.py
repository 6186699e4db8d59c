"""
Handler: a CloudWatch Logs subscription event into the table.

Asynchronous, so an exception makes Lambda deliver the event again and, in the
end, hand it to the failure destination. Storing a record twice is harmless.
"""

from __future__ import annotations

import os
import time
from functools import cache
from typing import TYPE_CHECKING

from aggregator import environment, store
from aggregator.intake import Intake, take_in
from aggregator.runtime import LambdaContext, Logger, publish_health, subscription_of

if TYPE_CHECKING:
    from aggregator.table import Table

logger = Logger()


@cache
def _stack() -> tuple[environment.Environment, Table]:
    found = environment.read(os.environ)
    return found, store.connect(found.table_name)


@logger.inject_lambda_context
def handler(event: dict[str, object], context: LambdaContext) -> dict[str, int]:  # noqa: ARG001
    """
    Store the minute records of one delivery; the counts of what became of them.
    """
    stack, table = _stack()
    delivered = subscription_of(event)
    if delivered.log_group in stack.own_log_groups:
        return _refuse(delivered.log_group, len(delivered.lines), stack)
    if not delivered.lines:
        return {}
    taken = take_in(delivered.lines, table, stack.rules.late_minutes, time.time)
    _log_drops(taken, delivered.log_stream, stack.rules.late_minutes)
    counts = {
        "RecordsStored": taken.stored,
        "RecordsRejected": sum(taken.rejected.values()),
        "RecordsTooLate": taken.too_late,
    }
    publish_health(stack.stack_name, counts)
    return counts


def _refuse(log_group: str, lines: int, stack: environment.Environment) -> dict[str, int]:
    # Subscribed to the group it writes to, every line it prints would call it again: say nothing.
    if log_group != stack.own_log_group:
        logger.error(
            "lines refused",
            extra={"count": lines, "reason": "own_log_group", "log_group": log_group},
        )
        publish_health(stack.stack_name, {"RecordsRejected": lines})
    return {"RecordsRejected": lines}


def _log_drops(taken: Intake, log_stream: str, late_minutes: int) -> None:
    for reason, count in sorted(taken.rejected.items()):
        logger.warning(
            "lines dropped",
            extra={
                "count": count,
                "reason": reason,
                "log_stream": log_stream,
                "event_ids": taken.examples[reason],
            },
        )
    if taken.too_late:
        logger.warning(
            "records dropped",
            extra={
                "count": taken.too_late,
                "reason": "too_late",
                "late_minutes": late_minutes,
                "log_stream": log_stream,
            },
        )


if "AWS_LAMBDA_FUNCTION_NAME" in os.environ:
    _stack()  # while Lambda still gives the start of a function a whole processor
