"""
The page for Prometheus: its names, its values compared with the fold, and its limits.

The script's names, types and labels are those of public copies of neuron-monitor-prometheus.py.
"""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.prometheus.page_metrics import (
    BUILD,
    MAX_RUNTIMES_SCRAPED,
    OF_MINUTE,
    OF_REPORT,
    SCRIPT_METRICS,
)
from tests.neuron_emitter.neuron_reports import (
    counters,
    executions,
    hardware,
    hardware_counters,
    host_memory,
    memory,
    report,
    runtime,
    runtime_vcpu,
    vcpu,
)
from tests.neuron_emitter.prometheus.page_player import PlayedPage, types_of, value
from tests.programs import run_program

UTILIZATION_SERIES = "neuroncore_utilization_ratio"

HALF_IDLE = report(
    runtime(counters([80.0, 0, 0, 0]), memory({0: 64, 1: 64}), pid=7),
    neuron_hardware_info=hardware(1, 4),
)


def whole_minutes(played, document, count=1, health=None):
    """Close minutes of twelve reports each; return the last record."""
    record = None
    for _ in range(count):
        played.read(*[document] * 12)
        record = played.close(health)
    return record


# Metrics of the script by their labels, as existing dashboards query them.


def full_page():
    """Return a page with every metric: reports have every group, and a minute has health."""
    system = {
        "vcpu_usage": {**vcpu(user=10.0), "usage_data": {"0": {}, "1": {}}},
        "memory_info": host_memory(),
        "neuron_hw_counters": hardware_counters({"mem_ecc_corrected": 2}),
    }
    played = PlayedPage()
    full = runtime(
        counters([50.0]),
        memory({0: 63}),
        executions(3, total=LATENCIES, causes={"model": 1}),
        runtime_vcpu(),
    )
    document = report(full, system_data=system, neuron_hardware_info=hardware(1, 4))
    whole_minutes(
        played, document, health={**dict.fromkeys(HEALTH_ON_PAGE, 1), "RecordsDropped": 1}
    )
    return played


def test_every_metric_of_the_table_is_on_the_page_with_its_type_and_labels():
    """A full page has every metric of the table, with its type and labels."""
    played = full_page()
    text = played.text()
    table: list[Any] = [*SCRIPT_METRICS, *OF_REPORT, *OF_MINUTE, *BUILD]
    expected = {
        metric.name.removesuffix("_total"): "counter" if metric.name.endswith("_total") else "gauge"
        for metric in table
    }
    assert expected == types_of(text)
    shown = {}
    for name, labels in played.series():
        shown.setdefault(name, set()).update(dict(labels))
    missing = {metric.name: {*metric.labels.split()} - shown[metric.name] for metric in table}
    missing.pop("neuron_hardware_info")  # empty, because the memory size is unknown
    assert not any(missing.values())
    assert 2 == value(played.series(), "system_vcpu_count")


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool was not found")
def test_promtool_reads_the_page():
    """promtool objects to one name only, which neuron-monitor-prometheus.py gave it."""
    ended = run_program(["promtool", "check", "metrics"], input=full_page().text())
    expected = (
        'system_vcpu_count non-histogram and non-summary metrics should not have "_count" suffix'
    )
    assert expected == (ended.stdout + ended.stderr).strip()


HEALTH_ON_PAGE = (
    "ReportsRead",
    "ReportsMalformed",
    "MonitorRestarts",
    "RecordsProduced",
    "RecordsDelivered",
    "SpoolRecords",
    "SpoolBytes",
    "EmitterCpuSeconds",
    "EmitterMemory",
)
LATENCIES = dict.fromkeys(("p0", "p1", "p25", "p50", "p75", "p99", "p100"), 0.5)
PAGE_RUNTIMES = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.lists(st.integers(0, 100).map(float), min_size=4, max_size=4),
        st.integers(0, 1 << 30),
        st.integers(0, 1000),
    ),
    min_size=1,
    max_size=4,
)


