"""docs/explanation/scale.md says what the code measures and what the template sets."""

from __future__ import annotations

import dataclasses

import pytest

from benchmarks.scale import measurement, switch
from benchmarks.scale.fleets import FLEETS, LARGE, MIDDLE, PROMISED_SHARE, SMALL
from benchmarks.scale.page import page
from benchmarks.scale.quotas import QUOTAS, loads
from local.alarms import read_alarms
from local.alarms.template import Template, load_template
from neuron_emf.cost import assumptions
from neuron_emf.cost.assumptions import (
    CLUSTER_ALARMS,
    COUNTER_METRICS,
    MODES,
    PIPELINE_ALARM_METRICS,
)
from neuron_emf.cost.bill import bill, on_demand_usd, shards_usd, usd
from neuron_emf.cost.fleet import FleetSpec, Setup
from neuron_emf.cost.measurements import read
from neuron_wire import CLUSTER_NAMESPACE
from tests.benchmarks.measures_example import MADE
from tests.stack.template_resources import of_type

KEPT = read()
NEAR = 0.05
"""How far a size may have moved before the page must be measured again."""

ONE = MADE.ingest[1]
FEW = 20
"""Instances of each number of cores: with all that were measured the test would take a minute."""

NOT_MACHINE = ("metrics", "calls", "read_units", "write_units", "printed_bytes", "lines")


def near(value):
    return pytest.approx(value, rel=NEAR)


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


def test_the_page_is_what_was_measured_says(golden, repository):
    """No number of docs/explanation/scale.md was typed."""
    golden(repository / "docs" / "explanation" / "scale.md", page(KEPT))


@pytest.mark.timeout(60)
def test_the_sizes_are_those_of_the_code():
    """
    Lines, deliveries and items are within 5 % of what the page was made from; if not, measure
    again: python -m benchmarks.scale --measure, then pytest --update-golden.
    """
    assert dataclasses.asdict(KEPT.sizes) == near(dataclasses.asdict(measurement.sizes()))
    assert KEPT.runtime_line == near(measurement.runtime_line())
    assert KEPT.emitter_metrics == measurement.emitter_metrics()
    assert KEPT.stack_metrics == measurement.stack_metrics()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("cores", measurement.CORES)
def test_the_lines_are_those_of_the_code(cores):
    """
    For every setting of metrics, with and without high resolution, whatever an instance's cores.
    """
    kept = KEPT.by_cores[cores]
    assert kept.write_units == near(measurement.write_units(cores, FEW))
    for expected, found in (
        (kept.minute, measurement.minute_lines(cores, FEW)),
        (kept.minute_high, measurement.minute_lines(cores, FEW, high=True)),
        (kept.report, measurement.report_lines(cores, FEW)),
    ):
        assert expected.keys() == found.keys()
        for name, line in expected.items():
            assert dataclasses.astuple(line) == near(dataclasses.astuple(found[name]))


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("form", ["items", "packs"])
def test_the_requests_of_close_are_those_of_the_code(form, tmp_path):
    """What a minute of 1,000 instances prints, reads and writes has not moved by 5 %."""
    found = measurement.close_of(tmp_path / form, MIDDLE, form, times=1)
    kept = KEPT.close[form][MIDDLE.instances]
    assert {name: near(getattr(found, name)) for name in NOT_MACHINE} == {
        name: getattr(kept, name) for name in NOT_MACHINE
    }


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("records", [1, assumptions.BATCH_DELIVERIES])
def test_the_requests_of_ingest_are_those_of_the_code(records):
    """One delivery, and one batch of the stream."""
    found, kept = measurement.delivered(records, 1), KEPT.ingest[records]
    for name in ("calls", "write_units"):
        assert near(getattr(found, name)) == getattr(kept, name)


@pytest.mark.parametrize("mode", MODES)
def test_the_functions_are_those_of_the_template(mode, resources):
    """Memory, time, batches and retention."""
    found = resources(mode)
    ingest, close = (found[f"{name}Function"]["Properties"] for name in ("Ingest", "Close"))
    assert assumptions.INGEST_MB[mode] == ingest["MemorySize"]
    assert assumptions.CLOSE_MB == int(close["MemorySize"])
    assert assumptions.CLOSE_TIMEOUT_S == close["Timeout"]
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


def test_a_thousand_instances_keep_the_promise():
    """At most 3 % of 27 metrics an instance, everything counted, in either mode."""
    shares = [switch.share_of_counterfactual(KEPT, MIDDLE, mode) for mode in MODES]
    assert all(share <= PROMISED_SHARE for share in shares), shares


@pytest.mark.parametrize("mode", MODES)
def test_every_fleet_fits_into_an_account(mode):
    """
    One template for 10 instances and for 100,000: nothing but a new account's ten invocations at
    a time is in the way.
    """
    over = {
        (fleet.instances, load.what)
        for fleet in FLEETS
        for load in loads(KEPT, fleet, mode)
        if load.share > 1
    }
    new_account = (LARGE.instances, QUOTAS["new_concurrency"].what)
    assert ({new_account} if mode == "direct" else set()) == over


@pytest.mark.parametrize("on_demand", [False, True])
def test_the_modes_cross_once(on_demand):
    """Direct is cheaper below the switch, kinesis above, whichever stream it has."""

    def cheaper(instances):
        fleet = FleetSpec(instances, 1)
        sums = {mode: usd(bill(KEPT, fleet, Setup(mode))) for mode in MODES}
        if on_demand:
            sums["kinesis"] += on_demand_usd(KEPT, fleet) - shards_usd(KEPT, fleet)
        return min(MODES, key=sums.get)

    at = switch.switch_at(KEPT, on_demand=on_demand)
    places = (SMALL.instances, at - 20, at, 2 * at, 4 * at, LARGE.instances)
    assert ["direct", "direct", "kinesis", "kinesis", "kinesis", "kinesis"] == list(
        map(cheaper, places)
    )
