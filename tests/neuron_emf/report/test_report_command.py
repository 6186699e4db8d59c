"""The command `neuron-emf report`: its input, its output, its files and its exit codes."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from neuron_accounts.prices import LIST_USD_PER_HOUR
from neuron_emf.reading.ledger_bucket import LedgerFolder
from neuron_emf.report import collection
from neuron_emf.report.cost_table import ROW_LABELS
from neuron_emf.report.month_ledger import cluster_hours
from neuron_emf.report.settings import IdleReportSettings
from proof.factories.records import message, record
from tests.hour import HOUR_START_S
from tests.neuron_emf.fake_account import FakeLedgerObjects
from tests.neuron_emf.fake_aws import StackClient

REPORT_HOUR = HOUR_START_S // 3600
PERIOD_WORDS = ("--since", "2026-11-20T08:00:00Z", "--until", "2026-11-20T09:00:00Z")


@pytest.fixture
def typed(typed, full, clients, monkeypatch, tmp_path):  # noqa: ARG001 - the account with the hour in it
    """Return a function that runs `neuron-emf report` an hour after the hour."""
    monkeypatch.chdir(tmp_path)
    clients["cloudformation"] = StackClient(LedgerBucketName="the-ledger")
    return partial(typed, "report")


@pytest.fixture
def lines(tmp_path):
    """Write a file of two minutes of an instance with two idle cores."""
    idle: dict[str, Any] = {
        "core_state": "uu",
        "idle_minutes": (60, 61),
        "utilization_percent": (0.0, 0.0),
        "executions": 0,
        "execution_errors": 0,
    }
    path = tmp_path / "lines.jsonl"
    records = [record(**idle), record(seq=2, minute=29_400_001, **idle)]
    path.write_text("".join(f"{message(minute)}\n" for minute in records), "utf-8")
    return path


@pytest.fixture
def ledger(hour, tmp_path):
    """Copy the hour's ledger to a folder."""
    for key, payload in hour.ledger.items():
        file = tmp_path / "copy" / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(payload)
    return tmp_path / "copy"


def amounts(text):
    """Return the amounts of money and idle time in JSON."""
    document = json.loads(text)
    return document["headline"], document["total"], document["rows"]


# --- of the ledger ---


def test_the_ledger_of_the_stack_equals_the_lines(typed, clients, hour, full):
    """The stack's ledger gives the amounts of its lines to the last digit and reads no lines."""
    clients["s3"] = FakeLedgerObjects(hour.ledger)
    for by in ROW_LABELS:
        asked = [*full.operations]
        code, out, err = typed(*PERIOD_WORDS, "--json", "--by", by)
        assert 0 == code
        assert "" == err
        assert asked == full.operations
        by_lines = typed(*PERIOD_WORDS, "--json", "--by", by, "--from-lines")[1]
        assert amounts(by_lines) == amounts(out)
    assert 12 == len(amounts(typed(*PERIOD_WORDS, "--json")[1])[2])


def test_hours_that_are_not_settled_are_named_and_no_zero(typed, clients, hour):
    """Hours that are not settled are named and are in no sum."""
    clients["s3"] = FakeLedgerObjects(hour.ledger)
    code, out, _ = typed("--month", "2026-11")
    printed = " ".join(out.split())
    assert 0 == code
    assert (
        "2026-11-01 00:00 UTC to 2026-11-20 10:00 UTC (19 d 10 h), all clusters; 1 of 466 hours "
        "covered."
    ) in printed
    assert (
        "In no sum: 465 of 466 hours, not settled in ledger the-ledger: 2026-11-01 00:00 "
        "UTC to 2026-11-20 08:00 UTC, 2026-11-20 09:00 UTC to 2026-11-20 10:00 UTC; "
        "neuron-emf top shows now."
    ) in printed
    document = json.loads(typed("--month", "2026-11", "--json")[1])
    assert 2 == len(document["missing"])
    document = json.loads(typed("--month", "2026-11", "--by", "day", "--json")[1])
    assert ["2026-11-20"] == [row["day"] for row in document["rows"]]


def test_a_ledger_given_twice_counts_once(typed, clients, hour, ledger):
    """A ledger that is given as a bucket and as two copies counts once; copies are reported."""
    clients["s3"] = FakeLedgerObjects(hour.ledger)
    once = typed(*PERIOD_WORDS, "--json")[1]
    both = ("--ledger", f"the-ledger,{ledger}", "--ledger", f"{ledger}/.")
    code, out, _ = typed(*PERIOD_WORDS, *both, "--json")
    assert 0 == code
    assert amounts(once) == amounts(out)
    reading = json.loads(out)["reading"]
    assert reading["copied_ledger_rows"] * 2 == reading["ledger_rows"] + 14
    assert 14 == reading["copied_ledger_rows"]


# --- of lines ---


def test_files_are_counted_whole(typed, lines):
    """Files are counted whole, however old: 4 core-minutes are two minutes of trn1.2xlarge."""
    code, out, err = typed(lines)
    assert 0 == code
    assert "" == err
    assert "Idle cores cost 0.04 USD, of which at most 0.04 USD avoidable: 0.1 core hours" in out
    assert "\x1b" not in out
    document = json.loads(typed(lines, "--json")[1])
    usd = 2 * LIST_USD_PER_HOUR["us-east-1"]["trn1.2xlarge"] / 60
    assert usd == pytest.approx(document["total"]["idle_cost"], abs=1e-9)
    assert "2025-11-24T16:00:00Z" == document["start"]
    assert "2025-11-24T16:02:00Z" == document["end"]
    document = json.loads(typed(lines, "--json", "--until", "2025-11-24T18:00:00Z")[1])
    assert ["2025-11-24T17:00:00Z"] == [span["start"] for span in document["missing"]]


