"""`neuron-emf report --bill`: what each owner pays of a month, and which months are refused."""

from __future__ import annotations

import json
import tempfile
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_emf.account import Account
from neuron_emf.report import chargeback as of_month
from neuron_emf.report.chargeback import chargeback, statement
from neuron_emf.report.settings import IdleReportSettings
from neuron_wire.instance_types import INSTANCE_TYPES
from neuron_wire.ledger import PARTS, LedgerRow, pack_rows, part_key
from tests.neuron_emf.fake_account import FakeLedgerObjects
from tests.neuron_emf.report.bill_worlds import (
    BLOCK,
    bill_text,
    charge,
    fee,
    held,
    ledger_text,
    reckoned,
    rounded,
)

LAW_HOURS = ("2026-09-01 00", "2026-09-01 23", "2026-09-17 12")
LAW_OWNERS = ("a/x", "b/y", "c/z", "[unallocated]", "[unknown]")


@st.composite
def costs(draw, low=0):
    """A cost as a text of 10 to 30 decimals."""
    places = draw(st.integers(10, 30))
    return f"{Decimal(draw(st.integers(low * 10**places, 40 * 10**places))).scaleb(-places):f}"


@st.composite
def worlds(draw):
    """Rows of a bill and of a ledger: credits, spot, commitments, a block with a fee or without."""
    bill, ledger = [], []
    for number in range(draw(st.integers(1, 3))):
        instance, in_block = f"i-{number:08x}", number == 0
        for hour in LAW_HOURS:
            quantity = draw(st.sampled_from(["1.0", "0.5", "0.3333333333", "0.000278"]))
            kind = draw(st.sampled_from(["BoxUsage", "SpotUsage", "missing"]))
            of_type = draw(st.sampled_from(["trn1.2xlarge", "inf2.24xlarge"]))
            others = {"ConsumedQuantity": quantity, "SkuMeter": f"USE2-{kind}:{of_type}"}
            if in_block:
                others["CapacityReservationId"] = f"arn:aws:ec2:x:1:capacity-reservation/{BLOCK}"
                bill.append(charge(hour, instance, "0", **others))
                if draw(st.booleans()):
                    credit = {**others, "ChargeCategory": "Credit"}
                    bill.append(charge(hour, instance, draw(costs(-50)), **credit))
            elif kind != "missing":
                bill.append(charge(hour, instance, draw(costs()), **others))
                if draw(st.booleans()):
                    share = {"ConsumedQuantity": "0", "CommitmentDiscountId": "sp-1"}
                    bill.append(charge(hour, instance, draw(costs()), **{**others, **share}))
                if draw(st.booleans()):
                    credit = {**others, "ChargeCategory": "Credit"}
                    bill.append(charge(hour, instance, draw(costs(-50)), **credit))
            for owner in draw(st.sets(st.sampled_from(LAW_OWNERS))):
                minutes = Decimal(draw(st.integers(0, 80 * 10**6))).scaleb(-6)
                team = None if owner.startswith("[") else owner[0]
                ledger.append(held(hour, instance, owner, minutes, Team=team))
    unused = {"CapacityReservationId": BLOCK, "ConsumedQuantity": draw(st.sampled_from("12"))}
    bill.append(charge(LAW_HOURS[2], f"arn:x/{BLOCK}", "0", **unused))
    bill.append(fee("2026-08-30 10", draw(costs())))
    return bill, ledger


@settings(max_examples=40)
@given(worlds(), st.sampled_from(["", "spread", "Platform"]))
def test_every_owner_pays_what_fractions_say(world, unassigned):
    """Owner by owner to the last of 18 decimals, and nothing of the bill is lost or made."""
    bill, ledger = world
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bill.csv").write_text(bill_text(bill), "utf-8")
        (folder / "ledger.jsonl").write_text(ledger_text(ledger) + ledger_text(ledger), "utf-8")
        asked = IdleReportSettings(
            month="2026-09",
            bill=(str(folder / "bill.csv"),),
            ledger=(str(folder / "ledger.jsonl"),),
            unassigned=unassigned,
            incomplete=True,
        )
        found = chargeback(asked).rows
    units = {
        (row.day, row.team, row.owner, row.cluster): int(row.cost.scaleb(18))
        for row in found
        if row.cost
    }
    assert reckoned(bill, ledger, unassigned) == units
    total = sum(rounded(row["EffectiveCost"]) for row in bill)
    total += sum(rounded(row["BilledCost"]) for row in bill if row["ChargeCategory"] == "Purchase")
    assert total == sum(units.values())


