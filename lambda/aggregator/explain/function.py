"""
Handler: an alarm changed its state; send people a message about it.

The invocation is asynchronous, so an exception makes Lambda deliver the event again and, in the
end, send it to the failure destination and fire the alarm on this function.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from aggregator import runtime
from aggregator.explain.event import read_transition
from aggregator.explain.notification import notify
from aggregator.explain.topic import publish_message
from aggregator.runtime import LambdaContext, Logger

if TYPE_CHECKING:
    from neuron_wire.line_members import Members

logger = Logger()


@logger.inject_lambda_context
def handler(event: Members, context: LambdaContext) -> dict[str, str]:  # noqa: ARG001
    """Send one message about one transition. Return its subject and text, if it was written."""
    stack, table = runtime.stack()
    transition = read_transition(event)
    notification = notify(transition, table, stack, publish_message, time.time())
    if notification.trouble:
        logger.error("alarm explained with details missing", extra={"reason": notification.trouble})
    logger.info(
        "alarm explained",
        extra={
            "outcome": notification.outcome,
            "alarm": transition.alarm,
            "cluster": transition.cluster,
            "state": transition.state,
            "state_before": transition.before,
        },
    )
    if notification.message is None:
        return {}
    return {"Subject": notification.message.subject, "Text": notification.message.text}
