"""The alarms over synthetic histories: when each rings, and above all when not."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.stack.metric_points import CLUSTER, LATE_S, ToldMinutes, ringing, states, tell
from tests.stack.stated_alarms import ALARMS, REPOSITORY, TEMPLATE, each

ON_ROLLUPS = {name: alarm for name, alarm in ALARMS.items() if alarm.namespace == "Neuron/Cluster"}
AT_ONCE = {name: alarm for name, alarm in ON_ROLLUPS.items() if alarm.datapoints_to_alarm == 1}
ON_PIPELINE = {
    name: alarm
    for name, alarm in ALARMS.items()
    if name not in ON_ROLLUPS and alarm.missing == "notBreaching"
}
MOST_LATE_S = 240.0


def rung(alarm, pattern, **how):
    """At the end of which minutes the alarm is in ALARM."""
    told = ToldMinutes()
    tell(told, alarm, pattern, **how)
    return ringing(alarm, told, len(pattern), CLUSTER)


# --- the six on clusters: what rings ---


@each(ON_ROLLUPS)
@pytest.mark.parametrize("late_s", [0.0, LATE_S, MOST_LATE_S])
def test_what_lasts_rings_although_the_newest_minutes_are_always_missing(alarm, late_s):
    """
    As soon as the last of the M points has arrived, and until it is over; four minutes late too.
    """
    bad_minutes = alarm.evaluation_periods + 10
    needed = alarm.datapoints_to_alarm
    pattern = "g" * 70 + "b" * bad_minutes + "g" * 90
    found = rung(alarm, pattern, late_s=late_s)
    assert 70 + needed - 1 + late_s // 60 == found[0]
    assert list(range(found[0], found[-1] + 1)) == found  # one ring, not several
    assert 70 + bad_minutes - 1 <= found[-1] < 70 + bad_minutes + alarm.evaluation_periods + 10


@each(ON_ROLLUPS)
def test_the_runbook_says_how_long_it_takes(alarm):
    """Its table, with rollups two minutes late, what the metric itself waits for included."""
    words = {
        "IdleCorePercent": ("idle cores", 14),  # the 15th idle minute has the offset 14
        "IdleCostPerHour": ("idle cost", 14),
        "NeuronCoreUtilization": ("low utilization", 0),
        "SilentInstances": ("silent instances", 5),
        "HardwareErrors": ("hardware errors", 0),
        "ExecutionErrors": ("execution errors", 0),
    }
    title, first_bad = words[alarm.source.metric]
    text = (REPOSITORY / "docs" / "operations.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| {title} \|.*$", text, re.MULTILINE)
    told_minutes = int(re.search(r"\| (\d+) minutes? after", row)[1])
    found = rung(alarm, "-" * first_bad + "b" * 60, late_s=LATE_S)
    assert found[0] + 1 <= told_minutes <= found[0] + 2
    assert re.search(rf"\b{alarm.threshold:g}\b|\bone\b", row)
    assert f"{alarm.datapoints_to_alarm} of {alarm.evaluation_periods} minutes" in row or (
        alarm.datapoints_to_alarm == 1 and f"in {alarm.evaluation_periods} minutes" in row
    )


@each(AT_ONCE)
@pytest.mark.parametrize("late_s", [LATE_S, 45 * 60.0])
def test_one_memory_error_rings_even_if_its_line_comes_late(alarm, late_s):
    """A host that had to restart sends its lines of half an hour ago."""
    assert rung(alarm, "g" * 10 + "b" + "g" * 70, late_s=late_s)


# --- the six on clusters: what does not ring ---


@each(ON_ROLLUPS)
@settings(max_examples=25)
@example(drawn="-" * 120, late_s=LATE_S)
@example(drawn="g" * 70 + "-" * 90, late_s=LATE_S)
@example(drawn="-" * 70 + "b" + "-" * 70, late_s=LATE_S)
@given(
    drawn=st.text("gggb--", min_size=20, max_size=100),
    late_s=st.sampled_from([0.0, LATE_S, MOST_LATE_S]),
)
def test_fewer_than_m_bad_minutes_never_ring(alarm, drawn, late_s):
    """
    Wherever they lie, however late, whatever is missing between and after them: silence is not bad.
    """
    pattern, in_window = "", alarm.evaluation_periods + 2
    for mark in drawn:
        enough = pattern[-in_window:].count("b") == alarm.datapoints_to_alarm - 1
        pattern += "g" if mark == "b" and enough else mark
    assert [] == rung(alarm, pattern, late_s=late_s)


@each(ON_ROLLUPS)
def test_what_rang_ends_when_nobody_knows_any_more(alarm):
    """Without points the alarm goes back to OK once, and stays there."""
    found = rung(alarm, "b" * 80 + "-" * 90)
    assert list(range(found[0], found[-1] + 1)) == found
    assert found[-1] < 80 + alarm.evaluation_periods + LATE_S // 60 + 2


@each(ON_ROLLUPS)
@settings(max_examples=20)
@given(data=st.data())
def test_copies_of_lines_change_nothing(alarm, data):
    """CloudWatch may extract a line twice, and a crash may print it twice."""
    pattern = data.draw(st.lists(st.sampled_from("bbbg-"), min_size=30, max_size=90))
    copies = [data.draw(st.integers(1, 3)) for _ in pattern]
    once, again = ToldMinutes(), ToldMinutes()
    tell(once, alarm, pattern)
    for minute, (mark, number) in enumerate(zip(pattern, copies, strict=True)):
        tell(again, alarm, ["-"] * minute + [mark], copies=number)
    last = len(pattern)
    assert states(alarm, once, last, CLUSTER) == states(alarm, again, last, CLUSTER)


@each(ON_ROLLUPS)
def test_the_default_grace_leaves_room_for_the_newest_points(alarm):
    """Grace, the wait for the next tick and a minute of extraction fit into N - M minutes."""
    grace_s = TEMPLATE["Parameters"]["GraceSeconds"]["Default"]
    assert (grace_s + 60 + 60) / 60 <= alarm.evaluation_periods - alarm.datapoints_to_alarm


# --- the pipeline ---


def pipeline(alarm, pattern):
    """Whether the alarm rings for a value of each minute; a sum takes whole errors."""
    told = ToldMinutes()
    tell(told, alarm, pattern, late_s=60.0)
    return bool(ringing(alarm, told, len(pattern)))


@each(ON_PIPELINE)
def test_trouble_that_lasts_a_quarter_of_an_hour_rings(alarm):
    """Every alarm on the pipeline, whatever its period."""
    assert pipeline(alarm, "-" * 30 + "b" * 20 + "-" * 10)


@each(ON_PIPELINE)
def test_a_quiet_pipeline_does_not_ring(alarm):
    """Nothing counted, and nothing but the worst good value once in a while."""
    assert not pipeline(alarm, "-" * 60)
    every_ten = "g" + "-" * 9
    assert not pipeline(alarm, every_ten * 6)


def test_one_period_is_enough_where_nothing_tries_again():
    """Lost metrics, refused deliveries and what waits for a person."""
    at_once = {name for name, one in ON_PIPELINE.items() if one.datapoints_to_alarm == 1}
    assert {"EmfErrorsAlarm", "DeliveryErrorsAlarm", "UndeliveredAlarm"} == at_once
    for name in at_once:
        assert pipeline(ALARMS[name], "-" * 30 + "b" + "-" * 29), name
