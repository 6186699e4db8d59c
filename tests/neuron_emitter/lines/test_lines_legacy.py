"""Users of neuron-monitor-cloudwatch.py keep its names and get a list of differences."""

from __future__ import annotations

import pytest

from neuron_emitter.fold.minute_cores import ReportSample
from neuron_emitter.lines import LineWriter, differences
from neuron_emitter.settings import MinuteSettings
from neuron_wire.extraction import violations
from tests.neuron_emitter.lines.line_records import LINE_SENDER, full, lines_of, metadata

LEGACY_NAME = "NeuronCoreUtilizationNC"


def test_one_second_metrics_are_in_the_report_lines():
    """One-second metrics are in report lines with StorageResolution 1, not in the minute line."""
    lines = LineWriter(MinuteSettings(metrics="legacy", high_resolution_metrics=True))
    (minute,) = [record.line for record in lines.minute_records(full(4))]
    assert None is metadata(minute)
    assert f"{LEGACY_NAME}0" not in minute
    (report,) = [
        record.line
        for record in lines.report_records(
            ReportSample(1e9, 1.0, (50.0, None) * 120), LINE_SENDER, 1
        )
    ]
    assert [] == violations(report)
    metrics = [directive["Metrics"] for directive in metadata(report)["CloudWatchMetrics"]]
    assert [1] * 120 == [metric["StorageResolution"] for group in metrics for metric in group]


def test_a_runtime_tag_is_not_a_dimension():
    """A runtime tag is not a dimension: a core has one value, the maximum of its runtimes."""
    settings = MinuteSettings(metrics="legacy", common_dims=("instance_id", "neuron_runtime_tag"))
    (line,) = lines_of(full(4), settings)
    assert [["instance_id"]] == metadata(line)["CloudWatchMetrics"][0]["Dimensions"]
    assert any("neuron_runtime_tag" in sentence for sentence in differences(settings))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (MinuteSettings(), []),
        (MinuteSettings(metrics="none", namespace="mine"), []),
        (MinuteSettings(metrics="core"), []),
        (MinuteSettings(namespace="mine"), ["--metrics legacy"]),
        (MinuteSettings(common_dims=("ami_id",)), ["--metrics legacy", "adds one dimension set"]),
        (MinuteSettings(high_resolution_metrics=True), ["--metrics legacy", "ExecutionErrors"]),
        (MinuteSettings(metrics="legacy"), ["no other metric", "Without --common-dims"]),
        (MinuteSettings(metrics="legacy", common_dims=("instance_id",)), ["no other metric"]),
        (
            MinuteSettings(
                metrics="legacy", common_dims=("instance_id",), high_resolution_metrics=True
            ),
            ["no other metric", "a line per report"],
        ),
    ],
    ids=str,
)
def test_differences_are_listed_only_for_settings_of_the_script(settings, expected):
    """Users of the script's settings get a sentence per difference; other users get none."""
    sentences = [*differences(settings)]
    assert len(expected) == len(sentences)
    for part, sentence in zip(expected, sentences, strict=True):
        assert part in sentence
        assert "\n" not in sentence
        assert sentence.endswith(".")
