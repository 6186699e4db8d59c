"""
The clusters that there are, for whoever named one that is not.

Names are other people's text and there may be any number of them, so those of
few are kept, and those most like the one that was asked for come first.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from neuron_emf import figures
from neuron_emf.reading.log_group import LogGroup, pattern_of
from neuron_emf.reading.records import Records
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from neuron_emf.account import Account

MAX_KEPT: Final = 1000
MAX_NAMED: Final = 10
LOOK_BACK_MS: Final = 10 * MINUTE_MS


class ClusterNames:
    """Those of lines that were read and not asked for."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def add(self, name: str) -> None:
        """A line names the cluster *name*."""
        if len(self._names) < MAX_KEPT:
            self._names.add(name)

    def add_account(self, account: Account, end_ms: int) -> None:
        """
        Read the names in the last minutes of an account before *end_ms*; it costs nothing.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        group = LogGroup(account, account.log_group)
        lines = group.lines(end_ms - LOOK_BACK_MS, end_ms, pattern_of())
        for record in Records().of(lines):
            self.add(record.cluster)

    def beside(self, cluster: str) -> str:
        """What there is beside *cluster*, as the beginning of a sentence."""
        names = self._names - {cluster}
        if not names:
            return "There is no other cluster"
        listed = get_close_matches(cluster, sorted(names), MAX_NAMED, cutoff=0.0)
        rest = len(names) - len(listed)
        more = f" and {rest:,} more" if rest else ""
        return f"Other clusters: {', '.join(map(figures.name, listed))}{more}"
