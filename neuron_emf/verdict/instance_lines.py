"""
The lines of a log group about one instance, by log stream.

Its own log stream is the stream named after the instance, as emitters name it by default, or else
the log stream with most minute lines about it. Lines of its own log stream alone can show that the
instance is idle. Any other line about it can only speak against that: a second emitter, another
cluster name, or a forged line. Copies of the same bytes are one line; an unreadable line is counted
and never left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from neuron_emf.reading.rollup_lines import object_in
from neuron_emitter.delivery.destination import stream_name
from neuron_wire import MinuteRecord, WireFormatError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from neuron_emf.reading.log_group import GroupLine
    from neuron_wire.line_members import JsonObject


@dataclass(frozen=True, slots=True)
class InstanceLines:
    """
    Distinct lines about one instance, raw: parts of a minute and lines of one identity are kept.

    Attributes:
        stream: Name of its own log stream.

        own: Minute records of its own log stream, in order of time.

        received_ms: When CloudWatch Logs received the newest of them, milliseconds since the Unix
            epoch; None if unknown.

        elsewhere: Minute records of other log streams by name, in order of time; None if other log
            streams were not read.

        unreadable: Lines that name the instance and cannot be read.
    """

    stream: str
    own: Sequence[MinuteRecord]
    received_ms: int | None
    elsewhere: Mapping[str, Sequence[MinuteRecord]] | None
    unreadable: int

    def all_records(self) -> Sequence[MinuteRecord]:
        """Return the minute records of all log streams that were read, in order of time."""
        others = (self.elsewhere or {}).values()
        return sorted([*self.own, *(record for some in others for record in some)], key=_order)

    def minutes_of_two(self) -> Iterator[int]:
        """
        Yield minutes in which two emitters write.

        Either two records have the same Boot and Seq, or records of two Boots overlap for longer
        than the minute of a restart.
        """
        records = self.all_records()
        counts = Counter((record.boot, record.seq) for record in records)
        for record in records:
            if counts[record.boot, record.seq] > 1:
                yield record.minute_ms
        minutes: dict[str, list[int]] = defaultdict(list)
        for record in self.own:
            minutes[record.boot].append(record.minute_ms)
        for times, others in combinations(minutes.values(), 2):
            end_ms = min(times[-1], others[-1])
            if end_ms > max(times[0], others[0]):
                yield end_ms


def parse_instance_lines(
    lines: Iterable[GroupLine], instance_id: str, *, is_whole_group: bool
) -> InstanceLines:
    """Return the lines about *instance_id* among *lines* of one log stream or the whole group."""
    copies: dict[str, list[GroupLine]] = defaultdict(list)
    for line in lines:
        copies[line.text].append(line)
    found: list[tuple[MinuteRecord, list[GroupLine]]] = []
    unreadable = 0
    for text, same in copies.items():
        if not names_in(object_in(text), text, "InstanceId", instance_id):
            continue
        try:
            record = parse(text)
        except WireFormatError:
            unreadable += 1
            continue
        if isinstance(record, MinuteRecord):
            found.append((record, same))
    found.sort(key=lambda pair: _order(pair[0]))
    stream = stream_name("{instance}", cluster="", instance_id=instance_id)
    counts = Counter(line.stream for _, same in found for line in same)
    if counts and stream not in counts:
        ((stream, _),) = counts.most_common(1)
    own: list[MinuteRecord] = []
    received: list[int | None] = []
    elsewhere: dict[str, list[MinuteRecord]] = defaultdict(list)
    for record, same in found:
        receipts = [line.received_ms for line in same if line.stream == stream]
        if receipts:
            own.append(record)
            received = receipts
        else:
            elsewhere[same[0].stream].append(record)
    known = [received_ms for received_ms in received if received_ms is not None]
    return InstanceLines(
        stream=stream,
        own=own,
        received_ms=min(known, default=None),
        elsewhere=elsewhere if is_whole_group else None,
        unreadable=unreadable,
    )


def names_in(line: JsonObject | None, text: str, member: str, value: str) -> bool:
    """
    Return True if a line is about *value*.

    Any mention counts in a line that is not an object or lacks *member*.
    """
    name = (line or {}).get(member)
    if isinstance(name, str):
        return name == value
    return re.search(rf"(?<![\w.-]){re.escape(value)}(?![\w.-])", text) is not None


def _order(record: MinuteRecord) -> tuple[int, str, int]:
    return record.minute_ms, record.boot, record.seq