def test_the_statement_knows_the_cores_of_every_type():
    """A new type must be in both places."""
    text = statement().partition("type_cores")[2].partition("),\n\n")[0]
    for name, instance_type in INSTANCE_TYPES.items():
        assert f"('{name}', {instance_type.cores})" in text
    assert len(INSTANCE_TYPES) == text.count("', ")


MONTH = "2026-02"
HOURS = [f"{MONTH}-{day:02d} {hour:02d}" for day in range(1, 29) for hour in range(24)]
ID = "i-0123456789abcdef0"
IN_BLOCK = {"CapacityReservationId": BLOCK}


def whole_bill(**others):
    """One instance in every hour of the month."""
    return [charge(hour, ID, "1.25", **others) for hour in HOURS]


def whole_ledger():
    """All of it held by one job."""
    return [held(hour, ID, "slurm:7 ann", "120") for hour in HOURS]


@pytest.fixture
def asked(typed, tmp_path):
    """Ask about rows of a bill and of a ledger: exit code, answer, standard error."""

    def ask(bill, ledger, *options, month=MONTH):
        (tmp_path / "bill.csv").write_text(bill_text(bill), "utf-8")
        (tmp_path / "ledger.jsonl").write_text(ledger_text(ledger), "utf-8")
        words = ("--bill", tmp_path / "bill.csv", "--ledger", tmp_path / "ledger.jsonl", *options)
        code, out, err = typed("report", "--month", month, *words, "--json")
        return code, json.loads(out) if out else None, err

    return ask


def owners(answer):
    """What each owner pays, of a whole answer."""
    sums = {}
    for row in answer["rows"]:
        sums[row["owner"]] = sums.get(row["owner"], 0) + Decimal(row["cost"])
    return sums


# --- a month of a bill ---


def test_the_month_of_a_bill_that_is_kept(typed, repository, tmp_path):
    """The files of tests/data/bills through the command: every digit of the expected file."""
    folder = repository / "tests" / "data" / "bills"
    bill = ("--bill", folder / "focus-2026-08.csv", folder / "focus-2026-09.csv")
    words = ("report", "--month", "2026-09", *bill, "--ledger", folder / "ledger.jsonl")
    code, out, _ = typed(*words, "--incomplete", "--csv", tmp_path / "out.csv")
    assert 0 == code
    assert "244.00312500005 USD" in out
    assert (folder / "expected.csv").read_text("utf-8").split() == (
        (tmp_path / "out.csv").read_text("utf-8").split()
    )


def test_parquet_of_s3_and_ledgers_of_buckets(typed, tmp_path, monkeypatch):
    """What AWS exports has doubles; two stacks' ledgers, one of them named twice, are one."""
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "bill.csv").write_text(bill_text(whole_bill()), "utf-8")
    file = tmp_path / "x.snappy.parquet"
    text = (
        f"COPY (SELECT * REPLACE (CAST(EffectiveCost AS DOUBLE) AS EffectiveCost, "
        f"CAST(ChargePeriodStart AS TIMESTAMP) AS ChargePeriodStart) "
        f"FROM read_csv('{tmp_path / 'bill.csv'}', all_varchar=true)) TO '{file}'"
    )
    duckdb.execute(text)
    objects = {f"exports/data/BILLING_PERIOD={MONTH}/x.snappy.parquet": file.read_bytes()}
    for hour in of_month.month_hours(MONTH):
        row = LedgerRow(hour, "research", ID, "a/b", 120 * 10**6, 60 * 10**6, team="a")
        for part in range(PARTS):
            objects[part_key(hour, part)] = pack_rows([row] if part == 3 else [])
    double = FakeLedgerObjects(objects)
    monkeypatch.setattr(Account, "client", lambda *_: double)
    words = ("--bill", "s3://bills/exports", "--ledger", "one", "--ledger", "s3://one", "--json")
    code, out, err = typed("report", "--month", MONTH, *words)
    assert (0, "") == (code, err)
    assert {"a/b": Decimal(840)} == owners(json.loads(out))
    assert {"a"} == {row["team"] for row in json.loads(out)["rows"]}


# --- what is refused ---

MISSING = [hour for hour in HOURS if not "05" <= hour[8:10] <= "20"]
REFUSED = {
    "days are missing": [charge(hour, ID, "1.25") for hour in MISSING],
    "half of the rows is missing": (
        whole_bill()[::2] + [charge(hour, "i-00000001", "1") for hour in HOURS]
    ),
    "every row comes twice": whole_bill(ConsumedQuantity="0.4") * 2,
    "two versions of the export": whole_bill() + whole_bill(ChargeDescription="estimated"),
    "a fee of the month before without a reservation's usage": [
        *whole_bill(), fee("2026-01-20 10", "240")],
    "a block that may go on in the next month": [
        fee("2026-02-01 00", "240"), *(charge(hour, ID, "0", **IN_BLOCK) for hour in HOURS)],
}  # fmt: skip


