"""docs/how-to/scaling.md scales on a metric that exists, and is as late as it says."""

from __future__ import annotations

import json
import re

import pytest

from local.alarms import Alarm, MetricSource, RecordedHistory, State, evaluate
from local.alarms.history import SETTLE_S
from local.alarms.template import load
from neuron_wire.catalogue import ROLLUP
from neuron_wire.names import CLUSTER_NAMESPACE
from tests.docs.shown_blocks import DOCS, files_of
from tests.programs import run_program

PAGE = DOCS / "how-to" / "scaling.md"
FILES = files_of(PAGE)
TRACKING, GROUP = (json.loads(FILES[name]) for name in ("tracking.json", "group.json"))
NAME = {"ClusterName": "serving-llama"}
HIGH, LOW = 95.0, 5.0
CHANGE = 60  # the minute in which the load changes
HIGH_POINTS, LOW_POINTS = 3, 15  # of the alarms that target tracking makes


@pytest.mark.parametrize("policy", [TRACKING, GROUP], ids=["service", "group"])
def test_the_metric_is_one_that_rollups_have(policy):
    """With its namespace, its one dimension, its unit, and the statistic to read it with."""
    metric = policy["CustomizedMetricSpecification"]
    member = ROLLUP[metric["MetricName"]]
    assert CLUSTER_NAMESPACE == metric["Namespace"]
    assert ["ClusterName"] == [one["Name"] for one in metric["Dimensions"]]
    assert (member.unit, member.statistic) == (metric["Unit"], metric["Statistic"])


def test_the_target_leaves_room_and_is_above_the_alarm_on_low_utilization(template):
    """
    A service that follows its target must not ring the alarm that says that it does too little.
    """
    least = int(template["Parameters"]["LowUtilizationThreshold"]["Default"])
    assert least < TRACKING["TargetValue"] == GROUP["TargetValue"] < 85


def test_the_template_makes_the_policy_of_the_file():
    """Whoever takes the template gets what the commands make."""
    resources = load(FILES["scaling.yaml"])["Resources"]
    policy = resources["Cores"]["Properties"]["TargetTrackingScalingPolicyConfiguration"]
    expected = json.loads(FILES["tracking.json"])
    expected["CustomizedMetricSpecification"]["Dimensions"][0]["Value"] = {"Ref": "ClusterName"}
    assert expected == policy


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_the_template_passes_cfn_lint(programs, tmp_path):
    """The linter that comes with the SAM CLI."""
    file = tmp_path / "scaling.yaml"
    file.write_text(FILES["scaling.yaml"], "utf-8")
    linter = programs[1].parent / "cfn-lint"
    found = run_program(
        [linter, "--non-zero-exit-code", "informational", "--region", "us-east-1", "--", file]
    )
    assert (0, "") == (found.returncode, found.stdout)


def alarm(comparison, threshold, points):
    """One of the two that target tracking makes, which treat missing points as missing."""
    metric = MetricSource(
        CLUSTER_NAMESPACE, "NeuronCoreUtilization", tuple(NAME.items()), "Average"
    )
    return Alarm("Tracking", metric, comparison, threshold, 60, points, points, "missing")


def rings_after(watching, before, after, late):
    """
    Minutes of the new load that were seen when it rings, and minutes from its beginning until then.
    """
    for now in range(CHANGE, CHANGE + 60):
        history = RecordedHistory()
        for minute in range(now):
            if minute + 1 + late <= now:  # the minute is over, and its rollup is there
                value = after if minute >= CHANGE else before
                history.put(CLUSTER_NAMESPACE, "NeuronCoreUtilization", NAME, minute * 60, [value])
        (found,) = evaluate(watching, history, now * 60.0 + SETTLE_S)
        if found.state is State.ALARM:
            return now - late - CHANGE, now - CHANGE
    return None


@pytest.fixture(scope="module")
def rows():
    """The numbers of the page's table, by what its row begins with."""
    found = re.findall(
        r"^\| (minutes [^|]+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    return {name: tuple(map(int, numbers)) for name, *numbers in found}


def test_capacity_is_added_as_late_as_the_page_says(rows):
    """Whether rollups come 2, 3 or 4 minutes late: later ones are answered after fewer points."""
    high = alarm("GreaterThanThreshold", TRACKING["TargetValue"], HIGH_POINTS)
    seen, until = zip(*(rings_after(high, LOW, HIGH, late) for late in (2, 3, 4)), strict=True)
    assert rows["minutes of high load that the alarm has seen when it is in alarm"] == seen
    assert rows["minutes from the first high load until it is in alarm"] == until


def test_capacity_is_taken_away_as_late_as_the_page_says(rows):
    """Five times as late, on purpose of AWS."""
    low = alarm("LessThanThreshold", TRACKING["TargetValue"] * 0.9, LOW_POINTS)
    _, until = zip(*(rings_after(low, HIGH, LOW, late) for late in (2, 3, 4)), strict=True)
    assert rows["minutes from the first low load until capacity is taken away"] == until


def test_a_cooldown_outlasts_the_lag():
    """A second step before the first is seen would answer the same load twice."""
    assert TRACKING["ScaleOutCooldown"] > 5 * 60
    assert TRACKING["ScaleInCooldown"] >= TRACKING["ScaleOutCooldown"]
