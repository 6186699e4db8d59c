"""
docs/how-to/quiet-hours.md mutes the nights and nothing else, and its filter lets the rest pass.
"""

from __future__ import annotations

import itertools
import json
import re
from datetime import datetime, timedelta, timezone

import pytest
from dateutil.zoneinfo import get_zonefile_instance
from moto.sns.utils import FilterPolicyMatcher

from neuron_wire.catalogue import ROLLUP
from tests.docs.aws_calls import calls_of
from tests.docs.shown_blocks import DOCS, blocks_of, files_of
from tests.stack.template_resources import of_type

PAGE = DOCS / "how-to" / "quiet-hours.md"
FILES = {name: json.loads(text) for name, text in files_of(PAGE).items()}
DAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
CRON = re.compile(r"cron\((\d+) (\d+) \* \* (\w{3})(?:-(\w{3}))?\)")
MONDAY = datetime(2026, 11, 16, tzinfo=timezone.utc)  # stands for local time
DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?")


def windows(schedule, monday):
    """Begin and end of what a schedule mutes in the week of a Monday, in its own time zone."""
    minute, hour, first, last = CRON.fullmatch(schedule["Expression"]).groups()
    days, hours, minutes = (
        int(one or 0) for one in DURATION.fullmatch(schedule["Duration"]).groups()
    )
    length = timedelta(days=days, hours=hours, minutes=minutes)
    for day in range(DAYS.index(first), DAYS.index(last or first) + 1):
        begin = monday + timedelta(days=day, hours=int(hour), minutes=int(minute))
        yield begin, begin + length


def test_working_hours_stay_loud_and_everything_else_is_quiet():
    """Monday to Friday, 07:00 to 20:00, minute by minute; no minute is muted twice."""
    rules = [FILES[name]["Schedule"] for name in ("nights.json", "weekend.json")]
    muted = [
        window
        for week in (MONDAY - timedelta(weeks=1), MONDAY)
        for rule in rules
        for window in windows(rule, week)
    ]
    for minute in range(7 * 24 * 60):
        now = MONDAY + timedelta(minutes=minute)
        by = sum(begin <= now < end for begin, end in muted)
        assert by == (now.weekday() > 4 or not 7 <= now.hour < 20), now


def test_both_rules_are_of_one_time_zone_that_exists():
    """One that begins an hour earlier than the other would leave a gap or an overlap."""
    (zone,) = {FILES[name]["Schedule"]["Timezone"] for name in ("nights.json", "weekend.json")}
    assert get_zonefile_instance().get(zone) is not None


def attributes(**values):
    """Message attributes as SNS has them."""
    return {name: {"Type": "String", "Value": value} for name, value in values.items()}


@pytest.mark.parametrize(
    ("found", "passes"),
    [
        (attributes(Muted="false", State="ALARM", ClusterName="training"), True),
        (attributes(Muted="true", State="ALARM", ClusterName="training"), False),
        ({}, False),  # CloudWatch's own message: why one subscription has no filter
    ],
)
def test_the_filter_drops_what_is_muted(found, passes):
    """And, as the page warns, what CloudWatch says itself."""
    policy = FILES["awake.json"]
    assert passes == FilterPolicyMatcher(policy, None).matches(found, "")


def test_filters_name_attributes_that_messages_have(repository):
    """Of explain, by their names there."""
    source = (repository / "lambda" / "aggregator" / "explain" / "message.py").read_text("utf-8")
    shown = [json.loads(block.text) for block in blocks_of(PAGE) if block.language == "json"]
    filters = [one for one in shown if "Schedule" not in one]
    assert 2 == len(filters)
    for name in itertools.chain.from_iterable(filters):
        assert f'"{name}": ' in source


def test_the_first_step_finds_the_alarms_that_may_be_muted(template):
    """
    Idle cores, idle cost and low utilization, on one cluster or all, and none of the pipeline's.
    """
    selections = []
    for call in calls_of(PAGE):
        if call[1] == "describe-alarms" and "--state-value" not in call:
            prefix = call[call.index("--alarm-name-prefix") + 1].removeprefix("neuron-emf-")
            part = re.search(r"'(\w+)'", call[call.index("--query") + 1])
            selections.append((prefix, part[1] if part else ""))
    names = of_type(template["Resources"], "AWS::CloudWatch::Alarm")
    found = {
        name
        for name in names
        if any(name.startswith(prefix) and part in name for prefix, part in selections)
    }
    stems = ("IdleCores", "IdleCost", "LowUtilization")
    assert {f"{stem}Alarm" for stem in stems} == found
    assert {"IdleCorePercent", "IdleCostPerHour", "NeuronCoreUtilization"} <= set(ROLLUP)


def values_of(operation, option):
    """The values of an option in every call of an operation."""
    return [call[call.index(option) + 1] for call in calls_of(PAGE) if call[1] == operation]


def test_what_is_made_is_deleted():
    """The last step takes every rule and the filter away."""
    made = values_of("put-alarm-mute-rule", "--name")
    deleted = values_of("delete-alarm-mute-rule", "--alarm-mute-rule-name")
    assert set(made) == set(deleted)
    filters = values_of("set-subscription-attributes", "--attribute-value")
    assert ["file://awake.json", "{}"] == filters
