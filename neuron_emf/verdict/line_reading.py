"""
Read strictly what both log groups contain about an instance.

The log stream named after the instance is read first: a constant number of calls in a fleet of any
size. Only if nothing in it keeps the instance is the whole group read, for lines that contain the
instance's ID. Of the rollups' group only lines with the cluster's name are requested. Other log
groups and other Regions are not read.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from neuron_accounts.now import cluster_now
from neuron_emf.reading import LogGroup
from neuron_emf.reading.log_group import term_of
from neuron_emf.reading.rollup_lines import parsed_object, rollup_of
from neuron_emf.verdict.verdict_facts import (
    LEAST_MINUTES_READ,
    IdleStart,
    InstanceLines,
    LineFacts,
    record_order,
)
from neuron_emitter.delivery.destination import stream_name
from neuron_emitter.errors import SourceError
from neuron_wire import VERSION, MinuteRecord, WireFormatError, parse
from neuron_wire.names import BUSY_STATE, CLUSTER_DIMENSION, MINUTE_MS, ROLLUP_KIND

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neuron_accounts.now import IdleOwner
    from neuron_emf.account import Account
    from neuron_emf.reading.log_group import GroupLine, ReadLimit
    from neuron_emf.reading.rollup_lines import PublishedRollup
    from neuron_wire.line_members import JsonObject, Texts


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
        if not names_in(parsed_object(text), text, "InstanceId", instance_id):
            continue
        try:
            record = parse(text)
        except WireFormatError:
            unreadable += 1
            continue
        if isinstance(record, MinuteRecord):
            found.append((record, same))
    found.sort(key=lambda pair: record_order(pair[0]))
    stream = stream_name("{instance}", cluster="", instance_id=instance_id)
    counts = Counter(line.stream for _, same in found for line in same)
    if counts and stream not in counts:
        ((stream, _),) = counts.most_common(1)
    own: list[MinuteRecord] = []
    copies_of_newest: list[GroupLine] = []
    elsewhere: dict[str, list[MinuteRecord]] = defaultdict(list)
    for record, same in found:
        in_stream = [line for line in same if line.stream == stream]
        if in_stream:
            own.append(record)
            copies_of_newest = in_stream
        else:
            elsewhere[same[0].stream].append(record)
    received = (line.received_ms for line in copies_of_newest)
    return InstanceLines(
        stream=stream,
        own=own,
        received_ms=min(filter(None, received), default=None),
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


READ_MINUTES: Final = LEAST_MINUTES_READ + 10
"""Minutes to read back: the hour up to a newest line that may be some minutes old."""

AROUND_MS: Final = 11 * MINUTE_MS
"""The time around its idle start for which the cluster is read: 10 minutes, and 1 for clocks."""

FRESH_MS: Final = 10 * MINUTE_MS
"""An older rollup does not show the present state of owners."""

_SEARCH_AHEAD_MS: Final = LEAST_MINUTES_READ * MINUTE_MS  # also lines with a wrong clock are read
_RESTATED_MS: Final = 130 * MINUTE_MS  # the default of LateMinutes, and the time that close takes
_MOST_STEPS: Final = 12  # two hours without a whole minute


def read_line_facts(
    account: Account,
    instance_id: str,
    now_ms: int,
    paid_by_type: Texts,
    limit: ReadLimit,
) -> LineFacts:
    """
    Read the contents of both log groups of *account* about *instance_id* at *now_ms*.

    Log streams other than the one named after the instance are read only if that one has no line.

    Raises:
        SourceError: If the lines cannot be read within *limit*, or the instance has no line.
    """
    group = LogGroup(account, account.log_group, limit=limit)
    hour = _hour(now_ms)
    term = term_of(instance_id)
    texts = group.read_stream_of_instance(*hour, instance_id, term)
    lines = parse_instance_lines(texts, instance_id, is_whole_group=False)
    if not lines.own:
        texts = list(group.read_events(*hour, term))
        lines = parse_instance_lines(texts, instance_id, is_whole_group=True)
    if not lines.own:
        msg = (
            f"No minute line of {instance_id} in the last {READ_MINUTES} minutes in log group "
            f"{account.log_group}. Check the id, --log-group, --region, and that its emitter runs."
        )
        raise SourceError(msg)
    newest = lines.own[-1]
    idle_start = _idle_start(group, newest, lines.stream)
    group = LogGroup(account, account.rollups_log_group, limit=limit)
    cluster = newest.cluster
    texts_of_cluster = list(group.read_lines(*hour, term_of(cluster)))
    around = range(0)
    if idle_start is not None:
        first_ms = idle_start.minute_ms - AROUND_MS
        last_ms = idle_start.minute_ms + AROUND_MS
        around = range(first_ms, last_ms + 1)
        texts_of_cluster += group.read_lines(first_ms, last_ms + _RESTATED_MS, term_of(cluster))
    rollups, owners, unreadable = _rollups(texts_of_cluster, cluster, now_ms - FRESH_MS)
    from_ms = newest.minute_ms - LEAST_MINUTES_READ * MINUTE_MS
    return LineFacts(
        instance_id=instance_id,
        now_ms=now_ms,
        lines=lines,
        idle_start=idle_start,
        cluster_minutes=[
            rollup
            for rollup in rollups
            if rollup.minute_ms >= from_ms or rollup.minute_ms in around
        ],
        cluster_owners=owners,
        unreadable_rollups=unreadable,
        paid_by_type=paid_by_type,
    )


def read_other_streams(account: Account, facts: LineFacts, limit: ReadLimit) -> LineFacts:
    """
    Return *facts* with the lines of all log streams of the group.

    Raises:
        SourceError: If the group cannot be read to its end within *limit*.
    """
    group = LogGroup(account, account.log_group, limit=limit)
    events = group.read_events(*_hour(facts.now_ms), term_of(facts.instance_id))
    return replace(
        facts, lines=parse_instance_lines(events, facts.instance_id, is_whole_group=True)
    )


def _hour(now_ms: int) -> tuple[int, int]:
    return now_ms - READ_MINUTES * MINUTE_MS, now_ms + _SEARCH_AHEAD_MS


def _rollups(
    texts: Iterable[str], cluster: str, oldest_ms: int
) -> tuple[list[PublishedRollup], Sequence[IdleOwner], int]:
    """
    Return the last publication of each minute of the cluster, and the number of unreadable lines.

    If two lines of one publication differ, both count. Owners come from the newest publication,
    unless it is older than *oldest_ms*.
    """
    found: list[tuple[PublishedRollup, JsonObject]] = []
    unreadable = 0
    for text in dict.fromkeys(texts):
        line = parsed_object(text)
        if not (_may_be_rollup(line) and names_in(line, text, CLUSTER_DIMENSION, cluster)):
            continue
        if line and (rollup := rollup_of(line)):
            found.append((rollup, line))
        else:
            unreadable += 1
    found.sort(key=lambda pair: (pair[0].minute_ms, pair[0].publication))
    last = {rollup.minute_ms: rollup.publication for rollup, _ in found}
    rollups = [rollup for rollup, _ in found if rollup.publication == last[rollup.minute_ms]]
    owners: Sequence[IdleOwner] = ()
    if rollups and rollups[-1].minute_ms > oldest_ms:
        owners = cluster_now(found[-1][1]).owners
    return rollups, owners, unreadable


def _may_be_rollup(line: JsonObject | None) -> bool:
    if line is None or line.get("Kind") == ROLLUP_KIND:
        return True
    schema = line.get("Schema")
    return isinstance(schema, int) and schema > VERSION


def _idle_start(group: LogGroup, newest: MinuteRecord, stream: str) -> IdleStart | None:
    """
    Return when the instance turned idle: after its last busy line, or at its first line.

    Its idle minutes lead close to that time. They do not count minutes that were not whole, so if
    no line just before that time is busy, the search continues from an earlier time. Only *stream*,
    the instance's own log stream, is read.
    """
    start_ms = newest.minute_ms - (min(newest.idle_minutes, default=0) - 1) * MINUTE_MS
    for _ in range(_MOST_STEPS):
        first_ms = start_ms - AROUND_MS
        last_ms = start_ms + AROUND_MS
        events = group.read_events(first_ms, last_ms, term_of(newest.instance_id), stream)
        around = parse_instance_lines(events, newest.instance_id, is_whole_group=False).own
        busy_cores = {record.minute_ms: record.core_state.count(BUSY_STATE) for record in around}
        before = [minute_ms for minute_ms in busy_cores if minute_ms < start_ms]
        busy = [minute_ms for minute_ms in before if busy_cores[minute_ms]]
        if busy or not before:
            return IdleStart(busy[-1] + MINUTE_MS if busy else start_ms, busy_cores)
        start_ms = before[0]
    return None
