"""The minute line: what is in it, in which order, how long it is, and what never gets out."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from line_records import DETAILS, HEALTH, TIERS, full
from neuron_reports import (
    add,
    closed,
    counters,
    executions,
    hardware,
    hardware_counters,
    host_memory,
    memory,
    minute_of,
    new_fold,
    report,
    runtime,
    vcpu,
)

from emitter.health.members import DROP_MEMBERS
from emitter.lines import Lines, LineSettings
from neuron_wire import OtherRecord, WireFormatError, parse
from neuron_wire.catalogue import MINUTE
from neuron_wire.emf import violations


def lines(record, tier):
    """The lines of one minute at a tier, all else as it is by default."""
    return Lines(LineSettings(tier=tier)).minute(record)


def defined(line):
    """Names of the metrics that a line defines."""
    (directive,) = json.loads(line)["_aws"]["CloudWatchMetrics"]
    return [one["Name"] for one in directive["Metrics"]]


def test_the_cluster_tier_defines_exactly_eight_metrics():
    """By ClusterName alone: the bill is the same for 10 instances and for 10,000."""
    (line,) = lines(full(4), "cluster")
    (directive,) = json.loads(line)["_aws"]["CloudWatchMetrics"]
    assert list(MINUTE) == defined(line)
    assert 8 == len(defined(line))
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


def test_without_metrics_a_line_is_no_emf_document():
    """With the stack deployed nobody pays twice: no `_aws`, and the same record all the same."""
    (line,) = lines(full(4), "none")
    assert "_aws" not in json.loads(line)
    assert parse(lines(full(4), "cluster")[0]) == parse(line)


@pytest.mark.parametrize(
    ("known", "expected"),
    [(99, []), (100, []), (101, [1]), (128, [28]), (200, [100]), (201, [100, 1]), (1024, None)],
)
def test_values_beyond_100_are_in_lines_of_their_own(known, expected):
    """One metric takes 100 values in a line; the minute line holds them all for the stack."""
    record = full(max(known, 128))
    record = full(record.neuron_cores, known)
    expected = [100] * 9 + [24] if expected is None else expected
    first, *more = lines(record, "cluster")
    assert expected == [len(values(line)) for line in more]
    read = parse(first)
    rounded = [round(value, 2) for value in record.utilization_percent if value is not None]
    assert rounded == [value for value in read.utilization_percent if value is not None]
    extracted = [value for line in (first, *more) for value in values(line)]
    assert rounded == extracted
    assert [] == [one for line in (first, *more) for one in violations(line)]


def values(line):
    """The utilization values that CloudWatch extracts from a line."""
    found = json.loads(line)["NeuronCoreUtilization"]
    return found if isinstance(found, list) else [found]


def test_a_more_line_has_identity_and_a_number_of_its_own():
    """Its time and cluster are the minute's, its Seq the next, and the stack leaves it out."""
    record = full(250)
    first, second, third = (json.loads(line) for line in lines(record, "cluster"))
    assert [44_640, 44_641, 44_642] == [one["Seq"] for one in (first, second, third)]
    expected = "_aws Schema Kind Boot Seq ClusterName InstanceId NeuronCoreUtilization"
    assert expected.split() == list(third)
    assert "more" == third["Kind"]
    assert first["_aws"]["Timestamp"] == third["_aws"]["Timestamp"]
    assert ["NeuronCoreUtilization"] == defined(json.dumps(third))
    assert OtherRecord("more") == parse(json.dumps(third))


def test_more_lines_are_for_cloudwatch_only():
    """Without metrics the minute line says it all."""
    assert 1 == len(lines(full(1024), "none"))


def test_unknown_cores_do_not_count_towards_the_100():
    """128 cores of which 100 are known fit one line."""
    assert 1 == len(lines(full(128, 100), "cluster"))


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
    record = dataclasses.replace(
        full(3), utilization_percent=(10.0, 33.333333, 1.005), covered_seconds=60.0
    )
    (line,) = lines(record, "cluster")
    assert '"NeuronCoreUtilization":[10,33.33,1],' in line
    assert '"CoveredSeconds":60,' in line
    assert ": " not in line


