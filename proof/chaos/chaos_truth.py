"""
The expected rollups of the accepted records, and the differences of the printed ones.

Pure: records in, differences out. Every distinct accepted record counts once. `proof.reference`,
which shares no code with the aggregator, computes the expected values: gauges are those of the last
line of a minute, tallies the sum of all its publications. Lines are read plainly, without a parser
of the product; silence is computed the slow way, from everything that is known in the end.

An instance that did not shut down cleanly in its last minute is silent after SilentAfterMinutes
without a record, until an hour after its last record. A cluster is known while one of its instances
is present, was present within SilentAfterMinutes, or is silent. Instances of the chaos stay in
their cluster, and EC2 stops none.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from local.rehearsal.comparison import Problem
from proof import reference
from proof.reference_instance import shut_down
from proof.rollup_differences import LIST_PRICES, if_not, of_rollup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from neuron_wire import MinuteRecord
    from proof.reference import Key, OwnerRow
    from proof.rollup_differences import Said


MAX_NAMES = 50
MAX_OWNERS = 20
SILENT_AFTER_MINUTES = 5
SILENT_FORGET_MINUTES = 60


PrintedMinute = Sequence[Mapping[str, Any]]
"""The last copy of each publication of a minute and cluster, in the order of these copies."""


def printed_lines(printed: Iterable[str]) -> dict[Key, PrintedMinute]:
    """Return the lines by minute since the epoch and cluster, without copies by RollupId."""
    rollups: dict[Key, dict[str, dict[str, Any]]] = {}
    for text in printed:
        line = json.loads(text)
        own = rollups.setdefault((line["_aws"]["Timestamp"] // 60_000, line["ClusterName"]), {})
        own.pop(line["RollupId"], None)
        own[line["RollupId"]] = line
    return {key: list(own.values()) for key, own in rollups.items()}


def of_owners(lines: PrintedMinute, owners: Mapping[str, OwnerRow]) -> Iterator[Said]:
    """Yield differences of the last line's TopIdleOwners to *owners*, with no others."""
    *_, last = lines
    rows = {row["Owner"]: row for row in last.get("TopIdleOwners", ())}
    if len(owners) <= MAX_OWNERS and rows.keys() != owners.keys():
        yield "TopIdleOwners", _names(owners.keys()), _names(rows.keys())
    for name in sorted(rows.keys() & owners.keys() - {"[others]"}):
        row = rows[name]
        owner = owners[name]
        priced = owner.cores != owner.unpriced
        for member, expected in (
            ("Cores", owner.cores), ("UnpricedCores", owner.unpriced),
            ("Instances", owner.instances), ("IdleMinutes", owner.minutes),
            ("UsdPerHour", owner.cost if priced else None),
        ):  # fmt: skip
            number = None if expected is None else float(expected)
            yield from if_not(f"{member} of {name}", number, row.get(member))


def of_silence(lines: PrintedMinute, silent: AbstractSet[str]) -> Iterator[Said]:
    """Yield a difference if the last line names other instances than *silent*."""
    *_, last = lines
    yield from if_not("SilentInstances", len(silent), last["SilentInstances"])
    named = {name["InstanceId"] for name in last.get("SilentInstanceNames", ())}
    if len(silent) <= MAX_NAMES and silent != named:
        yield "SilentInstanceNames", _names(silent), _names(named)


def of_types(lines: PrintedMinute, types: Mapping[str, Mapping[str, float]]) -> Iterator[Said]:
    """Yield differences of the last line's Types to *types*, which has at most 20 rows."""
    *_, last = lines
    rows = {row["InstanceType"]: row for row in last.get("Types", ())}
    if rows.keys() != types.keys():
        yield "Types", _names(types.keys()), _names(rows.keys())
    for instance_type in sorted(rows.keys() & types.keys()):
        expected = types[instance_type]
        row = rows[instance_type]
        for name in sorted({*expected, *row} - {"InstanceType"}):
            number = expected.get(name)
            said = row.get(name)
            yield from if_not(f"{name} of {instance_type}", number, said)


def _names(names: AbstractSet[str]) -> str:
    return ", ".join(sorted(names)) or "none"


