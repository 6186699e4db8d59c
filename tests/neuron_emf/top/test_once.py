"""What `top --once` and `top --json` print."""

from __future__ import annotations

import json
import re
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from proof.account.account import AccountDouble
from proof.logs.service import THROTTLED
from tests.neuron_emf.reading.lines import START_MS, line

MINUTE_MS = 60_000
DARK = {"core_state": "??", "utilization_percent": (None, None), "idle_minutes": (20, 20)}
PAGES = Path(__file__).parent / "pages"


@pytest.fixture
def top(typed):
    """`neuron-emf top` and what follows."""
    return partial(typed, "top")


@pytest.fixture
def file_of(tmp_path):
    """A file with some lines."""

    def write(*lines):
        path = tmp_path / "lines.jsonl"
        path.write_text("".join(f"{one}\n" for one in lines), "utf-8")
        return path

    return write


@pytest.mark.parametrize("order", ["idle", "cost", "name", "utilization"])
def test_the_hour_as_a_page(top, hour, golden, order):
    """Clusters, instances, strips of cores; read in review."""
    code, out, err = top(hour.records_file, "--once", "--sort", order)
    assert (0, "") == (code, err)
    golden(PAGES / f"{order}.txt", out)
    assert all(len(one) <= 100 for one in out.splitlines())


def test_what_is_strange_is_on_the_page(top, golden, file_of):
    """Silent, stopped, two emitters, no price, no telemetry, lines that cannot be read, copies."""
    late = {"minute_ms": START_MS + 7 * MINUTE_MS}
    path = file_of(
        line(instance_id="i-silent"),
        line(instance_id="i-stopped", bye=True),
        line(instance_id="i-two", **late),
        line(instance_id="i-two", **late),
        line(instance_id="i-two", boot="b2", **late),
        line(instance_id="i-dear", instance_type="trn2.48xlarge", **late),
        line(instance_id="i-dark", **{**DARK, "idle_minutes": (3, 3)}, **late),
        line(instance_id="i-bare", core_state="", utilization_percent=(), idle_minutes=(), **late),
        line(instance_id="host-0", identity_guessed=True, cluster="other" * 12, **late),
        "Traceback (most recent call last):",
    )
    code, out, _ = top(path, "--once")
    assert 0 == code
    golden(PAGES / "strange.txt", out)


def test_names_are_text_and_never_markup(top, file_of):
    """A cluster may be called what a terminal library takes for a color."""
    _, out, _ = top(file_of(line(cluster="[red]x[/red]", instance_id="[link=a]i")), "--once")
    assert "[red]x[/red]" in out
    assert "[link=a]i" in out


def test_a_pipe_gets_no_color_and_no_live_view(top, hour):
    """Also without --once."""
    code, out, _ = top(hour.records_file)
    assert 0 == code
    assert "\x1b" not in out
    assert "Fleet at 2026-11-20 09:00 UTC" in out


def test_only_a_few_instances_of_each_cluster(top, hour):
    """And how many more there are; 0 leaves clusters alone."""
    _, out, _ = top(hour.records_file, "--once", "--rows", "1")
    assert 2 == len(re.findall(r"^  i-", out, re.MULTILINE))
    assert "3 more instances of research" in out
    _, out, _ = top(hour.records_file, "--once", "--rows", "0")
    assert "  i-" not in out


def test_json_has_all_of_it(top, hour):
    """Every instance with every core, units in the names, and what was read."""
    code, out, _ = top(hour.records_file, "--json", "--cluster", "serving")
    found = json.loads(out)
    assert 0 == code
    assert "2026-11-20T09:00:00Z" == found["as_of"]
    assert (480, 0, {}) == tuple(
        found["lines"][name] for name in ("records", "repeated", "unreadable")
    )
    (cluster,) = found["clusters"]
    names = "cluster", "instances", "cores", "busy_cores", "idle_cores", "unpriced_cores"
    assert ["serving", 4, 32, 26, 6, 4] == [cluster[name] for name in names]
    worst = cluster["members"][0]
    assert 24 == worst["cores"] == len(worst["core_state"])
    assert 24 == len(worst["core_utilization_percent"]) == len(worst["core_idle_minutes"])
    assert ["18-23"] == [one["Cores"] for one in worst["holders"]]
    assert worst["idle_usd_per_hour"] == pytest.approx(12.98127 * 6 / 24)


def test_json_says_null_where_nobody_knows(top, file_of):
    """Not 0: a program would add it up."""
    path = file_of(
        line(core_state="", utilization_percent=(), idle_minutes=()),
        line(instance_id="i-1", minute_ms=START_MS + 5 * MINUTE_MS, instance_type=None),
    )
    _, out, _ = top(path, "--json", "--sort", "name")
    first, second = json.loads(out)["clusters"][0]["members"]
    assert ("silent", 5) == (first["status"], first["behind_minutes"])
    assert "busy_cores" not in first
    assert (2, None) == (second["busy_cores"], second["idle_usd_per_hour"])
    _, out, _ = top(file_of(line(**DARK)), "--json")
    (instance,) = json.loads(out)["clusters"][0]["members"]
    names = "cores", "unknown_cores", "busy_cores", "idle_cores", "core_utilization_percent"
    assert [2, 2, None, None, [None, None]] == [instance[name] for name in names]
    _, out, _ = top(file_of(), "--json")
    found = json.loads(out)
    assert (None, [], None) == (found["as_of"], found["clusters"], found["fleet"]["cores"])


