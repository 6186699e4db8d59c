"""The simulator's truth, compared with the emitter's lines: two programs without a common rule."""

from __future__ import annotations

import pytest

from local.monitor.play import Play, run
from local.monitor.simulated_instance import SCENARIOS
from local.monitor.simulator_truth import expected_minutes, is_right, read_truth
from neuron_emitter.replay import replay
from neuron_emitter.settings import ReplaySettings
from neuron_wire.line import parse

TRUTH_START_MS = 1_768_000_015_000
ROUNDING = 0.01  # a minute line has two decimals per core


def minutes_of(folder, instance_type, scenario):
    """
    Return the expected minutes and the minutes of the emitter's replay, by instance and start.
    """
    history = folder / "reports"
    truth = folder / "truth"
    play = Play(
        instance_type=instance_type,
        scenario=scenario,
        reports=60,
        start_ms=TRUTH_START_MS,
        truth=str(truth),
    )
    with history.open("wb") as file:
        run(play, file.fileno())
    settings = ReplaySettings(
        cluster="c", interval=5.0, start="2026-01-09T23:06:55Z", metrics="none"
    )
    records = map(parse, replay([history], settings))
    replayed = {
        (record.instance_id, record.minute_ms): record
        for record in records
        if hasattr(record, "core_state")
    }
    return expected_minutes(read_truth([truth])), replayed


@pytest.mark.parametrize(
    ("instance_type", "scenario"),
    [
        *(("inf2.24xlarge", scenario) for scenario in SCENARIOS),
        *((name, "half-idle") for name in ("inf1.xlarge", "trn1.32xlarge", "trn2.48xlarge")),
    ],
)
def test_replayed_minutes_equal_the_truth(tmp_path, instance_type, scenario):
    """State, utilization and executions of every core agree, in every scenario and family."""
    expected, replayed = minutes_of(tmp_path, instance_type, scenario)
    assert set(expected) == set(replayed)
    assert 6 == len(replayed)
    for key, minute in expected.items():
        record = replayed[key]
        known = [value for value in record.utilization_percent if value is not None]
        values = {
            "Instances": 1,
            "NeuronCores": len(record.core_state),
            "BusyCores": record.core_state.count("b"),
            "AttachedIdleCores": record.core_state.count("a"),
            "UnattachedCores": record.core_state.count("u"),
            "UnknownCores": record.core_state.count("?"),
            "NeuronCoreUtilization": sum(known) / len(known) if known else None,
            "Executions": record.executions,
            "ExecutionErrors": record.execution_errors,
            "EccCorrectedRise": record.ecc_corrected_rise,
            "EccUncorrectedRise": record.ecc_uncorrected_rise,
            "Reports": record.reports,
        }
        assert values.keys() == minute.keys()
        for name, number in minute.items():
            assert is_right(name, number, values[name], ROUNDING), name
