"""The script's series on the same reports: equal, or in a list with the reason."""

from __future__ import annotations

import math

import pytest
from neuron_reports import (
    counters,
    executions,
    hardware,
    hardware_counters,
    host_memory,
    instance,
    memory,
    report,
    runtime,
    runtime_vcpu,
    vcpu,
)
from scraped import PlayedPage, script_text, series_of, simulated, types_of, value

MIB = 1 << 20
UTILIZATION = "neuroncore_utilization_ratio"


@pytest.mark.parametrize(
    ("instance_type", "scenario"),
    [
        *(("inf2.xlarge", scenario) for scenario in ("busy", "low", "idle", "errors", "empty")),
        ("trn1.32xlarge", "many-runtimes"),
        ("trn2.48xlarge", "half-idle"),
    ],
)
def test_every_series_of_the_script_is_here_with_its_value_and_type(instance_type, scenario):
    """
    But for the moments in which its counters were made, and without memory errors.

    Of ours nothing is beside them but what begins with `neuron_emf_`.
    """
    documents = simulated(instance_type, scenario)
    theirs = script_text(documents)
    played = PlayedPage()
    played.read(*documents)
    played.close()
    expected = {
        key: number
        for key, number in series_of(theirs).items()
        if not key[0].endswith("_created") and key[0] != "hardware_ecc_events_total"
    }
    ours = {
        key: number
        for key, number in played.series().items()
        if not key[0].startswith("neuron_emf_") and key[0] != "hardware_ecc_events_total"
    }
    assert expected.keys() == ours.keys()
    assert {} == {
        key: (number, ours[key])
        for key, number in expected.items()
        if not math.isclose(number, ours[key], rel_tol=1e-12)
    }
    types = types_of(played.page.text().decode())
    made = {name: kind for name, kind in types_of(theirs).items() if not name.endswith("_created")}
    assert made == {name: types[name] for name in made}


def test_memory_errors_have_the_scripts_names_and_labels():
    """Counters of every device that the report tells, whatever they say."""
    documents = simulated("trn1.32xlarge", "ecc")
    played = PlayedPage()
    played.read(*documents)
    name = "hardware_ecc_events_total"
    assert series_of(script_text(documents), name).keys() == played.series(name).keys()


def of_two_containers(percent):
    """Runtimes with the tag that an unset one has in every container, 63 MiB each."""
    return [
        runtime(counters(shares), memory({core: 63 * MIB}), pid=core, tag="1")
        for core, shares in enumerate(percent)
    ]


SHARED_TAG = report(*of_two_containers([[90.0, 0], [0, 0], [0, 0], [0, 0]]))
ONE = runtime(counters([50.0]), memory({0: 63}), executions(3), runtime_vcpu(), tag="t")
LATENCIES = dict.fromkeys(("p0", "p1", "p25", "p50", "p75", "p99", "p100"), 0.5)


def ecc(*values):
    """A report for each value of one counter."""
    groups = [hardware_counters({"mem_ecc_corrected": value}) for value in values]
    return [report(system_data={"neuron_hw_counters": group}) for group in groups]


DIFFERENCES = [
    (
        "runtimes that share a tag overwrite each other: the last one's memory stands for all",
        [SHARED_TAG],
        ("neuron_runtime_memory_used_bytes", {"memory_location": "neuron_device"}),
        63.0 * MIB,
        252.0 * MIB,
    ),
    (
        "and so does the 0 of a runtime that does not use the busy core",
        [SHARED_TAG],
        (UTILIZATION, {"neuroncore": "0"}),
        0.0,
        0.9,
    ),
    (
        "what each report says of memory errors is added up",
        ecc(2, 2, 2, 3),
        ("hardware_ecc_events_total", {"event_type": "mem_ecc_corrected"}),
        9.0,
        1.0,
    ),
    (
        "a runtime that has ended keeps its series for ever",
        [report(ONE), report(), report()],  # soon after counters an empty list says nothing yet
        (UTILIZATION, {"runtime_tag": "t"}),
        0.5,
        None,
    ),
    (
        "a group in error keeps the values of an earlier report",
        [report(ONE), report(runtime(counters([90.0], error="driver"), tag="t"))],
        (UTILIZATION, {"runtime_tag": "t"}),
        0.5,
        None,
    ),
    (
        "a latency stays when nothing runs any more",
        [
            report(runtime(execution_stats=executions(n, total=t)))
            for n, t in ((3, LATENCIES), (0, None))
        ],
        ("execution_latency_seconds", {"percentile": "p99"}),
        0.5,
        None,
    ),
    (
        "the first sample covers milliseconds, and its percentages are noise",
        [report(runtime(counters([97.0], period=0.06)))],
        (UTILIZATION, {"neuroncore": "0"}),
        0.97,
        None,
    ),
    (
        "inf1 says 0 bytes while models are loaded: it does not measure them",
        [report(runtime(counters([97.0]), memory({}, [(0, 0)], device=0)))],
        ("neuron_runtime_memory_used_bytes", {"memory_location": "neuron_device"}),
        0.0,
        None,
    ),
    (
        "an error that a newer tool names would be one more value of a label",
        [report(runtime(execution_stats=executions(1, causes={"cosmic": 4})))],
        ("execution_errors_total", {"error_type": "other"}),
        None,
        4.0,
    ),
    (
        "the labels are those of the first report, also when the metadata service answers later",
        [report(ONE, instance_info=instance(instance_id="")), report(ONE)],
        (UTILIZATION, {"instance_id": "i-0123456789abcdef0"}),
        None,
        0.5,
    ),
    (
        "more than the whole core cannot be",
        [report(runtime(counters([250.0])))],
        (UTILIZATION, {"neuroncore": "0"}),
        2.5,
        1.0,
    ),
]


