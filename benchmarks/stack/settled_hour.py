"""
One hour of a fleet settled: the function's own code, a stand-in for the table, a folder.

The minutes that say who is missed are read too, as in every hour. AWS's SDK and the
network are not in the seconds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aggregator.environment import Rules
from aggregator.minutes import end_s
from aggregator.settle.purchases import packed_parts
from aggregator.settle.run import SettleRun
from aggregator.storage.dynamodb import Requests
from aggregator.storage.table import Table
from aggregator.storage.values import Publication
from benchmarks.stack import fleet
from benchmarks.stack.dynamodb import StandIn
from benchmarks.stack.table_files import prepare
from neuron_wire.instance_hours import LedgerRules
from neuron_wire.ledger import HOUR_MINUTES
from neuron_wire.prices import Prices

if TYPE_CHECKING:
    from pathlib import Path

    from aggregator.settle.run import SettleOutcome

CLUSTERS: Final = 5
HOUR: Final = fleet.MINUTE // HOUR_MINUTES
_PLENTY_S: Final = 1_000.0


@dataclass(frozen=True, slots=True)
class _Folder:
    """The bucket, as settle asks it."""

    root: Path

    def put(self, key: str, payload: bytes) -> None:
        file = self.root / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(payload)


def settled(folder: Path, instances: int) -> tuple[float, SettleOutcome]:
    """Settle an hour in which all of a fleet reported: processor seconds, and what was done."""
    prepare(folder / "minute", instances, CLUSTERS, "items")
    table = Table(Requests(StandIn(folder / "minute"), "neuron-emf"))
    rules = Rules()
    first = HOUR * HOUR_MINUTES
    for minute in range(first - rules.silent_forget_minutes, first + HOUR_MINUTES):
        for cluster in {one.cluster for one in fleet.records(CLUSTERS, CLUSTERS)}:
            table.write_publication(minute, cluster, Publication(1, {}, "", instances), 0)
    run = SettleRun(
        table=table, rules=rules, ledger_rules=LedgerRules(Prices()),
        ask_ec2=lambda: packed_parts({}), now_s=lambda: float(end_s(first + HOUR_MINUTES)),
        remaining_s=lambda: _PLENTY_S,
        connect=lambda: (table, _Folder(folder)),  # type: ignore[arg-type,return-value]
    )  # fmt: skip
    begun_s = time.process_time()
    outcome = run.run(HOUR)
    return time.process_time() - begun_s, outcome
