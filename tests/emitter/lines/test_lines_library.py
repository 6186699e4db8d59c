"""What aws-embedded-metrics makes of a draft, and how it is loaded without what would send it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from aws_embedded_metrics.logger.metrics_context import MetricsContext
from aws_embedded_metrics.serializers.log_serializer import LogSerializer
from aws_embedded_metrics.storage_resolution import StorageResolution
from hypothesis import given
from line_records import SENDER, SETTINGS, records

from emitter.fold.sample import ReportSample
from emitter.lines.emf import line_of
from emitter.lines.minute import minute_drafts
from emitter.lines.report import report_drafts
from emitter.lines.submodules import without_init

MINUTE = (
    "from emitter.lines import Lines, LineSettings\n"
    "from neuron_wire import MinuteRecord\n"
    "record = MinuteRecord('blue', 'i-1', '0', 1, 60000, 60.0, 1, 'b', (50.0,), (0,))\n"
)


COMMON = {"instance_id": "i-0", "instance_type": "trn1.32xlarge", "ami_id": "ami-0"}


def by_library(draft, namespace):
    """The document of a draft as LogSerializer writes it, its parts put together."""
    context = MetricsContext(namespace=namespace)
    context.meta["Timestamp"] = draft.timestamp_ms
    context.set_dimensions(
        [{name: draft.members[name] for name in s} for s in draft.dimension_sets]
    )
    for name, value in draft.members.items():
        if name not in draft.units:
            context.set_property(name, value)
            continue
        for number in value if isinstance(value, list) else [value]:
            resolution = StorageResolution(draft.resolution_s)
            context.put_metric(name, number, draft.units[name], resolution)
    # The library begins a new document with every 101st metric; a line may hold several directives.
    first, *others = map(json.loads, LogSerializer.serialize(context))
    for other in others:
        first["_aws"]["CloudWatchMetrics"] += other.pop("_aws")["CloudWatchMetrics"]
        first |= other
    return first


@given(records(), SETTINGS)
def test_a_line_says_what_the_library_would_say(record, settings):
    """Parsed, of every draft with metrics at every tier: ours differs in order and bytes alone."""
    settings = replace(settings, tag_dimensions=())
    wanted = {name: COMMON[name] for name in settings.common_dims if name in COMMON}
    sample = ReportSample(
        record.minute_ms / 1000, 5.0, record.utilization_percent, 7, record.execution_errors
    )
    for draft in (
        *minute_drafts(record, settings, wanted),
        *report_drafts(sample, SENDER, settings, wanted, 1),
    ):
        if draft.units:
            line = line_of(draft, settings.namespace)
            assert by_library(draft, settings.namespace) == json.loads(line)


def run(program, *folders):
    """What a fresh Python prints that runs *program*."""
    environment = {"PYTHONPATH": ":".join([*map(str, folders), *sys.path])}
    made = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return made.stdout.strip()


def test_a_line_with_metrics_does_not_load_aiohttp():
    """9 MiB beside boto3, 23 without: an emitter must fit 60 and 45. The library itself is used."""
    program = MINUTE + (
        "import sys; line = Lines(LineSettings()).minute(record)[0]\n"
        "print('CloudWatchMetrics' in line, 'aiohttp' in sys.modules,\n"
        "      'aws_embedded_metrics.logger.metrics_context' in sys.modules)"
    )
    assert "True False True" == run(program)


def test_a_line_without_metrics_does_not_load_the_library():
    """It has nothing to do there."""
    program = MINUTE + (
        "import sys; line = Lines(LineSettings(tier='none')).minute(record)[0]\n"
        "print(any(name.startswith('aws_embedded_metrics') for name in sys.modules))"
    )
    assert "False" == run(program)


def test_whoever_imports_the_library_afterwards_gets_it_whole():
    """With the very classes that are already in use."""
    program = MINUTE + (
        "from emitter.lines.emf import load_library\n"
        "used = load_library().new_context\n"
        "from aws_embedded_metrics import MetricsContext, metric_scope\n"
        "print(used is MetricsContext, callable(metric_scope))"
    )
    assert "True True" == run(program)


def test_a_release_whose_parts_need_the_whole_is_loaded_whole(tmp_path):
    """Heavier, not broken: a new release of the library must not stop an emitter."""
    package = tmp_path / "aws_embedded_metrics"
    for folder in ("logger", "serializers", "config"):
        (package / folder).mkdir(parents=True)
        (package / folder / "__init__.py").touch()
    (package / "__init__.py").write_text("shared = 'whole'\n", encoding="utf-8")
    (package / "exceptions.py").write_text(
        "from aws_embedded_metrics import shared\n"
        "DimensionSetExceededError = InvalidDimensionError = InvalidMetricError = ValueError\n",
        encoding="utf-8",
    )
    (package / "config" / "__init__.py").write_text(
        "class Config: pass\ndef get_config(): return Config\n", encoding="utf-8"
    )
    (package / "logger" / "metrics_context.py").write_text(
        "from aws_embedded_metrics import shared as MetricsContext\n", encoding="utf-8"
    )
    (package / "serializers" / "log_serializer.py").write_text(
        "class LogSerializer: serialize = None\n", encoding="utf-8"
    )
    (package / "storage_resolution.py").write_text("StorageResolution = None\n", encoding="utf-8")
    program = "from emitter.lines.emf import load_library; print(load_library().new_context)"
    assert "whole" == run(program, tmp_path)


def test_modules_are_imported_without_the_package_around_them(tmp_path, monkeypatch):
    """Its __init__ runs only when the package itself is asked for, afterwards."""
    package = tmp_path / "greedy_package"
    package.mkdir()
    (package / "__init__.py").write_text("import not_installed_anywhere\n", encoding="utf-8")
    (package / "part.py").write_text("from . import other; value = other.value\n", encoding="utf-8")
    (package / "other.py").write_text("value = 7\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with without_init("greedy_package"):
        from greedy_package.part import value  # noqa: PLC0415 - only now can it be imported
    assert 7 == value
    with pytest.raises(ModuleNotFoundError):
        __import__("greedy_package")
    for name in [name for name in sys.modules if name.startswith("greedy_package")]:
        monkeypatch.delitem(sys.modules, name)


def test_a_package_that_is_not_installed_is_missed_by_its_name():
    """The error is Python's own, and nothing is left behind."""
    with pytest.raises(ModuleNotFoundError), without_init("not_installed_anywhere"):
        __import__("not_installed_anywhere.part")
    assert "not_installed_anywhere" not in sys.modules
