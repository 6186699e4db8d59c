"""
A month of ledger: how many objects and bytes, and how long settle and its readers take.

    python -m benchmarks.ledger [--instances 1000] [--days 30] [--record]

The rows are made, two or three for each instance-hour with as many digits as real ones. The
bucket is a folder: the network is not in the seconds of report and digest, nor the processor
time of AWS's SDK, 1.5 ms for each of the 5,760 objects of a month. DuckDB
asks the saved queries of Athena of the same objects.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aggregator.digest.function import digest
from aggregator.settle.purchases import part_of
from aggregator.storage.item import bucket_of
from benchmarks import page, record
from benchmarks.figure import HEADS, Figure, table
from benchmarks.machine import machine
from benchmarks.reports import ROOT, environment
from benchmarks.stack import settled_hour
from neuron_emf.ledger import LedgerBucket, rows
from neuron_emf.reading.periods import Period
from neuron_emf.report.comparison import PublishedRollups, compare
from neuron_emf.report.counting import HOUR_MS, Counting
from neuron_emf.report.exports import document
from neuron_emf.report.idle_report import Provenance, idle_report
from neuron_wire.ledger import PARTS, PREFIX, LedgerRow, key_of, packed, rows_of, settled_hours
from neuron_wire.phrases import counted
from neuron_wire.prices import Prices

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COMMAND: Final = "python -m benchmarks.ledger --days {days} --record"
REPORT_S: Final = 60.0
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


def queries(folder: Path) -> list[Figure]:
    """Each saved query by DuckDB, in a program of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "proof.athena", str(folder)],
        stdout=subprocess.PIPE, check=True, cwd=ROOT, env=environment(),
    )  # fmt: skip
    return [
        Figure(f"saved query {name}, DuckDB", one["seconds"], "s", None, f"{one['rows']:,} rows")
        for name, one in json.loads(done.stdout).items()
    ]


def measure(root: Path, instances: int, days: int) -> list[Figure]:
    """Every figure, in the order of the table."""
    today = int(time.time()) // 86_400 * 24
    hours = range(today - 24 * days, today)
    folder = root / "month"
    objects, size, count = make(folder, hours, instances)
    cpu_s, outcome = settled_hour.settled(root / "settled", instances)
    fleet, span = counted(instances, "instance"), counted(days, "day")
    of_hour = f"{outcome.records_read:,} records of two hours become {outcome.rows:,} rows"
    wall_s, report_cpu_s = time.perf_counter(), time.process_time()
    usd = report(folder, hours)
    wall_s, report_cpu_s = time.perf_counter() - wall_s, time.process_time() - report_cpu_s
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    digest_s = time.process_time()
    digest(Folder(folder), hours.stop, "neuron-emf", "us-east-1")  # type: ignore[arg-type]
    digest_s = time.process_time() - digest_s
    report_name = f"report of {span} from the ledger, {fleet}"
    an_hour = f"{size / instances / len(hours):.0f} an instance-hour, {count:,} rows"
    return [
        Figure(f"ledger of {span}, {fleet}", objects, "objects"),
        Figure(f"ledger of {span}, {fleet}", size, "bytes", None, an_hour),
        Figure(f"settle, an hour of {fleet}", cpu_s, "CPU s", None, of_hour),
        Figure(report_name, wall_s, "s", REPORT_S, f"{usd:,.6f} USD idle, {memory} MiB"),
        Figure(report_name, report_cpu_s, "CPU s", REPORT_S),
        Figure(f"digest of two weeks, {fleet}", digest_s, "CPU s"),
        *queries(folder),
    ]


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and with `--record` keep; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ledger",
        description="What a month of ledger takes: objects, bytes, and the seconds of settle and "
        "of its readers. About five minutes for 1,000 instances and 30 days.",
    )
    parser.add_argument("--instances", type=int, default=1_000, help="of the fleet; default 1000")
    parser.add_argument("--days", type=int, default=30, help="whole days before today; default 30")
    parser.add_argument(
        "--record", action="store_true", help="write docs/figures/ledger.json and the page"
    )
    chosen = parser.parse_args(arguments)
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="neuron-emf-benchmarks-") as name:
        figures = measure(Path(name), chosen.instances, chosen.days)
    sys.stdout.write(f"{machine()}\n\n{table(figures)}\n")
    if chosen.record:
        kept = [figure.row() for figure in figures]
        command, took_s = COMMAND.format(days=chosen.days), time.monotonic() - begun_s
        record.made(page.LEDGER, command, took_s, HEADS, kept).write()
        page.main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