@given(PAGE_RUNTIMES)
def test_the_values_are_those_of_the_fold(runtimes):
    """The sums and maxima over tags equal the minute line's values."""
    document = report(
        *(
            runtime(
                counters(percent), memory({0: size}, host=size), executions(n), pid=pid, tag=tag
            )
            for pid, (tag, percent, size, n) in enumerate(runtimes, start=1)
        ),
        neuron_hardware_info=hardware(1, 4),
    )
    played = PlayedPage()
    record = whole_minutes(played, document)
    series = played.series()

    def numbers(name, **labels):
        return [
            number
            for (called, pairs), number in series.items()
            if called == name and labels.items() <= dict(pairs).items()
        ]

    used = "neuron_runtime_memory_used_bytes"
    assert record.device_memory_used_bytes == sum(numbers(used, memory_location="neuron_device"))
    assert record.number("RuntimeHostMemory") == sum(numbers(used, memory_location="host"))
    done = numbers("execution_status_total", status_type="completed")
    assert record.executions == sum(done)
    names = {"b": "busy", "a": "attached_idle", "u": "unattached", "?": "unknown"}
    for letter, name in names.items():
        assert [record.core_state.count(letter)] == numbers("neuron_emf_cores", state=name)
    for core, state in enumerate(record.core_state):
        idle_s = numbers("neuron_emf_core_idle_seconds", neuroncore=str(core))
        assert [60 * record.idle_minutes[core]] == idle_s
        greatest = max(numbers(UTILIZATION_SERIES, neuroncore=str(core)))
        assert max(percent[core] for _, percent, _, _ in runtimes) / 100 == greatest
        assert (state == "b") == (greatest > 0)
        assert [1] == numbers("neuron_emf_core_state", neuroncore=str(core), state=names[state])


ONE = runtime(counters([50.0]), memory({0: 63}), executions(3), runtime_vcpu(), tag="t")


def test_values_not_reported_are_absent_and_reported_values_stay_for_30_s():
    """A value stays for two of the longest periods, 30 s. Then, or if it is null, it is absent."""
    played = PlayedPage()
    system = {"vcpu_usage": vcpu(user=10.0, nice=None), "memory_info": host_memory(used=None)}
    played.read(report(ONE, system_data=system, neuron_hardware_info=hardware(1, 4)))
    played.read(*[report(runtime(counters([60.0]), tag="t"), system_data=None)] * 6)
    series = played.series()
    assert 0.6 == value(series, UTILIZATION_SERIES)
    assert 0.1 == value(series, "system_vcpu_usage_ratio", usage_type="user")
    assert {63.0} == {
        value(series, "neuron_runtime_memory_used_bytes", memory_location="neuron_device")
    }
    assert None is value(series, "system_memory_used_bytes")
    played.now_s += 1
    series = played.series()
    assert 0.6 == value(series, UTILIZATION_SERIES)
    assert {None} == {
        value(series, "neuron_runtime_memory_used_bytes", memory_location="neuron_device"),
        value(series, "system_vcpu_usage_ratio", usage_type="user"),
        value(series, "execution_status_total", status_type="completed"),
    }


def test_each_held_core_has_its_holder():
    """A core has a holder if it is held, and each series has the cluster of the minute line."""
    played = PlayedPage()
    record = whole_minutes(played, HALF_IDLE, 2)
    series = played.series("neuron_emf_")
    assert "bauu" == record.core_state
    holders = [value(series, "neuron_emf_core_holder", neuroncore=str(core)) for core in range(4)]
    assert [1, 1, None, None] == holders
    assert 1 == value(series, "neuron_emf_core_holder", neuroncore="1", owner="owner-7")
    assert {"blue"} == {dict(labels).get("cluster", "blue") for _, labels in series}


def test_the_page_is_bounded_and_counts_omitted_runtimes():
    """The page has a maximum number of runtimes, and counts those that it leaves out."""
    crowd = [
        runtime(counters([1.0]), pid=9 + n, tag=f"t{n}") for n in range(MAX_RUNTIMES_SCRAPED + 88)
    ]
    played = PlayedPage()
    played.read(report(*crowd))
    assert MAX_RUNTIMES_SCRAPED == len(played.series(UTILIZATION_SERIES))
    assert 88 == value(played.series(), "neuron_emf_runtimes_left_out")


HOSTILE_NAMES = (
    "neuroncore_counters", "neuroncores_in_use", "period", "error", "0", "9999", "tensors",
    "neuroncore_utilization", "memory_used", "neuron_runtime_used_bytes", "host", "completed",
    "usage_breakdown", "neuroncore_memory_usage", "execution_stats", "execution_summary",
    "error_summary",
)  # fmt: skip
HOSTILE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 60), 1 << 60)
    | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(HOSTILE_NAMES),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(
    st.lists(st.builds(dict, pid=HOSTILE, neuron_runtime_tag=HOSTILE, report=HOSTILE), max_size=3)
)
def test_no_report_breaks_the_page(runtimes):
    """Any report gives a page that a parser can read."""
    played = PlayedPage()
    played.read(report(*runtimes), report(*runtimes))
    played.close()
    assert value(played.series(), "neuron_emf_build_info")
