"""Writing a minute line: its document, its errors and the modules that it loads."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import replace

import pytest
from aws_embedded_metrics.logger.metrics_context import MetricsContext
from aws_embedded_metrics.serializers.log_serializer import LogSerializer
from aws_embedded_metrics.storage_resolution import StorageResolution
from hypothesis import given

from neuron_emitter.fold.minute_cores import ReportSample
from neuron_emitter.lines.emf import line_of
from neuron_emitter.lines.metric_lines import minute_drafts, report_drafts
from neuron_wire import WireFormatError
from tests.neuron_emitter.lines.line_records import (
    ANY_LINE_SETTINGS,
    LINE_SENDER,
    MINUTE_LINE,
    full,
    lines_of,
    printed,
)
from tests.neuron_wire.wire_records import records


@pytest.mark.parametrize("changes", [
    {"utilization_percent": (math.nan,) * 4}, {"utilization_percent": (math.inf,) * 4},
    {"cluster": "caf\u00e9"}, {"cluster": ""}, {"cluster": "c" * 1025}, {"cluster": "bl\tue"},
    {"minute_ms": -60_000}, {"covered_seconds": math.nan}, {"execution_errors": True},
], ids=str)  # fmt: skip
def test_a_minute_that_cloudwatch_would_not_extract_is_refused(changes):
    """A minute that CloudWatch would not extract raises WireFormatError."""
    with pytest.raises(WireFormatError) as caught:
        lines_of(dataclasses.replace(full(4), **changes), metrics="cluster")
    assert "not_extractable" == caught.value.reason


COMMON = {"instance_id": "i-0", "instance_type": "trn1.32xlarge", "ami_id": "ami-0"}


def by_library(draft, namespace):
    """Return a draft's document as LogSerializer writes it, with its parts joined."""
    context = MetricsContext(namespace=namespace)
    context.meta["Timestamp"] = draft.timestamp_ms
    units, sets = draft.directives[0]
    context.set_dimensions([{name: draft.members[name] for name in names} for names in sets])
    for name, value in draft.members.items():
        if name not in units:
            context.set_property(name, value)
            continue
        for number in value if isinstance(value, list) else [value]:
            resolution = StorageResolution(draft.resolution_s)
            context.put_metric(name, number, units[name], resolution)
    # The library starts a document with every 101st metric. A line may have several directives.
    first, *others = map(json.loads, LogSerializer.serialize(context))
    for other in others:
        first["_aws"]["CloudWatchMetrics"] += other.pop("_aws")["CloudWatchMetrics"]
        first |= other
    return first


@given(records(), ANY_LINE_SETTINGS)
def test_a_line_equals_the_librarys_document(record, settings):
    """A line equals the library's document, except for order and bytes, at every tier."""
    settings = replace(settings, tag_dimension=())
    wanted = {name: COMMON[name] for name in settings.common_dims if name in COMMON}
    sample = ReportSample(
        record.minute_ms / 1000, 5.0, record.utilization_percent, 7, record.execution_errors
    )
    for draft in (
        *minute_drafts(record, settings, wanted),
        *report_drafts(sample, LINE_SENDER, settings, wanted, 1),
    ):
        if any(units for units, _ in draft.directives):
            line = line_of(draft, settings.namespace)
            assert by_library(draft, settings.namespace) == json.loads(line)


@pytest.mark.parametrize(
    ("settings", "loaded"), [("", "True False True"), ("metrics='none'", "False False False")]
)
def test_a_line_loads_no_more_than_it_needs(settings, loaded):
    """Lines never load aiohttp (48 MiB), and load the library only for metrics."""
    program = MINUTE_LINE + (
        f"import sys; lines = LineWriter(MinuteSettings({settings}))\n"
        "line = lines.minute_records(record)[0].line\n"
        "print('CloudWatchMetrics' in line, 'aiohttp' in sys.modules,\n"
        "      any(name.startswith('aws_embedded_metrics') for name in sys.modules))"
    )
    assert loaded == printed(program)


def test_a_release_whose_parts_need_the_whole_is_loaded_whole(tmp_path):
    """A library release that needs its whole package is loaded whole, rather than failing."""
    errors = "DimensionSetExceededError = InvalidDimensionError = InvalidMetricError = ValueError\n"
    for name, text in {
        "__init__": "shared = 'whole'\n",
        "exceptions": f"from aws_embedded_metrics import shared\n{errors}",
        "config/__init__": "class Config: pass\ndef get_config(): return Config\n",
        "logger/__init__": "",
        "logger/metrics_context": "from aws_embedded_metrics import shared as MetricsContext\n",
        "serializers/__init__": "",
        "serializers/log_serializer": "class LogSerializer: serialize = None\n",
        "storage_resolution": "StorageResolution = None\n",
    }.items():
        path = tmp_path / "aws_embedded_metrics" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    program = "from neuron_emitter.lines.emf import load_library; print(load_library()[0])"
    assert "whole" == printed(program, tmp_path)