@pytest.mark.parametrize(
    "changes",
    [
        {"utilization_percent": (math.nan,) * 4}, {"utilization_percent": (math.inf,) * 4},
        {"cluster": "caf\u00e9"}, {"cluster": ""}, {"cluster": "c" * 1025}, {"cluster": "bl\tue"},
        {"minute_ms": -60_000}, {"covered_seconds": math.nan}, {"execution_errors": True},
    ],
    ids=str,
)  # fmt: skip
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
    failing = executions(
        causes=dict.fromkeys(causes.split(), 1), **dict.fromkeys(counts.split(), 1)
    )
    details = minute_of(report(runtime(execution_stats=failing))).details
    assert len(counts.split()) + len(causes.split()) == len(details)
    others = full(4).members().keys() - DETAILS.keys() - HEALTH.keys()
    assert set() == others & {*details, *DROP_MEMBERS.values(), *HEALTH}
    assert set() == {*DROP_MEMBERS.values(), *HEALTH} & details.keys()


def test_old_and_future_minutes_are_written():
    """Replay may be asked for any time; the age of a record is judged when it is sent."""
    for minute_ms in (0, 60_000, 946_684_800_000, 4_102_444_800_000):
        (line,) = lines(dataclasses.replace(full(4), minute_ms=minute_ms), "cluster")
        assert minute_ms == json.loads(line)["_aws"]["Timestamp"] == parse(line).minute_ms


def test_variables_of_the_library_change_nothing():
    """AWS_EMF_* variables meant for another program must not take our metrics away."""
    program = (
        "from emitter.lines import Lines, LineSettings; from neuron_wire import MinuteRecord\n"
        "record = MinuteRecord('blue', 'i-1', '0', 1, 60000, 60.0, 1, 'b', (50.0,), (0,))\n"
        "print(Lines(LineSettings()).minute(record)[0])"
    )
    environment = {
        "PYTHONPATH": ":".join(sys.path),
        "AWS_EMF_DISABLE_METRIC_EXTRACTION": "true",
        "AWS_EMF_NAMESPACE": "Other",
        "AWS_EMF_ENVIRONMENT": "EC2",
    }
    made = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert [] == violations(made.stdout.strip())
    assert "Neuron" == json.loads(made.stdout)["_aws"]["CloudWatchMetrics"][0]["Namespace"]


def busy_report(**values):
    """A report with every group, a number of which can be replaced."""
    return report(
        runtime(
            counters([50.0, 0.0], effective_flops={0: values.pop("flops", 1e12)}),
            memory({0: 1}, host=values.pop("host", 1), device=values.pop("device", 1)),
            executions(
                values.pop("completed", 1),
                total={"p50": values.pop("p50", 0.1), "p99": values.pop("p99", 0.1)},
                device={"p50": 0.1, "p99": 0.1},
                timed_out=values.pop("timed_out", 0),
                causes={"generic": values.pop("generic", 0)},
            ),
        ),
        system_data={
            "memory_info": host_memory(used=values.pop("used", 1)),
            "vcpu_usage": vcpu(user=values.pop("user", 1)),
            "neuron_hw_counters": hardware_counters({"mem_ecc_corrected": values.pop("ecc", 1)}),
        },
        neuron_hardware_info=hardware(1, 4, neuron_device_memory_size=values.pop("size", 1 << 30)),
    )


NUMBERS = "flops host device completed p50 p99 timed_out generic used user ecc size"
STRANGE = (
    st.sampled_from([1e308, -1e308, -1, 1 << 62, (1 << 63) - 1, 1 << 63, 1 << 64, 10**30, 5e-324])
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
)


@given(st.lists(st.dictionaries(st.sampled_from(NUMBERS.split()), STRANGE), min_size=1, max_size=3))
def test_no_number_in_a_report_keeps_a_minute_from_being_written(documents):
    """One absurd number costs itself or its group: the minute is written, extracted and read."""
    record = minute_of(*(busy_report(**values) for values in documents))
    (line,) = lines(record, "cluster")
    assert [] == violations(line)
    assert "b" == parse(line).core_state[0]


def test_a_minute_from_reports_is_written_whole():
    """From a report to the line, every group it had is in the line."""
    fold = new_fold()
    for second in range(0, 60, 5):
        add(fold, busy_report(), 1_800_000_000.0 + second)
    found = json.loads(lines(closed(fold), "cluster")[0])
    expected = {
        "BusyCores": 1, "Executions": 12, "ExecutionErrors": 0, "LatencyP50Mean": 0.1,
        "TeraFlops": 1, "DeviceMemoryUsed": 1, "DeviceMemoryTotal": 1 << 30, "HostCpuPercent": 1,
        "EccCorrected": 1, "CoveredSeconds": 60, "Reports": 12,
    }  # fmt: skip
    assert expected == {name: found.get(name) for name in expected}