def test_no_lines_are_said(top, file_of):
    """An empty table would look like a fleet at rest."""
    code, out, _ = top(file_of("nothing of ours"), "--once")
    assert 0 == code
    found = " ".join(out.split())
    assert found.endswith(
        "for the requested instances. 0 minute lines read, 1 unreadable (1 not_json)."
    )


@pytest.mark.parametrize("form", ["--once", "--json"])
def test_a_cluster_that_is_not_there_is_refused_with_those_that_are(top, file_of, form):
    """The most alike first; an empty page would look like a fleet that is gone."""
    path = file_of(
        *(line(cluster=name, instance_id=name) for name in ("aa", "research", "serving"))
    )
    code, out, err = top(path, form, "--cluster", "reserch")
    assert (3, "", 1) == (code, out, err.count("\n"))
    assert "cluster reserch in 1 file. Other clusters: research, serving, aa; check --cl" in err
    _, _, err = top(file_of(), form, "--cluster", "reserch")
    assert "There is no other cluster" in err


def test_who_stops_with_the_last_minute_of_a_file_shows_its_cores(top, file_of):
    """`replay FILE | neuron-emf top`: the end of the input is a clean shutdown."""
    before = line(instance_id="i-before", minute_ms=START_MS - MINUTE_MS, bye=True)
    path = file_of(before, line(), line(instance_id="i-last", bye=True))
    _, out, _ = top(path, "--json")
    members = json.loads(out)["clusters"][0]["members"]
    assert {"i-before": "stopped", "i-last": "reporting"}.items() <= {
        one["instance_id"]: one["status"] for one in members
    }.items()
    _, out, _ = top(path, "--once")
    assert ["i-last"] == [
        text.split()[0] for text in out.splitlines() if "shut down after it" in text
    ]


def test_prices_of_ones_own(top, file_of):
    """As the stack's parameter has them."""
    _, out, _ = top(file_of(line()), "--json", "--price-overrides", "trn1.32xlarge=8")
    assert 4.0 == json.loads(out)["fleet"]["idle_usd_per_hour"]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["/no/such/file"], 2, "Cannot open /no/such/file"),
        (["lines", "--rehearsal"], 2, "Files and --rehearsal"),
        (["lines", "--live-tail"], 2, "Files and --live-tail"),
        (["lines", "--since", "soon"], 2, "--since is not a period"),
        (["lines", "--price-overrides", "free"], 2, "TYPE=USD"),
    ],
)
def test_a_mistake_is_one_sentence(top, words, code, sentence):
    """With what to do, and the exit code of who must act."""
    found, out, err = top(*words, "--once")
    assert (code, "") == (found, out)
    assert sentence in err
    assert 1 == len(err.splitlines())


def test_without_textual_it_says_how_to_get_it(top, hour, monkeypatch):
    """An instance does without; --once and --json work."""
    known = [name for name in sys.modules if name.partition(".")[0] == "textual"]
    for name in [*known, "neuron_emf.top.screen"]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "textual", None)
    monkeypatch.setattr("neuron_emf.top.watch._is_terminal", lambda: True)
    code, _, err = top(hour.records_file)
    assert 2 == code
    assert "pip install textual" in err
    assert 0 == top(hour.records_file, "--once")[0]


@pytest.fixture
def account(monkeypatch):
    """An account whose log group has the last minutes of three instances."""
    with AccountDouble() as made:
        for name, value in made.variables.items():
            monkeypatch.setenv(name, value)
        now_ms = int(time.time() * 1000) // MINUTE_MS * MINUTE_MS
        for age in (9, 3, 2):
            at = {"minute_ms": now_ms - age * MINUTE_MS, "seq": 10 - age}
            texts = [line(instance_id=f"i-{n}", **at) for n in range(3 if age == 9 else 2)]
            made.put_lines(made.records_group, texts)
        made.put_lines(made.records_group, [line(cluster="other", instance_id="i-9", **at)])
        yield made


def test_an_account_is_read_page_by_page(top, account):
    """FilterLogEvents and nothing else; who told nothing for minutes is silent."""
    code, out, err = top("--json", "--cluster", "research")
    assert (0, "") == (code, err)
    (cluster,) = json.loads(out)["clusters"]
    assert ("research", 2, 1, 8) == tuple(
        cluster[name] for name in ("cluster", "instances", "silent_instances", "cores")
    )
    assert {"FilterLogEvents"} == set(account.operations)


def test_a_cluster_that_is_not_in_the_account_is_refused_with_those_that_are(top, account):
    """CloudWatch Logs gave lines of the one cluster alone, so it is asked once more, for free."""
    code, out, err = top("--once", "--cluster", "reserch")
    assert (3, "") == (code, out)
    assert "Other clusters: research, other; check" in err
    assert {"FilterLogEvents"} == set(account.operations)


def test_a_throttled_call_is_tried_again(top, account):
    """Two of five may be refused."""
    account.troubles("FilterLogEvents", THROTTLED, THROTTLED)
    code, out, _ = top("--json")
    assert 0 == code
    assert 2 == len(json.loads(out)["clusters"])
