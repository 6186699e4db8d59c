"""
Handler: each hour, the ledger's objects of the due hours.

To settle an hour again, after a change of prices or teams, invoke it with `{"Hour":
"2026-11-22T08:00Z"}` while its minutes exist.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from aggregator import aws, runtime
from aggregator.minutes import hour_of
from aggregator.reading.workers import processes_for
from aggregator.runtime import LambdaContext, Logger, log_counts, publish_health
from aggregator.settle.purchases import DENIED_CODES, asked_of_ec2, packed_parts
from aggregator.settle.run import SettleRun
from aggregator.storage.ledger_objects import LedgerObjects
from aggregator.storage.table import Table
from neuron_wire.line_members import Amounts, Members, stated_members

if TYPE_CHECKING:
    from aggregator.settle.run import SettleOutcome

logger = Logger()


@logger.inject_lambda_context
def handler(event: Members, context: LambdaContext) -> Amounts:
    """Settle the due hours, or the hour in the event. Return the counts of the results."""
    stack, _ = runtime.stack()

    def connect() -> tuple[Table, LedgerObjects]:
        # Minutes that no longer change need no consistent read, which costs twice as much.
        table = Table.connect(stack.table_name, consistent=False)
        return table, LedgerObjects(stack.ledger_bucket)

    outcome = SettleRun(
        table=Table.connect(stack.table_name),
        rules=stack.rules,
        ask_ec2=_ask_ec2,
        now_s=time.time,
        remaining_s=lambda: context.get_remaining_time_in_millis() / 1000,
        connect=connect,
        processes=processes_for(int(context.memory_limit_in_mb)),
    ).run(hour_of(event))
    _log_trouble(outcome)
    counts: dict[str, float] = stated_members(outcome)
    publish_health(stack.stack_name, counts)
    return counts


def _ask_ec2() -> list[bytes]:
    try:
        return packed_parts(asked_of_ec2())
    except aws.AwsError as error:
        logger.warning(
            "EC2 does not report how instances are paid for", extra={"reason": str(error)}
        )
        if error.code not in DENIED_CODES:
            raise
        return []  # nothing is stored, so the hour can be settled again once the call is permitted


def _log_trouble(outcome: SettleOutcome) -> None:
    if outcome.hours_waiting:
        logger.warning("hours left to the next run", extra={"count": outcome.hours_waiting})
    drops = {
        "minutes_expired": outcome.hours_dropped,
        "over_a_bound": outcome.records_refused,
        "item_unreadable": outcome.records_unreadable,
    }
    log_counts(logger.error, "hours or records dropped", drops)
