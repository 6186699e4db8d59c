"""`neuron-emf report --bill`: the cost of each owner in a month, and the refused months."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from neuron_accounts.instance_types import INSTANCE_TYPES
from neuron_accounts.ledger import PARTS_OF_HOUR, LedgerRow, pack_rows, part_key
from neuron_accounts.then import Then
from neuron_emf.account import Account
from neuron_emf.report.bill_report import bill_report, spread_sentences
from neuron_emf.report.chargeback import chargeback, statement
from neuron_emf.report.chargeback_rows import (
    Chargeback,
    ChargebackRow,
    assign_unassigned,
    units_of,
)
from neuron_emf.report.cost_table import CENT, COST_MEMBERS, ROW_LABELS, CostRow
from neuron_emf.report.idle_report import Reading
from neuron_emf.report.month_ledger import MISSING_ROW as MISSING_HOUR
from neuron_emf.report.month_ledger import SETTLED_ROW, MonthOfLedger, hour_labels, month_hours
from neuron_emf.report.settings import IdleReportSettings
from neuron_emitter.errors import SettingsError
from neuron_wire.core_members import round_half_even
from proof.factories.records import AN_INSTANCE
from tests.neuron_emf.fake_account import FakeLedgerObjects
from tests.neuron_emf.report.bill_worlds import (
    BLOCK,
    bill_text,
    charge,
    expected_shares,
    fee,
    held,
    ledger_sums,
    ledger_text,
    problems,
    rounded,
)
from tests.neuron_emf.report.test_then_and_its_faces import check_faces, check_page

LAW_HOURS = ("2026-09-01 00", "2026-09-01 23", "2026-09-17 12")
LAW_MONTH = [f"2026-09-{day:02d} {hour:02d}" for day in range(1, 31) for hour in range(24)]
LAW_OWNERS = ("a/x", "b/y", "c/z", "[unallocated]", "[unknown]")


@st.composite
def costs(draw, low=0):
    """Return a cost as text with 10 to 30 decimals."""
    places = draw(st.integers(10, 30))
    return f"{Decimal(draw(st.integers(low * 10**places, 40 * 10**places))).scaleb(-places):f}"


def usage_of(draw, bill):
    """Draw an instance-hour's row of *bill*."""
    rows = [row for row in bill if row["ResourceId"] in {"i-00000000", "i-00000001", "i-00000002"}]
    return draw(st.sampled_from([row for row in rows if row["ChargeCategory"] == "Usage"]))


def copy_row(draw, bill, _):
    """Bill a row twice: exactly if it belongs to the block, otherwise with another last digit."""
    row = usage_of(draw, bill)
    row["ConsumedQuantity"] = "0.25"
    cost = Decimal(row["EffectiveCost"])
    digit = Decimal("1e-12") if cost else 0
    bill.append({**row, "EffectiveCost": f"{cost + digit:f}"})


def credit_twice(draw, bill, _):
    """Add two equal credits of two programs; neither is a copy."""
    credit = {**usage_of(draw, bill), "ChargeCategory": "Credit", "EffectiveCost": "-0.5"}
    bill += [credit, dict(credit)]


def pay_earlier(_, bill, __):
    """Pay for the block in a month whose bill is missing."""
    bill[:] = [row for row in bill if row["ChargeCategory"] != "Purchase"]


def bill_days(draw, bill, _):
    """Bill a row of 24 hours, as a daily export does."""
    usage_of(draw, bill)["ConsumedQuantity"] = "24"


def bill_hyperpod(draw, bill, _):
    """Add the row of a HyperPod cluster, which has no instance."""
    others = {"SkuMeter": "USE1-Cluster:ml.trn1.32xlarge", "x_ServiceCode": "AmazonSageMaker"}
    bill.append(charge(draw(st.sampled_from(LAW_HOURS)), "arn:x:cluster/abc", "0.9", **others))


def forge(draw, _, ledger):
    """Add rows of an instance in another cluster: in the same minutes, in others, or in many."""
    row = dict(draw(st.sampled_from(ledger[-9:])))
    mark, minutes = draw(st.sampled_from([(None, "61440"), (3, "60"), (None, "1")]))
    row |= {"ClusterName": "mine", "Owner": "f/forged", "Team": "f"}
    ledger.append({**row, "AllocatedCoreMinutes": Decimal(minutes), "OverlapMinutes": mark})


