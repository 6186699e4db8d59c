"""The metrics and dimensions that CloudWatch extracts at each tier."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given

from neuron_emitter.lines import LineWriter
from neuron_emitter.settings import MinuteSettings
from neuron_wire import OtherRecord, parse
from neuron_wire.catalogue import INSTANCE_METRICS, MINUTE_METRICS
from tests.neuron_emitter.lines.line_records import (
    ALL_TIERS,
    ANY_LINE_SETTINGS,
    LINE_TAGS,
    TAG_SETTING,
    WITH_CLUSTER,
    WITH_CORE,
    WITH_INSTANCE,
    data,
    dimension_names,
    full,
    lines_of,
)
from tests.neuron_wire.emf_documents import undocumented
from tests.neuron_wire.wire_records import records

TIER_METRICS = {**MINUTE_METRICS, **INSTANCE_METRICS}
"""The metrics of a minute line at `--metrics instance` and `core`."""


@given(records(), ANY_LINE_SETTINGS)
def test_the_stack_reads_the_same_minute_with_any_metrics(record, settings):
    """The stack reads the whole minute from the minute line, with any metrics settings."""
    (bare,) = lines_of(record, metrics="none")
    first, *others = lines_of(record, settings)
    assert parse(bare) == parse(first)
    assert {type(parse(line)) for line in others} <= {OtherRecord}


@given(records(), ANY_LINE_SETTINGS)
def test_the_lines_of_a_minute_are_numbered_in_a_row(record, settings):
    """The lines of a minute have consecutive numbers from the record's Seq, identity and tags."""
    documents = [json.loads(line) for line in lines_of(record, settings)]
    assert [record.seq + place for place in range(len(documents))] == [
        document["Seq"] for document in documents
    ]
    for document in documents:
        assert record.cluster == document["ClusterName"]
        assert record.boot == document["Boot"]
        assert record.instance_id == document["InstanceId"]
        assert record.identity_guessed == document.get("IdentityGuessed", False)
        assert LINE_TAGS == {name: document[name] for name in LINE_TAGS}


@given(records(), ANY_LINE_SETTINGS)
def test_the_catalogue_has_every_member(record, settings):
    """The catalogue has every member of every line at every tier."""
    for line in lines_of(record, settings):
        assert [] == undocumented(json.loads(line), LINE_TAGS)


@given(records())
def test_every_known_core_is_extracted_once_and_no_other(record):
    """Each known core is extracted once per dimension set, and an unknown core never."""
    known = [round(value, 2) for value in record.utilization_percent if value is not None]
    for tier in ALL_TIERS[1:]:
        extracted = {}
        lines = lines_of(record, metrics=tier)
        for (_, name, dimensions), values in data(lines).items():
            if name.startswith("NeuronCoreUtilization"):
                extracted.setdefault(tuple(dimension for dimension, _ in dimensions), []).extend(
                    values
                )
        assert dict.fromkeys(extracted, known) == extracted


@pytest.mark.parametrize(
    ("tier", "expected"),
    [
        ("none", {}),
        ("cluster", {WITH_CLUSTER: 8}),
        ("instance", {WITH_CLUSTER: len(TIER_METRICS), WITH_INSTANCE: len(TIER_METRICS)}),
        (
            "core",
            {WITH_CLUSTER: len(TIER_METRICS), WITH_INSTANCE: len(TIER_METRICS), WITH_CORE: 128},
        ),
        ("legacy", {(): 128}),
    ],
)
def test_each_tier_makes_exactly_the_series_it_promises(tier, expected):
    """A tier makes exactly its number of series, which CloudWatch bills, for 128 known cores."""
    assert expected == dimension_names(lines_of(full(128), metrics=tier))


def test_a_tag_dimension_adds_one_dimension_set():
    """A tag dimension adds one dimension set: the eight metrics by ClusterName and team."""
    lines = lines_of(full(128), tag=TAG_SETTING, tag_dimension=("team",))
    assert {WITH_CLUSTER: 8, ("ClusterName", "team"): 8} == dimension_names(lines)
    by_team = {dims for _, _, dims in data(lines) if len(dims) == 2}
    assert {(("ClusterName", full(1).cluster), ("team", "search"))} == by_team


def test_common_dimensions_are_one_more_set_with_all_of_them():
    """
    Common dimensions add one set, with the names of neuron-monitor-cloudwatch.py.

    ami_id can come from the metadata service.
    """
    lines = LineWriter(MinuteSettings(common_dims=("instance_id", "instance_type", "ami_id")))
    written = [record.line for record in lines.minute_records(full(4), (), "ami-0123456789abcdef0")]
    wanted = ("ClusterName", "ami_id", "instance_id", "instance_type")
    assert {WITH_CLUSTER: 8, wanted: 8} == dimension_names(written)
    document = json.loads(written[0])
    assert "trn2u.48xlarge" == document["instance_type"] == document["InstanceType"]
    assert full(4).instance_id == document["instance_id"]


def test_a_set_with_an_unknown_dimension_is_left_out():
    """A dimension set with an unknown value is left out, because its series would mix instances."""
    record = dataclasses.replace(full(4), instance_type=None)
    (line,) = lines_of(record, common_dims=("instance_id", "instance_type"))
    assert {WITH_CLUSTER: 8} == dimension_names([line])
    assert "instance_id" not in json.loads(line)


@pytest.mark.parametrize("tier", ["cluster", "instance", "core"])
def test_with_high_resolution_the_minute_leaves_out_what_reports_carry(tier):
    """Metrics of high-resolution report lines are only properties of the minute line."""
    lines = lines_of(full(128), metrics=tier, high_resolution_metrics=True)
    first = json.loads(lines[0])
    (directive,) = first["_aws"]["CloudWatchMetrics"]
    carried = {"NeuronCoreUtilization", "ExecutionErrors"}
    expected = (MINUTE_METRICS if tier == "cluster" else TIER_METRICS).keys() - carried
    assert expected == {definition["Name"] for definition in directive["Metrics"]}
    assert carried <= first.keys()  # the stack still reads them
    assert "more" not in {json.loads(line)["Kind"] for line in lines}
