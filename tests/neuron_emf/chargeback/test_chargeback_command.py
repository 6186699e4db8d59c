"""What the command says: the summary, and to whom it gives something else than it needs."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
from datetime import datetime, timezone

import pytest

from neuron_emf.account import Account
from neuron_emf.chargeback import run
from neuron_emf.chargeback.month import Month
from neuron_wire.ledger import key_of
from proof.factories.bills import (
    COLUMNS,
    fee_row,
    ledger_row,
    usage_row,
    write_bill,
    write_ledger,
)

MONTH = Month(2026, 9)
BEFORE = Month(2026, 8)
FIRST = MONTH.hours.start
ONE, TWO = "i-00000001", "i-00000002"
BLOCK = "cr-0000000000000001"
LAST_ROW = usage_row(MONTH, MONTH.hours.stop - 1, "vol-1", cost="2", SkuMeter="EBS:VolumeUsage")
NOW = datetime(2026, 10, 2, tzinfo=timezone.utc).timestamp()


@pytest.fixture(autouse=True)
def _clock(monkeypatch):
    monkeypatch.setattr(run.time, "time", lambda: NOW)


@pytest.fixture
def own_ledger(folder, ledger):
    """A ledger that may be changed."""
    (folder / "ledger").unlink()
    shutil.copytree(ledger, folder / "ledger")
    return folder


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """A whole month with rows in its first hour; nobody changes it."""
    rows = [
        ledger_row(FIRST, ONE, "ml/a", 90, team="ml"),
        ledger_row(FIRST, ONE, "[unallocated]", 30),
        ledger_row(FIRST, TWO, "ml/b", 120, team="ml", capacity_reservation_id=BLOCK),
    ]
    return write_ledger(tmp_path_factory.mktemp("month"), MONTH.hours, rows) / "ledger"


@pytest.fixture
def folder(tmp_path, ledger):
    """The ledger, and a whole bill beside that of the month before."""
    (tmp_path / "ledger").symlink_to(ledger)
    bill = [usage_row(MONTH, FIRST, ONE, cost="1.3437500001"), LAST_ROW]
    write_bill(tmp_path / "bill.csv.gz", bill)
    fee = fee_row(BEFORE, BEFORE.hours.start, BLOCK, "240")
    write_bill(tmp_path / "before.csv.gz", [fee])
    return tmp_path


def typed_in(typed, folder, *words, month=MONTH):
    """Exit code and what is printed and said."""
    words = [folder / one if str(one).endswith(".gz") else one for one in words]
    return typed("chargeback", "--month", month, "--ledger", folder, *words)


def test_the_summary_of_a_bill(typed, folder):
    """What came in and went out with all digits, by team and owner, and what is in no row."""
    code, printed, _ = typed_in(typed, folder, "--bill", "bill.csv.gz")
    assert 0 == code
    lines = [line.rstrip() for line in printed.splitlines()]
    assert [
        "Chargeback of 2026-09, by the bill, EffectiveCost, USD.",
        "In   1.3437500001",
        "Out  1.3437500001 in 3 rows",
    ] == lines[:3]
    assert "  ml          1.01          3.5          1.8          0.0" in lines
    assert "  [unallocated]   [no team]   0.34          0.5          0.2          0.0" in lines
    assert "Not of Neuron instances, so in no row: 1 row of the bill, 2 USD." in lines


def test_more_rows_than_are_shown_are_counted(typed, folder):
    """Never cut without a word."""
    _, printed, _ = typed_in(typed, folder, "--rows", 1)
    assert "2 owners more. Use --rows or --output." in printed


def test_files_behind_the_first_are_of_the_bill_too(typed, folder):
    """As a shell writes them for *.csv.gz; the month before is read for its upfront fees."""
    dates = {
        "CapacityReservationId": BLOCK, "InstanceType": "trn1.2xlarge", "TotalInstanceCount": 1,
        "StartDate": "2026-08-31T23:00:00Z", "EndDate": "2026-09-01T01:00:00Z",
    }  # fmt: skip
    file = folder / "reservations.json"
    file.write_text(json.dumps({"CapacityReservations": [dates]}), "utf-8")
    words = ["--bill", "before.csv.gz", "bill.csv.gz", "--reservations", file]
    code, printed, _ = typed_in(typed, folder, *words)
    assert 0 == code
    assert "Upfront fees of capacity blocks, the part of 2026-09: 120 USD." in printed
    assert "In   121.3437500001\nOut  121.3437500001 in 3 rows" in printed


def test_a_fee_that_nobody_can_date_is_named(typed, folder):
    """With the option that says when its reservation is."""
    fee = fee_row(MONTH, FIRST, BLOCK, "240")
    write_bill(folder / "bill.csv.gz", [fee, LAST_ROW])
    _, printed, _ = typed_in(typed, folder, "--bill", "bill.csv.gz")
    assert f"nobody says the dates of their reservations: {BLOCK}." in " ".join(printed.split())


class Fakes:
    """CloudFormation, S3 and EC2, each with the answer that AWS's models describe."""

    def __init__(self, folder):
        self.folder = folder
        self.asked = []

    def client(self, service, region=None):
        self.asked.append((service, region))
        return self

    def describe_stacks(self, StackName):  # noqa: N803 - AWS's name
        outputs = [{"OutputKey": "LedgerBucketName", "OutputValue": f"{StackName}-bucket"}]
        return {"Stacks": [{"Outputs": outputs}]}

    def list_objects_v2(self, Bucket, Prefix):  # noqa: N803 - AWS's names
        assert "neuron-emf-bucket" == Bucket
        found = (self.folder / Prefix).rglob("*.gz")
        return {"Contents": [{"Key": str(one.relative_to(self.folder))} for one in found]}

    def get_object(self, Bucket, Key):  # noqa: ARG002, N803 - AWS's names
        return {"Body": io.BytesIO((self.folder / Key).read_bytes())}

    def get_paginator(self, operation):
        assert "describe_capacity_reservations" == operation
        return self

    def paginate(self, Filters):  # noqa: N803 - AWS's name
        assert [{"Name": "capacity-reservation-id", "Values": [BLOCK]}] == Filters
        reservation = {
            "CapacityReservationId": BLOCK,
            "InstanceType": "trn1.2xlarge",
            "TotalInstanceCount": 1,
            "StartDate": datetime(2026, 9, 1, tzinfo=timezone.utc),
            "EndDate": datetime(2026, 9, 1, 2, tzinfo=timezone.utc),
        }
        endless = {**reservation, "CapacityReservationId": "cr-7", "EndDate": None}
        return [{"CapacityReservations": [endless, reservation]}]