def lose_hour(draw, _, ledger):
    """Remove the rows of all instances in one hour."""
    lost = draw(st.sampled_from(LAW_HOURS)).replace(" ", "T")
    ledger[:] = [row for row in ledger if not row["Hour"].startswith(lost)]


def begin_late(draw, _, ledger):
    """Begin the ledger after any hour of the month."""
    first = draw(st.sampled_from(LAW_HOURS)).replace(" ", "T")
    ledger[:] = [row for row in ledger if row["Hour"] > first]


BILL_FAULTS = (
    None,
    copy_row,
    credit_twice,
    pay_earlier,
    bill_days,
    bill_hyperpod,
    forge,
    lose_hour,
    begin_late,
)


@st.composite
def worlds(draw, fault):
    """
    Draw a month's rows of a bill and of a ledger, with a *fault* or without.

    One instance runs in every hour; others have credits, spot, commitments or a block.
    """
    bill = [charge(hour, "i-ffffffff", "1.25") for hour in LAW_MONTH]
    ledger = [held(hour, "i-ffffffff", "a/x", "120", Team="a") for hour in LAW_MONTH]
    for number in range(draw(st.integers(1, 3))):
        instance = f"i-{number:08x}"
        in_block = number == 0
        for hour in LAW_HOURS:
            quantity = draw(st.sampled_from(["1.0", "0.5", "0.3333333333", "0.000278"]))
            usage_type = draw(st.sampled_from(["BoxUsage", "SpotUsage", "missing"]))
            of_type = draw(st.sampled_from(["trn1.2xlarge", "inf2.24xlarge"]))
            others = {"ConsumedQuantity": quantity, "SkuMeter": f"USE2-{usage_type}:{of_type}"}
            if in_block:
                others["CapacityReservationId"] = f"arn:aws:ec2:x:1:capacity-reservation/{BLOCK}"
                bill.append(charge(hour, instance, "0", **others))
                if draw(st.booleans()):
                    credit = {**others, "ChargeCategory": "Credit"}
                    bill.append(charge(hour, instance, draw(costs(-50)), **credit))
            elif usage_type != "missing":
                bill.append(charge(hour, instance, draw(costs()), **others))
                if draw(st.booleans()):
                    share = {"ConsumedQuantity": "0", "CommitmentDiscountId": "sp-1"}
                    bill.append(charge(hour, instance, draw(costs()), **{**others, **share}))
                if draw(st.booleans()):
                    credit = {**others, "ChargeCategory": "Credit"}
                    bill.append(charge(hour, instance, draw(costs(-50)), **credit))
            for owner in draw(st.sets(st.sampled_from(LAW_OWNERS))):
                minutes = draw(st.integers(0, 30 * 10**6))
                team = None if owner.startswith("[") else owner[0]
                idle = draw(st.integers(0, minutes))
                avoidable = draw(st.integers(0, idle))
                numbers = {
                    "IdleCoreMinutes": idle,
                    "AvoidableCoreMinutes": avoidable,
                    "CommittedCoreMinutes": draw(st.integers(0, idle - avoidable)),
                }
                others = {name: Decimal(number).scaleb(-6) for name, number in numbers.items()}
                others["Executions"] = draw(st.none() | st.integers(0, 9))
                minutes = Decimal(minutes).scaleb(-6)
                ledger.append(held(hour, instance, owner, minutes, Team=team, **others))
    unused = {"CapacityReservationId": BLOCK, "ConsumedQuantity": draw(st.sampled_from("12"))}
    bill.append(charge(LAW_HOURS[2], f"arn:x/{BLOCK}", "0", **unused))
    bill.append(fee("2026-08-30 10", draw(costs())))
    if fault is not None:
        fault(draw, bill, ledger)
    return bill, ledger


