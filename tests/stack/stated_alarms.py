"""The template's alarms as typed values, by what they watch."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.alarms.definition import read_alarms
from local.alarms.template import Template, load_template
from neuron_wire import CLUSTER_NAMESPACE
from tests.stack.template_resources import of_type

ALARM = "AWS::CloudWatch::Alarm"
SUBJECTS = (
    "IdleCores",
    "IdleCost",
    "LowUtilization",
    "SilentInstances",
    "HardwareErrors",
    "ExecutionErrors",
)
ONE_CLUSTER = {"ClusterName": "training"}
EMULATED = {"AWS::AccountId": "000000000000"}

REPOSITORY = Path(__file__).resolve().parents[2]
TEMPLATE = load_template(REPOSITORY / "template.yaml")
ALARMS = {alarm.logical_id: alarm for alarm in read_alarms(Template(TEMPLATE, {"Mode": "kinesis"}))}
"""All there are, whatever the parameters, by logical id."""


def stated(template, **parameters):
    """The alarms as typed values, by logical id."""
    return {one.logical_id: one for one in read_alarms(Template(template, parameters))}


def on_rollups(template):
    """The alarms on cluster metrics, by logical id."""
    return {
        name: alarm
        for name, alarm in stated(template).items()
        if alarm.namespace == CLUSTER_NAMESPACE
    }


def on_pipeline(template):
    """The alarms on everything else, whatever their condition, by logical id."""
    return {
        name: properties
        for name, properties in of_type(template["Resources"], ALARM).items()
        if name not in on_rollups(template)
    }


def description_of(alarm):
    """What an alarm's properties say of it, names of parameters in it; and what is no parameter."""
    return alarm["AlarmDescription"]["Fn::Sub"][0]


def each(alarms):
    """One test per alarm."""
    return pytest.mark.parametrize("alarm", alarms.values(), ids=alarms.keys())
