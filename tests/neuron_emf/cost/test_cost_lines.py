"""Sizes and metrics are those of lines that the emitter really writes, for any instance."""

from __future__ import annotations

import dataclasses
import json
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.storage.item import item_of, stored_bytes
from benchmarks import fleet as made
from emitter.fold.sample import ReportSample
from emitter.lines import LineIdentity, Lines, LineSettings, parse_choice
from emitter.settings.minutes import TIERS
from neuron_emf.cost.assumptions import READINGS
from neuron_emf.cost.bill import emitter_bytes
from neuron_emf.cost.emitter_lines import emitter_series
from neuron_emf.cost.fleet import FleetSpec, Setup
from neuron_emf.cost.functions import any_late, close_of, ingest_of
from neuron_emf.cost.interpolation import minute_of, sizes_of
from neuron_emf.cost.measurements import EVENT_BYTES, PAGE_CORES, read
from neuron_emf.cost.settings import MOST_CORES
from neuron_emf.cost.tariff import MINUTES
from neuron_wire.instance_types import INSTANCE_TYPES

FOUND = read()
AMI_ID = "ami-0"
COMMON = st.lists(
    st.sampled_from(["instance_id", "instance_type", "ami_id", "neuron_runtime_tag"]), unique=True
)
CHOSEN = st.lists(
    st.sampled_from(
        [
            name + at
            for name in ("BusyCores", "NeuronCoreUtilization", "CoreIdleMinutes", "HostCpuPercent")
            for at in ("", "@instance")
        ]
    ),
    unique=True,
)


def series_of(lines):
    """Namespace, name and dimensions of every metric that *lines* define."""
    found = set()
    for line in lines:
        document = json.loads(line)
        for directive in document.get("_aws", {}).get("CloudWatchMetrics", []):
            for names in directive["Dimensions"]:
                values = tuple((name, document[name]) for name in sorted(names))
                found |= {(directive["Namespace"], one["Name"], values)
                          for one in directive["Metrics"]}  # fmt: skip
    return found


def fleet_lines(fleet, setup):
    """A minute of *fleet*, with a report of each instance where reports have lines."""
    for number, record in enumerate(made.records(fleet.instances, fleet.clusters, fleet.cores)):
        place = number // fleet.clusters
        tags = dict.fromkeys(setup.tag_dimensions, f"{place % setup.tag_values}")
        lines = Lines(
            LineSettings(
                tier=setup.metrics,
                tags=tags,
                tag_dimensions=setup.tag_dimensions,
                common_dims=setup.common_dims,
                high_resolution=setup.is_high_resolution,
                choice=setup.choice,
            )
        )
        one = dataclasses.replace(record, instance_type=f"trn1.{place % fleet.types}")
        yield from lines.minute(one, AMI_ID)
        if setup.is_high_resolution:
            yield from report_lines(lines, one)


def written(metrics, cores):
    """Bytes and lines of a minute by the setting `metrics`, as means of twenty instances."""
    lines = Lines(LineSettings(tier=metrics))
    each = [lines.minute(one) for one in made.records(20, 1, cores)]
    return fmean(sum(len(line.encode()) for line in one) for one in each), fmean(map(len, each))


def report_lines(lines, record):
    identity = LineIdentity(
        record.cluster,
        record.instance_id,
        identity_guessed=False,
        boot=record.boot,
        instance_type=record.instance_type,
        ami_id=AMI_ID,
    )
    sample = ReportSample(
        at_s=record.minute_ms / 1_000,
        period_s=5.0,
        utilization_percent=record.utilization_percent,
        executions=record.executions,
        execution_errors=record.execution_errors,
    )
    return lines.report(sample, identity, seq=1)


@st.composite
def setups(draw):
    """Settings that `run` would take."""
    metrics = draw(st.sampled_from(TIERS))
    choice = parse_choice(draw(CHOSEN))
    if metrics == "none":
        return Setup(metrics=metrics, choice=choice)
    tags = () if metrics == "legacy" else draw(st.sampled_from([(), ("team",), ("team", "stage")]))
    return Setup(
        metrics=metrics,
        tag_dimensions=tags,
        tag_values=draw(st.integers(1, 2)),
        common_dims=tuple(draw(COMMON)),
        is_high_resolution=draw(st.booleans()),
        choice=choice,
    )