@pytest.mark.parametrize("fault", BILL_FAULTS)
@settings(max_examples=8)
@given(st.data(), st.sampled_from(["owner", "instance"]), st.sampled_from([False, False, True]))
def test_every_owner_pays_what_fractions_say(fault, data, by, incomplete):
    """
    Every owner pays the cost that fractions give, to the last of 18 decimals.

    No part of the bill is lost or added in any output, spread or not. A month with a problem is
    refused with exactly its problems.
    """
    bill, ledger = data.draw(worlds(fault))
    expected = problems(bill, ledger, LAW_MONTH)
    moved = expected.pop("moved between clusters", 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bill.csv").write_text(bill_text(bill), "utf-8")
        (folder / "ledger.jsonl").write_text(ledger_text(ledger) + ledger_text(ledger), "utf-8")
        asked = IdleReportSettings(
            month="2026-09",
            bill=(str(folder / "bill.csv"),),
            ledger=(str(folder / "ledger.jsonl"),),
            by=by,
            incomplete=incomplete,
        )
        answer = chargeback(asked)
    if (expected and not incomplete) or "export not hourly" in expected:
        assert expected == {row.problem: row.found for row in answer.rows}
        return
    assert moved == answer.moved
    rows_of = {}
    for row in answer.rows:
        names = (row.day, row.team, row.owner, row.cluster, row.instance_type)
        rows_of.setdefault(names, []).append(row)
        assert by == "instance" or row.instance_id is None
    shares = expected_shares(bill, ledger)
    assert [] == [
        names for names, share in shares.items() if not share.agrees(rows_of.pop(names, []))
    ]
    not_billed = [row for rows in rows_of.values() for row in rows]
    assert {(0, 0)} >= {(row.amount, row.cost.billed_executions) for row in not_billed}
    total = sum(
        rounded(row["EffectiveCost"]) for row in bill if row["x_ServiceCode"] == "AmazonEC2"
    )
    total += sum(rounded(row["BilledCost"]) for row in bill if row["ChargeCategory"] == "Purchase")
    for row in answer.rows:
        assert row.cost.time.known >= row.cost.time.idle
    spread, assigned = assign_unassigned(answer.rows, "spread")
    asked = replace(asked, spread_anyway=True)
    for whole in (answer, replace(answer, rows=spread, spread=assigned)):
        check_totals(whole, total)
        report = bill_report(asked, whole)
        check_faces(report)
        check_page(report)
    listed = sum(row.list_cost or 0 for row in answer.rows)
    executions = sum(row.cost.time.executions or 0 for row in answer.rows)
    assert ledger_sums(ledger) == (listed, executions)


def check_totals(answer, total):
    """Check that printed rows add up to the bill's *total* by every key and in every column."""
    for key in ROW_LABELS:
        *rows, last = answer.table(key).printed(3)
        assert total == sum(last.exact.billed)
        assert round_half_even(total, CENT) == sum(map(last.column_cents, ("cost", "spread")))
        for column in COST_MEMBERS:
            assert last.column_cents(column) == sum(row.column_cents(column) for row in rows)


def payer(owner, units):
    """Return a row of *owner* with *units* of 1e-18 USD, none of them idle."""
    cost = CostRow(billed=[units, 0, 0, 0, 0, 0])
    return ChargebackRow(owner=owner, amount=Decimal(f"{units}e-18"), cost=cost)


UNITS = st.integers(-50 * 10**18, 10**27)
PAYERS = st.builds(payer, st.sampled_from(LAW_OWNERS), UNITS)
OWNED_FOURTH = payer("a/x", 4 * 10**18)


@given(st.lists(PAYERS, min_size=1))
@example([OWNED_FOURTH, payer("[unknown]", 10**18)])
@example([OWNED_FOURTH, payer("[unknown]", 10**18 + 1)])
def test_a_spread_is_visible_whole_and_not_above_a_fifth(rows):
    """A spread keeps own costs, adds up to the unowned cost, and needs a yes above a fifth."""
    owned = [row for row in rows if not row.owner.startswith("[")]
    amount = sum(units_of(row.amount) for row in rows if row.owner.startswith("["))
    total = sum(units_of(row.amount) for row in rows)
    weights = [max(0, units_of(row.amount)) for row in owned]
    spread, by_label = assign_unassigned(rows, "spread")
    if not amount or not any(weights):
        assert (rows, {}) == (spread, by_label)
        return
    assert amount == sum(by_label.values())
    if 5 * abs(amount) > abs(total):
        with pytest.raises(SettingsError, match=r"[0-9] % of .* or use --spread-anyway\.$"):
            _spread_of(spread, by_label, is_accepted=False)
    else:
        assert _spread_of(spread, by_label, is_accepted=False)
    assert _spread_of(spread, by_label, is_accepted=True)
    assert owned == [payer(row.owner, row.cost.amount("cost")) for row in spread]
    parts = [row.cost.amount("spread") for row in spread]
    assert amount == sum(parts)
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part - Fraction(amount * weight, sum(weights))) < 1


