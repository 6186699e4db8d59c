"""Reports broken at any place: no exception, every drop counted, everything else still right."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_wire.catalogue import READINGS
from proof.factories.reports import (
    inf1_busy,
    inf1_first,
    inf2_loaded,
    line,
    sidecar,
    trn1_job,
    trn1_nobody,
    trn2_logical,
)
from proof.fuzz.broken_json import NO_JSON, VALID, deleted, doubled, places, replaced
from proof.fuzz.broken_reports import Survival, survives

pytestmark = pytest.mark.timeout(120)

SHAPES = {
    "inf1_first": inf1_first(),
    "inf1_busy": inf1_busy(),
    "inf2_loaded": inf2_loaded(),
    "trn1_nobody": trn1_nobody(),
    "trn1_job": trn1_job([50.0, 0.0, 7.5, 0.0], models=1),
    "trn2_logical": trn2_logical(),
    "sidecar": sidecar(40, 60, 0, 20),
}
PLACES = {name: list(places(shape)) for name, shape in SHAPES.items()}
PLACED = st.sampled_from(sorted(SHAPES)).flatmap(
    lambda name: st.tuples(st.just(name), st.sampled_from(PLACES[name]))
)

CORES = {
    "covered_seconds", "core_state", "utilization_percent", "idle_minutes", "tera_flops",
    "holders", "holders_more", "owners", "owners_more", "stalls",
}  # fmt: skip
EXECUTIONS = {
    "executions", "execution_errors", "latency_p50_mean_s", "latency_p99_max_s",
    "device_latency_p50_mean_s", "device_latency_p99_max_s", "latency_gap_s", "details",
    "stalls", "holders",  # their LastExecution
}  # fmt: skip
HOLDING = {"core_state", "holders", "holders_more", "owners", "owners_more"}
MEMORY = {"device_memory_used_bytes", "runtime_host_memory_bytes"}
ECC = {"ecc_corrected", "ecc_uncorrected", "ecc_corrected_rise", "ecc_uncorrected_rise"}
HOST_MEMORY = {"HostMemoryUsed", "HostMemoryTotal"}
HOST_CPU = {"HostCpuPercent"}
IDENTITY = {
    "instance_id", "identity_guessed", "instance_type", "region", "availability_zone",
    "ultraserver_id",
}  # fmt: skip
COMES_FROM = {
    "neuroncore_counters": CORES,
    "execution_stats": EXECUTIONS,
    "memory_used": MEMORY | HOLDING,
    "neuron_runtime_vcpu_usage": set(),
    "neuron_hw_counters": ECC,
    "memory_info": HOST_MEMORY,
    "vcpu_usage": HOST_CPU,
    "instance_info": IDENTITY | {"device_memory_total_bytes", "labels"},
    "neuron_hardware_info": CORES | {"device_memory_total_bytes", "labels"},
    "neuron_k8s_info": {"holders", "holders_more", "owners", "owners_more"},
}


def may_change(name, path):
    """The fields of a minute that come from what is at *path*."""
    if path[0] == "neuron_runtime_data":
        if len(path) > 3:  # (member, entry, "report", group, ...)
            return COMES_FROM[path[3]]
        return CORES | EXECUTIONS | MEMORY
    if path[0] == "system_data":
        # Where nobody runs, the periods of its groups are all that a sample has.
        nobody = CORES if not SHAPES[name]["neuron_runtime_data"] else set()
        if len(path) > 1:
            return COMES_FROM[path[1]] | nobody
        return ECC | HOST_MEMORY | HOST_CPU | nobody
    if path[0] == "neuron_hardware_info" and not SHAPES[name]["neuron_runtime_data"]:
        # With an error in it, an empty list of runtimes is not believed.
        return COMES_FROM[path[0]] | MEMORY
    return COMES_FROM[path[0]]


def differences(first, second):
    """
    The fields and readings in which two minutes differ, as far as the cores of the first go.

    A model may be loaded on a core that nobody knew of: it is one more, and unknown.
    """
    cores = len(first.core_state)
    return {
        field.name
        for field in dataclasses.fields(first)
        if field.name != "readings"
        and getattr(first, field.name) != cut(getattr(second, field.name), field.name, cores)
    } | {name for name in READINGS if first.readings.get(name) != second.readings.get(name)}


def cut(value, name, cores):
    """Only so many cores of what is told by core."""
    return value[:cores] if name in {"utilization_percent", "idle_minutes"} else value


def broken(draw, name, path, raws):
    """The shape's line, broken at one place in one of three ways."""
    shape = SHAPES[name]
    way = draw(st.sampled_from(["replaced", "doubled", "deleted"]))
    if way == "deleted":
        return deleted(shape, path)
    raw = draw(st.sampled_from(raws))
    return replaced(shape, path, raw) if way == "replaced" else doubled(shape, path, raw)


@given(st.data(), PLACED, st.sampled_from([1 << 16, 100]))
def test_no_exception_leaves_and_every_drop_is_counted(data, placed, chunk_bytes):
    """
    Anything at any place: the minute closes, the stack reads its line, the next report is read.
    """
    survives(broken(data.draw, *placed, VALID + NO_JSON), chunk_bytes)


@given(st.data(), PLACED)
def test_a_fault_in_one_group_changes_nothing_that_comes_from_others(data, placed):
    """JSON of a wrong kind costs at most the group it is in."""
    name, path = placed
    whole = Survival(line(SHAPES[name]))
    found = Survival(broken(data.draw, name, path, VALID))
    assert (1, 0) == (found.fold.reports_read, found.framer.malformed)
    assert differences(whole.record, found.record) <= may_change(name, path)


@given(st.data(), PLACED)
def test_what_is_no_json_is_one_drop_and_the_reports_around_it_are_whole(data, placed):
    """The line with it is counted, once; the minute is that of the reports before and behind it."""
    name, path = placed
    raw = data.draw(st.sampled_from([raw for raw in NO_JSON if raw]))
    content, whole = replaced(SHAPES[name], path, raw), line(SHAPES[name])
    found = Survival(whole, content, whole)
    if found.framer.malformed:  # a text that is not UTF-8 costs only the group that reads it
        expected = Survival(whole, b"\n", whole)
        assert (2, 1) == (found.fold.reports_read, found.framer.malformed)
        assert expected.record == found.record
    else:
        assert 3 == found.fold.reports_read
        once, rest = Survival(whole, whole, whole), may_change(name, path)
        assert differences(once.record, found.record) <= rest