def test_own_rules_are_those_of_lines(typed, lines):
    """Options of prices, payment and idle time apply to lines; a ledger has the stack's."""
    document = json.loads(typed(lines, "--price-overrides", "trn1.2xlarge=60", "--json")[1])
    assert 2.0 == document["total"]["idle_cost"]
    assert ["override of trn1.2xlarge"] == document["bases"]
    document = json.loads(typed(lines, "--paid-by-type", "trn1.2xlarge=committed", "--json")[1])
    assert document["total"]["idle_cost"] == document["total"]["committed_cost"] > 0
    document = json.loads(typed(lines, "--idle-after", "61", "--json")[1])
    assert 2 == document["total"]["idle_core_minutes"]


def test_the_savings_of_a_bill_are_those_of_the_ledger(ledger):
    """Summaries have the same cluster hours as rows."""
    hours = range(REPORT_HOUR, REPORT_HOUR + 1)
    settings = IdleReportSettings(ledger=(str(ledger),), month="2026-11")
    expected = collection.collect(settings, ()).then.cluster_hours
    assert {"research", "serving"} == {cluster for cluster, _ in expected}
    assert expected == cluster_hours(LedgerFolder(ledger), hours)


# --- what it writes ---


def test_the_cost_of_a_team_is_one_on_every_face(typed, ledger, tmp_path, follows_schema):
    """A team's cost is equal on terminal, page, CSV and JSON, without rows of other teams."""
    asked = ("--month", "2026-11", "--ledger", ledger, "--team", "ml")
    code, out, _ = typed(*asked, "--html", "team.html", "--csv", "team.csv", "--by", "cluster")
    headline = "Team ml cost 22.26 USD in 2026-11, of which 17.06 idle: at most 17.06 avoidable."
    assert 0 == code
    assert out.startswith(headline)
    page = (tmp_path / "team.html").read_text("utf-8")
    assert f"<h1>{headline}" in page
    assert "nlp-user" not in page + out
    with (tmp_path / "team.csv").open(newline="", encoding="utf-8") as file:
        *rows, total = csv.DictReader(file)
    assert ["research", "serving"] == [row["cluster"] for row in rows]
    document = json.loads(typed(*asked, "--json")[1])
    follows_schema("report", document)
    assert "ml" == document["team"]
    assert float(total["cost"]) == document["total"]["cost"]
    assert {"ml"} == {row["team"] for row in document["rows"]}


def test_json_follows_its_schema(typed, ledger, lines, follows_schema):
    """JSON follows its schema by every key, for ledgers with gaps and unpriced types."""
    answers = [
        json.loads(typed("--month", "2026-11", "--ledger", ledger, "--json", "--by", by)[1])
        for by in ROW_LABELS
    ]
    with lines.open("a") as file:
        file.write(message(record(seq=3, minute=29_400_002, instance_type="x", cluster="c")) + "\n")
    answers.append(json.loads(typed(lines, "--json", "--by", "instance")[1]))
    assert answers[-1]["unpriced"]
    follows_schema("report", *answers)


# --- how it ends ---


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["lines.jsonl", "--since", "yesterday"], 2, "Use a time, such as"),
        (["lines.jsonl", "--since", "1h", "--until", "2h"], 2, "between --since and --until"),
        (["--month", "2026-12"], 2, "Use a month that has started"),
        (["--month", "2026-11", "--since", "7d"], 2, "Omit --since and --until, or --month"),
        (["--idle-after", "20"], 2, "need minute lines"),
        (["--bill", "b.csv", "--since", "1d"], 2, "--since cannot be used with --bill. Omit it."),
        (["--spread-anyway"], 2, "--spread-anyway needs --bill. Omit it, or add --bill."),
        ([*PERIOD_WORDS, "--team", "mll"], 2, "No owner of team mll in 1 h. Other teams: ml, mail"),
        (["--team", "ml", "--by", "day"], 2, "--team has no rows by day. Use --by owner or"),
        (["--ledger", "no/folder"], 2, "Invalid --ledger no/folder"),
        (["--ledger", "x", "--from-lines"], 2, "Omit one or the other"),
        (["--since", "3d", "--until", "2d"], 3, "is settled in ledger the-ledger"),
        ([*PERIOD_WORDS, "-c", "absent"], 3, "Other clusters: "),
        (["lines.jsonl", "--price-overrides", "trn1=cheap"], 2, "write it as trn1.32xlarge=13.5"),
        (["lines.jsonl", "--cluster", "absent"], 3, "Other clusters: training; check --cluster"),
        (["lines.jsonl", "--since", "1h"], 3, "2 lines of other times"),
        (["lines.jsonl", "--html", "no/such/folder.html"], 4, "Cannot write "),
        (["nothing.jsonl"], 2, "Cannot open nothing.jsonl"),
        (["empty"], 3, "2 lines that could not be read"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_an_impossible_report_is_refused(typed, lines, clients, hour, words, code, said):  # noqa: ARG001, PLR0917 - the file
    """A report that is not possible has an exit code, a sentence and no standard output."""
    clients["s3"] = FakeLedgerObjects(hour.ledger)
    Path("empty").write_text("plain text\n{}\n")
    exit_code, out, err = typed(*words)
    assert code == exit_code
    assert 1 == err.count("\n"), err
    assert said in err
    assert "Traceback" not in err + out
