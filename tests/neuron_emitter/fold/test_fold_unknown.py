"""Unknown cores and their reasons: devices that are not visible, reports of another shape."""

from __future__ import annotations

import copy

import pytest

from neuron_wire.names import UNKNOWN_REASONS
from tests.neuron_emitter.neuron_reports import (
    REPORTS_START_S,
    add,
    closed,
    counters,
    events_of,
    hardware,
    hardware_counters,
    instance,
    memory,
    minute_of,
    new_fold,
    no_runtimes,
    report,
    runtime,
)

SEEN = {"neuron_hw_counters": hardware_counters({"mem_ecc_corrected": 3})}
OUT_OF_SIGHT = {
    "count 0": {"neuron_hardware_info": hardware(0, 4)},
    "null": {"system_data": {"neuron_hw_counters": {"neuron_devices": None, "error": ""}}},
    "error": {"neuron_hardware_info": hardware(0, 4, error="no driver")},
}
IDLE_RUNTIME = runtime(counters([0, 0, 0, 0]), memory({0: 1}))


def names_of(events):
    """Return the names of the events."""
    return [event.name for event in events]


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.parametrize("gone", OUT_OF_SIGHT)
def test_devices_out_of_sight_leave_cores_unknown(gone, is_restarted):
    """
    If the devices are not visible, cores are unknown, and one event reports it.

    Memory and ECC are absent, and idle minutes do not change. A restart with the same spool changes
    none of this.
    """
    events = []
    fold = new_fold(on_event=events.append)
    in_sight = report(IDLE_RUNTIME, system_data=SEEN)
    for minute in range(6):
        document = report(**OUT_OF_SIGHT[gone]) if minute in {1, 2, 4} else in_sight
        for second in range(0, 60, 5):
            add(fold, document, REPORTS_START_S + 60 * minute + second)
        record = closed(fold, minute + 1)
        if document is in_sight:
            assert "auuu" == record.core_state
            continue
        assert "????" == record.core_state
        assert "devices-not-seen" == record.unknown_reason
        assert 0 == record.covered_seconds
        assert (1, 1, 1, 1) == record.idle_minutes[:4] or minute == 4
        assert record.device_memory_used_bytes is None
        assert record.executions is None
        assert record.number("EccCorrected") is None
        if is_restarted:
            fold = new_fold(fold.encode_state(), on_event=events.append)
    assert (3, 3, 3, 3) == record.idle_minutes
    expected = [] if gone == "error" else ["DevicesNotSeen"] * 2
    assert expected == [name for name in names_of(events) if name == "DevicesNotSeen"]


@pytest.mark.parametrize(
    "members",
    [
        {"neuron_hardware_info": None},
        {"neuron_hardware_info": hardware(None, None)},
        *OUT_OF_SIGHT.values(),
    ],
)
def test_devices_that_were_never_seen_have_no_memory(members):
    """Without a driver, an instance has the cores of its type, unknown, and no memory members."""
    record = minute_of(*[report(instance_info=instance("inf1.2xlarge"), **members)] * 12)
    assert "????" == record.core_state
    assert "devices-not-seen" == record.unknown_reason
    assert record.device_memory_used_bytes is None
    assert record.number("RuntimeHostMemory") is None


def busy(uses=None, **groups):
    """Return a report of four busy cores with memory; *uses* and *groups* change its shape."""
    group = counters([50, 50, 50, 50])
    if uses is not None:
        group["neuroncores_in_use"] = uses
    document = copy.deepcopy(report(runtime(group, memory(dict.fromkeys(range(4), 1)))))
    document["neuron_runtime_data"][0]["report"].update(groups)
    return document


def renamed_counters():
    """Return a report whose counters have another name, like those of Neuron 1.x."""
    document = busy()
    groups = document["neuron_runtime_data"][0]["report"]
    groups["nc_counters"] = groups.pop("neuroncore_counters")
    return document


