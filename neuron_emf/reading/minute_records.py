"""
The minute records among log lines, each once, and the names of their clusters.

A line may occur twice: the emitter sent it again after a lost response, or two files overlap.
`(InstanceId, Boot, Seq)` identifies a record. Other lines are counted and never stop the reading.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from neuron_emf import command_output
from neuron_emf.reading.log_group import LogGroup, pattern_of
from neuron_wire import MinuteRecord, WireFormatError, parse
from neuron_wire.names import MINUTE_MS
from neuron_words.quantity_words import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from neuron_emf.account import Account

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
