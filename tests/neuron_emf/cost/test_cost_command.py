"""`neuron-emf cost` as people and programs call it, and docs/reference/cost.md, which it writes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import partial

import pytest

from neuron_emf.cost.quantities import MODES
from neuron_emf.cost.tariff import FILE, listed
from neuron_wire.instance_types import INSTANCE_TYPES
from neuron_wire.prices import USD_PER_HOUR

BLOCK = re.compile(r"```console\n\$ neuron-emf (cost [^\n]*)\n(.*?)```", re.DOTALL)


@pytest.fixture
def run(typed):
    """`neuron-emf cost` and what follows."""
    return partial(typed, "cost")


@pytest.fixture
def answer(run):
    def call(*words):
        code, out, err = run(*words, "--json")
        assert (0, "") == (code, err)
        return json.loads(out)

    return call


def test_the_page_shows_what_the_command_prints(run, repository, golden):
    """No output in docs/reference/cost.md was typed."""
    path = repository / "docs" / "reference" / "cost.md"
    text = path.read_text(encoding="utf-8")
    assert BLOCK.findall(text)

    def printed(block):
        code, out, _ = run(*block[1].split()[1:])
        assert 0 == code
        return f"```console\n$ neuron-emf {block[1]}\n{out}```"

    golden(path, BLOCK.sub(printed, text))


def test_json_adds_up(answer, follows_schema):
    """Entries to groups, groups to the whole, shares to what they are of."""
    found = answer("--instances", 500, "--clusters", 5, "--mode", "kinesis")
    unpriced = answer("--instances", 1, "--instance-type", "trn2.48xlarge", "--no-stack")
    follows_schema("cost", found, unpriced)
    total = found["usd"]
    assert sum(one["usd"] for one in found["entries"]) == pytest.approx(total)
    assert sum(found["groups_usd"].values()) == pytest.approx(total)
    each_hour = USD_PER_HOUR["us-east-1"]["trn1.32xlarge"]
    assert found["fleet_usd"] == pytest.approx(500 * 730 * each_hour)
    assert {entry["price"] for entry in found["entries"]} == set(found["prices"]["used"])


@pytest.mark.parametrize("name", sorted(INSTANCE_TYPES))
def test_every_instance_type_has_a_bill(name, answer):
    """With its own cores; a type without a price says so, and never costs 0."""
    found = answer("--instances", 100, "--instance-type", name)
    assert INSTANCE_TYPES[name].cores == found["fleet"]["cores"]
    assert found["usd"] > 0
    assert [] == found["unknown"]
    if name in USD_PER_HOUR["us-east-1"]:
        assert found["fleet_usd"] == pytest.approx(73_000 * USD_PER_HOUR["us-east-1"][name])
    else:
        assert found["fleet_usd"] is None
        assert any(f"--price-overrides {name}=USD" in one for one in found["remarks"])


def test_a_price_of_your_own_is_taken_and_said(run, answer, tmp_path):
    """For a unit of AWS's and for an instance."""
    prices = tmp_path / "prices.toml"
    prices.write_text("log-ingestion = 0.25\nobservation = 0.5\n", encoding="utf-8")
    words = ("--instances", 100, "--instance-type", "trn2.48xlarge", "--no-stack")
    mine = ("--prices", prices, "--price-overrides", "trn2.48xlarge=10")
    listed_bill, own = answer(*words), answer(*words, *mine)
    halved = [one["entries"][0] for one in (listed_bill, own)]
    assert halved[1]["usd"] == pytest.approx(halved[0]["usd"] / 2)
    assert 730_000 == own["fleet_usd"]
    assert own["fleet_price"]["is_yours"]
    assert ["log-ingestion", "observation"] == own["prices"]["replaced"]
    assert None not in [one["usd"] for one in own["other_ways"]]
    _, out, _ = run(*words, *mine)
    assert "Your prices: log-ingestion, observation." in out


