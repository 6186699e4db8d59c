"""
A month of ledger, made, and the report from it.

Two or three rows for each instance-hour, with as many digits as real ones. The bucket
is a folder: the network is not in the seconds, nor the 1.5 ms of processor time that
AWS's SDK takes for each of the month's 5,760 objects.
"""

from __future__ import annotations

import io
import random
import time
from typing import TYPE_CHECKING, Any, Final

from aggregator.settle.purchases import part_of
from aggregator.storage.item import bucket_of
from benchmarks.figure import Figure
from benchmarks.fleet import MINUTE
from neuron_emf.ledger import LedgerBucket, rows
from neuron_emf.reading.periods import Period
from neuron_emf.report.comparison import PublishedRollups, compare
from neuron_emf.report.counting import HOUR_MS, Counting
from neuron_emf.report.exports import document
from neuron_emf.report.idle_report import Provenance, idle_report
from neuron_wire.ledger import HOUR_MINUTES, PARTS, LedgerRow, key_of, packed
from neuron_wire.prices import Prices

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REPORT_LIMIT_S: Final = 60.0
INSTANCES: Final = 1_000
HOURS: Final = range(MINUTE // HOUR_MINUTES // 24 * 24, MINUTE // HOUR_MINUTES // 24 * 24 + 30 * 24)
CORE_MICROS: Final = 60 * 10**6
CORES: Final = 32
NANO_USD: Final = 671_875_000  # of a core-hour of a trn1.32xlarge
OWNERS: Final = 200


def figure(folder: Path) -> Figure:
    """The report of a month of `INSTANCES`."""
    size = write_month(folder, HOURS, INSTANCES)
    begun_s = time.perf_counter()
    usd = report(folder, HOURS)
    return Figure(
        f"report of 30 days from the ledger, {INSTANCES:,} instances",
        time.perf_counter() - begun_s,
        "s",
        REPORT_LIMIT_S,
        f"{size / INSTANCES / len(HOURS):.0f} bytes an instance-hour, {usd:,.0f} USD idle",
    )


def write_month(folder: Path, hours: range, instances: int) -> int:
    """Put every hour into *folder*; the bytes of all objects."""
    size = 0
    parts = {name: part_of(bucket_of(name)) for name in map(_name, range(instances))}
    for hour in hours:
        by_part: list[list[LedgerRow]] = [[] for _ in range(PARTS)]
        for row in rows_of_hour(hour, instances):
            by_part[parts[row.instance_id]].append(row)
        for part, theirs in enumerate(by_part):
            file = folder / key_of(hour, part)
            file.parent.mkdir(parents=True, exist_ok=True)
            size += file.write_bytes(packed(theirs))
    return size


def rows_of_hour(hour: int, instances: int) -> Iterator[LedgerRow]:
    """Of each instance an owner, what nobody holds, and every third time a second owner."""
    draw = random.Random(hour)  # the same fleet each time
    for number in range(instances):
        names = [f"slurm:{4_000 + number % OWNERS} user-{number % OWNERS}", "[unallocated]"]
        if number % 3 == 0:
            names.append(f"team-{number % 20}/model-{number % OWNERS}/server")
        left = CORES
        for name in names:
            cores = draw.randint(0, left) if name != names[-1] else left
            left -= cores
            held = cores * CORE_MICROS
            busy = 0 if name == "[unallocated]" else draw.randint(0, held)
            idle = held - busy
            yield LedgerRow(
                hour=hour, cluster=f"cluster-{number % 5}", instance_id=_name(number),
                owner=name, team=None if name.startswith("[") else f"team-{number % 20}",
                held=held, busy=busy, used=busy * draw.randint(50, 99) // 100, idle=idle,
                avoidable=idle if idle == held else 0, covered=CORE_MICROS,
                list_cost=held * NANO_USD // CORE_MICROS,
                idle_cost=idle * NANO_USD // CORE_MICROS,
                avoidable_cost=idle * NANO_USD // CORE_MICROS if idle == held else 0,
                basis="list price, us-east-1, 2026-11-22", account_id="123456789012",
                region="us-east-1", instance_type="trn1.32xlarge", lifecycle="on-demand",
            )  # fmt: skip


def _name(number: int) -> str:
    return f"i-{number:017x}"


class Folder:
    """The bucket, as the report's client of S3 asks it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def list_objects_v2(self, Prefix: str, **_: object) -> dict[str, Any]:  # noqa: N803
        """Every key of a day."""
        files = (self._folder / Prefix).rglob("*.gz")
        keys = [{"Key": file.relative_to(self._folder).as_posix()} for file in files]
        return {"Contents": keys, "IsTruncated": False}

    def get_object(self, Key: str, **_: object) -> dict[str, Any]:  # noqa: N803
        """One object."""
        return {"Body": io.BytesIO((self._folder / Key).read_bytes())}


def report(folder: Path, hours: range) -> float:
    """Idle USD by the report from the ledger, up to its JSON."""
    bucket = LedgerBucket(None, "", Folder(folder))  # type: ignore[arg-type]  # the client is given
    period = Period(hours.start * HOUR_MS, hours.stop * HOUR_MS)
    counting = Counting(period, 15, Prices())
    settled = bucket.settled_hours(hours)
    counting.settle(settled, rows(bucket.objects(settled)))
    found = idle_report(
        counting, compare(counting, PublishedRollups(period), 0), Provenance("the ledger"),
        asked=period, made_ms=period.end_ms, worst_cores=10,
    )  # fmt: skip
    usd: float = document(found)["total"]["idle_usd"]
    return usd