HALF_BUSY = {"neuroncore_utilization": 50}
UNKNOWN_SHAPES = [
    # report, states, reason, words of the event
    (
        busy({f"nc{core}": HALF_BUSY for core in range(4)}),
        "????",
        "counters-unreadable",
        "neuroncores_in_use has the key ncN",
    ),
    (
        busy({"0": HALF_BUSY, "nd0:nc1": HALF_BUSY}),
        "b???",
        "counters-unreadable",
        "neuroncores_in_use has the key ndN:ncN",
    ),
    (
        busy({"0": {"utilization": 50}, "1": {"utilization": 50}}),
        "????",
        "counters-unreadable",
        "neuroncore_utilization is missing",
    ),
    (
        busy({"0": {"neuroncores": {"0": HALF_BUSY}}}),
        "????",
        "counters-unreadable",
        "neuroncore_utilization is missing",
    ),
    (busy({}), "????", "counters-missing", "neuroncores_in_use is missing or lists no core"),
    (
        busy(neuroncore_counters={"period": 5.0, "error": ""}),
        "????",
        "counters-missing",
        "neuroncores_in_use is missing or lists no core",
    ),
    (renamed_counters(), "????", "counters-missing", "neuroncore_counters is missing"),
    (
        report(neuron_runtime_data=None),
        "????",
        "counters-missing",
        "neuron_runtime_data is missing",
    ),
    (
        busy(neuroncore_counters=7),
        "????",
        "counters-unreadable",
        "neuroncore_counters has a value of another type",
    ),
    (
        busy({str(core): HALF_BUSY for core in range(8)}),
        "bbbbbbbb",
        None,
        "neuroncores_in_use lists 8 cores, neuron_hardware_info counts 4",
    ),
]


@pytest.mark.parametrize("case", UNKNOWN_SHAPES, ids=[case[3] for case in UNKNOWN_SHAPES])
def test_a_report_of_an_unknown_shape_is_one_event_and_no_idle_core(case):
    """
    A report of an unknown shape makes no core idle, and one event per shape and boot.

    The event names the missing or new member.
    """
    document, states, reason, shape = case
    record = minute_of(*[document] * 12)
    assert states == record.core_state
    assert reason == record.unknown_reason
    events = events_of(*[[document] * 12] * 3)
    assert ["ReportShapeUnknown"] == names_of(events)
    assert shape in events[0].message
    assert shape.startswith(str(events[0].details["Member"]))


def test_another_count_of_cores_within_a_boot_is_an_event():
    """Another core count within one boot is an event."""
    more = report(IDLE_RUNTIME, neuron_hardware_info=hardware(2, 4))
    (event,) = events_of([report(IDLE_RUNTIME), more, more])
    assert "neuron_hardware_info counts 8 cores, before 4" in event.message


@pytest.mark.parametrize(
    ("reports", "settings", "expected"),
    [
        ([], {}, None),
        ([report(runtime(counters([50] * 4, 0.07)))], {}, "no-recent-sample"),
        ([no_runtimes(neuron_runtime_data="none")], {}, "counters-unreadable"),
        ([report()], {"only_matched": True}, "tag-filter"),
        (
            [report(runtime(counters([9, 0, 0, 0]), memory({0: 1})))],
            {"only_matched": True},
            "tag-filter",
        ),
        # Each reason has two cores: the first reason in the list wins.
        (
            [
                report(
                    runtime(counters([None, None]), memory()),
                    runtime(None, memory({2: 1, 3: 1}), pid=2),
                )
            ],
            {},
            "counters-missing",
        ),
        (
            [
                report(
                    runtime(counters([None, None, None]), memory()),
                    runtime(counters([0, 0, 0, 0], 0.1), memory({3: 1}), pid=2),
                )
            ],
            {},
            "counters-unreadable",
        ),
    ],
)
def test_the_reason_of_most_unknown_cores_is_in_the_minute(reports, settings, expected):
    """The minute has the reason of most unknown cores; in a tie, the first in the list."""
    fold = new_fold(**settings)
    fold.clock.open_minute(REPORTS_START_S)
    for document in reports:
        add(fold, document, REPORTS_START_S)
    record = closed(fold)
    assert expected == record.unknown_reason
    assert expected in {None, *UNKNOWN_REASONS}
    fold.clock.open_minute(REPORTS_START_S + 60)
    without_report = closed(fold, 2)
    assert (without_report.unknown_reason == "monitor-not-running") == bool(reports)
