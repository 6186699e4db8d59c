"""
The summary of an hour of the ledger: what its rows add up to, for whoever adds up weeks.

One object for each hour, put after its eight parts: gzipped JSON, with every owner and
the instances of the highest idle cost. Numbers are whole, micro-core-minutes and
billionths of a dollar. The same rows in any order are the same bytes. It
stands beside the rows and not among them: Athena reads every object of a partition.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from neuron_wire.errors import BAD_MEMBER, WireFormatError
from neuron_wire.ledger import PREFIX, gzipped, key_of, text_of
from neuron_wire.names import UNKNOWN_OWNER
from neuron_wire.prices import UNKNOWN_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuron_wire.ledger import LedgerRow

MAX_INSTANCES: Final = 1_000
"""Instances that a summary lists; the owners of all others are in it."""

SUMMARIES: Final = PREFIX.replace("ledger/", "ledger/summaries/")
"""How the keys of summaries begin."""

_SUMS: Final = attrgetter("core_minutes", "cost", "avoidable_cost", "has_price")

Name = tuple[str, str]  # an owner or an instance, and its cluster


@dataclass(slots=True)
class IdleSums:
    """
    Idle time of somebody.

    Attributes:
        core_minutes: Micro-core-minutes.

        cost: Billionths of a dollar; of what has no price nothing.

        avoidable_cost: The part of it that ends, at most, when instances stop.

        has_price: Whether any of it has one.
    """

    core_minutes: int = 0
    cost: int = 0
    avoidable_cost: int = 0
    has_price: bool = False

    def fold_sums(self, core_minutes: int, cost: int, avoidable: int, has_price: bool) -> None:  # noqa: FBT001  # a field like the others
        """Add what was idle elsewhere."""
        self.core_minutes += core_minutes
        self.cost += cost
        self.avoidable_cost += avoidable
        self.has_price |= has_price


@dataclass(slots=True)
class LedgerSummary:
    """
    What rows of the ledger add up to.

    Attributes:
        known: Micro-core-minutes with telemetry.

        unknown: Without, with the minutes in which an instance was missed.

        total: What is idle, of all instances.

        owners: By name and cluster.

        instances: By id and cluster.

        unlisted: How many more instances had idle cores.

        busy: Micro-core-minutes in which cores of owners worked, by name and cluster.

        teams: Of owners, by name and cluster, as told last; of one hour, always the same.

        unpriced: Idle micro-core-minutes without a price, by `REGION/TYPE`.

        bases: What the amounts are based on.
    """

    known: int = 0
    unknown: int = 0
    total: IdleSums = field(default_factory=IdleSums)
    owners: dict[Name, IdleSums] = field(default_factory=dict)
    instances: dict[Name, IdleSums] = field(default_factory=dict)
    unlisted: int = 0
    busy: Counter[Name] = field(default_factory=Counter)
    teams: dict[Name, str] = field(default_factory=dict)
    unpriced: Counter[str] = field(default_factory=Counter)
    bases: set[str] = field(default_factory=set)

    def fold_row(self, row: LedgerRow) -> None:
        """Add a row of the ledger."""
        if row.owner == UNKNOWN_OWNER:
            self.unknown += row.held
            return
        self.known += row.held
        owner = (row.owner, row.cluster)
        if row.busy:
            self.busy[owner] += row.busy
        if not row.idle:
            return
        idle = (row.idle, row.idle_cost or 0, row.avoidable_cost or 0, row.idle_cost is not None)
        self.total.fold_sums(*idle)
        self.owners.setdefault(owner, IdleSums()).fold_sums(*idle)
        self.instances.setdefault((row.instance_id, row.cluster), IdleSums()).fold_sums(*idle)
        if row.team is not None:
            self.teams[owner] = max(row.team, self.teams.get(owner, ""))
        if row.basis is not None:
            self.bases.add(row.basis)
        else:
            self.unpriced[f"{row.region}/{row.instance_type or UNKNOWN_TYPE}"] += row.idle

    def fold_object(self, payload: bytes) -> None:
        """
        Add what `packed` made of other rows.

        Raises:
            WireFormatError: If it is none.
        """
        try:
            document = json.loads(text_of(payload))
            self.known += document["Known"]
            self.unknown += document["Unknown"]
            self.total.fold_sums(*document["Total"])
            for ours, member in ((self.owners, "Owners"), (self.instances, "Instances")):
                for name, cluster, *sums in zip(*document[member], strict=True):
                    if (one := ours.get((name, cluster))) is None:
                        ours[name, cluster] = IdleSums(*sums)
                    else:
                        one.fold_sums(*sums)
            self.unlisted += document["Unlisted"]
            for name, cluster, busy in zip(*document["Busy"], strict=True):
                self.busy[name, cluster] += busy
            for name, cluster, team in zip(*document["Teams"], strict=True):
                self.teams[name, cluster] = team
            self.unpriced.update(document["Unpriced"])
            self.bases.update(document["Bases"])
        except (KeyError, TypeError, ValueError) as error:
            raise WireFormatError(BAD_MEMBER, "a summary of the ledger cannot be read") from error

    def packed(self) -> bytes:
        """The object; of all but the `MAX_INSTANCES` dearest instances it has the number alone."""
        listed = dict(worst(self.instances, MAX_INSTANCES))
        document = {
            "Known": self.known,
            "Unknown": self.unknown,
            "Total": _SUMS(self.total),
            "Owners": _columns((*name, *_SUMS(sums)) for name, sums in self.owners.items()),
            "Instances": _columns((*name, *_SUMS(sums)) for name, sums in listed.items()),
            "Unlisted": self.unlisted + len(self.instances) - len(listed),
            "Busy": _columns((*name, busy) for name, busy in self.busy.items()),
            "Teams": _columns((*name, team) for name, team in self.teams.items()),
            "Unpriced": dict(sorted(self.unpriced.items())),
            "Bases": sorted(self.bases),
        }
        return gzipped([json.dumps(document, separators=(",", ":"))])


def _columns(rows: Iterable[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """By column, which is the shortest and the fastest to read; no row has no column."""
    return list(zip(*sorted(rows), strict=True))


def summary_of(rows: Iterable[LedgerRow]) -> LedgerSummary:
    """What *rows* add up to, with every instance."""
    summary = LedgerSummary()
    for row in rows:
        summary.fold_row(row)
    return summary


def summary_key(hour: int) -> str:
    """Where the summary of an hour stands."""
    return key_of(hour, 0).replace(PREFIX, SUMMARIES).replace("/part=00", "")


def worst(sums: Mapping[Name, IdleSums], most: int) -> list[tuple[Name, IdleSums]]:
    """The *most* expensive; those without a price behind, by their time."""
    return sorted(sums.items(), key=lambda one: (-one[1].cost, -one[1].core_minutes, one[0]))[:most]