def _spread_of(rows, by_label, *, is_accepted):
    """Return the sentence about a spread bill of *rows*."""
    result = Chargeback(
        month=BILLED_MONTH,
        hours=range(1),
        currency="USD",
        rows=rows,
        moved=0,
        spread=by_label,
        then=Then(),
        reading=Reading(origin="", is_ledger=True, hours=1, missing=()),
    )
    total = result.table("team").total
    return spread_sentences(result, total, is_accepted=is_accepted)


def test_the_statement_knows_the_cores_of_every_type():
    """The statement has the cores of every type, at the default core size and at core size 1."""
    text = statement().partition("type_cores")[2].partition("),\n\n")[0]
    for name, instance_type in INSTANCE_TYPES.items():
        cores = instance_type.cores
        most = cores * instance_type.core_size
        assert f"('{name}', {cores}, {most})" in text
    assert len(INSTANCE_TYPES) == text.count("', ")


BILLED_MONTH = "2026-02"
MONTH_OF_HOURS = [
    f"{BILLED_MONTH}-{day:02d} {hour:02d}" for day in range(1, 29) for hour in range(24)
]
IN_BLOCK = {"CapacityReservationId": BLOCK}


def whole_bill(**others):
    """Return the bill of one instance in every hour of the month."""
    return [charge(hour, AN_INSTANCE, "1.25", **others) for hour in MONTH_OF_HOURS]


def whole_ledger(**others):
    """Return a ledger in which one job holds all cores of the month."""
    return [held(hour, AN_INSTANCE, "slurm:7 ann", "120", **others) for hour in MONTH_OF_HOURS]


@pytest.fixture
def billed(typed, tmp_path):
    """Return a function that runs the report on rows of a bill and of a ledger."""

    def run(bill, ledger, *options):
        (tmp_path / "bill.csv").write_text(bill_text(bill), "utf-8")
        if not isinstance(ledger, Path):
            (tmp_path / "ledger.jsonl").write_text(ledger_text(ledger), "utf-8")
            ledger = tmp_path / "ledger.jsonl"
        words = ("--month", BILLED_MONTH, "--bill", tmp_path / "bill.csv", "--ledger", ledger)
        return typed("report", *words, *options)

    return run


@pytest.fixture
def asked(billed):
    """Return a function that splits rows of a bill by rows of a ledger and returns the answer."""

    def ask(bill, ledger, *options):
        code, out, err = billed(bill, ledger, *options, "--json")
        return code, json.loads(out, parse_float=Decimal) if out else None, err

    return ask


def test_a_team_pays_its_part_of_the_bill(asked, follows_schema):
    """A team pays its part of the bill; with a ledger in one file, the month before is unknown."""
    rest = [held(hour, AN_INSTANCE, "slurm:8 bob", "60") for hour in MONTH_OF_HOURS]
    team = [held(hour, AN_INSTANCE, "slurm:7 ann", "60", Team="ml") for hour in MONTH_OF_HOURS]
    code, answer, _ = asked(whole_bill(), [*team, *rest], "--team", "ml")
    follows_schema("report", answer)
    assert 0 == code
    assert "ml" == answer["team"]
    assert [Decimal("0.625") * len(MONTH_OF_HOURS)] == [row["cost"] for row in answer["rows"]]
    assert answer["headline"].startswith("Team ml cost 420.00 USD in 2026-02, of which ")
    billed, change, *_ = answer["sentences"]
    assert billed.startswith("Cost by the bill, with credits; at list price ")
    assert change.startswith("The change is unknown")


def owners(answer):
    """Return the cost of each owner in an answer that is not refused."""
    sums = {}
    for row in answer["rows"]:
        sums[row["owner"]] = sums.get(row["owner"], 0) + row["cost"] + row["spread_cost"]
    return sums


# --- a month of a bill ---


def test_the_recorded_month_of_a_bill(typed, repository, tmp_path):
    """The files of tests/data/bills give every digit of the expected file."""
    folder = repository / "tests" / "data" / "bills"
    bill = ("--bill", folder / "focus-2026-08.csv", folder / "focus-2026-09.csv")
    words = ("report", "--month", "2026-09", *bill, "--ledger", folder / "ledger.jsonl")
    code, out, _ = typed(*words, "--incomplete", "--csv", tmp_path / "out.csv")
    assert 0 == code
    assert "Billed 244.00 USD" in out
    assert (folder / "expected.csv").read_text("utf-8").split() == (
        (tmp_path / "out.csv").read_text("utf-8").split()
    )


