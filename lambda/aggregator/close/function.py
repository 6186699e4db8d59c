"""
Handler: each minute, the rollup of each cluster.

Rollup lines are printed, never logged: a logger would wrap them and CloudWatch
would no longer see their metrics.
"""

from __future__ import annotations

import time
from functools import cache, partial
from typing import TYPE_CHECKING

from aggregator import aws, runtime
from aggregator.close.run import CloseRun
from aggregator.findings.outbox import EventBus, FindingsOutlet, StackLogGroups
from aggregator.reading.workers import processes_for
from aggregator.runtime import LambdaContext, Logger, log_counts, publish_health
from aggregator.storage.table import Table
from neuron_wire.catalogue import MembersOf, rollup_metrics
from neuron_wire.line_members import Amounts, Members, stated_members

if TYPE_CHECKING:
    from aggregator.close.reduction import CloseOutcome
    from aggregator.environment import Environment

logger = Logger()


@logger.inject_lambda_context
def handler(event: Members, context: LambdaContext) -> Amounts:  # noqa: ARG001
    """Close due minutes and restate late ones. Return the counts of the results."""
    stack, table = runtime.stack()
    outcome = CloseRun(
        table=table,
        rules=stack.rules,
        emit=partial(print, flush=True),
        now_s=time.time,
        remaining_s=lambda: context.get_remaining_time_in_millis() / 1000,
        processes=processes_for(int(context.memory_limit_in_mb)),
        connect=lambda: Table.connect(stack.table_name),
        outlet=_outlet(stack),
        metrics=_metrics(stack.metrics),
    ).run()
    if outcome.left:
        logger.info("another run is closing minutes")
        return {}
    _log_trouble(outcome)
    counts = {**stated_members(outcome), "RecordsRejected": outcome.records_refused}
    publish_health(stack.stack_name, counts)
    return counts


@cache
def _metrics(names: str) -> MembersOf:
    metrics, unknown = rollup_metrics(names)
    if unknown:
        extra = {"count": len(unknown), "reason": "not_in_the_catalogue", "names": unknown}
        logger.warning("metrics ignored", extra=extra)
    return metrics


@cache
def _bus(name: str) -> EventBus:
    # If the network has no route to the bus, fewer attempts are enough: the next run tries again.
    return EventBus(name, aws.client("events", attempts=2))


def _outlet(stack: Environment) -> FindingsOutlet | None:
    if not stack.findings_bus:
        return None
    return FindingsOutlet(
        _bus(stack.findings_bus).put,
        StackLogGroups(stack.records_log_group, stack.rollups_log_group),
    )


def _log_trouble(outcome: CloseOutcome) -> None:
    if outcome.superseded:
        logger.warning("run stopped", extra={"reason": "another run published at the same time"})
    if outcome.out_of_time:
        logger.warning(
            "minutes left to the next run",
            extra={"count": outcome.minutes_waiting, "reason": "out_of_time"},
        )
    failed = outcome.findings_failed
    waiting = outcome.findings_waiting
    log_counts(logger.warning, "findings not sent", {"not_taken_by_the_bus": failed})
    log_counts(logger.warning, "steps of findings left to the next run", {"too_many_wait": waiting})
    if outcome.records_refused:
        logger.error(
            "records refused",
            extra={
                "count": outcome.records_refused,
                "reason": "over_a_bound",
                "clusters": outcome.refused_clusters,
            },
        )
    drops = {
        "never_closed": outcome.minutes_dropped,
        "item_unreadable": outcome.records_unreadable,
        "line_not_extractable": outcome.lines_refused,
    }
    log_counts(logger.error, "minutes, records or lines dropped", drops)
