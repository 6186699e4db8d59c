"""The command `neuron-emf cost`, its page, and what it assumes about the code and the template."""

from __future__ import annotations

import json
from functools import partial
from statistics import fmean

import pytest

from aggregator.storage.record_items import item_of, stored_bytes
from benchmarks import fleet_lines as made
from local.alarms.definition import read_alarms
from local.alarms.template import Template, load_template
from neuron_accounts.prices import LIST_USD_PER_HOUR
from neuron_emf.cost import quantities
from neuron_emf.cost.quantities import MODES, Fleet, emitter_metrics, line_bytes, measured
from neuron_emitter.lines import LineWriter
from neuron_emitter.settings import MinuteSettings
from neuron_emitter.settings.minute_settings import TIERS
from neuron_wire import CLUSTER_NAMESPACE
from neuron_wire.catalogue import ALARMED
from tests.stack.stack_template import of_type


@pytest.fixture
def run(typed):
    """Run `neuron-emf cost` with these arguments."""
    return partial(typed, "cost")


@pytest.fixture
def answer(run):
    def call(*words):
        code, out, err = run(*words, "--json")
        assert 0 == code
        assert "" == err
        return json.loads(out)

    return call


def test_json_adds_up(answer, follows_schema):
    """The entries in JSON add up to groups, groups to the total, and shares to their whole."""
    document = answer("--instances", 500, "--clusters", 5, "--mode", "kinesis")
    unpriced = answer("--instances", 1, "--instance-type", "trn2.48xlarge", "--no-stack")
    follows_schema("cost", document, unpriced)
    total = document["usd"]
    assert sum(entry["usd"] for entry in document["entries"]) == pytest.approx(total)
    assert sum(document["groups_usd"].values()) == pytest.approx(total)
    each_hour = LIST_USD_PER_HOUR["us-east-1"]["trn1.32xlarge"]
    assert document["fleet_usd"] == pytest.approx(500 * 730 * each_hour)
    entries = [*document["entries"], *document["not_counted"]]
    assert {entry["price"] for entry in entries} == set(document["prices"]["used"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "No number of instances is set"),
        (["--instances", "100001"], "100001 is not in the range"),
        (["--instances", "10", "--cores", "129"], "129 is not in the range"),
        (["--instances", "10", "--instance-type", "p5.48xlarge"], "'p5.48xlarge'. Add --cores"),
        (["--instances", "2", "--clusters", "3"], "more clusters (3) than instances (2)"),
        (["--instances", "3", "--stream-shards", "2"], "--mode kinesis, or omit it"),
        (["--instances", "3", "--price-overrides", "trn1.32xlarge"], "TYPE=USD"),
        (["--instances", "3", "--prices", "none.toml"], "does not exist"),
        (["--instances", "3", "--instance-type", "a\x1b[31m"], "Invalid --instance-type 'a\\x1b"),
    ],
    ids=[
        *("none", "too-many", "too-wide", "unknown-type", "clusters"),
        *("shards", "override", "prices", "escape"),
    ],
)
def test_an_invalid_value_is_refused_in_a_sentence(words, expected, run):
    """An invalid value is exit code 2, with a sentence and an empty standard output."""
    code, out, err = run(*words)
    assert 2 == code
    assert "" == out
    assert expected in err
    assert 1 == err.count("\n")


BILLED_CORES = (1, 4, 32, 128)


def minutes(metrics, cores, clusters=1):
    """Return the lines of one minute of each of twenty instances."""
    lines = LineWriter(MinuteSettings(metrics=metrics))
    return [
        [record.line for record in lines.minute_records(record)]
        for record in made.records(20, clusters, cores)
    ]


@pytest.mark.parametrize("cores", BILLED_CORES)
@pytest.mark.parametrize("metrics", TIERS)
def test_lines_have_the_size_that_is_billed(metrics, cores):
    """The lines of a minute have the billed size within 5 %, including the bytes per event."""
    written = fmean(
        sum(len(line.encode()) + quantities.EVENT_BYTES for line in minute)
        for minute in minutes(metrics, cores)
    )
    assert line_bytes(Fleet(20, 1, cores, metrics=metrics)) == pytest.approx(written, rel=0.05)


@pytest.mark.parametrize("metrics", TIERS)
def test_emitters_define_the_metrics_that_are_billed(metrics):
    """Emitters in two clusters define as many metrics as are billed."""
    series = set()
    for line in (json.loads(line) for minute in minutes(metrics, 4, 2) for line in minute):
        for directive in line.get("_aws", {}).get("CloudWatchMetrics", []):
            for names in directive["Dimensions"]:
                values = tuple(line[name] for name in names)
                series |= {
                    (definition["Name"], tuple(names), values)
                    for definition in directive["Metrics"]
                }
    counted = emitter_metrics(Fleet(20, 2, 4, metrics=metrics))
    # An unknown core has no line of its own.
    assert len(series) <= counted <= len(series) / quantities.KNOWN_SHARE + 4


@pytest.mark.parametrize("cores", BILLED_CORES)
def test_a_record_takes_the_bytes_that_are_billed(cores):
    """A record in the table has the billed size within 5 %."""
    items = [item_of(record, 0) for record in made.records(20, 1, cores)]
    mean_bytes = fmean(stored_bytes(item) for item in items)
    assert measured("item-bytes", cores) == pytest.approx(mean_bytes, rel=0.05)


@pytest.mark.parametrize("mode", MODES)
def test_the_stack_is_that_of_the_template(mode, repository):
    """The stack has the template's memory, batches, retention, dashboards, alarms and filter."""
    template = load_template(repository / "template.yaml")
    resolved = Template(template, {"Mode": mode})
    found = {
        name: resolved.resolve(made)
        for name, made in template["Resources"].items()
        if "Condition" not in made or resolved.condition(made["Condition"])
    }
    memory = [
        int(found[f"{name}Function"]["Properties"]["MemorySize"])
        for name in ("Ingest", "Close", "Settle")
    ]
    assert [quantities.INGEST_MB[mode], *2 * quantities.CLOSE_MEMORY_SIZES_MB[:1]] == memory
    retention = found["RollupsLogGroup"]["Properties"]["RetentionInDays"]
    assert quantities.RETENTION_DAYS == int(retention)
    if mode == "kinesis":
        reader = found["StreamReader"]["Properties"]
        assert quantities.BATCH_DELIVERIES == int(reader["BatchSize"])
        assert quantities.BATCH_WINDOW_S == int(reader["MaximumBatchingWindowInSeconds"])
    alarms = read_alarms(resolved)
    of_clusters = [alarm for alarm in alarms if alarm.namespace == CLUSTER_NAMESPACE]
    others = [
        len(getattr(alarm.source, "metrics", [alarm]))
        for alarm in alarms
        if alarm not in of_clusters
    ]
    assert len(ALARMED) == len(of_clusters)
    assert quantities.PIPELINE_ALARM_METRICS[mode] == sum(others)
    filters = of_type(template["Resources"], "AWS::Logs::MetricFilter").values()
    counted = sum(len(metric_filter["MetricTransformations"]) for metric_filter in filters)
    dashboards = of_type(template["Resources"], "AWS::CloudWatch::Dashboard")
    assert quantities.COUNTER_METRICS == counted
    assert quantities.DASHBOARDS == len(dashboards)
