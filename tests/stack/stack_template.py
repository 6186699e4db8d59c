"""The stack's template for tests: resources, statements, alarms, and a release."""

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
    """Return the properties of every resource of one type by logical ID."""
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
"""All alarms, whatever the parameters, by logical ID."""


def stated(template, **parameters):
    """Return the alarms as typed values by logical ID."""
    return {alarm.logical_id: alarm for alarm in read_alarms(Template(template, parameters))}


def on_rollups(template):
    """Return the alarms on cluster metrics by logical ID."""
    return {
        name: alarm
        for name, alarm in stated(template).items()
        if alarm.namespace == CLUSTER_NAMESPACE
    }


def on_pipeline(template):
    """Return all other alarms, whatever their condition, by logical ID."""
    return {
        name: properties
        for name, properties in of_type(template["Resources"], ALARM_TYPE).items()
        if name not in on_rollups(template)
    }


def description_of(alarm):
    """Return an alarm's description, with the names of parameters in it."""
    return alarm["AlarmDescription"]["Fn::Sub"][0]


def each(alarms):
    """Parametrize a test by alarm."""
    return pytest.mark.parametrize("alarm", alarms.values(), ids=alarms.keys())


IDENTITY_POLICIES = {"AWS::IAM::Role", "AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"}


def statements(template):
    """
    Return every statement of an identity policy with its resource, and both sides of a choice.
    """
    all_statements = []
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
                all_statements += [(name, way) for way in ways if way != {"Ref": "AWS::NoValue"}]
    return all_statements


def as_list(value):
    """Return a list; IAM accepts a text instead of a list of one."""
    return value if isinstance(value, list) else [value]


_CARRIED_NAMES = runpy.run_path(str(REPOSITORY / "deploy" / "wheel" / "carried.py"))
PAGES_ADDRESS = _CARRIED_NAMES["REPOSITORY_ADDRESS"]
release_template = _CARRIED_NAMES["release_template"]
write_zip = _CARRIED_NAMES["write_zip"]


def carry_release(functions, folder):
    """Copy the content of a wheel of this tree into *folder*, with the code in *functions*."""
    write_zip(functions, folder / FUNCTIONS_NAME)
    (folder / TEMPLATE_FILE).write_text(release_template(REPOSITORY / TEMPLATE_FILE), "utf-8")
    return folder
