"""
Handler: EC2 stopped an instance, so it is not reported as silent.

EventBridge sends the state changes of every instance of the account and Region. Most run no
emitter. Each is one small write, without checking whether the instance has an emitter: close
reads only the departures of instances that it misses. Delivery is asynchronous and at least once: a
repeated event is written to the same place.
"""

from __future__ import annotations

from typing import Final

from aggregator import runtime
from aggregator.minutes import expires_s
from aggregator.runtime import LambdaContext, Logger
from neuron_wire.line_members import JsonObject, Members, minute_in, object_in
from neuron_wire.names import EC2_INSTANCE_ID

STATE_CHANGE_DETAIL_TYPE: Final = "EC2 Instance State-change Notification"
DEPARTING: Final = frozenset({"stopping", "stopped", "shutting-down", "terminated"})
"""
The states from which an instance can only return by starting again:
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-instance-state-changes.html
"""

logger = Logger()


class NoDepartureError(ValueError):
    """The event is not a departure; the rule that sends it must be corrected."""


@logger.inject_lambda_context
def handler(event: Members, context: LambdaContext) -> None:  # noqa: ARG001
    """Store one departure."""
    stack, table = runtime.stack()
    instance_id, minute = departure_of(event)
    table.put_departure(instance_id, minute, expires_s(minute, stack.rules.late_minutes))
    logger.info("departure marked", extra={"instance_id": instance_id})


def departure_of(event: JsonObject) -> tuple[str, int]:
    """
    Return the instance that is stopping or stopped, and the minute of EC2's event.

    Raises:
        NoDepartureError: If it is not the departure of an instance.
    """
    detail = object_in(event, "detail")
    kind = str(event.get("detail-type"))
    state = str(detail.get("state"))
    if kind != STATE_CHANGE_DETAIL_TYPE or state not in DEPARTING:
        msg = (
            f"Unexpected event {kind[:60]!r} with state {state[:30]!r}. Correct the "
            f"rule that invokes this function: {STATE_CHANGE_DETAIL_TYPE!r} with one of "
            f"{sorted(DEPARTING)}."
        )
        raise NoDepartureError(msg)
    instance_id = str(detail.get("instance-id"))
    if not EC2_INSTANCE_ID.fullmatch(instance_id):
        msg = f"{instance_id[:40]!r} is not the ID of an EC2 instance. Report this as a bug."
        raise NoDepartureError(msg)
    minute = minute_in(event, "time")
    if minute is None:
        time = str(event.get("time"))
        msg = f"{time[:40]!r} is not a time such as 2026-11-21T08:15:30Z. Report this as a bug."
        raise NoDepartureError(msg)
    return instance_id, minute
