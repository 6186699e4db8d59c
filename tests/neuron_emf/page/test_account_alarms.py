"""Alarms are found by the stack's name and told with the clusters that make them fire."""

from __future__ import annotations

import pytest

from emitter.errors import SourceError
from neuron_emf.account import account
from neuron_emf.options import AccountSettings
from neuron_emf.page.alarms import AccountAlarms


@pytest.fixture
def alarms(double):  # noqa: ARG001  # the environment leads there
    """Those of the account."""
    return AccountAlarms(account(AccountSettings()))


def test_every_alarm_of_the_template_is_told(alarms, double):
    """In words, over several pages; an alarm on clusters is none on the pipeline."""
    double.alarms_page = 3
    shown = {one.title: one for one in alarms.read_alarms()}
    assert len(double.alarms) == len(shown)
    assert 6 == sum(not one.is_pipeline for one in shown.values())
    assert not shown["Idle cores"].is_pipeline
    assert shown["No minute closed"].is_pipeline
    assert [("IdleCorePercent",), ("IdleCostPerHour",), ("NeuronCoreUtilization",)] == [
        shown[one].metrics for one in ("Idle cores", "Idle cost", "Low utilization")
    ]
    assert all(one.description and "http" not in one.description for one in shown.values())


def test_contributors_are_asked_for_where_an_alarm_fires(alarms, double):
    """Over several pages; an alarm that is OK has none."""
    double.alarms_page = 2
    double.fire_alarm("SilentInstancesAlarm", "a", "b", "c", reason="1 datapoint")
    (firing,) = [one for one in alarms.read_alarms() if one.state == "ALARM"]
    assert ["a", "b", "c"] == [one.name for one in firing.contributors]
    assert {"1 datapoint"} == {one.reason for one in firing.contributors}
    assert round(double.alarms_made_s * 1000) == firing.contributors[0].since_ms
    assert 2 == double.operations.count("DescribeAlarmContributors")


def test_another_stack_whose_name_begins_with_ours_is_left_out(alarms, double):
    """As its alarms do."""
    count = len(alarms.read_alarms())
    double.add_alarm("neuron-emf-test", "Other", {"Namespace": "Neuron/Cluster"})
    assert count == len(alarms.read_alarms())


@pytest.mark.parametrize("action", ["DescribeAlarms", "DescribeAlarmContributors"])
def test_what_is_not_allowed_is_named(alarms, double, action):
    """With the permission that is missing."""
    double.fire_alarm("IdleCoresAlarm", "research")
    double.denied.add(f"cloudwatch:{action}")
    with pytest.raises(SourceError, match=f"cloudwatch:{action}"):
        alarms.read_alarms()
