"""
What both log groups say about an instance, read strictly.

Every line that may be about it counts: an unreadable line is counted and never left out, copies
of the same bytes are one line, and two lines with the same identity are both kept. Only
lines that hold the instance's id are asked for, of the rollups' group those that hold the
cluster's name: the same few calls in a fleet of any size.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from emitter.errors import SourceError
from neuron_emf.findings.facts import HOUR_MINUTES, IdleStart, LineFacts
from neuron_emf.now_lines import object_in, rollup_of
from neuron_emf.reading import LogGroup
from neuron_emf.reading.log_group import term_of
from neuron_wire import VERSION, MinuteRecord, WireFormatError, parse
from neuron_wire.names import BUSY, CLUSTER_DIMENSION, MINUTE_MS, ROLLUP
from neuron_wire.now import cluster_now

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from neuron_emf.account import Account
    from neuron_emf.now_lines import PublishedRollup
    from neuron_wire.now import IdleOwner

READ_MINUTES: Final = HOUR_MINUTES + 10
"""Minutes to read back: the hour up to a newest line that may be some minutes old."""

AROUND_MS: Final = 11 * MINUTE_MS
"""The time around its idle start for which the cluster is read: 10 minutes and 1 for clocks."""

FRESH_MS: Final = 10 * MINUTE_MS
"""An older rollup does not say what owners do now."""

_AHEAD_MS: Final = HOUR_MINUTES * MINUTE_MS  # a line of a wrong clock is to be seen
_RESTATED_MS: Final = 130 * MINUTE_MS  # the default of LateMinutes, and what close takes
_MOST_STEPS: Final = 12  # two hours without a whole minute


def read_line_facts(
    account: Account, instance_id: str, now_ms: int, paid_by_type: Mapping[str, str]
) -> LineFacts:
    """
    Read what both log groups of *account* say of *instance_id* at *now_ms*.

    Raises:
        SourceError: If they cannot be read, or there is no line of it.
    """
    group = LogGroup(account, account.log_group)
    hour = (now_ms - READ_MINUTES * MINUTE_MS, now_ms + _AHEAD_MS)
    own, unreadable = _own_records(_own_lines(group, *hour, instance_id), instance_id)
    if not own:
        msg = (
            f"No minute line of {instance_id} in the last {READ_MINUTES} minutes in log group "
            f"{account.log_group}. Check the id, --log-group, --region, and that its emitter runs."
        )
        raise SourceError(msg)
    start_ms = own[-1].minute_ms - (HOUR_MINUTES - 1) * MINUTE_MS
    idle_start = _idle_start(group, own[-1])
    group, cluster = LogGroup(account, account.rollups_log_group), own[-1].cluster
    texts = list(group.read_lines(*hour, term_of(cluster)))
    around = range(0)
    if idle_start is not None:
        first_ms, last_ms = idle_start.minute_ms - AROUND_MS, idle_start.minute_ms + AROUND_MS
        around = range(first_ms, last_ms + 1)
        texts += group.read_lines(first_ms, last_ms + _RESTATED_MS, term_of(cluster))
    rollups, owners, unreadable_rollups = _rollups(texts, cluster, now_ms - FRESH_MS)
    records = [record for record in own if record.minute_ms >= start_ms]
    lines = Counter((record.boot, record.seq) for record in own)
    return LineFacts(
        instance_id,
        now_ms,
        records,
        [record.minute_ms for record in records if lines[record.boot, record.seq] > 1],
        len(unreadable | unreadable_rollups),
        idle_start,
        [
            rollup
            for rollup in rollups
            if rollup.minute_ms >= start_ms or rollup.minute_ms in around
        ],
        owners,
        paid_by_type,
    )


def _own_lines(group: LogGroup, start_ms: int, end_ms: int, instance_id: str) -> list[str]:
    return group.read_lines_of_instance(start_ms, end_ms, instance_id, term_of(instance_id))


def _own_records(texts: Iterable[str], instance_id: str) -> tuple[list[MinuteRecord], set[str]]:
    """Distinct minute lines of the instance in order of time, and what cannot be read of it."""
    found: list[MinuteRecord] = []
    unreadable = set()
    for text in dict.fromkeys(texts):
        if not _names(object_in(text), text, "InstanceId", instance_id):
            continue
        try:
            record = parse(text)
        except WireFormatError:
            unreadable.add(text)
            continue
        if isinstance(record, MinuteRecord):
            found.append(record)
    return sorted(found, key=lambda record: (record.minute_ms, record.boot, record.seq)), unreadable


def _rollups(
    texts: Iterable[str], cluster: str, oldest_ms: int
) -> tuple[list[PublishedRollup], Sequence[IdleOwner], set[str]]:
    """
    Of each minute of the cluster its last publication, and what cannot be read of it.

    Where two lines of one publication differ, both count. Owners are those of the newest, unless
    it is older than *oldest_ms*.
    """
    found: dict[int, list[PublishedRollup]] = {}
    lines: dict[int, Mapping[str, Any]] = {}
    unreadable = set()
    for text in dict.fromkeys(texts):
        line = object_in(text)
        if not (_may_be_rollup(line) and _names(line, text, CLUSTER_DIMENSION, cluster)):
            continue
        rollup = rollup_of(line) if line else None
        if line is None or rollup is None:
            unreadable.add(text)
            continue
        known = found.setdefault(rollup.minute_ms, [])
        known.append(rollup)
        last = max(record.publication for record in known)
        known[:] = [record for record in known if record.publication == last]
        if rollup.publication == last:
            lines[rollup.minute_ms] = line
    newest_ms = max(lines, default=0)
    owners = cluster_now(lines[newest_ms]).owners if newest_ms > oldest_ms else ()
    in_order = [rollup for minute_ms in sorted(found) for rollup in found[minute_ms]]
    return in_order, owners, unreadable


def _names(line: Mapping[str, Any] | None, text: str, member: str, value: str) -> bool:
    """Whether a line is about *value*; where its member does not tell, any mention counts."""
    said = (line or {}).get(member)
    if isinstance(said, str):
        return said == value
    return re.search(rf"(?<![\w.-]){re.escape(value)}(?![\w.-])", text) is not None


def _may_be_rollup(line: Mapping[str, Any] | None) -> bool:
    if line is None or line.get("Kind") == ROLLUP:
        return True
    schema = line.get("Schema")
    return isinstance(schema, int) and schema > VERSION


def _idle_start(group: LogGroup, newest: MinuteRecord) -> IdleStart | None:
    """
    When it turned idle: after its last busy line, or at its first.

    Its count leads near there. It leaves out minutes that were not whole, so while no line
    before that one is busy, the search goes on from the first of them.
    """
    start_ms = newest.minute_ms - (min(newest.idle_minutes, default=0) - 1) * MINUTE_MS
    for _ in range(_MOST_STEPS):
        texts = _own_lines(group, start_ms - AROUND_MS, start_ms + AROUND_MS, newest.instance_id)
        around = _own_records(texts, newest.instance_id)[0]
        busy_cores = {record.minute_ms: record.core_state.count(BUSY) for record in around}
        before = [minute_ms for minute_ms in busy_cores if minute_ms < start_ms]
        busy = [minute_ms for minute_ms in before if busy_cores[minute_ms]]
        if busy or not before:
            return IdleStart(busy[-1] + MINUTE_MS if busy else start_ms, busy_cores)
        start_ms = before[0]
    return None
