"""The alarms on clusters over synthetic histories: when each alarm fires, and when it must not."""

from __future__ import annotations

from math import nextafter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aggregator.explain import event as explained
from aggregator.minutes import SILENT_FORGET_MINUTES
from tests.recorded_history import RecordedHistory
from tests.stack.metric_points import (
    POINTS_CLUSTER,
    POINTS_LATE_S,
    minutes_in_alarm,
    put_value,
)
from tests.stack.stack_template import STACK_ALARMS, STACK_TEMPLATE, SUBJECTS, description_of, each

ON_ROLLUPS = {
    name: alarm for name, alarm in STACK_ALARMS.items() if alarm.namespace == "Neuron/Cluster"
}
AT_ONCE = {name: alarm for name, alarm in ON_ROLLUPS.items() if alarm.datapoints_to_alarm == 1}
MOST_LATE_S = 240.0


def alarm_minutes(alarm, pattern, late_s=POINTS_LATE_S):
    """
    Return the minutes at whose end the alarm is in ALARM.

    Each mark of *pattern* is a minute: b has the breaching value nearest to the threshold, g the
    nearest that does not breach, and any other mark has no value.
    """
    history = RecordedHistory()
    limit = alarm.threshold
    is_inclusive = alarm.breaches(limit)
    values = {
        "b": limit if is_inclusive else nextafter(limit, 0),
        "g": nextafter(limit, 0 if is_inclusive else limit + 1),
    }
    metric = (alarm.source.namespace, alarm.source.metric, {"ClusterName": POINTS_CLUSTER})
    for minute, mark in enumerate(pattern):
        if mark in values:
            put_value(history, metric, minute, values[mark], late_s)
    return minutes_in_alarm(alarm, history, len(pattern), POINTS_CLUSTER)


@each(ON_ROLLUPS)
@pytest.mark.parametrize("late_s", [0.0, POINTS_LATE_S, MOST_LATE_S])
def test_a_lasting_fault_fires_although_the_newest_minutes_are_always_missing(alarm, late_s):
    """
    An alarm fires when the M-th point has arrived, even four minutes late, until its cause is over.
    """
    bad_minutes = alarm.evaluation_periods + 10
    needed = alarm.datapoints_to_alarm
    pattern = "g" * 70 + "b" * bad_minutes + "g" * 90
    minutes = alarm_minutes(alarm, pattern, late_s=late_s)
    assert 70 + needed - 1 + late_s // 60 == minutes[0]
    assert list(range(minutes[0], minutes[-1] + 1)) == minutes  # the alarm fires once
    assert 70 + bad_minutes - 1 <= minutes[-1] < 70 + bad_minutes + alarm.evaluation_periods + 10


@each(AT_ONCE)
@pytest.mark.parametrize("late_s", [POINTS_LATE_S, 45 * 60.0])
def test_one_memory_error_fires_even_if_its_line_comes_late(alarm, late_s):
    """
    One memory error fires its alarm even if a restarted host sends its line half an hour late.
    """
    assert alarm_minutes(alarm, "g" * 10 + "b" + "g" * 70, late_s=late_s)


@each(ON_ROLLUPS)
@settings(max_examples=25)
@example(drawn="-" * 120, late_s=POINTS_LATE_S)
@example(drawn="g" * 70 + "-" * 90, late_s=POINTS_LATE_S)
@example(drawn="-" * 70 + "b" + "-" * 70, late_s=POINTS_LATE_S)
@given(
    drawn=st.text("gggb--", min_size=20, max_size=100),
    late_s=st.sampled_from([0.0, POINTS_LATE_S, MOST_LATE_S]),
)
def test_fewer_than_m_bad_minutes_never_fire(alarm, drawn, late_s):
    """
    Fewer than M bad minutes never fire, wherever they are and however late: missing data is not bad
    data.
    """
    pattern = ""
    in_window = alarm.evaluation_periods + 2
    for mark in drawn:
        enough = pattern[-in_window:].count("b") == alarm.datapoints_to_alarm - 1
        pattern += "g" if mark == "b" and enough else mark
    assert [] == alarm_minutes(alarm, pattern, late_s=late_s)


LONGEST_SILENT_AFTER = STACK_TEMPLATE["Parameters"]["SilentAfterMinutes"]["MaxValue"]


@pytest.mark.parametrize(
    ("silent_after", "fires"), [(LONGEST_SILENT_AFTER + 1, False), (LONGEST_SILENT_AFTER, True)]
)
def test_the_longest_silent_after_still_fires(silent_after, fires):
    """
    The longest SilentAfterMinutes leaves the five minutes that the alarm needs before an instance
    is forgotten.
    """
    silent = "g" * silent_after + "b" * (SILENT_FORGET_MINUTES - silent_after)
    assert fires == bool(alarm_minutes(STACK_ALARMS["SilentInstancesAlarm"], silent + "-" * 30))


def test_explain_knows_every_alarm_and_its_page():
    """
    Explain finds every alarm by its metric, and its page anchor is that of the alarm's description.
    """
    anchors = {}
    for subject in SUBJECTS:
        name = f"{subject}Alarm"
        text = description_of(STACK_TEMPLATE["Resources"][name]["Properties"])
        anchors[STACK_ALARMS[name].source.metric] = text.rpartition("#")[2]
    assert anchors == {
        metric: subject.anchor for metric, subject in explained.ALARM_SUBJECTS.items()
    }
