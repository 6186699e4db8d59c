"""Report lines: one-second metrics for each report, on request."""

from __future__ import annotations

import dataclasses
import json

from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.fold.minute_cores import ReportSample
from neuron_emitter.lines import LineWriter
from neuron_emitter.logs import Event
from neuron_emitter.settings import MinuteSettings
from neuron_wire import MinuteRecord, OtherRecord, parse
from neuron_wire.core_members import core_indexes
from neuron_wire.extraction import violations
from tests.neuron_emitter.lines.line_records import (
    ANY_LINE_SETTINGS,
    DRAWN_NUMBERS,
    LINE_SENDER,
    LINE_TAGS,
    UTILIZATIONS,
    data,
    metadata,
)
from tests.neuron_wire.emf_documents import undocumented

SAMPLES = st.builds(
    ReportSample,
    at_s=st.floats(0, 4e9),
    period_s=st.none() | st.floats(0.5, 15),
    utilization_percent=UTILIZATIONS.map(tuple),
    executions=DRAWN_NUMBERS,
    execution_errors=DRAWN_NUMBERS,
    tera_flops=st.none() | st.floats(0, 1e6),
)
HIGH = MinuteSettings(high_resolution_metrics=True)


@given(SAMPLES, ANY_LINE_SETTINGS, st.integers(1, 1 << 40))
def test_every_line_of_a_report_is_extracted_or_defines_nothing(sample, settings, seq):
    """
    Each line of a report is extracted or defines no metric, for any report.

    The lines have consecutive numbers and the time of receipt.
    """
    lines = [
        record.line for record in LineWriter(settings).report_records(sample, LINE_SENDER, seq)
    ]
    assert lines
    for place, line in enumerate(lines):
        document = json.loads(line)
        assert seq + place == document["Seq"]
        assert "report" == document["Kind"]
        assert LINE_TAGS.items() <= document.items()
        assert OtherRecord("report") == parse(line)
        assert [] == undocumented(document, LINE_TAGS)
        if metadata(line) is not None:
            assert [] == violations(line)
        at_ms = (metadata(line) or document)["Timestamp"]
        assert int(sample.at_s * 1000) == at_ms


@given(SAMPLES)
def test_every_known_core_of_a_report_is_extracted_once(sample):
    """A line has at most 100 values, and further lines have the others. Unknown cores have none."""
    lines = [record.line for record in LineWriter(HIGH).report_records(sample, LINE_SENDER, 1)]
    known = [round(value, 2) for value in sample.utilization_percent if value is not None]
    named = [values for (_, name, _), values in data(lines).items() if "Utilization" in name]
    assert known == [value for values in named for value in values]
    assert max(1, -(-len(known) // 100)) == len(lines)


@given(SAMPLES, ANY_LINE_SETTINGS)
def test_a_report_line_names_the_cores_of_its_values(sample, settings):
    """A report line names the cores of its values, in order."""
    read = {}
    for line in [
        record.line for record in LineWriter(settings).report_records(sample, LINE_SENDER, 1)
    ]:
        document = json.loads(line)
        values = document.get("NeuronCoreUtilization", [])
        values = [*(values if isinstance(values, list) else [values])]
        values += document.get("NeuronCoreUtilizationMore", [])
        read |= dict(zip(core_indexes(document.get("Cores", "")), values, strict=True))
    expected = {
        core: round(value, 2)
        for core, value in enumerate(sample.utilization_percent)
        if value is not None
    }
    assert expected == read


TEXTS = st.none() | st.text(st.characters(exclude_categories=()))
ANY_COUNTS = st.none() | st.integers(0, 1 << 70)
ANY_FLOATS = st.one_of(st.none(), st.floats())
ANY_RUNTIMES = st.fixed_dictionaries(
    {
        "Pid": st.none() | st.integers(),
        "RuntimeTag": TEXTS,
        "Owner": TEXTS,
        "Executions": ANY_COUNTS,
        "LatencyP50Mean": ANY_FLOATS,
        "DeviceMemoryUsed": ANY_COUNTS,
    }
)
ANY_EVENTS = st.builds(
    Event,
    name=st.just("MonitorDied"),
    at_s=st.floats(0, 4e9),
    message=TEXTS.map(str),
    details=st.dictionaries(
        st.sampled_from(["ExitStatus", "StderrTail", "Kind", "Seq"]),
        TEXTS.map(str) | st.floats() | st.integers(),
    ),
)


def runtime_line(runtime, settings):
    """Return the line of *runtime* in the minute at 60,000 ms, with number 3."""
    minute = MinuteRecord(
        LINE_SENDER.cluster,
        LINE_SENDER.instance_id,
        LINE_SENDER.boot,
        2,
        60_000,
        60.0,
        12,
    )
    *_, record = LineWriter(
        dataclasses.replace(
            settings,
            metrics="none",
            tag_dimension=(),
            common_dims=(),
            high_resolution_metrics=False,
        )
    ).minute_records(minute, [runtime])
    return record.line


@given(ANY_RUNTIMES, ANY_EVENTS, ANY_LINE_SETTINGS)
def test_no_text_and_no_number_damages_a_line(runtime, event, settings):
    """A line of a runtime or event is one JSON object with identity and time, for any texts."""
    lines = LineWriter(settings)
    for kind, line, at_ms in (
        ("runtime", runtime_line(runtime, settings), 60_000),
        ("event", lines.event_records([event], LINE_SENDER, 3)[0].line, int(event.at_s * 1000)),
    ):
        line.encode()
        document = json.loads(line)
        assert "\n" not in line
        expected = {
            "Kind": kind,
            "Seq": 3,
            "Timestamp": at_ms,
            "ClusterName": LINE_SENDER.cluster,
            "InstanceId": LINE_SENDER.instance_id,
            **LINE_TAGS,
        }
        assert expected.items() <= document.items()
        assert "_aws" not in document
        assert OtherRecord(kind) == parse(line)