def test_parquet_of_s3_and_ledgers_of_buckets(typed, tmp_path, monkeypatch):
    """
    Parquet in S3 and ledgers in buckets give the same split as files.

    Doubles next to decimals keep all digits. A ledger that is named twice counts once. An hour
    without one of its objects, and hours before the first, are not instances without an emitter.
    """
    duckdb = pytest.importorskip("duckdb")
    bill = whole_bill()[:12] + [
        charge(hour, AN_INSTANCE, "1.234567890123456789") for hour in MONTH_OF_HOURS[12:24]
    ]
    (tmp_path / "bill.csv").write_text(bill_text(bill), "utf-8")
    file = tmp_path / "x.snappy.parquet"
    objects = {}
    for number, kind in enumerate(("DOUBLE", "DECIMAL(38, 18)")):
        text = (
            f"COPY (SELECT * REPLACE (CAST(EffectiveCost AS {kind}) AS EffectiveCost, "
            f"CAST(ChargePeriodStart AS TIMESTAMP) AS ChargePeriodStart) "
            f"FROM read_csv('{tmp_path / 'bill.csv'}', all_varchar=true) "
            f"OFFSET {12 * number} LIMIT 12) TO '{file}'"
        )
        duckdb.execute(text)
        key = f"exports/data/BILLING_PERIOD={BILLED_MONTH}/{number}.snappy.parquet"
        objects[key] = file.read_bytes()
    for hour in month_hours(BILLED_MONTH)[4:24]:
        row = LedgerRow(hour, "research", AN_INSTANCE, "a/b", 120 * 10**6, 60 * 10**6, team="a")
        for part in range(PARTS_OF_HOUR):
            objects[part_key(hour, part)] = pack_rows([row] if part == 3 else [])
    del objects[part_key(month_hours(BILLED_MONTH)[9], 3)]
    double = FakeLedgerObjects(objects)
    monkeypatch.setattr(Account, "client", lambda *_: double)
    words = ("--bill", "s3://bills/exports", "--ledger", "one", "--ledger", "s3://one", "--json")
    code, out, err = typed("report", "--month", BILLED_MONTH, *words, "--incomplete")
    assert 0 == code
    assert "" == err
    assert {
        "[before the ledger]": 5,
        "[ledger missing]": Decimal("1.25"),
        "a/b": Decimal("8.75") + 12 * Decimal("1.234567890123456789"),
    } == owners(json.loads(out, parse_float=Decimal))
    assert {"a", None} == {row["team"] for row in json.loads(out)["rows"]}
    reasons = json.loads(typed("report", "--month", BILLED_MONTH, *words)[1])["problems"]
    assert ("ledger hours missing", 1) in [(row["problem"], row["found"]) for row in reasons]


# --- what is refused ---

HYPERPOD = {"SkuMeter": "USE2-Cluster:ml.trn1.32xlarge", "x_ServiceCode": "AmazonSageMaker"}
HOURS_WITH_A_GAP = [hour for hour in MONTH_OF_HOURS if not "05" <= hour[8:10] <= "20"]
REFUSED_BILLS = {
    "half of the rows is missing": (
        whole_bill()[::2] + [charge(hour, "i-00000001", "1") for hour in MONTH_OF_HOURS]
    ),
    "two versions of the export": whole_bill() + whole_bill(ChargeDescription="estimated"),
    "a fee of the month before without a reservation's usage": [
        *whole_bill(),
        fee("2026-01-20 10", "240"),
    ],
    "a block that may continue in the next month": [
        fee("2026-02-01 00", "240"),
        *(charge(hour, AN_INSTANCE, "0", **IN_BLOCK) for hour in MONTH_OF_HOURS),
    ],
    "a block that was paid in another month": whole_bill()[:-24]
    + [charge(hour, AN_INSTANCE, "0", **IN_BLOCK) for hour in MONTH_OF_HOURS[-24:]],
    "a daily export": [
        charge(hour, AN_INSTANCE, "30", ConsumedQuantity="24") for hour in MONTH_OF_HOURS[::24]
    ],
    "a bill of HyperPod": [
        charge(hour, "arn:aws:sagemaker:us-east-2:111122223333:cluster/abc", "0.9", **HYPERPOD)
        for hour in MONTH_OF_HOURS
    ],
    "days are missing, in another currency": [
        charge(hour, AN_INSTANCE, "1.25", BillingCurrency="EUR") for hour in HOURS_WITH_A_GAP
    ],
    "half of the ledger is missing": (whole_bill(), whole_ledger()[:336]),
    "a daemon and a sidecar under two names": (
        whole_bill(),
        whole_ledger() + whole_ledger(ClusterName="b", OverlapMinutes=60),
    ),
    "lines of 1,024 cores in the name of an instance": (
        whole_bill(),
        [*whole_ledger(), held(MONTH_OF_HOURS[5], AN_INSTANCE, "x/y", "61440", ClusterName="b")],
    ),
}