def test_what_is_unknown_says_so(run, monkeypatch, tmp_path):
    """
    In the bill, in its sum and in what is compared with it: "at least", and the way to say it.
    """
    file = tmp_path / "prices.toml"
    text = FILE.read_text(encoding="utf-8").replace("usd = 0.0000133334\n", "")
    file.write_text(text, encoding="utf-8")
    monkeypatch.setattr("neuron_emf.cost.tariff.FILE", file)
    unknown = listed.__wrapped__()
    monkeypatch.setattr("neuron_emf.cost.tariff.listed", lambda: unknown)
    code, out, _ = run("--instances", 1_000)
    assert 0 == code
    assert re.search(r"^Lambda +unknown$", out, re.MULTILINE)
    assert re.search(r"^  ingest, time .* unknown$", out, re.MULTILINE)
    assert re.search(r"^all +at least \d", out, re.MULTILINE)
    assert re.search(r"^an instance +unknown$", out, re.MULTILINE)
    assert "Note: ingest, time: price unknown, not in any sum; set it with --prices." in out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "No number of instances is given"),
        (["--instances", "100001"], "100001 is not in the range"),
        (["--instances", "10", "--cores", "129"], "129 is not in the range"),
        (["--instances", "10", "--instance-type", "p5.48xlarge"], "'p5.48xlarge'. Add --cores"),
        (["--instances", "2", "--clusters", "3"], "more clusters (3) than instances (2)"),
        (["--instances", "3", "--stream-shards", "2"], "--mode kinesis, or omit it"),
        (["--instances", "3", "--price-overrides", "trn1.32xlarge"], "TYPE=USD"),
        (["--instances", "3", "--prices", "none.toml"], "does not exist"),
        (["--instances", "3", "--instance-type", "a\x1b[31m"], "Not an instance type: 'a\\x1b"),
    ],
    ids=[
        *("none", "too-many", "too-wide", "unknown-type", "clusters"),
        *("shards", "override", "prices", "escape"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(words, expected, run):
    """Exit code 2, nothing on standard output."""
    code, out, err = run(*words)
    assert (2, "") == (code, out)
    assert expected in err
    assert 1 == err.count("\n")


def test_settings_of_run_answer_for_themselves(answer, monkeypatch, tmp_path):
    """Variables and the configuration file of the emitters are this configuration."""
    config = tmp_path / "config.toml"
    config.write_text('metrics = "instance"\nlog-group = "/elsewhere"\n', encoding="utf-8")
    assert "instance" == answer("--instances", 10, "--config", config)["fleet"]["metrics"]
    monkeypatch.setenv("NEURON_EMF_METRICS", "core")
    assert "core" == answer("--instances", 10)["fleet"]["metrics"]


@pytest.mark.parametrize("instances", [10, 300, 450, 1_000])
@pytest.mark.parametrize("words", [[], ["--mode", "kinesis"]], ids=MODES)
def test_what_would_be_cheaper_is_said_and_is(instances, words, answer):
    """Asked with those settings, the bill is smaller by that; and never is a dearer one named."""
    asked = ["--instances", instances]
    found = answer(*asked, *words)
    for flags, saved in found["usd_saved_by"].items():
        other = answer(*asked, *words, *flags.split())
        assert saved == pytest.approx(found["usd"] - other["usd"])
        assert saved > 0
    defined = answer(*asked, *words, "--metrics", "cluster")["usd_saved_by"]
    assert ("--metrics none" in found["usd_saved_by"], "--metrics none" in defined) == (False, True)
    named = [flags for flags in found["usd_saved_by"] if "--mode" in flags]
    assert (instances < 400) == (not named if not words else bool(named))
    assert {} == answer(*asked, "--no-stack")["usd_saved_by"]


def test_too_few_shards_are_said(run):
    """100,000 instances need five."""
    words = ("--instances", 100_000, "--mode", "kinesis", "--stream-shards")
    assert "4 shards are too few for the busiest second, which needs 5" in run(*words, 4)[1]
    assert "too few" not in run(*words, 5)[1]


@pytest.mark.parametrize(("instances", "is_named"), [(1, True), (2, True), (3, False)])
def test_emitters_alone_are_named_below_three_instances(instances, is_named, run):
    """With what they cost; one is told, too, that PutMetricData costs less than the stack."""
    out = run("--instances", instances, "--instance-type", "inf1.xlarge")[1]
    alone = "Note: neuron-emf deploy --emitters-only, without rollups, costs "
    assert is_named == (alone in out)
    script = "PutMetricData costs less than this, and more from 2 instances on"
    assert (instances == 1) == (script in out)


def test_it_needs_no_account():
    """No boto3, no EMF library."""
    program = (
        "import sys; from neuron_emf.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('boto3', 'botocore', 'aws_embedded_metrics')"
        " if name in sys.modules], file=sys.stderr)"
    )
    words = ["cost", "--instances", "1"]
    ended = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
    )
    assert "[]" == ended.stderr.strip()
    assert ended.stdout
