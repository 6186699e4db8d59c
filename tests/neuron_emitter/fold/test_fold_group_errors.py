"""Events for errors of report groups, at most once an hour and not in every report."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.neuron_emitter.neuron_reports import (
    REPORTS_START_S,
    add,
    closed,
    counters,
    events_of,
    new_fold,
    report,
    runtime,
    runtime_vcpu,
    vcpu,
    whole,
)

SILENT_ERROR = "open /proc/4711/stat: no such file or directory"


def report_with_error(text):
    """Return a report whose vCPU group has the error *text*."""
    return report(system_data={"vcpu_usage": vcpu(error=text)})


def test_an_error_of_a_sidecar_is_one_event():
    """
    The errors of four runtimes in a sidecar are one event, although every report has them.

    A sidecar's process namespace does not see the runtimes' processes.
    """
    entries = [
        runtime(
            counters([0]), None, None, runtime_vcpu(error=f"open /proc/{pid}/stat: none"), pid=pid
        )
        for pid in (11, 12, 13, 14)
    ]
    (event,) = events_of(*[[report(*entries)] * 12] * 5)
    assert "GroupError" == event.name
    assert REPORTS_START_S == event.at_s
    expected = {"Group": "neuron_runtime_vcpu_usage", "Error": "open /proc/N/stat: none"}
    assert {**expected, "Count": 1} == event.details


def test_an_error_of_a_whole_runtime_has_its_own_name():
    """An error of a whole runtime is a RuntimeError, because it puts all its groups in doubt."""
    broken, well = (report(runtime(error=text)) for text in ("lost the connection", ""))
    events = events_of([broken], [well])
    assert ["RuntimeError", "RuntimeErrorCleared"] == [event.name for event in events]
    assert "runtime" == events[0].details["Group"]


@settings(max_examples=50)
@given(st.lists(st.booleans(), min_size=1, max_size=200))
def test_events_of_one_error_are_at_most_two_an_hour(minutes):
    """An error that comes and goes has at most one event and one clearing event an hour."""
    events = events_of(*[[report_with_error(SILENT_ERROR if is_bad else "")] for is_bad in minutes])
    for name in ("GroupError", "GroupErrorCleared"):
        times = [event.at_s for event in events if event.name == name]
        assert all(later - earlier >= 3600 for earlier, later in pairwise(times))
    assert len(events) <= 2 * (len(minutes) // 60 + 1)
    if events:
        assert "GroupError" == events[0].name


def event_names_of(*moments):
    """
    Return the names of events if each report is in a minute of its own.

    Each moment is a pair of seconds and error text.
    """
    events = []
    fold = new_fold(on_event=events.append)
    for at_s, text in moments:
        add(fold, report_with_error(text), REPORTS_START_S + at_s)
        closed(fold)
    return [event.name for event in events]


def test_an_error_that_stays_is_repeated_after_an_hour_and_cleared_then():
    """An error that stays is repeated after an hour, not earlier. Both events are cleared."""
    names = event_names_of(
        (0, SILENT_ERROR), (3599.5, SILENT_ERROR), (3600, SILENT_ERROR), (3601, "")
    )
    assert ["GroupError", "GroupError", "GroupErrorCleared"] == names


FAILING_RUNTIME_GROUPS = (
    "neuroncore_counters",
    "execution_stats",
    "memory_used",
    "neuron_runtime_vcpu_usage",
)
FAILING_SYSTEM_GROUPS = ("neuron_hw_counters", "vcpu_usage", "memory_info")
WHOLE_GROUPS = ("instance_info", "neuron_hardware_info", "neuron_k8s_info")


@pytest.mark.parametrize("group", [*FAILING_RUNTIME_GROUPS, *FAILING_SYSTEM_GROUPS, *WHOLE_GROUPS])
def test_the_error_of_every_group_is_an_event(group):
    """An error of any group is one event with the group's name."""
    document = whole()
    if group in FAILING_RUNTIME_GROUPS:
        holder = document["neuron_runtime_data"][0]["report"]
    else:
        holder = document["system_data"] if group in FAILING_SYSTEM_GROUPS else document
    holder[group]["error"] = "no permission"
    (event,) = events_of([document] * 2)
    assert "GroupError" == event.name
    assert group == event.details["Group"]


@pytest.mark.parametrize(
    "texts",
    [
        [letter * 100_000 for letter in "abcdefghijklmnopqrst"],
        ["x" * 400 + str(number) for number in range(3000)],
    ],
)
def test_memory_for_error_texts_is_bounded(texts):
    """Memory for error texts is bounded: 2 MB of long texts, and 1.2 MB that differ in a number."""
    fold = new_fold()
    add(fold, report_with_error("begin"), REPORTS_START_S)
    tracemalloc.start()
    try:
        for text in texts:
            add(fold, report_with_error(text), REPORTS_START_S)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 600_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (SILENT_ERROR, "open /proc/N/stat: no such file or directory"),
        ("input/output error 5", "input/output error N"),
        ('cannot read "acme-secret.neff"', "cannot read ..."),
        ("cannot read /home/acme/model.neff", "cannot read ..."),
        ("cannot read models/acme/model.neff", "cannot read ..."),
        ("token eyJhbGciOiJIUzI1NiIsInR5cCI6 refused", "token ... refused"),
        ("GET http://169.254.169.254/latest failed", "GET ... failed"),
        ("two\nlines\x1b[0m", "two lines [Nm"),
        ("wörtlich", "w rtlich"),
    ],
)
def test_a_text_is_shown_without_names_of_customers(text, shown):
    """The event has no paths, model names, tokens or addresses, because they identify customers."""
    (event,) = events_of([report_with_error(text)])
    assert shown == event.details["Error"]
    assert event.message.endswith(f"of group vcpu_usage: {shown}")