def test_an_account_is_read_for_ledger_and_reservations(typed, folder, monkeypatch):
    """The bucket is an output of the stack; EC2 is asked in the region of the fee."""
    fakes = Fakes(folder)
    monkeypatch.setattr(Account, "client", fakes.client)
    files = folder / "before.csv.gz", folder / "bill.csv.gz"
    code, printed, _ = typed("chargeback", "--month", MONTH, "--bill", *files)
    assert 0 == code
    assert "the part of 2026-09: 240 USD." in printed
    assert {("cloudformation", None), ("s3", None), ("ec2", "us-east-2")} == set(fakes.asked)


def test_a_stack_without_a_ledger_is_told(typed, folder, monkeypatch):
    """With the parameter that makes one."""
    fakes = Fakes(folder)
    monkeypatch.setattr(Account, "client", fakes.client)
    fakes.describe_stacks = lambda **_: {"Stacks": [{"Outputs": []}]}
    expected = "neuron-emf: The stack neuron-emf has no ledger. Deploy it with Ledger=true.\n"
    assert (2, "", expected) == typed("chargeback", "--month", MONTH)


@pytest.mark.parametrize(
    ("month", "said"),
    [
        ("", "--month is missing. Write a month such as 2026-10."),
        ("2026-13", "--month is '2026-13'. Write a month such as 2026-10."),
        ("2026-09-01", "--month is '2026-09-01'. Write a month such as 2026-10."),
        ("2026-11", "--month 2026-11 has not begun. Name one that is over."),
        ("2026-10", "2026-10 is not over. Name a month that is, or use --incomplete."),
    ],
)
def test_another_month_than_a_whole_one_is_refused(typed, folder, month, said):
    """With what was typed, and what can be."""
    assert (2, "", f"neuron-emf: {said}\n") == typed_in(typed, folder, month=month)