@st.composite
def small_fleets(draw):
    """With every type and every value of a tag in each cluster."""
    clusters = draw(st.integers(1, 3))
    cores, types = draw(st.sampled_from([1, 4, 101])), draw(st.integers(1, 2))
    return FleetSpec(2 * draw(st.integers(1, 2)) * clusters, clusters, cores, types)


@settings(max_examples=60)
@given(small_fleets(), setups())
def test_the_metrics_are_counted_as_the_lines_define_them(fleet, setup):
    """Whatever the tier, the choice, the tags, the common dimensions and the resolution."""
    found = series_of(fleet_lines(fleet, setup))
    assert len(found) == emitter_series(FOUND.emitter_metrics, fleet, setup)


@pytest.mark.parametrize("cores", [3, 20, 48, 112])
def test_between_two_sizes_lines_are_as_long_as_the_code_writes_them(cores):
    """Within 3 %, for core counts that were not measured."""
    assert cores not in FOUND.by_cores
    for metrics in TIERS:
        found = minute_of(FOUND, cores, metrics, is_high=False)
        assert (found.bytes, found.lines) == pytest.approx(written(metrics, cores), rel=0.03)


@pytest.mark.parametrize("cores", sorted(FOUND.by_cores))
def test_the_lines_are_those_of_the_code(cores):
    """The sizes that a bill is made of are within 5 %, whatever an instance's cores."""
    kept = FOUND.by_cores[cores]
    for metrics, line in kept.minute.items():
        assert (line.bytes, line.lines) == pytest.approx(written(metrics, cores), rel=0.05)
    items = [stored_bytes(item_of(one, 0)) for one in made.records(100, 1, cores)]
    assert fmean(items) == pytest.approx(kept.sizes.item, rel=0.05)


def test_every_instance_type_was_measured():
    """Straight lines are for other numbers of cores, and none goes beyond what was measured."""
    assert {one.cores for one in INSTANCE_TYPES.values()} < set(FOUND.by_cores)
    assert MOST_CORES == max(FOUND.by_cores)


@pytest.mark.parametrize("metrics", TIERS)
def test_a_tag_adds_the_bytes_it_has(metrics):
    """
    To the byte: name, value and punctuation in every line, and a set of dimensions where metrics
    are counted by it.
    """
    tags = {"team": 'search "x"', "stage": "production"}
    dimensions = () if metrics in ("none", "legacy") else ("team",)
    common = () if metrics == "none" else ("instance_id", "instance_type")
    records = [dataclasses.replace(one, instance_type="trn1.32xlarge") for one in made.records(20)]
    billed = [
        fmean(
            sum(len(line.encode()) + EVENT_BYTES for line in lines.minute(one)) for one in records
        )
        for lines in (
            Lines(LineSettings(tier=metrics)),
            Lines(
                LineSettings(tier=metrics, tags=tags, tag_dimensions=dimensions, common_dims=common)
            ),
        )
    ]
    plain = Setup(metrics=metrics, runtime_lines="none")
    tagged = dataclasses.replace(
        plain, tags=tuple(tags.items()), tag_dimensions=dimensions, common_dims=common
    )
    fleet = FleetSpec(1, 1)
    found = [emitter_bytes(FOUND, fleet, one) / MINUTES for one in (plain, tagged)]
    # Of 100 instances that were measured one has no telemetry, so no lines of its cores.
    assert found[1] - found[0] == pytest.approx(billed[1] - billed[0], rel=0.01)