def test_a_month_that_does_not_reconcile_is_refused(asked, golden, repository):
    """
    A month that does not reconcile is refused with a sentence for each problem.

    With --incomplete the whole bill counts, but never days as hours, and never HyperPod.
    """
    lines = []
    for name, refused in REFUSED_BILLS.items():
        bill, ledger = refused if isinstance(refused, tuple) else (refused, whole_ledger())
        code, answer, _ = asked(bill, ledger)
        assert 5 == code
        assert answer["total"] is None
        assert [] == answer["rows"]
        lines.append(f"{name}\n")
        lines += [
            f"  {row['problem']}: {row['found']}, {row['amount']} {row['currency']}\n"
            for row in answer["problems"]
        ]
        lines += [f"  {sentence}\n" for sentence in answer["sentences"]]
        code, answer, _ = asked(bill, ledger, "--incomplete")
        if name == "a daily export":
            assert 5 == code
            assert answer["total"] is None
            continue
        charged = [row for row in bill if row["x_ServiceCode"] == "AmazonEC2"]
        paid = sum(Decimal(row["EffectiveCost"]) for row in charged)
        assert 0 == code
        assert paid == answer["total"]["cost"]
    golden(repository / "tests/data/shown/refused-months.txt", "".join(lines))


HOUR_NUMBERS = range(1000, 1004)


@pytest.mark.parametrize(
    ("ledgers", "labels"),
    [
        ([(1000, 1003, [1000, 1002, 1003])], "smss"),
        ([(1001, 1003, [1001, 1003])], " sms"),
        ([(900, 1003, [1002, 1003])], "mmss"),
        ([(1000, 1000, [1000]), (1001, 1003, [1001, 1003])], "ssms"),
        ([(1000, 1003, [1000, 1003]), (900, 1003, HOUR_NUMBERS)], "smms"),
    ],
)
def test_an_hour_of_the_ledger_needs_all_its_parts(ledgers, labels):
    """An hour counts if it is settled, from the ledger's first hour on; ledgers may follow."""
    expected = {
        hour: {"s": SETTLED_ROW, "m": MISSING_HOUR}[letter]
        for hour, letter in zip(HOUR_NUMBERS, labels, strict=True)
        if letter != " "
    }
    if min(first for first, *_ in ledgers) < 1000:
        expected[999] = SETTLED_ROW
    months = [MonthOfLedger(*ledger) for ledger in ledgers]
    assert expected == hour_labels(months, HOUR_NUMBERS)


