"""
The template of the daemon services: the same task definitions, least rights, no second emitter.
"""

from __future__ import annotations

import dataclasses
import json
import re

import botocore.session
import pytest
from botocore.validate import ParamValidator

from neuron_wire.instance_types import INSTANCE_TYPES
from tests.deploy.ecs.conftest import as_api
from tests.programs import run_program

COUNTS = sorted({row.devices for row in INSTANCE_TYPES.values()})
MOST_BYTES = 51_200  # of a template that is given in the call itself


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


@pytest.mark.parametrize("devices", COUNTS)
def test_the_old_emitter_ends_before_the_new_one_begins(ecs_deployed, devices):
    """
    One on each instance, also while a new task definition is rolled out: a spool has one holder.
    """
    service = ecs_deployed()[f"Daemon{devices}"]
    assert "DAEMON" == service["SchedulingStrategy"]
    assert (0, 100) == (
        service["DeploymentConfiguration"]["MinimumHealthyPercent"],
        service["DeploymentConfiguration"]["MaximumPercent"],
    )


def test_another_type_is_a_parameter_away(definition_in):
    """A type that is newer than the template needs no new template."""
    task = definition_in(16, InstanceTypes16="trn4.48xlarge, trn4u.48xlarge")
    (constraint,) = task["placementConstraints"]
    expected = "attribute:ecs.instance-type in [trn4.48xlarge, trn4u.48xlarge]"
    assert expected == constraint["expression"]


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


@pytest.mark.parametrize("devices", COUNTS)
def test_a_group_of_the_devices_is_the_users_unless_it_is_root(
    programs_of_ecs, definition_in, devices
):
    """As the program prints it; root opens every device."""
    definition, files = programs_of_ecs
    place = dataclasses.replace(files.EXAMPLE, device_group=998)
    (printed,) = definition.daemon(devices, place)["containerDefinitions"]
    given = container_in(definition_in(devices, DeviceGroup="998"))
    assert "10001:998" == printed["user"] == given["user"]
    root = definition_in(devices, DeviceGroup="998", NameServices="true")
    assert "0" == container_in(root)["user"]


@pytest.mark.parametrize(("group", "is_allowed"), [("", True), ("0", True), ("neuron", False)])
def test_a_group_is_a_number(service_template, group, is_allowed):
    """A name is one of the image's, which does not know the instance's groups."""
    pattern = service_template["Parameters"]["DeviceGroup"]["AllowedPattern"]
    assert is_allowed == bool(re.fullmatch(pattern, group))


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


@pytest.mark.parametrize("port", ["", "8008"])
def test_a_port_for_prometheus_is_open_only_if_said(programs_of_ecs, definition_in, port):
    """On the instance's own network, as the program prints it; a sidecar publishes the port."""
    definition, files = programs_of_ecs
    place = dataclasses.replace(files.EXAMPLE, prometheus_port=int(port) if port else None)
    (printed,) = definition.daemon(1, place)["containerDefinitions"]
    expected = f"0.0.0.0:{port}" if port else None
    for container in (printed, container_in(definition_in(1, PrometheusPort=port))):
        variables = {one["name"]: one["value"] for one in container["environment"]}
        assert expected == variables.get("NEURON_EMF_PROMETHEUS")
        assert "portMappings" not in container
    _, beside = definition.sidecar(1, place, "app:1")["containerDefinitions"]
    mapped = [{"containerPort": 8008, "hostPort": 8008}] if port else None
    assert mapped == beside.get("portMappings")


@pytest.mark.parametrize("metrics", ["", "none"])
def test_metrics_are_the_emitters_unless_said(definition_in, metrics):
    """An empty parameter is no variable: an empty variable would be a wrong setting."""
    container = container_in(definition_in(1, Metrics=metrics))
    variables = {one["name"]: one["value"] for one in container["environment"]}
    assert (metrics or None) == variables.get("NEURON_EMF_METRICS")


def test_the_task_may_what_the_stacks_policy_allows_and_nothing_else(ecs_deployed):
    """No statement of its own, and nobody takes the role but tasks of this account and region."""
    role = ecs_deployed()["TaskRole"]
    assert {"AssumeRolePolicyDocument", "Description", "ManagedPolicyArns"} == role.keys()
    assert ["arn:aws:iam::111122223333:policy/neuron-emf-EmitterPolicy"] == role[
        "ManagedPolicyArns"
    ]
    (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert {
        "StringEquals": {"aws:SourceAccount": "000000000000"},
        "ArnLike": {"aws:SourceArn": "arn:aws:ecs:us-east-1:000000000000:*"},
    } == statement["Condition"]


def test_a_star_is_no_resource_but_where_there_is_none(ecs_deployed):
    """Of all actions only the registry's login knows no resource."""
    (policy,) = ecs_deployed()["ExecutionRole"]["Policies"]
    starred = [
        one["Action"] for one in policy["PolicyDocument"]["Statement"] if one["Resource"] == "*"
    ]
    assert ["ecr:GetAuthorizationToken"] == starred


def test_the_template_fits_into_one_call(ecs_folder):
    """`aws cloudformation deploy` needs no bucket for it."""
    assert (ecs_folder / "service.yaml").stat().st_size < MOST_BYTES


def test_every_parameter_says_what_it_is_and_is_shown_in_a_group_or_has_a_default(service_template):
    """A person reads the description in the console; what must be given stands in the groups."""
    parameters = service_template["Parameters"]
    groups = service_template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    grouped = {name for group in groups for name in group["Parameters"]}
    assert set() == grouped - parameters.keys()
    for name, parameter in parameters.items():
        assert parameter["Description"].endswith(".")
        assert name in grouped or "Default" in parameter


@pytest.mark.slow
@pytest.mark.timeout(120)
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
