"""How long a month of 1,000 instances takes, of which half of the bill is other things."""

from __future__ import annotations

import csv
import gzip
import time

import pytest

from neuron_emf.chargeback.month import Month
from proof.factories.bills import COLUMNS, ledger_row, usage_row, write_ledger

MONTH = Month(2026, 9)
INSTANCES = 1_000
CORES = 32
MICRO = 1_000_000


def ledger_rows(hour):
    """Of an hour: a job, a notebook beside it, and what nobody holds, on each instance."""
    for number in range(INSTANCES):
        instance_id = f"i-{number:017x}"
        job = f"slurm:{4_000 + (number + hour) // 24} ann"
        parts = {job: 20, f"team-{number % 9}/notebook-{number}": 7, "[unallocated]": 5}
        for owner, cores in parts.items():
            yield ledger_row(
                hour,
                instance_id,
                owner,
                60 * cores,
                used=(hour + number) % 59 * cores * MICRO,
                idle=0,
                list_cost=cores * 671_875_000,
                instance_type="trn1.32xlarge",
                team=f"team-{number % 9}",
            )


def write_bill(path):
    """A row for each instance-hour, and as many that are no hours of ours."""
    with gzip.open(path, "wt", encoding="utf-8", newline="", compresslevel=1) as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for hour in MONTH.hours:
            for number in range(INSTANCES):
                instance_id = f"i-{number:017x}"
                cost = f"21.5{hour % 24:02d}{number % 7}"
                row = usage_row(MONTH, hour, instance_id, "trn1.32xlarge", cost)
                writer.writerow(row.values())
                row["SkuMeter"] = "USE2-DataTransfer-Regional-Bytes"
                writer.writerow(row.values())


@pytest.mark.bench
@pytest.mark.timeout(3_600)
def test_a_month_of_1000_instances(tmp_path, typed, capsys):
    """In minutes, and what goes in comes out."""
    for hour in MONTH.hours:
        write_ledger(tmp_path, [hour], ledger_rows(hour))
    bill, output = tmp_path / "bill.csv.gz", tmp_path / "focus.csv.gz"
    write_bill(bill)
    asked = ["chargeback", "--month", MONTH, "--ledger", tmp_path]
    for words in ([], ["--bill", bill], ["--bill", bill, "--output", output]):
        began = time.monotonic()
        code, printed, said = typed(*asked, *words)
        taken_s = time.monotonic() - began
        assert (0, "") == (code, said)
        lines = printed.splitlines()
        assert lines[1].removeprefix("In   ") == lines[2].removeprefix("Out  ").partition(" in ")[0]
        with capsys.disabled():
            print(f"\n{taken_s:.1f} s {[word for word in words if word != bill]}: {lines[2]}")  # noqa: T201
    with capsys.disabled():
        sizes = {one.name: one.stat().st_size for one in (bill, output)}
        ledger = sum(one.stat().st_size for one in tmp_path.rglob("part=*"))
        print(f"bytes: ledger {ledger}, {sizes}")  # noqa: T201
