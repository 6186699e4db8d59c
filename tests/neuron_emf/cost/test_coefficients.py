"""What a bill assumes is what the code writes and the template sets."""

from __future__ import annotations

import json
from statistics import fmean

import pytest

from aggregator.storage.item import item_of, stored_bytes
from benchmarks import fleet as made
from emitter.lines import LineSettings, LineWriter
from emitter.settings.minutes import TIERS
from local.alarms.definition import read_alarms
from local.alarms.template import Template, load_template
from neuron_emf.cost import quantities
from neuron_emf.cost.quantities import MODES, Fleet, emitter_metrics, line_bytes, measured
from neuron_wire import CLUSTER_NAMESPACE
from neuron_wire.catalogue import ALARMED
from tests.stack.stack_template import of_type

CORES = (1, 4, 32, 128)


def minutes(metrics, cores, clusters=1):
    """The lines of a minute of each of twenty instances."""
    lines = LineWriter(LineSettings(tier=metrics))
    return [
        [one.line for one in lines.minute_records(one)] for one in made.records(20, clusters, cores)
    ]


@pytest.mark.parametrize("cores", CORES)
@pytest.mark.parametrize("metrics", TIERS)
def test_lines_have_the_size_that_is_billed(metrics, cores):
    """Of one minute, within 5 %, with what CloudWatch Logs adds to each event."""
    written = fmean(
        sum(len(line.encode()) + quantities.EVENT_BYTES for line in one)
        for one in minutes(metrics, cores)
    )
    assert line_bytes(Fleet(20, 1, cores, metrics=metrics)) == pytest.approx(written, rel=0.05)


@pytest.mark.parametrize("metrics", TIERS)
def test_emitters_define_the_metrics_that_are_billed(metrics):
    """Counted by namespace, name and values of dimensions, in two clusters."""
    found = set()
    for line in (json.loads(line) for one in minutes(metrics, 4, 2) for line in one):
        for directive in line.get("_aws", {}).get("CloudWatchMetrics", []):
            for names in directive["Dimensions"]:
                values = tuple(line[name] for name in names)
                found |= {(one["Name"], tuple(names), values) for one in directive["Metrics"]}
    counted = emitter_metrics(Fleet(20, 2, 4, metrics=metrics))
    # A core that is not known has no line of its own.
    assert len(found) <= counted <= len(found) / quantities.KNOWN_SHARE + 4


@pytest.mark.parametrize("cores", CORES)
def test_a_record_takes_the_bytes_that_are_billed(cores):
    """In the table, within 5 %."""
    items = [item_of(record, 0) for record in made.records(20, 1, cores)]
    found = fmean(stored_bytes(one) for one in items)
    assert measured("item-bytes", cores) == pytest.approx(found, rel=0.05)


@pytest.mark.parametrize("mode", MODES)
def test_the_stack_is_that_of_the_template(mode, repository):
    """Memory, batches, retention, dashboards, alarms and the counting filter."""
    template = load_template(repository / "template.yaml")
    resolved = Template(template, {"Mode": mode})
    found = {name: resolved.resolve(one) for name, one in template["Resources"].items()
             if "Condition" not in one or resolved.condition(one["Condition"])}  # fmt: skip
    memory = [int(found[f"{name}Function"]["Properties"]["MemorySize"])
              for name in ("Ingest", "Close", "Settle")]  # fmt: skip
    assert [quantities.INGEST_MB[mode], *2 * quantities.CLOSE_MB[:1]] == memory
    retention = found["RollupsLogGroup"]["Properties"]["RetentionInDays"]
    assert quantities.RETENTION_DAYS == int(retention)
    if mode == "kinesis":
        reader = found["StreamReader"]["Properties"]
        assert (quantities.BATCH_DELIVERIES, quantities.BATCH_WINDOW_S) == (
            int(reader["BatchSize"]), int(reader["MaximumBatchingWindowInSeconds"])
        )  # fmt: skip
    alarms = read_alarms(resolved)
    of_clusters = [one for one in alarms if one.namespace == CLUSTER_NAMESPACE]
    others = [len(getattr(one.source, "metrics", [one])) for one in alarms
              if one not in of_clusters]  # fmt: skip
    assert (len(ALARMED), quantities.PIPELINE_ALARM_METRICS[mode]) == (
        len(of_clusters), sum(others)
    )  # fmt: skip
    filters = of_type(template["Resources"], "AWS::Logs::MetricFilter").values()
    counted = sum(len(one["MetricTransformations"]) for one in filters)
    dashboards = of_type(template["Resources"], "AWS::CloudWatch::Dashboard")
    assert (quantities.COUNTER_METRICS, quantities.DASHBOARDS) == (counted, len(dashboards))
