"""
Convert minute lines to ledger rows with the ledger's own code, if there is no ledger.

An emitter that restarted, or a second emitter on the instance, may have written to another file or
stream. Lines of whole hours are therefore read before the first of them is folded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, TypeAlias

from neuron_accounts.instance_hours import InstanceHour, OwnerWork
from neuron_emf.reading.log_group import LogGroup, pattern_of
from neuron_emf.reading.minute_records import ClusterNames, Records
from neuron_emitter.errors import SettingsError
from neuron_wire.merging import merge_clusters
from neuron_wire.names import HOUR_MS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from neuron_accounts.instance_hours import LedgerRules
    from neuron_accounts.ledger import LedgerRow
    from neuron_emf.account import Account
    from neuron_emf.reading.periods import Period
    from neuron_emitter.command_line import Advance
    from neuron_wire import MinuteRecord

MAX_RECORDS: Final = 500_000
"""The maximum of waiting records: 2 GB for instances with 32 cores."""

_Minutes: TypeAlias = "dict[int, dict[tuple[str, str], list[MinuteRecord]]]"
"""Records by minute, in milliseconds, then by cluster and instance."""

_RECORDS_IN_A_PIECE: Final = 100_000
_PIECE_GROWTH: Final = 4  # the longest next piece, relative to the piece before


class MinuteLines:
    """
    A reader of minute lines.

    Attributes:
        records: The reader of records, with its counts of records and of other lines.

        outside: Records of other times or clusters.

        others: Other clusters in the period.

        minutes_ms: First and last minute of the records that count; None before the first.

        hours: Hours of the records that count.
    """

    def __init__(self, period: Period, cluster: str, rules: LedgerRules) -> None:
        """Count only records in *period*, and of *cluster* if it is not empty."""
        self.records = Records()
        self.outside = 0
        self.others = ClusterNames()
        self.minutes_ms: tuple[int, int] | None = None
        self.hours: set[int] = set()
        self._period = period
        self._cluster = cluster
        self._rules = rules

    def fold_lines(self, lines: Iterable[str]) -> Iterator[LedgerRow]:
        """
        Yield the rows of all *lines* of some hours, in any order.

        Raises:
            SettingsError: If more than MAX_RECORDS records wait.
        """
        minutes: _Minutes = defaultdict(lambda: defaultdict(list))
        waiting = 0
        for record in self.records.read_records(lines):
            at_ms = record.minute_ms
            if at_ms not in self._period or self._cluster not in {"", record.cluster}:
                self.outside += 1
                if at_ms in self._period:
                    self.others.add_name(record.cluster)
                continue
            waiting += 1
            if waiting > MAX_RECORDS:
                msg = (
                    f"Over {MAX_RECORDS:,} instance-minutes. Use a shorter time, or one --cluster."
                )
                raise SettingsError(msg)
            first_ms, last_ms = self.minutes_ms or (at_ms, at_ms)
            self.minutes_ms = min(first_ms, at_ms), max(last_ms, at_ms)
            self.hours.add(at_ms // HOUR_MS)
            minutes[at_ms][record.cluster, record.instance_id].append(record)
        yield from self._rows_of(minutes)

    def _rows_of(self, minutes: _Minutes) -> Iterator[LedgerRow]:
        """Yield the rows of whole hours and empty *minutes*."""
        works: dict[tuple[str, int], OwnerWork] = defaultdict(OwnerWork)
        hours: dict[tuple[str, str, int], InstanceHour] = {}
        for at_ms in sorted(minutes):
            records_of = minutes.pop(at_ms)
            hour = at_ms // HOUR_MS
            clusters = Counter(instance_id for _, instance_id in records_of)
            for key, instance in merge_clusters(records_of).items():
                cluster, instance_id = key
                instance_hour = hours.setdefault((*key, hour), InstanceHour(hour, self._rules))
                instance_hour.overlap_minutes += clusters[instance_id] > 1
                instance_hour.fold_minute(
                    instance.record,
                    works[cluster, hour],
                    in_other_clusters=instance.in_other_clusters,
                )
        for (cluster, _, hour), instance_hour in hours.items():
            yield from instance_hour.rows(works[cluster, hour])

    def fold_log_group(self, account: Account, advance: Advance) -> Iterator[LedgerRow]:
        """
        Yield the rows of an account's minute lines, which are free to fetch.

        Raises:
            SettingsError: As `fold_lines` does.
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        group = LogGroup(account, account.log_group)
        pattern = pattern_of(*filter(None, [self._cluster]))
        at_ms = self._period.start_ms
        end_ms = self._period.end_ms
        hours = 1
        while at_ms < end_ms:
            stop_ms = min((at_ms // HOUR_MS + hours) * HOUR_MS, end_ms)
            before = self.records.read
            yield from self.fold_lines(group.read_lines(at_ms, stop_ms, pattern))
            at_ms = stop_ms
            advance(at_ms - self._period.start_ms, end_ms - self._period.start_ms)
            fitting = hours * _RECORDS_IN_A_PIECE // max(1, self.records.read - before)
            hours = max(1, min(fitting, _PIECE_GROWTH * hours))