@pytest.mark.parametrize(("metrics", "cores"), [("none", 4), ("cluster", 32), ("legacy", 128)])
def test_a_choice_adds_the_bytes_it_has(metrics, cores):
    """To the byte: definitions, a directive of its own, zeros."""
    names = ["CoreIdleMinutes", "ExecutionsTimedOut@instance", "NeuronCoreUtilization"]
    record = next(iter(made.records(1, 1, cores)))
    record = dataclasses.replace(
        record,
        cluster="my-cluster",
        instance_id="i-0123456789abcdef0",
        core_state="b" * cores,
        utilization_percent=(12.34,) * cores,
        idle_minutes=(0,) * cores,
        seq=54_321,
    )
    billed = [
        sum(
            len(line.encode()) + EVENT_BYTES
            for line in Lines(LineSettings(tier=metrics, choice=choice)).minute(one, None)
        )
        for choice, one in (
            (parse_choice([]), record),
            (
                parse_choice(names),
                dataclasses.replace(record, details={"ExecutionsTimedOut": 0}),
            ),
        )
    ]
    plain = Setup(metrics=metrics)
    found = [
        emitter_bytes(FOUND, FleetSpec(3, 1, cores), one) / MINUTES / 3
        for one in (plain, dataclasses.replace(plain, choice=parse_choice(names)))
    ]
    assert billed[1] - billed[0] == pytest.approx(found[1] - found[0])


@pytest.mark.parametrize(
    ("every", "size", "gb"), [(1, 444_000, 19.4), (60, 444_000, 19.4 / 60), (1, 1_048_500, 0)]
)
def test_raw_reports_are_billed_by_their_bytes(every, size, gb):
    """Each minute's of 32 runtimes is 19 GB a month; one that no log event holds is nothing."""
    raw = Setup(raw_reports=every, raw_report_bytes=size)
    fleet = FleetSpec(1, 1)
    added = emitter_bytes(FOUND, fleet, raw) - emitter_bytes(FOUND, fleet, Setup())
    assert added / 1e9 == pytest.approx(gb, rel=0.01)


def test_the_instances_of_the_page_are_as_they_were_measured():
    """No share and no straight line touches instances of 32 cores."""
    for mode in ("direct", "kinesis"):
        form = "items" if mode == "direct" else "packs"
        for instances, clusters in ((10, 1), (1_000, 2), (100_000, 100)):
            kept = FOUND.close[form][instances]
            found = close_of(FOUND, FleetSpec(instances, clusters), Setup(mode))
            published = 1 + any_late(instances / clusters)
            assert (kept.printed_bytes, kept.lines, kept.write_units) == pytest.approx(
                tuple(
                    one / published for one in (found.printed_bytes, found.lines, found.write_units)
                )
            )
    assert FOUND.sizes == sizes_of(FOUND, PAGE_CORES)


@pytest.mark.parametrize("mode", ["direct", "kinesis"])
@pytest.mark.parametrize("cores", sorted(FOUND.work_by_cores))
def test_the_functions_work_as_measured_for_the_cores_of_an_instance(cores, mode):
    """
    A thousand instances read, write and print what was measured; a batch writes what it wrote.
    """
    work = FOUND.work_by_cores[cores]
    kept = work.close["items" if mode == "direct" else "packs"]
    fleet, setup = FleetSpec(1_000, 2, cores), Setup(mode)
    found, records = close_of(FOUND, fleet, setup), 1 if mode == "direct" else 500
    readings, published = READINGS + any_late(1_000), 1 + any_late(500)
    assert (found.read_units, found.write_units, found.printed_bytes) == pytest.approx(
        (readings * kept.read_units, published * kept.write_units, published * kept.printed_bytes)
    )
    ingest = ingest_of(FOUND, fleet, setup)
    assert records == ingest.records
    units = MINUTES * 1_000 * work.ingest[records].write_units / records
    # Measured in two runs: a pack of the one may round up to a unit where the other's does not.
    assert ingest.write_units == pytest.approx(units, rel=0.01)
    at_page = [
        ingest_of(FOUND, FleetSpec(1_000, 2), setup),
        close_of(FOUND, FleetSpec(1_000, 2), setup),
    ]
    if cores > PAGE_CORES:
        assert ingest.seconds > at_page[0].seconds
        assert found.seconds > at_page[1].seconds
