"""The emitter and the truth come to the same minutes, by rules that were written down twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from local.monitor.instance import SCENARIOS
from local.monitor.truth import expected_minutes, read_truth
from neuron_wire.line import parse

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
