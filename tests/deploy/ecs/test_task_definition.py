"""Task definitions as files and in the template of the daemon services: permissions and devices."""

from __future__ import annotations

import dataclasses
import re

import pytest

from local.alarms.template import Template, load
from neuron_accounts.instance_types import INSTANCE_TYPES
from neuron_emitter.reports.child import CHILD_STOP_TIMEOUT_S
from neuron_emitter.run.outlet import FLUSH_WITHIN_S
from neuron_emitter.settings.run_settings import RunSettings

STACK_VALUES = {
    "Cluster": "training",
    "Image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/neuron-emf:0.1.0",
    "EmitterPolicyArn": "arn:aws:iam::111122223333:policy/neuron-emf-EmitterPolicy",
}
"""The parameters without a default."""
DEVICE_COUNTS = sorted({row.devices for row in INSTANCE_TYPES.values()})
EACH_KIND = pytest.mark.parametrize("task_kind", ["daemon", "sidecar"])


@pytest.fixture(scope="module")
def make_task(programs_of_ecs):
    """
    Return a function that returns the emitter's container of a task definition, and the definition.
    """
    definition, files = programs_of_ecs

    def make(task_kind, devices=1):
        applications = [files.EXAMPLE_APP] if task_kind == "sidecar" else []
        task = getattr(definition, task_kind)(devices, files.EXAMPLE_PLACE, *applications)
        containers = {part["name"]: part for part in task["containerDefinitions"]}
        return containers["neuron-emf"], task

    return make


def variables_of(container):
    return {pair["name"]: pair["value"] for pair in container["environment"]}


def test_the_files_are_as_the_programs_write_them(programs_of_ecs, golden):
    """
    The programs write daemon.json, sidecar.json and the generated parts of service.yaml as they
    are.
    """
    for path, text in programs_of_ecs[1].files().items():
        golden(path, text)


@EACH_KIND
@pytest.mark.parametrize("name", sorted(INSTANCE_TYPES))
def test_an_instance_type_gets_its_devices_and_no_other(make_task, task_kind, name):
    """
    An instance type gets as many devices as the wire's table has, from 0, and is in one placement.
    """
    count = INSTANCE_TYPES[name].devices
    emitter, task = make_task(task_kind, count)
    mapped = emitter["linuxParameters"]["devices"]
    paths = [f"/dev/neuron{index}" for index in range(count)]
    assert [(path, path) for path in paths] == [
        (device["hostPath"], device["containerPath"]) for device in mapped
    ]
    (constraint,) = task["placementConstraints"]
    listed = re.fullmatch(r"attribute:ecs\.instance-type in \[(.+)\]", constraint["expression"])[1]
    assert 1 == listed.split(", ").count(name)


@EACH_KIND
def test_the_container_has_no_right_that_it_does_not_need(make_task, task_kind):
    """
    The container runs without root and capabilities, its variables are settings, and it has time to
    stop.
    """
    container, _ = make_task(task_kind)
    assert {"drop": ["ALL"]} == container["linuxParameters"]["capabilities"]
    assert container["readonlyRootFilesystem"]
    # ECS starts no container with a security option on an agent that is not registered for it
    assert {"privileged", "user", "dockerSecurityOptions"}.isdisjoint(container)
    variables = variables_of(container)
    known = {f"NEURON_EMF_{field.name.upper()}" for field in dataclasses.fields(RunSettings)}
    assert {"GOMEMLIMIT"} == variables.keys() - known, "a variable that no setting reads"
    assert FLUSH_WITHIN_S + CHILD_STOP_TIMEOUT_S < container["stopTimeout"]


# --- service.yaml ---


@pytest.fixture(scope="module")
def deployed(repository):
    """
    Return a function that returns the properties of every resource of a deployment with these
    parameters.
    """
    template = load((repository / "deploy/ecs/service.yaml").read_text("utf-8"))

    def resources(**parameters):
        resolved = Template(template, {**STACK_VALUES, **parameters})
        return {
            name: resolved.resolve(resource)["Properties"]
            for name, resource in template["Resources"].items()
        }

    return resources


