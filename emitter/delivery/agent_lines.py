"""
Lines as the CloudWatch agent's EMF socket wants them.

Pure. The agent serves many programs, so each line must say where it belongs: it
needs `LogGroupName` in `_aws`, may have `LogStreamName`, and drops a line without
the first at debug level, unseen. From
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Generation_CloudWatch_Agent.html
and the agent's awscloudwatchlogs exporter (`emf_only`). A line that defines no
metric gets an `_aws` with no metric in it, which the specification's schema allows:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from emitter.delivery.batches import MAX_BATCH_BYTES, BatchLimits

if TYPE_CHECKING:
    from emitter.spool.records import SpooledRecord

# The agent's versions cut a longer line, and half an EMF document is none: 256 KiB less
# the 26 bytes of an event, and room for what is put into the line here.
MAX_LINE_BYTES: Final = 262_144 - 26
ADDRESS_BYTES: Final = 4_096
AGENT_LIMITS: Final = BatchLimits(
    max_bytes=MAX_BATCH_BYTES,
    max_event_bytes=MAX_LINE_BYTES - ADDRESS_BYTES,
    event_overhead_bytes=1,  # the line end
)

_EMF_START: Final = '{"_aws":{'


class NotAnObjectError(ValueError):
    """A line is no JSON object: the agent would drop it unseen."""


def addressed(record: SpooledRecord, *, group: str, stream: str) -> str:
    """
    The line of *record*, with the log group and stream it belongs to in `_aws`.

    Nothing else of it changes: numbers stay as they were written.

    Raises:
        NotAnObjectError: If the line is no JSON object.
    """
    address = f'"LogGroupName":{_text(group)},"LogStreamName":{_text(stream)}'
    line = record.line
    if line.startswith(_EMF_START):
        rest = line[len(_EMF_START) :]
        return f"{_EMF_START}{address}{_comma(rest)}{rest}"
    if not line.startswith("{"):
        raise NotAnObjectError
    time = f'"Timestamp":{record.timestamp_ms},"CloudWatchMetrics":[]'
    rest = line[1:]
    return f"{_EMF_START}{address},{time}}}{_comma(rest)}{rest}"


def _comma(rest: str) -> str:
    return "" if rest.startswith("}") else ","


def _text(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)  # at most 6 bytes a character
