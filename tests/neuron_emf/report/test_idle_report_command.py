"""`neuron-emf report` as it is typed: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pytest

from neuron_emf.report import log_queries
from neuron_wire.prices import USD_PER_HOUR
from tests.neuron_emf.report.minutes import line_of, minute, rollups_of


@pytest.fixture
def typed(typed, tmp_path, monkeypatch):
    """`neuron-emf report` and what follows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(log_queries, "_POLLS_S", (0.0,))

    return partial(typed, "report")


@pytest.fixture
def lines(tmp_path):
    """A file of two minutes of an instance whose four cores are idle, and of their rollups."""
    records = [minute(0), minute(1)]
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join([*map(line_of, records), *rollups_of(records), ""]), "utf-8")
    return path


# --- what it says ---


def test_files_are_counted_whole(typed, lines):
    """All they hold, however old; 8 core minutes of trn1.2xlarge are two minutes of it."""
    code, out, err = typed(lines)
    assert (0, "") == (code, err)
    cost = "Idle cores cost 0.04 USD (list price, us-east-1, 2026-11-22), of which 0.04 avoidable:"
    assert f"{cost} 0.1 core hours" in " ".join(out.split())
    assert "The rollups agree in all 2 cluster-minutes." in out
    assert "\x1b" not in out


def test_json_is_one_document(typed, lines):
    """For a program: amounts unrounded, times in ISO 8601."""
    code, out, _ = typed(lines, "--json")
    found = json.loads(out)
    assert 0 == code
    usd = 2 * USD_PER_HOUR["us-east-1"]["trn1.2xlarge"] / 60
    assert usd == pytest.approx(found["total"]["idle_usd"], abs=1e-6)
    assert usd == pytest.approx(found["total"]["avoidable_held_usd"], abs=2e-6)
    assert ("2026-11-18T11:07:00Z", "2026-11-18T11:09:00Z") == (found["start"], found["end"])
    assert ["i-0a"] == found["could_be_saved"]["instances_without_busy_core"]


def test_an_account_is_asked_by_queries(typed, full):
    """A week unless told otherwise; what it costs is said before and after."""
    code, out, err = typed("--from-lines")
    assert (0, 1) == (code, err.count("\n"))
    assert "billed at 0.005 USD per GB" in err
    assert "Logs Insights scanned 0.001 GB: under 0.01 USD at list price." in " ".join(out.split())
    assert "Idle cores cost 28.24 USD" in out
    assert "StartQuery" in full.operations
    assert "FilterLogEvents" not in full.operations


def test_an_account_can_be_read_line_by_line(typed, full):
    """The same money; no query runs and nothing is billed, so nothing is said of it."""
    code, out, err = typed("--from-lines", "--read", "lines", "--since", "1d")
    assert (0, "") == (code, err)
    assert "Idle cores cost 28.24 USD" in out
    assert "StartQuery" not in full.operations


@pytest.mark.usefixtures("full")
def test_one_cluster_and_a_part_of_the_time(typed):
    """Half an hour of serving: 6 idle cores from minute 15 on."""
    start, end = "2026-11-20T08:30:00Z", "2026-11-20T09:00:00Z"
    code, out, _ = typed("--cluster", "serving", "--since", start, "--until", end, "--json")
    found = json.loads(out)
    assert (0, "serving", 180) == (code, found["cluster"], found["total"]["idle_core_minutes"])
    assert ["serving"] == [one["cluster"] for one in found["clusters"]]
    assert 30 == found["rollups"]["equal_minutes"]


def test_idle_after_and_prices_are_those_that_were_asked_for(typed, lines):
    """And it is said that the rollups have others."""
    _, out, _ = typed(lines, "--price-overrides", "trn1.2xlarge=60", "--json")
    found = json.loads(out)
    assert (2.0, ["trn1.2xlarge"]) == (found["total"]["idle_usd"], found["prices"]["overridden"])
    assert ["the same lines, counted by other rules"] == [
        one["cause"] for one in found["rollups"]["causes"]
    ]
    _, out, _ = typed(lines, "--idle-after", "61", "--json")
    assert 0 == json.loads(out)["total"]["idle_core_minutes"]


def test_standard_input_is_a_file(typed, lines, monkeypatch):
    """`zcat lines.gz | neuron-emf report -`."""
    with lines.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        code, out, _ = typed("-")
    assert 0 == code
    assert "from standard input" in out


# --- what it writes ---


def test_files_are_written_beside_what_is_printed(typed, lines, tmp_path):
    """The page and the rows, whole, readable by whoever may read new files."""
    code, out, _ = typed(lines, "--html", "idle.html", "--csv", "idle.csv")
    assert 0 == code
    assert "Idle cores cost" in out
    assert "<h1>Idle cores cost 0.04 USD" in (tmp_path / "idle.html").read_text("utf-8")
    with (tmp_path / "idle.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert "8" == rows[0]["idle_core_minutes"]
    (tmp_path / "other").touch()
    assert (tmp_path / "other").stat().st_mode == (tmp_path / "idle.html").stat().st_mode
    names = {"idle.html", "idle.csv", "lines.jsonl", "other"}
    assert names == {one.name for one in tmp_path.iterdir()}


def test_a_file_that_was_there_is_replaced(typed, lines, tmp_path):
    """By a whole one: a browser that reads meanwhile sees the old page."""
    (tmp_path / "idle.html").write_text("old" * 1_000_000)
    typed(lines, "--html", "idle.html")
    assert (tmp_path / "idle.html").read_text().endswith("</html>\n")


def test_a_device_is_written_to_and_stays(typed, lines):
    """`--csv /dev/null` must not make a file of it."""
    code, _, _ = typed(lines, "--csv", "/dev/null")
    assert 0 == code
    assert Path("/dev/null").is_char_device()


# --- how it ends ---


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--since", "yesterday"], 2, "--since is neither a period nor a time"),
        (["--since", "1h", "--until", "2h"], 2, "between --since and --until"),
        (["--price-overrides", "trn1=cheap"], 2, "write it as trn1.32xlarge=13.5"),
        (["--price-overrides", "trn1=nan"], 2, "is not [REGION/]TYPE=USD"),
        (["--cluster", "nobody"], 3, "of cluster nobody in "),
        (["--cluster", "nobody"], 3, ". Other clusters: research; check --cluster"),
        (["--since", "1h"], 3, "2 lines of other times or clusters"),
        (["--html", "no/such/folder.html"], 4, "Cannot write "),
        (["--csv", "."], 2, "is a directory"),
        (["nothing.jsonl"], 2, "Cannot open nothing.jsonl"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_what_cannot_be_done_is_said_in_a_sentence(typed, lines, words, code, said):
    """With what was expected and what to do; nothing is printed as if it had worked."""
    found, out, err = typed(lines, *words)
    assert (code, 1) == (found, err.count("\n"))
    assert said in err
    assert "Traceback" not in err + out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", ", only 0 lines"),
        ("plain text\n{}\n", "2 lines that could not be read"),
        ('{"Schema":1,"Kind":"runtime"}\n', "No minute lines"),
    ],
)
def test_files_without_a_minute_are_refused(typed, tmp_path, content, said):
    """No idle time and no lines are not the same."""
    (tmp_path / "empty").write_text(content)
    code, out, err = typed("empty")
    assert (3, "") == (code, out)
    assert said in err
