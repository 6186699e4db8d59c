"""The alarms on the pipeline over synthetic histories."""

from __future__ import annotations

import math

import pytest

from tests.stack.metric_points import ToldMinutes, ringing, tell
from tests.stack.stated_alarms import ALARMS, TEMPLATE, description_of, each

ON_PIPELINE = {
    name: alarm
    for name, alarm in ALARMS.items()
    if alarm.namespace != "Neuron/Cluster" and alarm.missing == "notBreaching"
}

# --- the stack itself ---


@pytest.fixture
def closing():
    """The alarm on minutes that are not closed."""
    return ALARMS["NoMinuteClosedAlarm"]


def closed(told, alarm, counts, late_s):
    """How many minutes each tick closed, None where close did not run."""
    metric = (alarm.source.namespace, alarm.source.metric, dict(alarm.source.dimensions))
    for minute, count in enumerate(counts):
        if count is not None:
            told.tell(metric, minute, count, late_s)


@pytest.mark.parametrize("late_s", [0.0, 60.0, 90.0])
@pytest.mark.parametrize(
    ("stopped", "after", "words"),
    [(None, 12, "has not run for 12 or more"), (0, 10, "No minute was closed for 10 minutes")],
)
def test_a_stack_that_stops_rings_after_the_minutes_it_says(closing, late_s, stopped, after, words):
    """
    A last good point keeps it OK while it is in range, where there is none; it ends with the next.
    """
    assert words in description_of(TEMPLATE["Resources"]["NoMinuteClosedAlarm"]["Properties"])
    told = ToldMinutes()
    closed(told, closing, [1] * 30 + [stopped] * 30 + [1] * 20, late_s)
    found = [minute for minute in ringing(closing, told, 80) if minute >= 15]
    assert 29 + after <= found[0] <= 29 + after + math.ceil(late_s / 60)
    assert list(range(found[0], found[-1] + 1)) == found
    assert 59 <= found[-1] <= 61 + late_s // 60


def test_ticks_that_are_missed_and_made_up_for_do_not_ring(closing):
    """A failed run, two minutes closed by the next, nine minutes of nothing."""
    told = ToldMinutes()
    closed(told, closing, [1] * 20 + [None, 2, 0, 2, None, None, 3] + [None] * 9 + [10] * 20, 60.0)
    assert not any(minute >= 15 for minute in ringing(closing, told, 55))


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


@each({name: one for name, one in ON_PIPELINE.items() if one.datapoints_to_alarm > 1})
def test_what_is_tried_again_may_fail_once(alarm):
    """One bad minute of an hour is the business of the next attempt."""
    assert not pipeline(alarm, "g" * 30 + "b" + "g" * 29)


def test_one_period_is_enough_where_nothing_tries_again():
    """Lost metrics, refused deliveries and what waits for a person."""
    at_once = {name for name, one in ON_PIPELINE.items() if one.datapoints_to_alarm == 1}
    of_emf = {"EmfErrorsAlarm", "EmfDisabledAlarm"}
    assert of_emf | {"DeliveryErrorsAlarm", "UndeliveredAlarm"} == at_once
    for name in at_once:
        assert pipeline(ALARMS[name], "-" * 30 + "b" + "-" * 29), name


def test_trouble_of_another_filter_or_group_is_not_ours():
    """A query selects by the dimensions that it names, and only by those."""
    alarm = ALARMS["DeliveryErrorsAlarm"]
    own = dict(alarm.source.where)
    for changed in ({"FilterName": "theirs"}, {"LogGroupName": "/theirs"}):
        told = ToldMinutes()
        metric = ("AWS/Logs", "DeliveryErrors", {"DestinationType": "any", **own, **changed})
        for minute in range(30):
            told.tell(metric, minute, 5.0, 0.0)
        assert [] == ringing(alarm, told, 30)