def rewritten(columns, row):
    """A file of other *columns*, with one row."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([columns, [row.get(name, "") for name in columns]])
    return gzip.compress(text.getvalue().encode(), mtime=0)


def _bill(**changes):
    """A file of the export with one usage row."""
    return rewritten(COLUMNS, usage_row(MONTH, FIRST, ONE, **changes))


WITHOUT_METER = [name for name in COLUMNS if name not in ("SkuMeter", "CapacityReservationId")]
TWO_DAYS = {"ChargePeriodEnd": "2026-09-02T00:00:00.000Z"}
TABLE = "FOCUS_1_2_AWS"


@pytest.mark.parametrize(
    ("payload", "code", "said"),
    [
        (b"", 2, f"BILL is not {TABLE}: it is empty."),
        (b"PAR1\x15\x04", 2, f"BILL is not {TABLE}: it is Parquet."),
        (b"a,b\r\n1,2\r\n", 2, f"BILL is not {TABLE}: it has none of its columns."),
        (b"line_item_usage_start_date\r\n", 2, f"BILL is not {TABLE}: it is a Cost and Usage"),
        (rewritten(WITHOUT_METER, {}), 2, f"BILL is not {TABLE}: it is an older FOCUS"),
        (rewritten(COLUMNS[1:], {}), 2, f"BILL is not {TABLE}: it lacks the column Availability"),
        (rewritten([*COLUMNS, "AllocatedMethodId"], {}), 2, f"BILL is not {TABLE}: it is FOCUS 1"),
        (rewritten(COLUMNS, {})[:60], 3, "Cannot unpack BILL: damaged or cut gzip"),
        (
            gzip.compress(",".join(COLUMNS).encode(), mtime=0),
            2,
            "BILL has no rows. Name the files of the",
        ),
        (
            gzip.compress(f"{','.join(COLUMNS)}\r\n1,2".encode(), mtime=0),
            3,
            "BILL row 2 has 2 columns of",
        ),
        (_bill(**TWO_DAYS), 2, f"BILL is not hourly. Export {TABLE} with TIME_GRANULARITY HOURLY."),
        (_bill(cost="1,5"), 3, "BILL row 2 has '1,5' for a number. Download it again."),
        (_bill(cost="nan"), 3, "BILL row 2 has 'nan' for a number. Download it again."),
        (_bill(cost="1E+41"), 3, "BILL row 2 has '1E+41' for a number. Download it again."),
        (_bill(cost="1E-41"), 3, "BILL row 2 has '1E-41' for a number. Download it again."),
        (_bill(EffectiveCost=""), 3, "BILL row 2 has no EffectiveCost. Download it again."),
        (_bill(ChargePeriodStart="soon"), 3, "BILL row 2 has a charge period that is none."),
        (_bill(), 2, "The bill of 2026-09 ends at 2026-09-01T00:00Z. Name all its files with"),
        (_bill(BillingPeriodStart="2026-08-01T00:00:00Z"), 2, "BILL is of 2026-08, not of 2026-09"),
    ],
)
def test_another_file_than_the_bill_is_refused(typed, folder, payload, code, said):
    """By what it is, with what was found, and what to do."""
    path = folder / "other.csv.gz"
    path.write_bytes(payload)
    ended, printed, error = typed_in(typed, folder, "--bill", path)
    assert (code, "") == (ended, printed)
    assert error.startswith("neuron-emf: " + said.replace("BILL", str(path)))


def test_a_bill_in_two_currencies_is_refused(typed, folder):
    """They cannot be added up."""
    bill = [usage_row(MONTH, FIRST, ONE), usage_row(MONTH, FIRST, TWO, BillingCurrency="INR")]
    write_bill(folder / "bill.csv.gz", bill)
    code, _, said = typed_in(typed, folder, "--bill", "bill.csv.gz")
    assert 2 == code
    assert "has charges in INR beside USD. Run once for the files of each currency." in said


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["bill.csv.gz"], 2, "bill.csv.gz is no option. Write --bill before the files of a bill."),
        (["--bill", "bill.csv.gz", "bill.csv.gz"], 2, "bill.csv.gz is given twice. Name each file"),
        (["--bill", "before.csv.gz"], 2, "No file of the bill is of 2026-09. Name those of its"),
        (["--bill", "none.csv.gz"], 2, "none.csv.gz: No such file or directory. Check the name."),
        (["--output", "/nowhere/focus.csv"], 4, "Cannot write /nowhere/focus.csv: No such file"),
        (["--bill", "bill.csv.gz", "--reservations", "/dev/null"], 2, "/dev/null is not an answer"),
        (["--bill", "bill.csv.gz", "--reservations", "/no"], 2, "Cannot read /no: No such file"),
        (["--ledger", "/"], 2, "/ has no folder ledger. Copy the bucket with aws s3 sync, or"),
    ],
)
def test_wrong_use_is_told(typed, folder, words, code, said):
    """In two sentences at most: what went wrong, and what to do."""
    ended, printed, error = typed_in(typed, folder, *words)
    assert (code, "") == (ended, printed)
    assert said in error


def test_a_ledger_that_lacks_hours_is_refused_unless_that_is_meant(typed, own_ledger):
    """How many, the first of them, and the way on; with the option they are counted."""
    (own_ledger / key_of(FIRST + 5, 3)).unlink()
    code, _, said = typed_in(typed, own_ledger)
    assert 3 == code
    assert "The ledger lacks 1 hour of 720 of 2026-09, the first 2026-09-01T05:00Z." in said
    code, printed, _ = typed_in(typed, own_ledger, "--incomplete")
    assert 0 == code
    assert "The ledger lacks 1 hour of the month." in printed


def test_a_damaged_ledger_is_no_smaller_one(typed, own_ledger):
    """An object that cannot be read ends the command: its owners would pay nothing."""
    (own_ledger / key_of(FIRST, 2)).write_bytes(b"damaged")
    code, printed, said = typed_in(typed, own_ledger)
    assert (3, "") == (code, printed)
    assert "The ledger is damaged: an object of the ledger is damaged. Settle its hours" in said


def test_the_folder_of_the_ledger_can_be_named_itself(typed, folder):
    """As well as the one it is in."""
    expected = typed_in(typed, folder)
    assert expected == typed("chargeback", "--month", MONTH, "--ledger", folder / "ledger")


def test_help_is_as_wide_as_a_terminal(typed):
    """80 columns."""
    _, printed, _ = typed("chargeback", "--help")
    assert 80 >= max(map(len, printed.splitlines()))
