"""
The template of the daemon services: the same task definitions, least rights, no second emitter.
"""

from __future__ import annotations

import json

import botocore.session
import pytest
from botocore.validate import ParamValidator

from neuron_wire.instance_types import INSTANCE_TYPES
from tests.deploy.ecs.conftest import as_api
from tests.programs import run_program

COUNTS = sorted({row.devices for row in INSTANCE_TYPES.values()})


@pytest.fixture
def definition_in(ecs_deployed):
    """The members of RegisterTaskDefinition that a deployment makes for a number of devices."""

    def found(devices, **parameters):
        return as_api(ecs_deployed(**parameters)[f"Definition{devices}"])

    return found


def container_in(task):
    """Its one container."""
    (container,) = task["containerDefinitions"]
    return container


@pytest.mark.parametrize("devices", COUNTS)
def test_the_template_has_the_task_definition_that_the_program_prints(
    programs_of_ecs, definition_in, devices
):
    """But for the names that only an account has."""
    definition, files = programs_of_ecs
    place = definition.Place(
        files.EXAMPLE.image, "us-east-1", "<TaskRole.Arn>", "<ExecutionRole.Arn>"
    )
    printed = definition.daemon(devices, place)
    in_template = definition_in(devices)
    assert f"neuron-emf-{devices}" == printed["family"] == in_template["family"]
    log = container_in(in_template)["logConfiguration"]["options"]
    assert "<EmitterLogGroup>" == log["awslogs-group"]
    log["awslogs-group"] = definition.LOG_GROUP
    assert printed == in_template


@pytest.mark.parametrize("devices", COUNTS)
def test_create_service_takes_it(ecs_deployed, devices):
    """Every member is one of the API's, of its type."""
    service = as_api(ecs_deployed()[f"Daemon{devices}"])
    model = botocore.session.get_session().get_service_model("ecs")
    shape = model.operation_model("CreateService").input_shape
    report = ParamValidator().validate({"serviceName": "named", **service}, shape)
    assert "" == report.generate_report()
    assert f"<Definition{devices}>" == service["taskDefinition"]


@pytest.mark.parametrize(
    ("parameters", "added"),
    [
        ({"NameServices": "true"}, {"DAC_OVERRIDE", "SYS_PTRACE"}),
        ({"ReadKernelMessages": "true"}, {"DAC_OVERRIDE", "SYSLOG"}),
        (
            {"NameServices": "true", "ReadKernelMessages": "true"},
            {"DAC_OVERRIDE", "SYS_PTRACE", "SYSLOG"},
        ),
    ],
    ids=["services", "kernel", "both"],
)
def test_root_is_asked_for_and_has_what_was_asked_for(definition_in, parameters, added):
    """Root only by a parameter, with the capabilities of that parameter and a spool of its own."""
    usual, asked = container_in(definition_in(1)), container_in(definition_in(1, **parameters))
    assert "user" not in usual
    assert "0" == asked["user"]
    assert added == set(asked["linuxParameters"]["capabilities"]["add"])
    assert ["ALL"] == asked["linuxParameters"]["capabilities"]["drop"]
    (mount,), (other,) = usual["mountPoints"], asked["mountPoints"]
    assert mount["sourceVolume"] != other["sourceVolume"]
    (volume,) = definition_in(1, **parameters)["volumes"]
    assert volume["name"] == other["sourceVolume"]


@pytest.mark.parametrize("reads", [False, True])
def test_the_kernels_log_is_mapped_where_it_is_read(definition_in, reads):
    """The device, readable, and the setting: both or none."""
    container = container_in(definition_in(1, ReadKernelMessages=str(reads).lower()))
    mapped = {
        one["hostPath"]: one["permissions"] for one in container["linuxParameters"]["devices"]
    }
    assert (["read"] if reads else None) == mapped.get("/dev/kmsg")
    variables = {one["name"]: one["value"] for one in container["environment"]}
    assert ("kmsg" if reads else "none") == variables["NEURON_EMF_KERNEL_MESSAGES"]


def test_the_task_may_what_the_stacks_policy_allows_and_nothing_else(ecs_deployed):
    """No statement of its own, and nobody takes the role but tasks of this account and region."""
    role = ecs_deployed()["TaskRole"]
    assert {"AssumeRolePolicyDocument", "Description", "ManagedPolicyArns"} == role.keys()
    assert ["arn:aws:iam::111122223333:policy/neuron-emf-EmitterPolicy"] == role[
        "ManagedPolicyArns"
    ]
    (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert {
        "StringEquals": {"aws:SourceAccount": "123456789012"},
        "ArnLike": {"aws:SourceArn": "arn:aws:ecs:us-east-1:123456789012:*"},
    } == statement["Condition"]


@pytest.mark.slow
def test_cloudformations_own_rules_find_nothing(ecs_folder, program_of):
    """cfn-lint, as SAM brings it, for the regions in which there are Neuron instances."""
    program = program_of(".venv-sam", "cfn-lint")
    run = run_program(
        [
            *(program, "--format", "json", "--include-checks", "I"),
            *("--regions", "us-east-1", "us-west-2", "ap-northeast-1"),
            *("--", ecs_folder / "service.yaml"),
        ]
    )
    assert [] == [f"{one['Rule']['Id']}: {one['Message']}" for one in json.loads(run.stdout)]