@pytest.mark.parametrize(
    ("reason", "documents", "series", "theirs", "ours"),
    DIFFERENCES,
    ids=[difference[0] for difference in DIFFERENCES],
)
def test_where_a_series_differs_the_script_is_wrong_or_guesses(
    reason, documents, series, theirs, ours
):
    """What it shows, what we show, and why: the whole list."""
    name, labels = series
    played = PlayedPage()
    played.read(*documents)
    assert reason
    assert theirs == value(series_of(script_text(documents)), name, **labels)
    assert ours == value(played.series(), name, **labels)


def test_a_report_without_a_name_of_the_instance_ends_the_script_alone():
    """`instance_name` needs a permission of its own; without it the label is empty here."""
    info = instance()
    del info["instance_name"]
    document = report(ONE, instance_info=info)
    with pytest.raises(KeyError, match="instance_name"):
        script_text([document])
    played = PlayedPage()
    played.read(document)
    assert 0.5 == value(played.series(), UTILIZATION, region="us-west-2")


def test_what_nobody_told_is_absent_and_what_was_told_stands_for_30_s():
    """A group need not be in every report; after two of the longest periods it counts no more."""
    played = PlayedPage()
    system = {"vcpu_usage": vcpu(user=10.0, nice=None), "memory_info": host_memory(used=None)}
    played.read(report(ONE, system_data=system, neuron_hardware_info=hardware(1, 4)))
    played.read(*[report(runtime(counters([60.0]), tag="t"), system_data=None)] * 6)
    series = played.series()
    assert (0.6, 0.1) == (
        value(series, UTILIZATION),
        value(series, "system_vcpu_usage_ratio", usage_type="user"),
    )
    assert {63.0} == {
        value(series, "neuron_runtime_memory_used_bytes", memory_location="neuron_device")
    }
    assert None is value(series, "system_memory_used_bytes")
    played.now_s += 1
    series = played.series()
    assert 0.6 == value(series, UTILIZATION)
    assert {None} == {
        value(series, "neuron_runtime_memory_used_bytes", memory_location="neuron_device"),
        value(series, "system_vcpu_usage_ratio", usage_type="user"),
        value(series, "execution_status_total", status_type="completed"),
    }


def test_when_neuron_monitor_ends_so_do_the_values():
    """The script serves the last ones until somebody stops it."""
    played = PlayedPage()
    played.read(report(ONE))
    played.now_s += 31
    names = {name for name, _ in played.series() if not name.startswith("neuron_emf_")}
    assert {"instance_info", "neuron_hardware_info"} == names


def test_a_line_on_which_runtimes_were_not_due_takes_nothing_away():
    """An empty list soon after counters is none of those that say that no runtime exists."""
    played = PlayedPage()
    played.read(report(ONE), report())
    assert 0.5 == value(played.series(), UTILIZATION)
    played.read(report())
    assert None is value(played.series(), UTILIZATION)


def test_a_failed_runtime_hides_the_zeros_of_those_that_share_its_tag():
    """What it did is unknown, and 0 is not."""
    whole, failed = (
        runtime(counters([80.0, 0]), pid=1, tag="1"),
        runtime(counters([0, 0], error="driver"), pid=2, tag="1"),
    )
    played = PlayedPage()
    played.read(report(whole, failed))
    series = played.series()
    assert (0.8, None) == tuple(value(series, UTILIZATION, neuroncore=core) for core in "01")


def test_a_counter_begins_anew_with_the_runtime():
    """Two reports of 3, gone, then one of 3: what Prometheus takes for a reset."""
    name, played = "execution_status_total", PlayedPage()
    played.read(report(ONE), report(ONE))
    assert 6.0 == value(played.series(), name, status_type="completed")
    played.read(report(runtime(counters([0]), tag="another")), report(ONE))
    assert 3.0 == value(played.series(), name, status_type="completed")
