"""The file is FOCUS 1.3: rule by rule, and a cell that breaks a rule is found."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import defaultdict
from decimal import Decimal

import pytest

from neuron_emf.chargeback.focus_columns import DIMENSIONS, FOCUS_1_3, SUMMABLE
from neuron_emf.chargeback.month import Month
from proof.factories.bills import fee_row, ledger_row, usage_row, write_bill, write_ledger
from tests.neuron_emf.chargeback.focus_rules import BASE, COLUMNS, SPLIT, is_split

MONTH = Month(2026, 9)
FIRST = MONTH.hours.start
ONE, TWO, THREE = "i-00000001", "i-00000002", "i-00000003"
BLOCK = "cr-0000000000000001"
DATES = {
    "CapacityReservations": [
        {
            "CapacityReservationId": BLOCK,
            "InstanceType": "trn2.48xlarge",
            "TotalInstanceCount": 2,
            "StartDate": "2026-09-01T00:00:00+00:00",
            "EndDate": "2026-09-01T11:30:00Z",
        }
    ]
}
IN_BLOCK = {"CapacityReservationId": BLOCK, "CapacityReservationStatus": "Used"}
BILL = [
    usage_row(MONTH, FIRST, ONE, cost="1.34375"),
    usage_row(MONTH, FIRST, TWO, "trn2.48xlarge", "0", **IN_BLOCK),
    usage_row(MONTH, FIRST + 1, THREE, cost="2.2E-7", hours="0.3338888889"),
    usage_row(
        MONTH,
        FIRST + 1,
        ONE,
        cost="0.4",
        SkuMeter="USE2-SpotUsage:trn1.2xlarge",
        Tags='{"neuron-emf:cluster":"another"}',
    ),
    fee_row(MONTH, FIRST, BLOCK, "1000", EffectiveCost="0"),
    fee_row(MONTH, FIRST, "cr-9", "5"),
    usage_row(MONTH, MONTH.hours.stop - 1, "vol-1", SkuMeter="EBS:VolumeUsage"),
]
LEDGER = [
    ledger_row(FIRST, ONE, "ml/a", 70, team="ml"),
    ledger_row(FIRST, ONE, "[unnamed]", 20),
    ledger_row(FIRST, ONE, "[unallocated]", 20),
    ledger_row(FIRST, TWO, "=HYPERLINK(1)", 3_840, instance_type="trn2.48xlarge"),
    ledger_row(FIRST + 1, ONE, "slurm:7 ann", 120),
    ledger_row(FIRST + 1, TWO, "ml/b", 60),
]


def rows_of(payload):
    """The rows of a file that was written."""
    return list(csv.DictReader(io.StringIO(payload.decode("utf-8"), newline="")))


@pytest.fixture
def folder(tmp_path):
    """A bill, a ledger of two hours, and the dates of a reservation."""
    write_bill(tmp_path / "bill.csv.gz", BILL)
    write_ledger(tmp_path, (FIRST, FIRST + 1), LEDGER)
    (tmp_path / "reservations.json").write_text(json.dumps(DATES), "utf-8")
    return tmp_path


def written(typed, folder, *words, name="focus.csv"):
    """What the command writes to a file."""
    asked = ["chargeback", "--month", MONTH, "--ledger", folder, "--incomplete"]
    code, _, said = typed(*asked, *words, "--output", folder / name)
    assert (0, "") == (code, said)
    return (folder / name).read_bytes()


@pytest.fixture
def by_bill(typed, folder):
    """The rows of the bill's file."""
    words = ["--bill", folder / "bill.csv.gz", "--reservations", folder / "reservations.json"]
    return rows_of(written(typed, folder, *words))


def test_the_file_has_every_column_once(by_bill):
    """All of FOCUS 1.2, those that 1.3 adds, and our own with their prefix."""
    names = list(by_bill[0])
    assert list(FOCUS_1_3) == names
    assert 65 == len(set(COLUMNS)) == len(COLUMNS)
    assert {name for name in names if name not in COLUMNS} == {
        name for name in names if name.startswith("x_")
    }


@pytest.mark.parametrize("rule", [*BASE, *SPLIT], ids=lambda rule: f"{rule.column}: {rule.demand}")
def test_each_row_meets_a_rule_of_focus(by_bill, rule):
    """And a row with a cell that breaks it does not."""
    assert [] == [row for row in by_bill if not rule.holds(row)]
    assert not all(rule.holds({**row, rule.column: rule.broken}) for row in by_bill)


def test_all_kinds_of_rows_are_in_the_file(by_bill):
    """The rules above were tried on each."""
    assert {
        "ml/a", "[unnamed]", "[unallocated]", "[unknown]", "'=HYPERLINK(1)", "[no telemetry]",
        "[reserved, unused]", "[not splittable]", "slurm:7 ann", "ml/b",
    } == {row["x_Owner"] for row in by_bill}  # fmt: skip


