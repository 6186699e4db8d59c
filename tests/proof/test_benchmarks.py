"""
The benchmarks measure what they say, and judge only when asked to.
"""

from __future__ import annotations

import json

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks import reports
from benchmarks.figures import Figure, table
from benchmarks.turns import Turns

WITHIN = Figure("memory", 40.0, "MiB", 45)
OVER = Figure("size", 2_401, "bytes", 2_400, "a hair")
FREE = Figure("speed", 3_000, "records/s")


def runtimes(line):
    """
    The entries of one report.
    """
    return json.loads(line)["neuron_runtime_data"]


def test_the_usual_report_has_4_kb():
    """
    One runtime; none of the twelve is the first of its monitor.
    """
    found = reports.usual()
    assert 12 == len(found)
    assert all(3_500 < len(line) < 4_500 for line in found)
    assert {1} == {len(runtimes(line)) for line in found}


def test_the_long_report_has_444_kb():
    """
    32 runtimes, and each of them lists all 32 cores.
    """
    for line in reports.long():
        assert 440_000 < len(line) < 450_000
        entries = [one["report"]["neuroncore_counters"]["neuroncores_in_use"]
                   for one in runtimes(line)]  # fmt: skip
        assert [32] * 32 == [len(one) for one in entries]


@pytest.mark.parametrize("cores", [32, 64, 128])
def test_a_wide_report_has_that_many_cores(cores):
    """
    In its counters, in its memory table and in its hardware.
    """
    line = reports.wide(cores, share=0.01)[0]
    document = json.loads(line)
    (entry,) = runtimes(line)
    used = entry["report"]["neuroncore_counters"]["neuroncores_in_use"]
    assert [str(core) for core in range(cores)] == list(used)
    assert all(0 < one["neuroncore_utilization"] < 1 for one in used.values())
    hardware = document["neuron_hardware_info"]
    assert cores == hardware["neuron_device_count"] * hardware["neuroncore_per_device_count"]


def test_a_ratio_is_the_median_of_pairs():
    """
    One slow round of either side changes nothing.
    """
    turns = Turns(ours_s=(2.0, 90.0, 2.0), theirs_s=(1.0, 1.0, 50.0))
    assert (2.0, 2.0) == (turns.ratio, turns.least_ratio)


def test_a_figure_at_its_limit_is_within():
    """
    At most is inclusive; without a limit nothing is over.
    """
    at = Figure("size", 2_400, "bytes", 2_400)
    assert [False, True, False] == [one.is_over for one in (at, OVER, FREE)]


def test_the_table_says_limit_and_verdict_beside_each_figure():
    """
    And a dash where nothing is promised.
    """
    assert [
        ["what", "measured", "limit", "beside"],
        ["memory", "40.00", "MiB", "45.00", "ok"],
        ["size", "2,401", "bytes", "2,400", "over", "a", "hair"],
        ["speed", "3,000", "records/s", "-"],
    ] == [line.split() for line in table([WITHIN, OVER, FREE]).splitlines()]


@pytest.mark.parametrize(
    ("arguments", "figures", "expected"),
    [([], [OVER], 0), (["--check"], [OVER], 1), (["--check"], [WITHIN, FREE], 0)],
)
def test_only_a_check_fails(arguments, figures, expected, monkeypatch, tmp_path):
    """
    Machines are noisy: a figure over its limit is printed, and a failure when asked for.
    """
    monkeypatch.setattr(benchmarks, "measure", lambda _folder, **_rounds: figures)
    file = tmp_path / "figures.json"
    assert expected == benchmarks.main([*arguments, "--json", str(file)])
    written = json.loads(file.read_text(encoding="utf-8"))["figures"]
    assert [(one.what, one.is_over) for one in figures] == [
        (one["what"], one["over"]) for one in written
    ]
