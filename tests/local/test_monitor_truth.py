"""
The truth beside arithmetic by hand, and beside the emitter: rules that were written down twice.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.monitor.instance import SCENARIOS
from local.monitor.truth import (
    Interval,
    ReportTruth,
    expected_minutes,
    expected_rollups,
    read_truth,
)
from neuron_wire.line import parse
from tests.local.report_shape import ECC, ENDINGS

MINUTE = 1_768_000_020_000  # a full minute, ms since 1970
NO_RISES = dict.fromkeys(ECC, 0)


def ended(**executions):
    """Executions by their ending, none of the others."""
    return {**dict.fromkeys(ENDINGS, 0), **executions}


def report(at_s, percents, *, period_s=5.0, instance="i-1", held=(), executions=None, rises=None):
    """One line of a truth file, *at_s* seconds into the minute."""
    at_ms, held = MINUTE + round(1000 * at_s), held or [False] * len(percents)
    return ReportTruth(
        instance, len(percents), 5.0, at_ms, period_s, 1, percents, held,
        executions or ended(), rises or NO_RISES,
    )  # fmt: skip


def exactly(value):
    """An interval of one value."""
    return Interval(value, value)


def test_a_minute_by_hand():
    """
    Core 0: (5·80 + 6·40 + 5·60)/16 = 58.75. Core 1 is held, core 2 nobody has, both at 0.

    What the first report covers is milliseconds: its percentages do not count, its executions do.
    """
    held = [True, True, False]
    rises = {**NO_RISES, "mem_ecc_corrected": 2, "sram_ecc_uncorrected": 1}
    more = {**NO_RISES, "sram_ecc_corrected": 1, "mem_ecc_uncorrected": 5}
    rows = [
        report(4, [97, 3, 0], period_s=0.07, executions=ended(completed=2, timed_out=1)),
        report(10, [80, 0, 0], executions=ended(completed=100, completed_with_err=3), rises=rises),
        report(
            16, [40, 0, 0], period_s=6.0, rises=more,
            executions=ended(completed_with_num_err=4, incorrect_input=1),
        ),
        report(21, [60, 0, 0], held=held, executions=ended(failed_to_queue=9)),
    ]  # fmt: skip
    (found,) = expected_minutes(rows).values()
    utilization = found.pop("NeuronCoreUtilization")
    assert utilization.admits(58.75 / 3, 1e-9)
    assert {
        "Instances": 1, "NeuronCores": 3, "BusyCores": 1, "AttachedIdleCores": 1,
        "UnattachedCores": 1, "UnknownCores": 0, "Executions": 2 + 103 + 4,
        "ExecutionErrors": 1 + 3 + 5 + 9, "EccCorrectedRise": 3, "EccUncorrectedRise": 6,
        "Reports": 4,
    } == {name: one.lo for name, one in found.items()}  # fmt: skip
    assert all(one.lo == one.hi and not one.may_be_missing for one in found.values())


TIMES = st.lists(st.integers(-120_000, 120_000), min_size=1, max_size=12, unique=True)


@given(TIMES, st.integers(0, 900), st.integers(-899, 899))
def test_any_lateness_within_the_margin_is_admitted(times_ms, margin_ms, lateness_ms):
    """Whatever minute a report was received in, if it was less than the margin off."""
    lateness_ms = max(-margin_ms + 1, min(margin_ms - 1, lateness_ms)) if margin_ms else 0
    executions = ended(completed=1)
    rows = [report(at_ms / 1000, [at_ms % 90], executions=executions) for at_ms in times_ms]
    late = [msgspec.structs.replace(row, at_ms=row.at_ms + lateness_ms) for row in rows]
    expected = expected_minutes(rows, margin_ms=margin_ms)
    for key, received in expected_minutes(late).items():
        for name, interval in received.items():
            assert expected[key][name].admits(interval.lo, 1e-9), name


def test_a_cluster_adds_cores_and_averages_over_known_ones():
    """4 known cores at 80 and 2 at 20, and 2 of an instance that told nothing: 60."""
    rows = [
        report(10, [80] * 4, executions=ended(completed=7)),
        report(11, [20, 20], instance="i-2"),
        report(12, [50, 50], instance="i-3", period_s=0.01),
        report(12, [99], instance="i-4"),
    ]
    clusters = {"i-1": "a", "i-2": "a", "i-3": "a", "i-4": "b"}
    found = expected_rollups(expected_minutes(rows), clusters)
    assert {("a", MINUTE), ("b", MINUTE)} == set(found)
    cluster = found["a", MINUTE]
    assert cluster["NeuronCoreUtilization"].admits(60.0, 1e-9)
    names = ("Instances", "NeuronCores", "BusyCores", "UnknownCores", "Executions")
    assert [exactly(one) for one in (3, 8, 6, 2, 7)] == [cluster[name] for name in names]


def test_another_kind_of_line_is_refused(tmp_path):
    """A comparison with nothing would always succeed."""
    path = tmp_path / "truth"
    path.write_text('{"version": 2}\n')
    with pytest.raises(msgspec.ValidationError):
        read_truth([path])


START = "2026-01-09T23:06:55Z"
START_MS = 1_768_000_015_000
ROUNDING = 0.01  # a minute line has two decimals per core


def run(repository, arguments, output):
    """One module of this repository, its stdout into *output*."""
    path = os.pathsep.join((str(repository), str(repository / "lambda")))
    with Path(output).open("wb") as file:
        ended = subprocess.run(
            [sys.executable, "-m", *arguments],
            stdout=file,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            check=False,
        )
    assert (0, "") == (ended.returncode, ended.stderr.decode())


def minutes_of(repository, folder, instance_type, scenario):
    """The minutes as expected, and as the emitter's replay has them, by instance and start."""
    history, truth, lines = folder / "reports", folder / "truth", folder / "lines"
    play = {"instance_type": instance_type, "scenario": scenario, "reports": 60}
    play |= {"start_ms": START_MS, "truth": str(truth)}
    run(repository, ["local.monitor", json.dumps(play)], history)
    replay = ("--interval", "5", "--start", START, "--cluster", "c", "--metrics", "none")
    run(repository, ["emitter", "replay", str(history), *replay], lines)
    records = [parse(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    found = {(one.instance_id, one.minute_ms): one for one in records if hasattr(one, "core_state")}
    return expected_minutes(read_truth([truth])), found


@pytest.mark.parametrize(
    ("instance_type", "scenario"),
    [
        *(("inf2.24xlarge", scenario) for scenario in SCENARIOS),
        *((one, "half-idle") for one in ("inf1.xlarge", "trn1.32xlarge", "trn2.48xlarge")),
    ],
)
def test_replayed_minutes_are_what_the_truth_says(repository, tmp_path, instance_type, scenario):
    """Every core's state, utilization, executions and ECC rises, in every scenario and family."""
    expected, found = minutes_of(repository, tmp_path, instance_type, scenario)
    assert set(expected) == set(found)
    assert 6 == len(found)
    for key, one in expected.items():
        record = found[key]
        known = [value for value in record.utilization_percent if value is not None]
        mean = sum(known) / len(known) if known else None
        said = {
            "Instances": 1,
            "NeuronCores": len(record.core_state),
            "BusyCores": record.core_state.count("b"),
            "AttachedIdleCores": record.core_state.count("a"),
            "UnattachedCores": record.core_state.count("u"),
            "UnknownCores": record.core_state.count("?"),
            "NeuronCoreUtilization": mean,
            "Executions": record.executions,
            "ExecutionErrors": record.execution_errors,
            "EccCorrectedRise": record.ecc_corrected_rise,
            "EccUncorrectedRise": record.ecc_uncorrected_rise,
            "Reports": record.reports,
        }
        assert said.keys() == one.keys()
        for name, interval in one.items():
            tolerance = ROUNDING if name == "NeuronCoreUtilization" else 0.0
            assert interval.admits(said[name], tolerance), name
