"""
Handler: store the emitters' lines from CloudWatch Logs or from Kinesis.

CloudWatch Logs invokes asynchronously: an exception makes Lambda deliver the event again and, in
the end, send it to the failure destination. Lambda polls Kinesis: after an
exception it delivers the whole batch again, and after a partial failure the records from the first
failed record on. Every attempt stores every readable record, so no other record is lost when Lambda
gives up an unreadable record. Storing a record twice is harmless. Memory is limited in every case:
a delivery that unpacks to too much is unreadable, and records beyond the limit of one invocation
are reported as failed, so that Lambda delivers them again.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from aggregator import runtime
from aggregator.ingest.intake import TOO_LATE, Intake, take_in
from aggregator.runtime import LambdaContext, Logger, arrival_of, publish_health

if TYPE_CHECKING:
    from aggregator.arrivals import Arrival, LogLine
    from aggregator.environment import Environment
    from neuron_wire.line_members import Members

MAX_SEQUENCE_NUMBERS: Final = 5

logger = Logger()


@logger.inject_lambda_context
def handler(event: Members, context: LambdaContext) -> Members:  # noqa: ARG001
    """
    Store the minute records of one event.

    Return the counts of the results or, for a Kinesis batch, the records to deliver again.
    """
    stack, table = runtime.stack()
    arrival = arrival_of(event)
    lines, refused = _admitted(arrival, stack)
    counts = {"RecordsStored": 0, "RecordsRejected": refused, "RecordsTooLate": 0}
    if lines:
        taken = take_in(
            lines, table, stack.rules.late_minutes, time.time, in_packs=arrival.by_stream
        )
        _log_drops(taken, stack.rules.late_minutes)
        counts["RecordsStored"] = taken.stored
        counts["RecordsRejected"] += taken.rejected
        counts["RecordsTooLate"] = taken.too_late
    if arrival.unreadable:
        _log_unreadable(arrival)
        counts["DeliveriesUnreadable"] = len(arrival.unreadable)
    if arrival.left:
        logger.warning(
            "deliveries left",
            extra={"count": len(arrival.left), "reason": "enough_for_one_invocation"},
        )
    if sum(counts.values()) > counts["RecordsStored"]:
        # A line of metrics for each good delivery would cost more than close does.
        publish_health(stack.stack_name, counts)
    return arrival.response if arrival.by_stream else dict(counts)


def _admitted(arrival: Arrival, stack: Environment) -> tuple[list[LogLine], int]:
    """Return the lines that may be read, and the number of rejected ones."""
    lines: list[LogLine] = []
    rejected = 0
    for delivery in arrival.deliveries:
        if delivery.log_group not in stack.own_log_groups:
            lines += delivery.lines
        elif delivery.log_group != stack.own_log_group:
            refused = len(delivery.lines)
            rejected += refused
            logger.error(
                "lines refused",
                extra={
                    "count": refused,
                    "reason": "own_log_group",
                    "log_group": delivery.log_group,
                },
            )
        # otherwise, subscribed to its own log group, it would invoke itself with every line it
        # prints
    return lines, rejected


def _log_drops(taken: Intake, late_minutes: int) -> None:
    for reason, drop in sorted(taken.dropped.items()):
        late = reason == TOO_LATE
        logger.warning(
            "records dropped" if late else "lines dropped",
            extra={
                "count": drop.count,
                "reason": reason,
                **({"late_minutes": late_minutes} if late else {}),
                "log_streams": drop.log_streams,
                "event_ids": drop.event_ids,
            },
        )


def _log_unreadable(arrival: Arrival) -> None:
    logger.error(
        "deliveries unreadable",
        extra={
            "count": len(arrival.unreadable),
            "reason": "no_delivery_of_cloudwatch_logs",
            "faults": list(arrival.faults),
            "sequence_numbers": list(arrival.unreadable[:MAX_SEQUENCE_NUMBERS]),
        },
    )
