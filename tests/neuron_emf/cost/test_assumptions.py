"""What a bill assumes of the stack is what the template sets."""

from __future__ import annotations

import pytest

from local.alarms.definition import read_alarms
from local.alarms.template import Template, load_template
from neuron_emf.cost import assumptions
from neuron_emf.cost.assumptions import (
    CLUSTER_ALARMS,
    COUNTER_METRICS,
    MODES,
    PIPELINE_ALARM_METRICS,
)
from neuron_wire import CLUSTER_NAMESPACE
from tests.stack.template_resources import of_type


@pytest.fixture(scope="session")
def template(repository):
    return load_template(repository / "template.yaml")


@pytest.fixture
def resources(template):
    def of_mode(mode):
        resolved = Template(template, {"Mode": mode})
        return {
            name: resolved.resolve(resource)
            for name, resource in template["Resources"].items()
            if "Condition" not in resource or resolved.condition(resource["Condition"])
        }

    return of_mode


@pytest.mark.parametrize("mode", MODES)
def test_the_functions_are_those_of_the_template(mode, resources):
    """Memory and retention."""
    found = resources(mode)
    ingest, close = (found[f"{name}Function"]["Properties"] for name in ("Ingest", "Close"))
    assert assumptions.INGEST_MB[mode] == ingest["MemorySize"]
    assert assumptions.CLOSE_MB == int(close["MemorySize"])
    rollups = found["RollupsLogGroup"]["Properties"]
    assert assumptions.RETENTION_DAYS == int(rollups["RetentionInDays"])


def test_the_batches_are_those_of_the_template(resources):
    """Deliveries and seconds of one batch."""
    reader = resources("kinesis")["StreamReader"]["Properties"]
    assert assumptions.BATCH_DELIVERIES == int(reader["BatchSize"])
    assert assumptions.BATCH_WINDOW_S == int(reader["MaximumBatchingWindowInSeconds"])


@pytest.mark.parametrize("mode", MODES)
def test_the_alarms_are_those_of_the_template(mode, template):
    """Seven look at one metric of each cluster, the others at those that they name."""
    of_clusters, metrics = 0, 0
    for one in read_alarms(Template(template, {"Mode": mode})):
        if one.namespace == CLUSTER_NAMESPACE:
            of_clusters += 1
        else:
            metrics += len(getattr(one.source, "metrics", [one]))
    assert (CLUSTER_ALARMS, PIPELINE_ALARM_METRICS[mode]) == (of_clusters, metrics)
    filters = of_type(template["Resources"], "AWS::Logs::MetricFilter").values()
    assert COUNTER_METRICS == sum(len(one["MetricTransformations"]) for one in filters)
