"""
Logging, self-metrics and the subscription event. The only module that knows Powertools.

Its Metrics never carries a rollup: it keeps a timestamp once set, lets NaN
through, and prints lines of its own making.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics
from aws_lambda_powertools.utilities.data_classes import CloudWatchLogsEvent
from aws_lambda_powertools.utilities.typing import LambdaContext

from aggregator.intake import LogLine
from neuron_wire import STACK_NAMESPACE
from neuron_wire.catalogue import STACK

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LambdaContext", "Logger", "Subscription", "publish_health", "subscription_of"]

_CONTROL: Final = "CONTROL_MESSAGE"


@dataclass(frozen=True, slots=True)
class Subscription:
    """
    What CloudWatch Logs delivered.

    Attributes:
        log_group: Where the lines were written.

        log_stream: The stream they were written to.

        lines: The lines; none when CloudWatch only probes the destination.
    """

    log_group: str
    log_stream: str
    lines: tuple[LogLine, ...]


def subscription_of(event: dict[str, object]) -> Subscription:
    """
    Unpack the event of a subscription filter.

    Raises:
        Exception: Of whatever kind, when *event* is none: the invocation must
            fail, so that Lambda keeps the event where somebody will look.
    """
    delivered = CloudWatchLogsEvent(event).parse_logs_data()
    lines = () if delivered.message_type == _CONTROL else tuple(delivered.log_events)
    return Subscription(
        delivered.log_group,
        delivered.log_stream,
        tuple(LogLine(line.get_id, line.message) for line in lines),
    )


def publish_health(stack_name: str, counts: Mapping[str, float]) -> None:
    """
    Print *counts*, members of `STACK`, as metrics of the stack.

    A new set each time, because the shared one remembers, and an empty service
    name, because a set one becomes a second dimension.
    """
    metrics = EphemeralMetrics(namespace=STACK_NAMESPACE, service="")
    metrics.add_dimension(name="StackName", value=stack_name)
    for name, value in counts.items():
        metrics.add_metric(name=name, unit=STACK[name].unit, value=value)
    metrics.flush_metrics()
