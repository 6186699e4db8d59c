"""The benchmarks measure what they say, and judge only when asked to."""

from __future__ import annotations

import contextlib
import dataclasses
import json

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks import reports
from benchmarks.figure import Figure, table
from benchmarks.machine import machine
from benchmarks.page import PARTS

WITHIN = Figure("memory", 40.0, "MiB", 45)
OVER = Figure("size", 2_401, "bytes", 2_400, "a hair")
FREE = Figure("speed", 3_000, "records/s")


@pytest.mark.parametrize("cores", [32, 64, 128])
def test_a_wide_report_has_that_many_cores(cores):
    """In its counters, in its memory table and in its hardware."""
    line = reports.wide(cores, share=0.01)[0]
    document = json.loads(line)
    (entry,) = document["neuron_runtime_data"]
    used = entry["report"]["neuroncore_counters"]["neuroncores_in_use"]
    assert [str(core) for core in range(cores)] == list(used)
    assert all(0 < one["neuroncore_utilization"] < 1 for one in used.values())
    hardware = document["neuron_hardware_info"]
    assert cores == hardware["neuron_device_count"] * hardware["neuroncore_per_device_count"]


def test_a_figure_at_its_limit_is_within():
    """At most is inclusive; without a limit nothing is over, and what was not measured neither."""
    missing = Figure("speed", None, "s", 180, "no network")
    assert not missing.is_over
    assert ("", "speed", "not measured", "", "", "180", "", "no network") == missing.row()
    at = Figure("size", 2_400, "bytes", 2_400)
    assert [False, True, False] == [one.is_over for one in (at, OVER, FREE)]


def test_the_table_says_limit_and_verdict_beside_each_figure():
    """And a dash where nothing is promised."""
    assert [
        ["what", "measured", "reference", "times", "limit", "verdict", "beside"],
        ["memory", "40", "MiB", "45", "ok"],
        ["size", "2,401", "bytes", "2,400", "over", "a", "hair"],
        ["speed", "3,000", "records/s", "-"],
    ] == [line.split() for line in table([WITHIN, OVER, FREE]).splitlines()]


def test_a_reference_has_the_same_unit_and_says_how_many_times_it_takes():
    """Above 1 the other way takes more; of nothing there is no multiple."""
    beside = Figure("time", 2.0, "ms", None, "another", 5.0, "minute")
    assert ("minute", "time", "2 ms", "5 ms", "2.50 x", "-", "", "another") == beside.row()
    assert dataclasses.replace(beside, value=0.0).times is None


@pytest.mark.parametrize(
    ("arguments", "figures", "expected"),
    [([], [OVER], 0), (["--check"], [OVER], 1), (["--check"], [WITHIN, FREE], 0)],
)
def test_only_a_check_fails(arguments, figures, expected, monkeypatch, capsys):
    """Machines are noisy: a figure over its limit is printed, and a failure when asked for."""
    monkeypatch.setattr(benchmarks, "measure", lambda _folder, **_rounds: figures)
    assert expected == benchmarks.main(arguments)
    printed, said = capsys.readouterr()
    assert machine() in printed
    assert table(figures) in printed
    assert bool(expected) == ("over the limit" in said)


def test_every_part_of_the_page_is_measured(monkeypatch, tmp_path):
    """`measure` asks each module once, and names its rows as the page does."""
    one = Figure("one", 1.0, "")
    for name in ("usual", "long", "wide"):
        monkeypatch.setattr(reports, name, lambda *_: [])
    for module, names in {
        benchmarks.reading: ("usual", "long"),
        benchmarks.others: ("whole_minutes", "shipping", "losses"),
        benchmarks.minutes: ("line_sizes", "making", "closing", "replaying"),
        benchmarks.spooling: ("throughput",),
        benchmarks.stack: ("ingest", "closing"),
        benchmarks.fresh_clone: ("rehearsal",),
    }.items():
        for name in names:
            is_single = module is benchmarks.reading or name in ("making", "replaying")
            answer = one if is_single else [one]
            monkeypatch.setattr(module, name, lambda *_, answer=answer: answer)
    monkeypatch.setattr(
        benchmarks.residence, "running", lambda *_: contextlib.nullcontext(lambda: [one])
    )
    found = benchmarks.measure(tmp_path, rounds=2, fresh=True)
    assert list(PARTS) == list(dict.fromkeys(figure.part for figure in found))
    without = benchmarks.measure(tmp_path, rounds=2)
    assert [figure for figure in found if figure.part != "rehearsal"] == without
