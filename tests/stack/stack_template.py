"""The stack's template as tests read it: resources, statements, alarms, the form of a release."""

from __future__ import annotations

import runpy

import pytest

from local import REPOSITORY
from local.alarms.definition import read_alarms
from local.alarms.template import Template, load_template
from neuron_emf.deploy.package import FUNCTIONS_NAME
from neuron_emf.deploy.package import TEMPLATE_NAME as TEMPLATE_FILE
from neuron_wire import CLUSTER_NAMESPACE
from neuron_wire.catalogue import ALARMS as CLUSTER_ALARMS


def of_type(resources, resource_type):
    """Properties of every resource of one type, by logical id."""
    return {
        name: resource["Properties"]
        for name, resource in resources.items()
        if resource["Type"] == resource_type
    }


ALARM_TYPE = "AWS::CloudWatch::Alarm"
SUBJECTS = tuple(CLUSTER_ALARMS)
ONE_CLUSTER = {"ClusterName": "training"}
EMULATED = {"AWS::AccountId": "000000000000"}

STACK_TEMPLATE = load_template(REPOSITORY / "template.yaml")
STACK_ALARMS = {
    alarm.logical_id: alarm for alarm in read_alarms(Template(STACK_TEMPLATE, {"Mode": "kinesis"}))
}
"""All there are, whatever the parameters, by logical id."""


def stated(template, **parameters):
    """The alarms as typed values, by logical id."""
    return {alarm.logical_id: alarm for alarm in read_alarms(Template(template, parameters))}


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
        for name, properties in of_type(template["Resources"], ALARM_TYPE).items()
        if name not in on_rollups(template)
    }


def description_of(alarm):
    """What an alarm's properties say of it, names of parameters in it; and what is no parameter."""
    return alarm["AlarmDescription"]["Fn::Sub"][0]


def each(alarms):
    """One test per alarm."""
    return pytest.mark.parametrize("alarm", alarms.values(), ids=alarms.keys())


IDENTITY_POLICIES = {"AWS::IAM::Role", "AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"}


def statements(template):
    """
    Every statement of an identity policy, with the resource it stands in; both ways of a choice.
    """
    found = []
    for name, resource in template["Resources"].items():
        if resource["Type"] not in IDENTITY_POLICIES:
            continue
        properties = resource["Properties"]
        documents = [policy["PolicyDocument"] for policy in properties.get("Policies", [])]
        if "PolicyDocument" in properties:
            documents.append(properties["PolicyDocument"])
        for document in documents:
            for statement in document["Statement"]:
                ways = statement["Fn::If"][1:] if "Fn::If" in statement else [statement]
                found += [(name, way) for way in ways if way != {"Ref": "AWS::NoValue"}]
    return found


def as_list(value):
    """IAM allows one text where it means a list of one."""
    return value if isinstance(value, list) else [value]


_CARRIED_NAMES = runpy.run_path(str(REPOSITORY / "deploy" / "wheel" / "carried.py"))
PAGES_ADDRESS = _CARRIED_NAMES["REPOSITORY_ADDRESS"]
release_template = _CARRIED_NAMES["release_template"]
write_zip = _CARRIED_NAMES["write_zip"]


def carry_release(functions, folder):
    """Put what a wheel of this tree carries into *folder*, with the code in *functions*."""
    write_zip(functions, folder / FUNCTIONS_NAME)
    (folder / TEMPLATE_FILE).write_text(release_template(REPOSITORY / TEMPLATE_FILE), "utf-8")
    return folder