def test_a_ledger_row_of_another_hour_is_refused_alone(billed, tmp_path, follows_schema):
    """A ledger row of another hour is refused and counted; other rows of its object count."""
    bill = whole_bill()[:24]
    for hour in month_hours(BILLED_MONTH)[:24]:
        row = LedgerRow(hour, "research", AN_INSTANCE, "a/b", 120 * 10**6, 60 * 10**6)
        rows = [row, row._replace(hour=hour + 999, owner="b/c")] if hour % 12 == 0 else [row]
        (tmp_path / part_key(hour, 0)).parent.mkdir(parents=True)
        for part in range(PARTS_OF_HOUR):
            (tmp_path / part_key(hour, part)).write_bytes(pack_rows([] if part else rows))
    file = tmp_path / "rows.csv"
    code, out, err = billed(bill, tmp_path, "--csv", file)
    assert 5 == code
    assert not file.exists()
    assert f"{file} was not written, because the month is refused." in err
    reason = "ledger rows refused: 2 rows of the ledger cannot be read or belong to another hour"
    assert reason in out
    refused = json.loads(billed(bill, tmp_path, "--json")[1])
    code, out, _ = billed(bill, tmp_path, "--incomplete", "--json")
    assert 0 == code
    assert {"a/b": Decimal(30)} == owners(json.loads(out))
    follows_schema("report", refused, json.loads(out))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--month", "2026-13"],
            "Invalid --month '2026-13'. Use a month that has started, such as 2026-11.",
        ),
        (["--bill"], "--bill names no file. Name the export's files, or use --rehearsal."),
        (["--bill", "{0}/bill.csv"], "--bill names a file twice."),
        (["--bill", "{0}/none"], "--bill {0}/none has no .csv, .csv.gz or .parquet file."),
        (["--bill", "{0}/other.csv"], "{0}/other.csv lacks BillingCurrency, BillingPeriodStart"),
        (["--bill", "{0}/eur.csv"], "The bill is in EUR and USD. Run once for the files"),
        (["--ledger", "{0}"], "has no hour of 2026-02. Name a bucket, or a copy of one."),
    ],
)
def test_options_that_name_something_else(billed, tmp_path, options, sentence):
    """An option with a wrong value is exit code 2, with the value found and the next step."""
    (tmp_path / "eur.csv").write_text(
        bill_text([charge(MONTH_OF_HOURS[0], AN_INSTANCE, "1", BillingCurrency="EUR")])
    )
    (tmp_path / "other.csv").write_text("A,B\n1,2\n", "utf-8")
    words = [option.format(tmp_path) for option in options]
    code, _, err = billed(whole_bill(), whole_ledger(), *words)
    assert 2 == code
    assert sentence.format(tmp_path) in err


# --- rules of the split that a reader would doubt ---


def test_the_bill_of_a_large_fleet_is_spread_to_the_last_digit(asked):
    """
    More than a billion USD is spread to the last digit, although almost half has no owner.

    The head says how much was spread, over how many owners, and what had no owner.
    """
    bill = [
        charge(hour, name, f"{cost}.1")
        for hour in MONTH_OF_HOURS
        for name, cost in ((AN_INSTANCE, 700_000), ("i-00000001", 700_000), ("i-00000002", 500_000))
    ]
    ledger = whole_ledger() + [
        held(hour, "i-00000001", "slurm:8 bob", "60") for hour in MONTH_OF_HOURS
    ]
    code, answer, _ = asked(bill, ledger, "--unassigned", "spread", "--spread-anyway")
    assert 0 == code
    assert 672 * Decimal("1900000.3") == sum(owners(answer).values())
    assert {"slurm:7 ann", "slurm:8 bob"} == owners(answer).keys()
    assert answer["headline"].endswith(" 0.00 unknown, 571,200,100.80 spread.")
    sentence = (
        "Spread over 2 owners by their cost: 571,200,100.80 USD, 44.7 % of the bill "
        "([no telemetry] 336,000,067.20, [unknown] 235,200,033.60). Their core hours and list "
        "prices are in no row."
    )
    assert sentence in answer["sentences"]


@pytest.mark.parametrize("cost", ["1e21", "", "many"])
def test_an_invalid_cost_is_named(asked, cost):
    """A cost that is not a number is named with its column, without the database's words."""
    bill = [*whole_bill()[1:], charge(MONTH_OF_HOURS[0], AN_INSTANCE, cost)]
    code, _, err = asked(bill, whole_ledger())
    assert 3 == code
    assert f"{cost or 'no EffectiveCost'} has more than 20 digits before its point, or is" in err


def test_a_block_over_the_end_of_a_month_needs_both_bills(asked):
    """A block over the end of a month needs both bills; each month has its part of the fee."""
    hours = [*MONTH_OF_HOURS[-24:], *(f"2026-03-01 {hour:02d}" for hour in range(12))]
    block = [charge(hour, AN_INSTANCE, "0", **IN_BLOCK) for hour in hours]
    bill = [fee("2026-02-20 10", "36"), *whole_bill()[:-24], *block]
    code, answer, _ = asked(bill, whole_ledger())
    assert 0 == code
    assert Decimal("1.25") * 648 + 24 == answer["total"]["cost"]