def as_api(value, *, is_map=False):
    """Return CloudFormation's properties as members of an API call; keys of a map are data."""
    if isinstance(value, dict):
        return {
            key if is_map else key[:1].lower() + key[1:]: as_api(part, is_map=key == "Options")
            for key, part in value.items()
        }
    return [as_api(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize("devices", DEVICE_COUNTS)
def test_the_template_has_the_task_definition_that_the_program_prints(
    programs_of_ecs, deployed, devices
):
    """
    The template has the task definition that the program prints, except the names of an account.
    """
    definition, files = programs_of_ecs
    place = definition.TaskPlace(
        files.EXAMPLE_PLACE.image, "us-east-1", "<TaskRole.Arn>", "<ExecutionRole.Arn>"
    )
    in_template = as_api(deployed()[f"Definition{devices}"])
    (container,) = in_template["containerDefinitions"]
    assert "<EmitterLogGroup>" == container["logConfiguration"]["options"]["awslogs-group"]
    container["logConfiguration"]["options"]["awslogs-group"] = definition.EMITTERS_GROUP
    assert definition.daemon(devices, place) == in_template


@pytest.mark.parametrize(
    ("parameters", "added"),
    [
        ([], None),
        (["NameServices"], {"DAC_OVERRIDE", "SYS_PTRACE"}),
        (["ReadKernelMessages"], {"DAC_OVERRIDE", "SYSLOG"}),
        (["NameServices", "ReadKernelMessages"], {"DAC_OVERRIDE", "SYS_PTRACE", "SYSLOG"}),
    ],
)
def test_root_is_asked_for_and_has_what_was_asked_for(deployed, parameters, added):
    """Only a parameter adds root, with its capabilities, a spool of its own and the kernel log."""
    task = as_api(deployed(**dict.fromkeys(parameters, "true"))["Definition1"])
    (container,) = task["containerDefinitions"]
    assert ("0" if added else None) == container.get("user")
    capabilities = container["linuxParameters"]["capabilities"]
    assert ["ALL"] == capabilities["drop"]
    assert (added or set()) == set(capabilities.get("add", ()))
    usual = as_api(deployed()["Definition1"])["volumes"]
    assert bool(added) == (usual != task["volumes"])
    devices = container["linuxParameters"]["devices"]
    mapped = {device["hostPath"]: device["permissions"] for device in devices}
    reads = "ReadKernelMessages" in parameters
    assert (["read"] if reads else None) == mapped.get("/dev/kmsg")
    assert ("kmsg" if reads else "none") == variables_of(container)["NEURON_EMF_KERNEL_MESSAGES"]


def test_a_security_option_is_only_in_a_template_that_asks_for_it(deployed):
    """
    NoNewPrivileges=true adds no-new-privileges to every task definition and changes nothing else.
    """
    with_option = deployed(NoNewPrivileges="true")
    for name, usual in deployed().items():
        if name.startswith("Definition"):
            (container,) = with_option[name]["ContainerDefinitions"]
            assert ["no-new-privileges"] == container.pop("DockerSecurityOptions")
        assert usual == with_option[name]


def test_the_task_has_the_rights_of_the_stacks_policy_and_no_other(deployed):
    """
    The role has only the stack's policy, and only tasks of this account and region can assume it.
    """
    role = deployed()["TaskRole"]
    assert {"AssumeRolePolicyDocument", "Description", "ManagedPolicyArns"} == role.keys()
    assert [STACK_VALUES["EmitterPolicyArn"]] == role["ManagedPolicyArns"]
    (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert {
        "StringEquals": {"aws:SourceAccount": "123456789012"},
        "ArnLike": {"aws:SourceArn": "arn:aws:ecs:us-east-1:123456789012:*"},
    } == statement["Condition"]
