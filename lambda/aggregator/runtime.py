"""
Parts of every handler: settings, table, logging, self-metrics, and the lines of an event.

This is the only module that uses Powertools. Its Metrics never publishes a rollup: it keeps a
timestamp once set, accepts NaN, and prints additional lines.
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
# in a stream's event; CloudWatch Logs itself sends no such member
_RECORDS_MEMBER: Final = "Records"

MAX_HELD_BYTES: Final = 64 << 20
"""
The most bytes of a batch's lines at once. Lambda passes 6 MB of a stream, encoded in base64: 4.5 MB
compressed, an eighth of the lines of many instances, 36 MB.
"""

# the limit of CloudWatch Logs for log groups and streams; its IDs have 56
MAX_LOG_NAME_CHARS: Final = 512
_LINE_BYTES: Final = 256  # Python's overhead for a line


def arrival_of(event: Members) -> Arrival:
    """
    Unpack the event of a subscription filter, or a batch of them from Kinesis.

    Raises:
        Exception: Of any type, if *event* is neither. The invocation must fail, so that Lambda
            sends the event to the failure destination.
    """
    if _RECORDS_MEMBER not in event:
        payload = base64.b64decode(CloudWatchLogsEvent(event).raw_logs_data)
        return Arrival((_delivery(unpacked(payload)),))
    batch = event[_RECORDS_MEMBER]
    if not isinstance(batch, list):
        msg = f"{_RECORDS_MEMBER} is {type(batch).__name__}, not the records of a Kinesis stream"
        raise TypeError(msg)
    # A batch without a readable record is also answered: the response names each record, an
    # exception would not.
    processor = BatchProcessor(EventType.KinesisDataStreams, raise_on_entire_batch_failure=False)
    reader = _Reader()
    with processor(records=batch, handler=reader.read):
        read = processor.process()
    numbers = [str(item["itemIdentifier"]) for item in processor.response()["batchItemFailures"]]
    # after the first record that was left, all later ones were left too
    unreadable = len(numbers) - reader.left
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
        left: The number of records that were not read.

        faults: The kinds of errors in the records that were read.
    """

    def __init__(self) -> None:
        self.left = 0
        self.faults: set[str] = set()
        self._held_bytes = 0

    def read(self, record: KinesisStreamRecord) -> LogDelivery:
        """
        Return the lines of one record.

        Raises:
            _UnreadError: If it is not a delivery, or the batch has no room for it.
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
        # Powertools keeps the raised exception with all its frames, which hold megabytes. So this
        # raises a new exception outside of the except block, without a reference to the first one.
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
    """Return a text short enough to be shown, with half characters replaced."""
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
    """Log *what* once for each reason in *counts* that is above 0."""
    for reason, count in counts.items():
        if count:
            log(what, extra={"count": count, "reason": reason})


def publish_health(stack_name: str, counts: Amounts) -> None:
    """
    Print *counts* as one line: those in `STACK_METRICS` are metrics, the others are properties.

    Each call uses a new Metrics object, because the shared one remembers values. The service name
    is empty, because any other name would become a second dimension.
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
    Return the checked settings of this function and their table; kept while it is warm.

    Raises:
        SettingError: If a setting is missing or out of range.
    """
    settings = environment.read_environment(os.environ)
    return settings, Table.connect(settings.table_name)


if "AWS_LAMBDA_FUNCTION_NAME" in os.environ:
    stack()  # during the start, for which Lambda provides a whole processor
