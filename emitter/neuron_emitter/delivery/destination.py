"""
The limits of one call to a destination, and the answers that a destination can give.

Records are cut into calls that the destination accepts. The limits are those of CloudWatch Logs,
from https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_RejectedLogEventsInfo.html

The module also checks names of log groups and log streams, and makes an instance's stream name from
the template of `--log-stream`. The default, `{instance}`, gives each instance its own stream.
CreateLogStream allows 50 calls a second for a whole account, so 100,000 instances that start
together would need more than half an hour; with `{cluster}/{shard:256}` they share 256 streams.
Sharing loses nothing: PutLogEvents has no limit per stream any more, and each line names its
instance. From
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_CreateLogStream.html and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html

An answer is a value, not an exception: each class states the result for the records, so that a new
destination cannot forget a case. Pure: no clock, no network.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from math import inf
from typing import TYPE_CHECKING, Final, Protocol

from neuron_emitter.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from neuron_emitter.spool.spool_records import DropReason, SpooledRecord

MAX_BATCH_EVENTS: Final = 10_000
MAX_BATCH_BYTES: Final = 1_048_576
EVENT_OVERHEAD_BYTES: Final = 26  # added to each event's UTF-8 bytes
MAX_BATCH_SPAN_MS: Final = 24 * 3_600_000 - 1  # a call that spans more than 24 h fails
MAX_EVENT_AGE_MS: Final = 14 * 24 * 3_600_000
MAX_EVENT_FUTURE_MS: Final = 2 * 3_600_000


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """
    The limits of one call. By default only the number of records and the bytes are limited.

    Attributes:
        max_bytes: The maximum size of a call, UTF-8 and overhead. A larger record is sent alone.

        max_event_bytes: The maximum size of one record in UTF-8. A larger record cannot be sent.

        max_span_ms: The maximum time between the first and the last timestamp of a call.

        max_age_ms: The maximum age of a record when it is sent.

        max_future_ms: How far a timestamp may be ahead of our clock.

        by_time: True if the records of a call are sorted by time; otherwise they keep their order
            of arrival.
    """

    max_events: int = MAX_BATCH_EVENTS
    max_bytes: int = MAX_BATCH_BYTES
    max_event_bytes: float = inf
    event_overhead_bytes: int = 0
    max_span_ms: float = inf
    max_age_ms: float = inf
    max_future_ms: float = inf
    by_time: bool = False


PUT_LOG_EVENTS: Final = BatchLimits(
    max_event_bytes=MAX_BATCH_BYTES - EVENT_OVERHEAD_BYTES,
    event_overhead_bytes=EVENT_OVERHEAD_BYTES,
    max_span_ms=MAX_BATCH_SPAN_MS,
    max_age_ms=MAX_EVENT_AGE_MS,
    max_future_ms=MAX_EVENT_FUTURE_MS,
    by_time=True,
)


Response = Mapping[str, object]
Batch = tuple["SpooledRecord", ...]
Unsendable = dict["DropReason", list["SpooledRecord"]]


def cut(
    records: Iterable[SpooledRecord], *, now_ms: int, limits: BatchLimits = PUT_LOG_EVENTS
) -> tuple[list[Batch], Unsendable]:
    """
    Cut *records* into the fewest calls that keep their order.

    Sorting by time is stable: records with equal timestamps keep their order.

    Returns:
        The batches, and the records that are in no batch because they cannot be sent.
    """
    unsendable: Unsendable = {}
    sendable: list[SpooledRecord] = []
    for record in records:
        reason = _why_not(record, now_ms, limits)
        into = sendable if reason is None else unsendable.setdefault(reason, [])
        into.append(record)
    if limits.by_time:
        sendable.sort(key=lambda record: record.timestamp_ms)
    return list(_filled(sendable, limits)), unsendable


def _why_not(record: SpooledRecord, now_ms: int, limits: BatchLimits) -> DropReason | None:
    age_ms = now_ms - record.timestamp_ms
    if age_ms > limits.max_age_ms:
        return "too_old"
    if -age_ms > limits.max_future_ms:
        return "too_new"
    if _line_bytes(record) > limits.max_event_bytes:
        return "too_large"
    if not record.line:
        return "invalid"  # an event has at least one character
    return None


def _filled(records: Sequence[SpooledRecord], limits: BatchLimits) -> Iterator[Batch]:
    batch: list[SpooledRecord] = []
    batch_bytes = earliest_ms = latest_ms = 0
    for record in records:
        cost_bytes = _line_bytes(record) + limits.event_overhead_bytes
        if batch:
            earliest_ms = min(earliest_ms, record.timestamp_ms)
            latest_ms = max(latest_ms, record.timestamp_ms)
            too_long = latest_ms - earliest_ms > limits.max_span_ms
            too_full = batch_bytes + cost_bytes > limits.max_bytes
            if too_long or too_full or len(batch) == limits.max_events:
                yield tuple(batch)
                batch = []
        if not batch:
            batch_bytes = 0
            earliest_ms = latest_ms = record.timestamp_ms
        batch.append(record)
        batch_bytes += cost_bytes
    if batch:
        yield tuple(batch)


def _line_bytes(record: SpooledRecord) -> int:
    return len(record.line.encode())


def rejected_places(response: Response, events: int) -> dict[DropReason, tuple[int, ...]]:
    """
    Return the places of the rejected events, each event in one class.

    The API's model defines the two ends as exclusive and the start as inclusive. An event that is
    too old has also expired; the first class that fits counts.
    """
    found = response.get("rejectedLogEventsInfo")
    indexes = found if isinstance(found, dict) else {}
    old_end = _index(indexes, "tooOldLogEventEndIndex", 0, events)
    expired_end = _index(indexes, "expiredLogEventEndIndex", 0, events)
    new_start = _index(indexes, "tooNewLogEventStartIndex", events, events)
    new_start = max(old_end, expired_end, new_start)
    places: dict[DropReason, tuple[int, ...]] = {
        "too_old": tuple(range(old_end)),
        "expired": tuple(range(old_end, expired_end)),
        "too_new": tuple(range(new_start, events)),
    }
    return {reason: those for reason, those in places.items() if those}


def _index(indexes: Response, name: str, default: int, events: int) -> int:
    """Return a place from 0 to *events*, or *default* if the index is not a place."""
    found = indexes.get(name)
    return min(events, found) if type(found) is int and found >= 0 else default


@dataclass(frozen=True, slots=True)
class Delivered:
    """
    The destination answered for every record.

    Attributes:
        rejected: The records that it rejected, by reason: places in the batch, from 0. It would
            reject them again.
    """

    rejected: Mapping[DropReason, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Undelivered:
    """
    The records are kept and sent again.

    Attributes:
        reason: One of a few words, such as `throttled` or `no_log_group`.

        sentence: A sentence for a person: what failed, the value found, what to do.
    """

    reason: str
    sentence: str


class Retry(Undelivered):
    """A temporary failure: neither the records nor the settings are wrong. Try again soon."""


class Refused(Undelivered):
    """A failure that lasts until a person changes something."""


@dataclass(frozen=True, slots=True)
class Invalid:
    """
    At least one record makes the whole call fail, every time.

    Attributes:
        reason: The destination's own message, shortened and without the payload.
    """

    reason: str


Outcome = Delivered | Undelivered | Invalid


class Destination(Protocol):
    """A place that accepts records."""

    @property
    def limits(self) -> BatchLimits:
        """The limits of one `send`."""

    def send(self, batch: Batch) -> Outcome:
        """Send one batch within `limits`. A failure of the other side is returned, not raised."""

    def close(self) -> None:
        """Close the connections. A later `send` opens them again."""


MAX_LOG_NAME_CHARS: Final = 512
MAX_SHARDS: Final = 1000

_GROUP: Final = re.compile(r"(?!aws/)[.\-_/#A-Za-z0-9]{1,512}")
_IMPOSSIBLE: Final = re.compile(r"[:*\s]")
_PIECE: Final = re.compile(r"\{([^{}]*)\}|([^{}]+)|([{}])")
_SHARD: Final = re.compile(r"shard:([1-9][0-9]{0,3})")
_HASH_BYTES: Final = 8


def require_group(name: str) -> str:
    """
    Return *name* if a log group can have it.

    Raises:
        SettingsError: If no log group can have it.
    """
    if not _GROUP.fullmatch(name):
        msg = f"Invalid --log-group {name[:80]!r}. Use 1 to 512 of a-z A-Z 0-9 . - _ / #."
        raise SettingsError(msg)
    return name


def stream_name(template: str, *, cluster: str, instance_id: str, region: str | None = None) -> str:
    """
    Return the log stream of *instance_id*, by *template*.

    A character that a name cannot have becomes a hyphen. A name that would be too long ends in a
    hash of the whole name, so that two instances still have two streams.

    Raises:
        SettingsError: If no instance can get a name from it: it has an unknown placeholder or a
            character that no name can have, or needs a region and there is none.
    """
    values = {"cluster": cluster, "instance": instance_id, "region": region}
    name = ""
    for inside, text, brace in _PIECE.findall(template):
        if brace or _IMPOSSIBLE.search(text):
            raise _wrong(template, "an unmatched brace, white space, : or *")
        if text:
            name += text
        elif shard := _SHARD.fullmatch(inside):
            if (shards := int(shard[1])) > MAX_SHARDS:
                raise _wrong(template, f"{shards} shards")
            name += _shard(instance_id, shards)
        elif inside not in values:
            raise _wrong(template, f"the unknown placeholder {{{inside[:40]}}}")
        elif (value := values[inside]) is None:
            msg = f"--log-stream contains {region}, but no AWS region is set. Use --region NAME."
            raise SettingsError(msg)
        else:
            name += _IMPOSSIBLE.sub("-", value)
    if not name:
        raise _wrong(template, "nothing")
    if len(name) > MAX_LOG_NAME_CHARS:
        digest = blake2b(name.encode(), digest_size=_HASH_BYTES).hexdigest()
        name = f"{name[: MAX_LOG_NAME_CHARS - len(digest) - 1]}-{digest}"
    return name


def _shard(instance_id: str, shards: int) -> str:
    """Return an instance's shard, the same on every machine and Python, padded for sorting."""
    digest = blake2b(instance_id.encode(), digest_size=_HASH_BYTES, person=b"shard")
    number = int.from_bytes(digest.digest(), "big") % shards
    return f"{number:0{len(str(shards - 1))}}"


def _wrong(template: str, problem: str) -> SettingsError:
    return SettingsError(
        f"Invalid --log-stream {template[:80]!r}: it has {problem}. Use a name with {{cluster}}, "
        f"{{instance}}, {{region}}, {{shard:N}} (N from 1 to {MAX_SHARDS})."
    )
