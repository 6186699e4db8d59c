"""
A month of ledger: how many objects and bytes, and how long its readers take.

    python -m benchmarks.ledger [--instances 1000] [--days 30]

The rows are made, two or three for each instance-hour with as many digits as real ones. The
bucket is a folder: the network is not in the seconds of report and digest, the processor
time of AWS's SDK neither; with 16 GETs at a time those are a few seconds of a month.
`python -m proof.athena` runs the saved queries on the same objects.
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aggregator.digest.function import digest
from aggregator.settle.purchases import part_of
from aggregator.storage.item import bucket_of
from neuron_emf.ledger import LedgerBucket, rows
from neuron_emf.reading.periods import Period
from neuron_emf.report.comparison import PublishedRollups, compare
from neuron_emf.report.counting import HOUR_MS, Counting
from neuron_emf.report.exports import document
from neuron_emf.report.idle_report import Provenance, idle_report
from neuron_wire.ledger import PARTS, PREFIX, LedgerRow, key_of, packed, rows_of, settled_hours
from neuron_wire.prices import Prices

if TYPE_CHECKING:
    from collections.abc import Iterator

CORE_MICROS: Final = 60 * 10**6
CORES: Final = 32
NANO_USD: Final = 671_875_000  # of a core-hour of a trn1.32xlarge
OWNERS: Final = 200


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
                hour=hour, cluster=f"cluster-{number % 5}", instance_id=f"i-{number:017x}",
                owner=name, team=None if name.startswith("[") else f"team-{number % 20}",
                held=held, busy=busy, used=busy * draw.randint(50, 99) // 100, idle=idle,
                avoidable=idle if idle == held else 0, covered=CORE_MICROS,
                list_cost=held * NANO_USD // CORE_MICROS,
                idle_cost=idle * NANO_USD // CORE_MICROS,
                avoidable_cost=idle * NANO_USD // CORE_MICROS if idle == held else 0,
                basis="list price, us-east-1, 2026-11-22", account_id="123456789012",
                region="us-east-1", instance_type="trn1.32xlarge", lifecycle="on-demand",
            )  # fmt: skip


def make(folder: Path, hours: range, instances: int) -> tuple[int, int, int]:
    """Put every hour into *folder*; objects, bytes and rows."""
    size = count = 0
    names = [f"i-{number:017x}" for number in range(instances)]
    parts = {name: part_of(bucket_of(name)) for name in names}
    for hour in hours:
        by_part: list[list[LedgerRow]] = [[] for _ in range(PARTS)]
        for row in rows_of_hour(hour, instances):
            by_part[parts[row.instance_id]].append(row)
        for part, theirs in enumerate(by_part):
            file = folder / key_of(hour, part)
            file.parent.mkdir(parents=True, exist_ok=True)
            payload = packed(theirs)
            file.write_bytes(payload)
            size += len(payload)
            count += len(theirs)
    return len(hours) * PARTS, size, count


class Folder:
    """The bucket, as the report's client of S3 and the digest's reader ask it."""

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

    def settled_hours(self, hours: range) -> list[int]:
        """As the digest asks it."""
        files = (self._folder / PREFIX).rglob("*.gz")
        return settled_hours((file.relative_to(self._folder).as_posix() for file in files), hours)

    def rows(self, hour: int) -> Iterator[LedgerRow]:
        """As the digest asks it."""
        for part in range(PARTS):
            yield from rows_of((self._folder / key_of(hour, part)).read_bytes())


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


def asked(description: str | None) -> tuple[int, range]:
    """How many instances, and the hours of how many whole days before today."""
    parser = argparse.ArgumentParser(description=(description or "").split("\n")[1])
    parser.add_argument("--instances", type=int, default=1_000)
    parser.add_argument("--days", type=int, default=30)
    options = parser.parse_args()
    today = int(time.time()) // 86_400 * 24
    return options.instances, range(today - 24 * options.days, today)


def main() -> None:
    """Make, read and print."""
    instances, hours = asked(__doc__)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        objects, size, count = make(folder, hours, instances)
        print(f"{instances:,} instances x {len(hours) // 24} days: {objects:,} objects,")
        print(f"{size:,} bytes ({size / instances / len(hours):.0f} an instance-hour),")
        print(f"{count:,} rows")
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        usd = report(folder, hours)
        wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        print(f"report: {wall_s:.1f} s, {cpu_s:.1f} s CPU, {memory} MiB; {usd:,.6f} USD idle")
        cpu_s = time.process_time()
        text = digest(Folder(folder), hours.stop, "neuron-emf", "us-east-1").body  # type: ignore[arg-type]
        cpu_s = time.process_time() - cpu_s
        print(f"digest of two weeks: {cpu_s:.1f} s CPU; {text.splitlines()[2]}")


if __name__ == "__main__":
    main()
