"""
What the rollups must say, from what was accepted.

Pure: records in, differences out. Every distinct accepted record counts once, and
what comes to what is worked out by `proof.reference`, which shares no
code with the aggregator: gauges are those of the last line of a minute, tallies
the sum of all its publications. Who was silent follows from who reported when.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from local.rehearsal.verdict import Problem
from neuron_wire.extraction import violations
from proof import reference
from proof.chaos.truth.rollups import Attendance, of_owners, of_silence, of_types, printed_lines
from proof.rollup_differences import LIST_PRICES, of_rollup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from neuron_wire import MinuteRecord
    from proof.chaos.truth.rollups import Key, PrintedMinute
    from proof.rollup_differences import Said

MAX_LINE_BYTES = 32 * 1024
LONG_SILENT_MINUTES = 25
EMPTY: Mapping[str, float] = {
    "Instances": 0, "DuplicateEmitters": 0, "CoveredSeconds": 0, "Records": 0
}  # fmt: skip
"""The metrics of a minute without a record."""


class TruthReport(NamedTuple):
    """
    What was compared, and what was wrong.

    Attributes:
        rollups: Minutes whose rollup was compared, by cluster.

        differences: What is wrong.
    """

    rollups: Counter[str]
    differences: list[Problem]


def compare(
    accepted: Iterable[MinuteRecord],
    printed: Sequence[str],
    *,
    restated: Sequence[str] = (),
    closed: Sequence[int] = (),
) -> TruthReport:
    """
    Hold the *printed* rollup lines against the *accepted* records, copies included.

    *restated* are `ChaosStack.restated`: who was silent is judged with them, everything
    else also without them. Of the minutes in *closed*, `ChaosStack.closed`, a known cluster has a
    rollup also where nobody reported.
    """
    records = [
        *{(record.instance_id, record.boot, record.seq): record for record in accepted}.values()
    ]
    differences = [*_not_fit([*printed, *restated])]
    attendance = Attendance(records)
    judge = _Judge(records, attendance)
    first, last = printed_lines(printed), printed_lines([*printed, *restated])
    known, long_known = _known(attendance, closed)
    for key in sorted(judge.numbers.keys() | known | last.keys()):
        # Once as it was, once as it is with all that was known in the end.
        mismatches = [
            *judge.of(key, first.get(key), must_be=key in judge.numbers or key in long_known),
            *judge.of(key, last.get(key), must_be=key in judge.numbers or key in known),
            *judge.of_silence(key, last.get(key)),
        ]
        differences += [
            Problem(key[1], key[0] * 60, *difference) for difference in dict.fromkeys(mismatches)
        ]
    return TruthReport(Counter(cluster for _, cluster in first), differences)


class _Judge:
    """
    What every minute of every cluster must come to.

    Attributes:
        numbers: The metrics of the minutes and clusters that have a record.
    """

    def __init__(self, records: Sequence[MinuteRecord], attendance: Attendance) -> None:
        self.numbers = reference.rollups(records, usd_per_hour=LIST_PRICES)
        self._types = reference.types(records)
        self._owners = reference.idle_owners(records, usd_per_hour=LIST_PRICES)
        self._attendance = attendance
        minutes = Counter(
            (record.cluster, record.instance_id, record.minute_ms) for record in records
        )
        self._merged = {
            (minute_ms // 60_000, cluster)
            for (cluster, _, minute_ms), count in minutes.items()
            if count > 1
        }

    def of(self, key: Key, lines: PrintedMinute | None, *, must_be: bool) -> Iterator[Said]:
        """What is wrong with the *lines* of a minute and cluster, silence left out."""
        _, cluster = key
        if lines is None:
            if must_be:
                yield "rollup", "one", "none"
        elif cluster not in self._attendance.clusters:
            yield "rollup", "none of a cluster of which nobody reported", "one"
        else:
            numbers = self.numbers.get(key, EMPTY)
            yield from of_rollup(lines, numbers, may_overstate=key in self._merged)
            yield from of_types(lines, self._types.get(key, {}))
            yield from of_owners(lines, self._owners.get(key, {}))

    def of_silence(self, key: Key, lines: PrintedMinute | None) -> Iterator[Said]:
        """Whom the last line wrongly names silent, or does not."""
        minute, cluster = key
        if lines is not None:
            yield from of_silence(lines, self._attendance.silent(cluster, minute))


def _known(attendance: Attendance, closed: Sequence[int]) -> tuple[set[Key], set[Key]]:
    """
    The *closed* minutes and clusters that need a rollup whether or not anybody reported.

    The second: those of which close must have known in time, because an
    instance was silent for so long that whatever comes late had come.
    """
    known, long_known = [
        {
            (minute, cluster)
            for cluster in attendance.clusters
            for minute in closed
            if attendance.is_known(cluster, minute, absent_minutes)
        }
        for absent_minutes in (0, LONG_SILENT_MINUTES)
    ]
    return known, long_known


def _not_fit(printed: Sequence[str]) -> Iterator[Problem]:
    """Lines from which CloudWatch would not extract every metric."""
    for text in printed:
        wrong = violations(text)
        size = len(text.encode())
        if size > MAX_LINE_BYTES:
            wrong = [*wrong, f"{size} bytes"]
        if wrong:
            line = json.loads(text)
            yield Problem(
                line["ClusterName"], line["_aws"]["Timestamp"] // 1000,
                f"line {line['RollupId']}", "a line to extract metrics from", wrong[0],
            )  # fmt: skip