def test_allocated_charges_are_their_charge(by_bill):
    """What can be summed adds up, dimensions and unit prices are the charge's, ratios are 1."""
    split = defaultdict(list)
    for row in by_bill:
        if is_split(row):
            split[row["ChargePeriodStart"], row["ResourceId"]].append(row)
    charges = {(row["ChargePeriodStart"][:13], row["ResourceId"]): row for row in BILL}
    assert 3 == len(split)
    for (start, resource), rows in split.items():
        charge = charges[start[:13], resource]
        for name in SUMMABLE:
            is_fee = charge["CapacityReservationId"] and "Effective" in name
            if charge[name] and not is_fee:
                assert Decimal(charge[name]) == sum(Decimal(row[name]) for row in rows), name
        for name in DIMENSIONS:
            if not name.startswith("BillingPeriod"):
                assert {charge[name]} == {row[name] for row in rows}, name
        details = [json.loads(row["AllocatedMethodDetails"], parse_float=Decimal) for row in rows]
        assert 1 == sum(one["Elements"][0]["AllocatedRatio"] for one in details)


def test_a_fee_is_in_the_effective_cost_of_what_ran(by_bill):
    """Of 1,000 USD for 23 instance-hours: the used hour its part, the rest is unused."""
    rows = [row for row in by_bill if "upfront fee" in row["x_Basis"]]
    assert Decimal(1_000) == sum(Decimal(row["EffectiveCost"]) for row in rows)
    used = [row for row in rows if row["x_Owner"] != "[reserved, unused]"]
    costs = ("EffectiveCost", "PricingCurrencyEffectiveCost", "BilledCost")
    assert [["43.4782608696", "43.4782608696", "0"]] == [
        [row[name] for name in costs] for row in used
    ]
    assert {f"AWS bill, upfront fee of {BLOCK}"} == {row["x_Basis"] for row in rows}


def test_tags_of_an_owner_are_beside_those_of_the_charge(by_bill):
    """Cluster and team, under keys of our own."""
    row = next(row for row in by_bill if row["x_Owner"] == "ml/a")
    expected = {"neuron-emf:cluster": "research", "neuron-emf:team": "ml"}
    assert expected == json.loads(row["AllocatedTags"])
    assert ("research/ml/a", "ml/a") == (row["AllocatedResourceId"], row["AllocatedResourceName"])
    own = {name: row[name] for name in row if name.startswith("x_") and row[name]}
    assert {
        "x_ClusterName": "research", "x_Owner": "ml/a", "x_Team": "ml", "x_Basis": "AWS bill",
        "x_HeldCoreHours": "1.1666666667", "x_UsedCoreHours": "0.5833333333",
        "x_IdleCoreHours": "0", "x_CoveredMinutes": "60", "x_Operation": "RunInstances",
        "x_ServiceCode": "AmazonEC2",
    } == own  # fmt: skip


WITHOUT_BILL = {
    "BilledCost", "BillingAccountId", "ConsumedQuantity", "InvoiceIssuerName", "PricingQuantity",
}  # fmt: skip
"""What only a bill says: empty rather than invented, which FOCUS does not allow."""


def test_a_file_at_list_cost_lacks_what_only_a_bill_says(typed, folder):
    """Nothing else of FOCUS is broken, and the amounts are those of the ledger."""
    rows = rows_of(written(typed, folder))
    broken = {rule.column for rule in (*BASE, *SPLIT) for row in rows if not rule.holds(row)}
    assert WITHOUT_BILL == broken
    assert [Decimal(row.list_cost) / 10**9 for row in sorted(LEDGER, key=_order)] == [
        Decimal(row["EffectiveCost"]) for row in rows
    ]
    assert {"list price, us-east-2, 2026-11-22"} == {row["x_Basis"] for row in rows}


def _order(row):
    return row.hour, row.instance_id, row.owner


def test_an_hour_without_a_price_is_not_free(typed, folder):
    """Its cost is empty and its core-hours are said."""
    row = ledger_row(FIRST, ONE, "ml/a", 90, list_cost=None, unpriced=90_000_000, basis=None)
    write_ledger(folder, [FIRST], [row])
    written_rows = rows_of(written(typed, folder))
    assert ("", "no price", "1.5") == tuple(
        written_rows[0][name] for name in ("EffectiveCost", "x_Basis", "x_HeldCoreHours")
    )
    _, printed, _ = typed("chargeback", "--month", MONTH, "--ledger", folder, "--incomplete")
    assert "1.5 core-hours have no price and are in no amount." in printed


def test_the_same_month_is_the_same_bytes(typed, folder):
    """With gzip when the name ends in .gz, and the same rows in it."""
    plain = written(typed, folder)
    packed = written(typed, folder, name="focus.csv.gz")
    assert packed == written(typed, folder, name="focus.csv.gz")
    assert plain == gzip.decompress(packed)
    assert b"\0\0\0\0" == packed[4:8]  # no time in it