def test_a_month_that_does_not_reconcile_is_refused(asked, golden, repository):
    """Only what is wrong comes out, each with its sentence; --incomplete counts the whole bill."""
    lines = []
    for name, bill in REFUSED.items():
        code, answer, err = asked(bill, whole_ledger())
        assert (5, None) == (code, answer["cost"])
        lines.append(f"{name}\n")
        lines += [f"  {row['problem']}: {row['found']}, {row['cost']}\n" for row in answer["rows"]]
        lines += [f"  {sentence}\n" for sentence in err.splitlines()]
        code, answer, err = asked(bill, whole_ledger(), "--incomplete")
        paid = sum(Decimal(row["EffectiveCost"]) for row in bill)
        assert (0, "", paid) == (code, err, Decimal(answer["cost"]))
    golden(repository / "tests/data/shown/refused-months.txt", "".join(lines))


def test_a_ledger_row_of_another_hour_is_refused_alone(typed, tmp_path, follows_schema):
    """And counted; the rest of its object is not lost, nor is what cannot be read a whole file."""
    (tmp_path / "bill.csv").write_text(bill_text(whole_bill()), "utf-8")
    for hour in of_month.month_hours(MONTH):
        row = LedgerRow(hour, "research", ID, "a/b", 120 * 10**6, 60 * 10**6)
        rows = [row, row._replace(hour=hour + 999, owner="b/c")] if hour % 336 == 0 else [row]
        file = tmp_path / part_key(hour, 0)
        file.parent.mkdir(parents=True)
        file.write_bytes(pack_rows(rows))
    words = ("report", "--month", MONTH, "--bill", tmp_path / "bill.csv", "--ledger", tmp_path)
    code, out, err = typed(*words)
    assert 5 == code
    assert "ledger rows refused       2" in out
    assert "2 rows of the ledger cannot be read or are of another hour than their object" in err
    refused = json.loads(typed(*words, "--json")[1])
    code, out, _ = typed(*words, "--incomplete", "--json")
    assert (0, {"a/b": Decimal(840)}) == (code, owners(json.loads(out)))
    follows_schema("chargeback", refused, json.loads(out))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--month", "2026-13"], "Invalid --month '2026-13'. Use year and month, such as 2026-10."),
        (["--bill", "{0}/bill.csv"], "--bill names a file twice."),
        (["--bill", "{0}/none"], "--bill {0}/none has no .csv, .csv.gz or .parquet file."),
        (["--bill", "{0}/other.csv"], "{0}/other.csv lacks BillingCurrency, BillingPeriodStart"),
        (["--bill", "{0}/eur.csv"], "The bill is in EUR and USD. Run once for the files"),
        (["--ledger", "{0}"], "has no hour of 2026-02. Name a bucket, or a copy of one."),
    ],
)
def test_options_that_name_something_else(typed, tmp_path, options, sentence):
    """Exit code 2, with what was found and what to do."""
    (tmp_path / "bill.csv").write_text(bill_text(whole_bill()), "utf-8")
    (tmp_path / "eur.csv").write_text(bill_text([charge(HOURS[0], ID, "1", BillingCurrency="EUR")]))
    (tmp_path / "other.csv").write_text("A,B\n1,2\n", "utf-8")
    (tmp_path / "ledger.jsonl").write_text(ledger_text(whole_ledger()), "utf-8")
    words = (
        "--month",
        MONTH,
        "--bill",
        tmp_path / "bill.csv",
        "--ledger",
        tmp_path / "ledger.jsonl",
    )
    code, _, err = typed("report", *words, *(option.format(tmp_path) for option in options))
    assert 2 == code
    assert sentence.format(tmp_path) in err


# --- rules of the split that a reader would doubt ---


def test_a_block_over_the_end_of_a_month_needs_both_bills(asked):
    """Each month has its hours' part of the fee, whichever is asked for."""
    hours = [*HOURS[-24:], *(f"2026-03-01 {hour:02d}" for hour in range(12))]
    block = [charge(hour, ID, "0", **IN_BLOCK) for hour in hours]
    bill = [fee("2026-02-20 10", "36"), *whole_bill()[:-24], *block]
    code, answer, _ = asked(bill, whole_ledger())
    assert (0, Decimal("1.25") * 648 + 24) == (code, Decimal(answer["cost"]))
