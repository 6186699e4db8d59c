"""The minute line: what is in it, in which order, how long it is, and what never gets out."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from line_records import DETAILS, HEALTH, MINUTE_LINE, TIERS, full, printed
from neuron_reports import (
    counters,
    executions,
    hardware,
    hardware_counters,
    host_memory,
    memory,
    minute_of,
    report,
    runtime,
    vcpu,
)

from emitter.health import DROP_MEMBERS
from emitter.lines import LineSettings, LineWriter
from neuron_wire import WireFormatError, parse
from neuron_wire.catalogue import MINUTE
from neuron_wire.extraction import violations


def lines(record, tier):
    """The lines of one minute at a tier, all else as it is by default."""
    return [one.line for one in LineWriter(LineSettings(tier=tier)).minute_records(record)]


def defined(line):
    """Names of the metrics that a line defines."""
    (directive,) = json.loads(line)["_aws"]["CloudWatchMetrics"]
    return [one["Name"] for one in directive["Metrics"]]


def test_the_cluster_tier_defines_exactly_eight_metrics():
    """By ClusterName alone: the bill is the same for 10 instances and for 10,000."""
    (line,) = lines(full(4), "cluster")
    (directive,) = json.loads(line)["_aws"]["CloudWatchMetrics"]
    assert (list(MINUTE), 8) == (defined(line), len(MINUTE))
    assert ("Neuron", [["ClusterName"]]) == (directive["Namespace"], directive["Dimensions"])
    assert [MINUTE[name].unit for name in MINUTE] == [one["Unit"] for one in directive["Metrics"]]


def test_scalars_stand_before_arrays_in_the_order_of_the_record():
    """Logs Insights discovers about 200 fields of an event and flattens arrays."""
    for tier in TIERS:
        document = json.loads(lines(full(32), tier)[0])
        head = "Timestamp" if tier == "none" else "_aws"
        expected = [head, *full(32).members()]
        assert expected == [name for name in document if "NC" not in name]
        identity = "Schema Kind Boot Seq ClusterName InstanceId InstanceType"
        assert identity.split() == list(document)[1:8]
        arrays = [name for name, value in document.items() if isinstance(value, list)]
        assert ["NeuronCoreUtilization", "CoreIdleMinutes"] == arrays == list(document)[-2:]


@pytest.mark.parametrize(
    ("cores", "known", "tier", "expected"),
    [
        (128, 99, "cluster", []), (128, 100, "cluster", []), (128, 101, "cluster", [1]),
        (128, 128, "cluster", [28]), (200, 200, "cluster", [100]), (201, 201, "cluster", [100, 1]),
        (1024, 1024, "cluster", [*[100] * 9, 24]), (1024, 1024, "none", []),
    ],
)  # fmt: skip
def test_values_beyond_100_are_in_lines_of_their_own(cores, known, tier, expected):
    """
    One metric takes 100 values in a line; the minute line holds them all for the stack, and
    without metrics says it all.
    """
    record = full(cores, known)
    first, *more = lines(record, tier)
    assert expected == [len(values(line)) for line in more]
    rounded = [round(value, 2) for value in record.utilization_percent if value is not None]
    assert rounded == [one for one in parse(first).utilization_percent if one is not None]
    if tier == "cluster":
        assert rounded == [value for line in (first, *more) for value in values(line)]
        assert [] == [one for line in (first, *more) for one in violations(line)]


def values(line):
    """The utilization values that CloudWatch extracts from a line."""
    found = json.loads(line)["NeuronCoreUtilization"]
    return found if isinstance(found, list) else [found]


def test_with_no_known_core_nothing_is_called_idle_or_busy():
    """Utilization, busy and idle counts are absent; that the cores exist is not."""
    absent = {"BusyCores", "AttachedIdleCores", "UnattachedCores", "NeuronCoreUtilization"}
    for tier in TIERS:
        (line,) = lines(full(16, 0), tier)
        document = json.loads(line)
        assert set() == absent & document.keys()
        assert (16, 16) == (document["NeuronCores"], document["UnknownCores"])
    (line,) = lines(full(16, 0), "cluster")
    assert [name for name in MINUTE if name not in absent] == defined(line)


def test_a_record_without_any_metric_is_no_emf_document():
    """A directive that defines no metric would be counted as a fault of ours."""
    bare = dataclasses.replace(
        full(0), execution_errors=None, ecc_uncorrected_rise=None, health={}, details={}
    )
    (line,) = lines(bare, "cluster")
    assert "_aws" not in json.loads(line)
    assert None is parse(line).neuron_cores


def test_numbers_are_rounded_and_compact():
    """Two decimals of a percent, no space, no point behind whole numbers."""
    changes = {"utilization_percent": (10.0, 33.333333, 1.005), "covered_seconds": 60.0}
    (line,) = lines(dataclasses.replace(full(3), **changes), "cluster")
    assert '"NeuronCoreUtilization":[10,33.33,1],' in line
    assert '"CoveredSeconds":60,' in line
    assert ": " not in line


@pytest.mark.parametrize("changes", [
    {"utilization_percent": (math.nan,) * 4}, {"utilization_percent": (math.inf,) * 4},
    {"cluster": "caf\u00e9"}, {"cluster": ""}, {"cluster": "c" * 1025}, {"cluster": "bl\tue"},
    {"minute_ms": -60_000}, {"covered_seconds": math.nan}, {"execution_errors": True},
], ids=str)  # fmt: skip
def test_what_cloudwatch_would_not_extract_is_not_made(changes):
    """Whoever finds it, the library or we, it is one kind of error."""
    with pytest.raises(WireFormatError) as caught:
        lines(dataclasses.replace(full(4), **changes), "cluster")
    assert "not_extractable" == caught.value.reason


def test_half_a_character_is_never_written():
    """Nothing could send the line, with metrics or without, measured or not."""
    for tier, details in itertools.product(TIERS, [{}, DETAILS]):
        record = dataclasses.replace(full(4), instance_id="\ud800", details=details)
        with pytest.raises(WireFormatError, match=r"half a character|InvalidDimensionError"):
            lines(record, tier)


def test_names_of_details_and_health_take_no_other_members_place():
    """All members share one root: no error type or drop reason is named like another member."""
    counts = "completed_with_err completed_with_num_err timed_out incorrect_input failed_to_queue"
    causes = "generic numerical transient model runtime hardware of_a_later_tool"
    ones = [dict.fromkeys(names.split(), 1) for names in (counts, causes)]
    failing = executions(causes=ones[1], **ones[0])
    details = minute_of(report(runtime(execution_stats=failing))).details
    assert sum(map(len, ones)) == len(details)
    others = full(4).members().keys() - DETAILS.keys() - HEALTH.keys()
    assert set() == others & {*details, *DROP_MEMBERS.values(), *HEALTH}
    assert set() == {*DROP_MEMBERS.values(), *HEALTH} & details.keys()


def test_variables_of_the_library_change_nothing():
    """AWS_EMF_* variables meant for another program must not take our metrics away."""
    line = printed(
        f"{MINUTE_LINE}print(LineWriter(LineSettings()).minute_records(record)[0].line)",
        AWS_EMF_DISABLE_METRIC_EXTRACTION="true",
        AWS_EMF_NAMESPACE="Other",
        AWS_EMF_ENVIRONMENT="EC2",
    )
    assert [] == violations(line)
    assert "Neuron" == json.loads(line)["_aws"]["CloudWatchMetrics"][0]["Namespace"]


NORMAL = dict.fromkeys(("host", "device", "completed", "used", "user", "ecc"), 1) | {
    "flops": 1e12, "p50": 0.1, "p99": 0.1, "timed_out": 0, "generic": 0, "size": 1 << 30,
}  # fmt: skip


def busy_report(**strange):
    """A report with every group, a number of which can be replaced."""
    value = NORMAL | strange
    ran = executions(
        value["completed"],
        total={"p50": value["p50"], "p99": value["p99"]},
        device={"p50": 0.1, "p99": 0.1},
        timed_out=value["timed_out"],
        causes={"generic": value["generic"]},
    )
    use = counters([50.0, 0.0], effective_flops={0: value["flops"]})
    held = memory({0: 1}, host=value["host"], device=value["device"])
    return report(
        runtime(use, held, ran),
        system_data={
            "memory_info": host_memory(used=value["used"]),
            "vcpu_usage": vcpu(user=value["user"]),
            "neuron_hw_counters": hardware_counters({"mem_ecc_corrected": value["ecc"]}),
        },
        neuron_hardware_info=hardware(neuron_device_memory_size=value["size"]),
    )


STRANGE = (
    st.sampled_from([1e308, -1e308, -1, 1 << 62, (1 << 63) - 1, 1 << 63, 1 << 64, 10**30, 5e-324])
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
)


@given(st.lists(st.dictionaries(st.sampled_from(sorted(NORMAL)), STRANGE), min_size=1, max_size=3))
def test_no_number_in_a_report_keeps_a_minute_from_being_written(documents):
    """One absurd number costs itself or its group: the minute is written, extracted and read."""
    record = minute_of(*(busy_report(**values) for values in documents))
    (line,) = lines(record, "cluster")
    assert [] == violations(line)
    assert "b" == parse(line).core_state[0]
