"""
Logging, self-metrics and the events that bring log lines. The only module that knows Powertools.

Its Metrics never carries a rollup: it keeps a timestamp once set, lets NaN
through, and prints lines of its own making.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType
from aws_lambda_powertools.utilities.data_classes import CloudWatchLogsEvent
from aws_lambda_powertools.utilities.data_classes.kinesis_stream_event import (
    extract_cloudwatch_logs_from_record,
)
from aws_lambda_powertools.utilities.typing import LambdaContext

from aggregator.intake import LogLine
from neuron_wire import STACK_NAMESPACE
from neuron_wire.catalogue import STACK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_lambda_powertools.utilities.data_classes.cloud_watch_logs_event import (
        CloudWatchLogsDecodedData,
    )
    from aws_lambda_powertools.utilities.data_classes.kinesis_stream_event import (
        KinesisStreamRecord,
    )

__all__ = [
    "Arrival",
    "LambdaContext",
    "Logger",
    "Subscription",
    "arrival_of",
    "publish_health",
]

_CONTROL: Final = "CONTROL_MESSAGE"
_RECORDS: Final = "Records"  # of a stream; CloudWatch Logs itself sends no such member


@dataclass(frozen=True, slots=True)
class Subscription:
    """
    What CloudWatch Logs delivered at once, always of one stream.

    Attributes:
        log_group: Where the lines were written.

        lines: The lines; none when CloudWatch only probes the destination.
    """

    log_group: str
    lines: tuple[LogLine, ...]


@dataclass(frozen=True, slots=True)
class Arrival:
    """
    What one invocation brought.

    Attributes:
        subscriptions: What could be read of it, in the order in which it came.

        by_stream: Whether it came through Kinesis, many deliveries in a batch.

        unreadable: Sequence numbers of the batch's records that are no
            deliveries of CloudWatch Logs.

        faults: The kinds of errors they gave; never their text, which may
            quote a line.
    """

    subscriptions: tuple[Subscription, ...]
    by_stream: bool = False
    unreadable: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def response(self) -> dict[str, object]:
        """
        What Lambda's poller of the stream expects: which records to bring again.
        """
        failed = [{"itemIdentifier": number} for number in self.unreadable]
        return {"batchItemFailures": failed}


def arrival_of(event: dict[str, object]) -> Arrival:
    """
    Unpack the event of a subscription filter, or a batch of them out of Kinesis.

    Raises:
        Exception: Of whatever kind, when *event* is neither: the invocation
            must fail, so that Lambda keeps the event where somebody will look.
    """
    if _RECORDS not in event:
        return Arrival((_subscription(CloudWatchLogsEvent(event).parse_logs_data()),))
    batch = event[_RECORDS]
    if not isinstance(batch, list):
        msg = f"{_RECORDS} is {type(batch).__name__}, expected the records of a Kinesis stream"
        raise TypeError(msg)
    # All of them unreadable is no other case: an exception would say less than the response.
    processor = BatchProcessor(EventType.KinesisDataStreams, raise_on_entire_batch_failure=False)
    with processor(records=batch, handler=_subscription_in):
        read = processor.process()
    failed = processor.response()["batchItemFailures"]
    return Arrival(
        subscriptions=tuple(result for outcome, result, _ in read if outcome == "success"),
        by_stream=True,
        unreadable=tuple(str(one["itemIdentifier"]) for one in failed),
        faults=tuple(sorted({kind.__name__ for kind, _, _ in processor.exceptions if kind})),
    )


def _subscription_in(record: KinesisStreamRecord) -> Subscription:
    return _subscription(extract_cloudwatch_logs_from_record(record))


def _subscription(delivered: CloudWatchLogsDecodedData) -> Subscription:
    log_group, log_stream = _text(delivered.log_group), _text(delivered.log_stream)
    lines = () if delivered.message_type == _CONTROL else tuple(delivered.log_events)
    return Subscription(
        log_group,
        tuple(LogLine(_text(line.get_id), _text(line.message), log_stream) for line in lines),
    )


def _text(found: object) -> str:
    if not isinstance(found, str):
        msg = f"a member of the delivery is {type(found).__name__}, expected text"
        raise TypeError(msg)
    return found


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
