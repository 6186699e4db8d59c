"""
What every handler has: its settings and the table, logging, self-metrics, the lines of an event.

The only module that knows Powertools.

Its Metrics never carries a rollup: it keeps a timestamp once set, lets NaN
through, and prints lines of its own making.
"""

from __future__ import annotations

import base64
import os
from functools import cache
from typing import TYPE_CHECKING, Final

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType
from aws_lambda_powertools.utilities.data_classes import CloudWatchLogsEvent
from aws_lambda_powertools.utilities.data_classes.cloud_watch_logs_event import (
    CloudWatchLogsDecodedData,
)
from aws_lambda_powertools.utilities.typing import LambdaContext

from aggregator import environment
from aggregator.arrivals import Arrival, LogDelivery, LogLine, unpacked
from aggregator.storage.table import Table
from neuron_wire import STACK_NAMESPACE
from neuron_wire.catalogue import STACK_METRICS

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools.utilities.data_classes.kinesis_stream_event import (
        KinesisStreamRecord,
    )

    from neuron_wire.line_members import Amounts, Counts, Members

__all__ = ["LambdaContext", "Logger", "arrival_of", "log_counts", "publish_health", "stack"]

_CONTROL: Final = "CONTROL_MESSAGE"
_RECORDS_MEMBER: Final = "Records"  # of a stream; CloudWatch Logs itself sends no such member

MAX_HELD_BYTES: Final = 64 << 20
"""
Of lines of a batch at once. Lambda hands over 6 MB of a stream, encoded in base64:
4.5 MB compressed, an eighth of the lines of many instances, 36 MB.
"""

MAX_LOG_NAME_CHARS: Final = 512  # of a log group or stream, says CloudWatch Logs; its ids have 56
_LINE_BYTES: Final = 256  # what Python needs for a line beside its text


def arrival_of(event: Members) -> Arrival:
    """
    Unpack the event of a subscription filter, or a batch of them out of Kinesis.

    Raises:
        Exception: Of whatever kind, when *event* is neither: the invocation
            must fail, so that Lambda keeps the event where somebody will look.
    """
    if _RECORDS_MEMBER not in event:
        data = CloudWatchLogsEvent(event).raw_logs_data
        return Arrival((_delivery(unpacked(base64.b64decode(data))),))
    batch = event[_RECORDS_MEMBER]
    if not isinstance(batch, list):
        msg = f"{_RECORDS_MEMBER} is {type(batch).__name__}, not the records of a Kinesis stream"
        raise TypeError(msg)
    # All of them unreadable is no other case: an exception would say less than the response.
    processor = BatchProcessor(EventType.KinesisDataStreams, raise_on_entire_batch_failure=False)
    reader = _Reader()
    with processor(records=batch, handler=reader.read):
        read = processor.process()
    failed = processor.response()["batchItemFailures"]
    numbers = [str(item["itemIdentifier"]) for item in failed]
    unreadable = len(numbers) - reader.left  # once one was left, so was all that came behind it
    return Arrival(
        deliveries=tuple(result for outcome, result, _ in read if outcome == "success"),
        by_stream=True,
        unreadable=tuple(numbers[:unreadable]),
        left=tuple(numbers[unreadable:]),
        faults=tuple(sorted(reader.faults)),
    )


class _UnreadError(Exception):
    """A record of a batch that must come again."""


class _Reader:
    """
    Reads the records of one batch until it holds enough.

    Attributes:
        left: How many records were not looked at.

        faults: The kinds of errors that the others gave.
    """

    def __init__(self) -> None:
        self.left = 0
        self.faults: set[str] = set()
        self._held_bytes = 0

    def read(self, record: KinesisStreamRecord) -> LogDelivery:
        """
        The lines of one record.

        Raises:
            _UnreadError: If it is no delivery, or there is no room for it.
        """
        if self._held_bytes >= MAX_HELD_BYTES:
            self.left += 1
        else:
            try:
                delivery = _delivery(unpacked(record.kinesis.data_as_bytes()))
            except Exception as error:  # noqa: BLE001  # of whatever kind: the others count
                self.faults.add(type(error).__name__)
            else:
                for line in delivery.lines:
                    self._held_bytes += len(line.message) + _LINE_BYTES
                return delivery
        # Powertools keeps what is raised, with its frames and the megabytes that are in them:
        # so not the error itself, and out here, where it is no longer the context.
        raise _UnreadError


def _delivery(document: Members) -> LogDelivery:
    delivered = CloudWatchLogsDecodedData(document)
    log_group = _name(delivered.log_group)
    log_stream = _name(delivered.log_stream)
    lines = () if delivered.message_type == _CONTROL else tuple(delivered.log_events)
    return LogDelivery(
        log_group,
        tuple(LogLine(_name(line.get_id), _text(line.message), log_stream) for line in lines),
    )


def _name(value: object) -> str:
    """A text short enough to be said, half a character made whole."""
    if isinstance(value, str) and value.isascii() and len(value) <= MAX_LOG_NAME_CHARS:
        return value
    name = _text(value)
    if len(name) > MAX_LOG_NAME_CHARS:
        msg = f"a name in the delivery has {len(name)} characters, maximum {MAX_LOG_NAME_CHARS}"
        raise ValueError(msg)
    return name.encode(errors="replace").decode()


def _text(value: object) -> str:
    if not isinstance(value, str):
        msg = f"a member of the delivery is {type(value).__name__}, not text"
        raise TypeError(msg)
    return value


def log_counts(log: Callable[..., None], what: str, counts: Counts) -> None:
    """Say *what* once for each reason in *counts* that is above 0."""
    for reason, count in counts.items():
        if count:
            log(what, extra={"count": count, "reason": reason})


def publish_health(stack_name: str, counts: Amounts) -> None:
    """
    Print *counts* as one line: those in `STACK_METRICS` are metrics, the others are properties.

    A new set each time, because the shared one remembers, and an empty service
    name, because a set one becomes a second dimension.
    """
    metrics = EphemeralMetrics(namespace=STACK_NAMESPACE, service="")
    metrics.add_dimension(name="StackName", value=stack_name)
    for name, value in counts.items():
        if name in STACK_METRICS:
            metrics.add_metric(name=name, unit=STACK_METRICS[name].unit, value=value)
        else:
            metrics.add_metadata(key=name, value=value)
    metrics.flush_metrics()


@cache
def stack() -> tuple[environment.Environment, Table]:
    """
    The settings of this function, checked, and the table they name; kept while it is warm.

    Raises:
        SettingError: If a setting is missing or out of range.
    """
    settings = environment.read_environment(os.environ)
    return settings, Table.connect(settings.table_name)


if "AWS_LAMBDA_FUNCTION_NAME" in os.environ:
    stack()  # while Lambda still gives the start of a function a whole processor
