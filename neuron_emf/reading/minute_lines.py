"""
Read minute lines, each once, and turn them into rows of a ledger, for accounts without a ledger.

`(InstanceId, Boot, Seq)` identifies a record: a line may be there twice if its answer was lost and
the emitter sent it again, or if two files overlap. Lines that are not records are counted and never
stop the reading. The ledger's own code makes the rows. An emitter that restarted, or a second
emitter on its instance, may have written to another file or stream, so all lines of an hour are
read before the first of them is folded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, TypeAlias

from neuron_accounts.instance_hours import InstanceHour, OwnerWork
from neuron_emf import command_output
from neuron_emf.reading.log_group import LogGroup, pattern_of
from neuron_emitter.errors import SettingsError
from neuron_wire import MinuteRecord, WireFormatError, parse
from neuron_wire.merging import merge_clusters
from neuron_wire.names import HOUR_MS, MINUTE_MS
from neuron_words.quantity_words import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from neuron_accounts.core_time import CostRules
    from neuron_accounts.ledger import LedgerRow
    from neuron_emf.account import Account
    from neuron_emf.reading.periods import Period
    from neuron_emitter.command_line import Advance


MAX_CLUSTERS_READ: Final = 1000
MAX_NAMES_LISTED: Final = 10
LOOK_BACK_MS: Final = 10 * MINUTE_MS
_BLOCK_BITS: Final = 10  # 1,024 numbers: most of a day of minutes


@dataclass(slots=True)
class Records:
    """
    A reader of lines that reports each record once.

    Attributes:
        read: Distinct minute records.

        repeated: Lines of records that had been read before.

        unreadable: Lines that are not minute lines, or are damaged.
    """

    read: int = 0
    repeated: int = 0
    unreadable: int = 0
    _blocks: dict[tuple[str, str, str, int], int] = field(default_factory=dict)

    def read_records(self, lines: Iterable[str]) -> Iterator[MinuteRecord]:
        """Yield the records among *lines* that no earlier call yielded."""
        for line in lines:
            try:
                record = parse(line)
            except WireFormatError:
                self.unreadable += 1
                continue
            if not isinstance(record, MinuteRecord):
                continue
            if not self._is_new(record):
                self.repeated += 1
                continue
            self.read += 1
            yield record

    def _is_new(self, record: MinuteRecord) -> bool:
        """
        Record that *record* was read, as a bit of a block. Return False if it was read before.

        A week of 1,000 instances is ten million records, and the numbers within one boot have no
        gaps. A number far from all others takes one block.
        """
        key = record.cluster, record.instance_id, record.boot, record.seq >> _BLOCK_BITS
        known = self._blocks.get(key, 0)
        bit = 1 << (record.seq & ((1 << _BLOCK_BITS) - 1))
        self._blocks[key] = known | bit
        return not known & bit


class ClusterNames:
    """
    The clusters that lines name, to suggest one if the selected cluster has no line.

    Lines may contain any number of names: the first `MAX_CLUSTERS_READ` are kept.
    """

    def __init__(self) -> None:
        self._names: set[str] = set()

    def add_name(self, name: str) -> None:
        """Add *name*, the cluster of a line."""
        if len(self._names) < MAX_CLUSTERS_READ:
            self._names.add(name)

    def add_names_of_account(self, account: Account, end_ms: int) -> None:
        """
        Read the names in the last minutes of an account before *end_ms*, which is free.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        group = LogGroup(account, account.log_group)
        lines = group.read_lines(end_ms - LOOK_BACK_MS, end_ms, pattern_of())
        for record in Records().read_records(lines):
            self.add_name(record.cluster)

    def other_clusters(self, cluster: str) -> str:
        """Return the clusters other than *cluster*, most alike first, to begin a sentence."""
        return other_names("cluster", cluster, self._names)


def other_names(noun: str, name: str, names: Iterable[str]) -> str:
    """Return *names* other than *name*, most alike first, as the start of a sentence."""
    others = sorted({*names} - {name})
    if not others:
        return f"There is no other {noun}"
    listed = get_close_matches(name, others, MAX_NAMES_LISTED, cutoff=0.0)
    shown = [*map(command_output.shown_name, listed)]
    return f"Other {noun}s: {joined(shown, len(others) - len(listed))}"


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

    def __init__(self, period: Period, cluster: str, rules: CostRules) -> None:
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
