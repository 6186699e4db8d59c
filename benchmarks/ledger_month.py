"""
Make a month of a ledger and a bill for it, and measure the reports on them.

There are two or three rows for each instance-hour, with as many digits as real ones. The bucket is
a folder: the seconds do not include the network, nor the 1.5 ms of processor time that AWS's SDK
takes for each of the month's 5,760 objects.
"""

from __future__ import annotations

import csv
import json
import os
import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Final

from aggregator.settle.purchases import part_of
from aggregator.storage.record_items import bucket_of
from benchmarks.figures import Figure
from benchmarks.sample_reports import REPOSITORY, environment
from neuron_accounts.ledger import PARTS_OF_HOUR, LedgerRow, pack_rows, part_key
from neuron_emf.report.chargeback import BILL_COLUMNS
from neuron_emf.report.collection import collect
from neuron_emf.report.exports import json_text
from neuron_emf.report.settings import IdleReportSettings
from neuron_wire.line_members import iso_minute
from neuron_wire.names import HOUR_MINUTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

REPORT_LIMIT_S: Final = 60.0
BILL_LIMIT_S: Final = 90.0
BILL_LIMIT_MIB: Final = 1_024
LEDGER_INSTANCES: Final = 1_000
LEDGER_HOURS: Final = range(496728, 496728 + 30 * 24)
"""The hours of September 2026."""

CORE_MICROS: Final = 60 * 10**6
LEDGER_CORES: Final = 32
NANO_USD: Final = 671_875_000  # of a core-hour of a trn1.32xlarge
LEDGER_OWNERS: Final = 200


def figure(folder: Path) -> Figure:
    """Measure the report of a month of `INSTANCES`."""
    size = write_month(folder, LEDGER_HOURS, LEDGER_INSTANCES)
    begun_s = time.perf_counter()
    usd = report(folder, LEDGER_HOURS)
    return Figure(
        f"report of 30 days from the ledger, {LEDGER_INSTANCES:,} instances",
        time.perf_counter() - begun_s,
        "s",
        REPORT_LIMIT_S,
        f"{size / LEDGER_INSTANCES / len(LEDGER_HOURS):.0f} bytes an instance-hour, {usd:,.0f} "
        "USD idle",
    )


def bill_figures(folder: Path) -> list[Figure]:
    """Measure the split of a bill of the month in *folder*, in its own process."""
    bill = folder / "bill.csv"
    with bill.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(BILL_COLUMNS)
        writer.writerows(bill_rows(LEDGER_HOURS, LEDGER_INSTANCES))
    program = (sys.executable, "-m", "neuron_emf", "report", "--month", "2026-09", "--json")
    files = ("--bill", str(bill), "--ledger", str(folder))
    process = subprocess.Popen(
        [*program, *files], stdout=subprocess.DEVNULL, env=environment(), cwd=REPOSITORY
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, program)
    what = f"split of a bill of 30 days, {LEDGER_INSTANCES:,} instances"
    return [
        Figure(f"processor time of the {what}", usage.ru_utime + usage.ru_stime, "s", BILL_LIMIT_S),
        Figure(f"most memory of the {what}", usage.ru_maxrss / 1024, "MiB", BILL_LIMIT_MIB),
    ]


def bill_rows(hours: range, instances: int) -> Iterator[Sequence[object]]:
    """Yield a charge for each instance-hour, in the order of `BILL_COLUMNS`."""
    for hour in hours:
        start, end = (iso_minute(at * HOUR_MINUTES)[:13] for at in (hour, hour + 1))
        times = f"{start[:7]}-01", f"{start}:00:00.000Z", f"{end}:00:00.000Z"
        for number in range(instances):
            usage = _name(number), "BoxUsage:trn1.32xlarge", "AmazonEC2", "RunInstances"
            cost = f"{21.5 - number * 0.0078125:.10f}"
            yield "USD", *times, "Usage", "", "Linux/UNIX", "", "", *usage, 1.0, cost, cost


def write_month(folder: Path, hours: range, instances: int) -> int:
    """Write every hour into *folder*. Return the bytes of all objects."""
    size = 0
    parts = {name: part_of(bucket_of(name)) for name in map(_name, range(instances))}
    for hour in hours:
        by_part: list[list[LedgerRow]] = [[] for _ in range(PARTS_OF_HOUR)]
        for row in rows_of_hour(hour, instances):
            by_part[parts[row.instance_id]].append(row)
        for part, theirs in enumerate(by_part):
            file = folder / part_key(hour, part)
            file.parent.mkdir(parents=True, exist_ok=True)
            size += file.write_bytes(pack_rows(theirs))
    return size


def rows_of_hour(hour: int, instances: int) -> Iterator[LedgerRow]:
    """Yield an owner and unallocated cores of each instance, and a second owner of every third."""
    draw = random.Random(hour)  # the same fleet in every run
    for number in range(instances):
        names = [
            f"slurm:{4_000 + number % LEDGER_OWNERS} user-{number % LEDGER_OWNERS}",
            "[unallocated]",
        ]
        if number % 3 == 0:
            names.append(f"team-{number % 20}/model-{number % LEDGER_OWNERS}/server")
        left = LEDGER_CORES
        for name in names:
            cores = draw.randint(0, left) if name != names[-1] else left
            left -= cores
            allocated = cores * CORE_MICROS
            busy = 0 if name == "[unallocated]" else draw.randint(0, allocated)
            idle = allocated - busy
            yield LedgerRow(
                hour=hour,
                cluster=f"cluster-{number % 5}",
                instance_id=_name(number),
                owner=name,
                team=None if name.startswith("[") else f"team-{number % 20}",
                allocated=allocated,
                busy=busy,
                used=busy * draw.randint(50, 99) // 100,
                idle=idle,
                avoidable=idle if idle == allocated else 0,
                covered=CORE_MICROS,
                list_cost=allocated * NANO_USD // CORE_MICROS,
                idle_cost=idle * NANO_USD // CORE_MICROS,
                avoidable_cost=idle * NANO_USD // CORE_MICROS if idle == allocated else 0,
                basis="list price, us-east-1, 2026-11-22",
                account_id="123456789012",
                region="us-east-1",
                instance_type="trn1.32xlarge",
                lifecycle="on-demand",
            )


def _name(number: int) -> str:
    return f"i-{number:017x}"


def report(folder: Path, hours: range) -> float:
    """Return the idle USD of *hours* by the report of a ledger in *folder*, up to its JSON."""
    since, until = (iso_minute(hour * HOUR_MINUTES) for hour in (hours.start, hours.stop))
    settings = IdleReportSettings(ledger=(str(folder),), since=since, until=until)
    usd: float = json.loads(json_text(collect(settings, ())))["total"]["idle_cost"]
    return usd
