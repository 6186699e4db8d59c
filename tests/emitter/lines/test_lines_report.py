"""Report lines: every report with one-second metrics, for who asks for them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from line_records import NUMBERS, SENDER, SETTINGS, TAGS, UTILIZATIONS, data, metadata

from emitter.fold.cores import ReportSample
from emitter.lines import LineSettings, LineWriter
from neuron_wire import OtherRecord, parse
from neuron_wire.catalogue import undocumented
from neuron_wire.cores import core_indexes
from neuron_wire.extraction import violations

SAMPLES = st.builds(
    ReportSample, at_s=st.floats(0, 4e9), period_s=st.none() | st.floats(0.5, 15),
    utilization_percent=UTILIZATIONS.map(tuple), executions=NUMBERS, execution_errors=NUMBERS,
    tera_flops=st.none() | st.floats(0, 1e6),
)  # fmt: skip
HIGH = LineSettings(high_resolution=True)


@given(SAMPLES, SETTINGS, st.integers(1, 1 << 40))
def test_every_line_of_a_report_is_extracted_or_defines_nothing(sample, settings, seq):
    """Whatever the report had: numbered in a row, at the moment of its receipt."""
    lines = [one.line for one in LineWriter(settings).report_records(sample, SENDER, seq)]
    assert lines
    for place, line in enumerate(lines):
        found = json.loads(line)
        assert (seq + place, "report") == (found["Seq"], found["Kind"])
        assert OtherRecord("report") == parse(line)
        assert [] == undocumented(found, TAGS)
        if metadata(line) is not None:
            assert [] == violations(line)
        at_ms = (metadata(line) or found)["Timestamp"]
        assert int(sample.at_s * 1000) == at_ms


@given(SAMPLES)
def test_every_known_core_of_a_report_is_extracted_once(sample):
    """At most 100 values a line, the rest in further lines; an unknown core has none."""
    lines = [one.line for one in LineWriter(HIGH).report_records(sample, SENDER, 1)]
    known = [round(value, 2) for value in sample.utilization_percent if value is not None]
    named = [values for (_, name, _), values in data(lines).items() if "Utilization" in name]
    assert known == [value for values in named for value in values]
    assert max(1, -(-len(known) // 100)) == len(lines)


@given(SAMPLES, SETTINGS)
def test_a_reader_can_tell_which_value_is_of_which_core(sample, settings):
    """Each line names the cores whose values follow, in order."""
    read = {}
    for line in [one.line for one in LineWriter(settings).report_records(sample, SENDER, 1)]:
        found = json.loads(line)
        values = found.get("NeuronCoreUtilization", [])
        values = [*(values if isinstance(values, list) else [values])]
        values += found.get("NeuronCoreUtilizationMore", [])
        read |= dict(zip(core_indexes(found.get("Cores", "")), values, strict=True))
    expected = {
        core: round(value, 2)
        for core, value in enumerate(sample.utilization_percent)
        if value is not None
    }
    assert expected == read


def test_the_metrics_of_a_report_are_of_one_second():
    """Utilization and errors; executions and FLOP/s are properties, so eight metrics stay eight."""
    sample = ReportSample(1_800_000_000.25, 15.030359284, (50.0, 25.0), 12, 1, 3.50000004)
    (line,) = [one.line for one in LineWriter(HIGH).report_records(sample, SENDER, 7)]
    found = json.loads(line)
    (directive,) = found["_aws"]["CloudWatchMetrics"]
    assert 1_800_000_000_250 == found["_aws"]["Timestamp"]
    assert [
        {"Name": "ExecutionErrors", "Unit": "Count", "StorageResolution": 1},
        {"Name": "NeuronCoreUtilization", "Unit": "Percent", "StorageResolution": 1},
    ] == sorted(directive["Metrics"], key=lambda metric: metric["Name"])
    expected = {
        "PeriodSeconds": 15.030359284, "Executions": 12, "ExecutionErrors": 1, "TeraFlops": 3.5,
        "Cores": "0-1", "NeuronCoreUtilization": [50, 25],
    }  # fmt: skip
    assert expected == {name: found[name] for name in expected}


@pytest.mark.parametrize("tier", ["instance", "core"])
def test_reports_follow_the_tier_of_the_minutes(tier):
    """By cluster, and by cluster and instance; single cores stay at one minute."""
    sample = ReportSample(1e9, 1.0, (50.0,), 1, 0)
    lines = [
        one.line
        for one in LineWriter(LineSettings(tier=tier, high_resolution=True)).report_records(
            sample, SENDER, 1
        )
    ]
    (directive,) = metadata(lines[0])["CloudWatchMetrics"]
    assert [["ClusterName"], ["ClusterName", "InstanceId"]] == directive["Dimensions"]