class Attendance:
    """The minutes in which each instance of *clusters* reported, and its clean shutdowns."""

    def __init__(self, records: Iterable[MinuteRecord]) -> None:
        parts: dict[tuple[str, str, int], list[MinuteRecord]] = defaultdict(list)
        for record in records:
            parts[record.cluster, record.instance_id, record.minute_ms // 60_000].append(record)
        self._gone: dict[str, dict[str, dict[int, bool]]] = defaultdict(lambda: defaultdict(dict))
        for (cluster, instance, minute_number), own in parts.items():
            self._gone[cluster][instance][minute_number] = shut_down(own)
        self.clusters = sorted(self._gone)

    def silent(self, cluster: str, minute: int) -> set[str]:
        """Return the instances that are silent in *minute*."""
        return {
            name
            for name, absent in self._absent(cluster, minute)
            if SILENT_AFTER_MINUTES < absent <= SILENT_FORGET_MINUTES
        }

    def is_known(self, cluster: str, minute: int) -> bool:
        """Return True if *cluster* must have a rollup of *minute*."""
        return any(absent <= SILENT_FORGET_MINUTES for _, absent in self._absent(cluster, minute))

    def _absent(self, cluster: str, minute: int) -> Iterable[tuple[str, int]]:
        """
        Return the minutes of absence of each instance that reported and did not shut down cleanly.
        """
        for name, minutes in self._gone.get(cluster, {}).items():
            last = max((known for known in minutes if known <= minute), default=None)
            if last is not None and (last == minute or not minutes[last]):
                yield name, minute - last


EMPTY: Mapping[str, float] = {
    "Instances": 0,
    "DuplicateEmitters": 0,
    "InstancesInOtherClusters": 0,
    "CoveredSeconds": 0,
    "Records": 0,
}
"""The metrics of a minute without a record."""


def compare(
    accepted: Iterable[MinuteRecord],
    printed: Sequence[str],
    restated: Sequence[str],
    closed: Sequence[int],
) -> tuple[Counter[str], list[Problem]]:
    """
    Compare the *printed* rollup lines with the *accepted* records, copies included.

    *restated* is `ChaosStack.restated`: silence is judged with it, everything else also without it.
    In a minute of *closed*, `ChaosStack.closed`, a known cluster has a rollup even if no instance
    reported.

    Returns:
        Minutes whose rollup was compared, by cluster, and what is wrong.
    """
    records = [
        *{(record.instance_id, record.boot, record.seq): record for record in accepted}.values()
    ]
    attendance = Attendance(records)
    numbers = reference.rollups(records, usd_per_hour=LIST_PRICES)
    types = reference.types(records)
    owners = reference.idle_owners(records, usd_per_hour=LIST_PRICES)
    parts = Counter((record.minute_ms, record.cluster, record.instance_id) for record in records)
    merged = {(at_ms // 60_000, name) for (at_ms, name, _), count in parts.items() if count > 1}

    def wrong_numbers(
        key: Key, lines: PrintedMinute | None, *, must_be: bool, is_final: bool
    ) -> Iterator[Said]:
        if lines is None:
            if must_be:
                yield "rollup", "one", "none"
        elif key[1] not in attendance.clusters:
            yield "rollup", "none of a cluster without a report", "one"
        else:
            yield from of_rollup(
                lines, numbers.get(key, EMPTY), may_overstate=key in merged, is_final=is_final
            )
            yield from of_types(lines, types.get(key, {}))
            yield from of_owners(lines, owners.get(key, {}))

    first = printed_lines(printed)
    last = printed_lines([*printed, *restated])
    known = {
        (minute, cluster)
        for cluster in attendance.clusters
        for minute in closed
        if attendance.is_known(cluster, minute)
    }
    problems = []
    for key in sorted(numbers.keys() | known | last.keys()):
        minute, cluster = key
        # Once as it was, once with all that was known in the end.
        mismatches = [
            *wrong_numbers(key, first.get(key), must_be=key in numbers, is_final=False),
            *wrong_numbers(
                key, last.get(key), must_be=key in numbers or key in known, is_final=True
            ),
        ]
        if key in last:
            mismatches += of_silence(last[key], attendance.silent(cluster, minute))
        problems += [Problem(cluster, minute * 60, *said) for said in dict.fromkeys(mismatches)]
    return Counter(cluster for _, cluster in first), problems
