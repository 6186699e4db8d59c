"""The task definitions that task_definition.py prints, beside what they are made of."""

from __future__ import annotations

import dataclasses
import re

import pytest

from emitter.reports.child import STOP_WITHIN_S
from emitter.run.outlet import FLUSH_WITHIN_S
from emitter.settings.run import RunSettings
from neuron_wire.instance_types import INSTANCE_TYPES

COUNTS = sorted({row.devices for row in INSTANCE_TYPES.values()})


@pytest.fixture(scope="session")
def made(programs_of_ecs):
    """Both task definitions for a number of devices."""
    definition, files = programs_of_ecs

    def both(devices):
        return {
            "daemon": definition.daemon(devices, files.EXAMPLE),
            "sidecar": definition.sidecar(devices, files.EXAMPLE, files.EXAMPLE_APP),
        }

    return both


def emitter_in(task):
    """The emitter's container."""
    (container,) = (one for one in task["containerDefinitions"] if one["name"] == "neuron-emf")
    return container


def variables_of(container):
    """The variables that a container is given."""
    return {one["name"]: one["value"] for one in container["environment"]}


@pytest.mark.parametrize("kind", ["daemon", "sidecar"])
@pytest.mark.parametrize("name", sorted(INSTANCE_TYPES))
def test_an_instance_type_gets_its_devices_and_no_other(made, kind, name):
    """
    As many as the wire's table has, counted from 0; placed where that type is named, and once.
    """
    row = INSTANCE_TYPES[name]
    task = made(row.devices)[kind]
    mapped = emitter_in(task)["linuxParameters"]["devices"]
    paths = [f"/dev/neuron{index}" for index in range(row.devices)]
    assert paths == [one["hostPath"] for one in mapped] == [one["containerPath"] for one in mapped]
    (constraint,) = task["placementConstraints"]
    listed = re.fullmatch(r"attribute:ecs\.instance-type in \[(.+)\]", constraint["expression"])[1]
    assert 1 == listed.split(", ").count(name)


@pytest.mark.parametrize("devices", COUNTS)
def test_a_daemon_sees_the_instance(made, devices):
    """Its pids, and the agent that listens on its loopback; the spool outlives the task."""
    task = made(devices)["daemon"]
    assert ("host", "host") == (task["pidMode"], task["networkMode"])
    assert ["CMD", "neuron-emf", "check", "--quick"] == emitter_in(task)["healthCheck"]["command"]
    assert "auto" == variables_of(emitter_in(task))["NEURON_EMF_ATTRIBUTION"]
    (volume,) = task["volumes"]
    assert "shared" == volume["dockerVolumeConfiguration"]["scope"]


@pytest.mark.parametrize("devices", COUNTS)
def test_a_sidecar_cannot_end_the_task_it_is_in(made, devices):
    """
    It is not essential and comes back by itself; it shares the application's devices, has a spool
    of its own, and names nobody, because the pids that it could see are not those in reports.
    """
    task = made(devices)["sidecar"]
    app, emitter = task["containerDefinitions"]
    assert (True, False) == (app["essential"], emitter["essential"])
    assert emitter["restartPolicy"]["enabled"]
    assert "healthCheck" not in emitter  # ECS acts on that of essential containers only
    assert app["linuxParameters"]["devices"] == emitter["linuxParameters"]["devices"]
    assert "none" == variables_of(emitter)["NEURON_EMF_ATTRIBUTION"]
    assert "pidMode" not in task
    (volume,) = task["volumes"]
    assert "task" == volume["dockerVolumeConfiguration"]["scope"]


@pytest.mark.parametrize("kind", ["daemon", "sidecar"])
def test_the_container_has_no_right_that_it_does_not_need(made, kind):
    """
    Not privileged, no root, no capability, nothing to write to but its spool and a small /tmp.
    """
    container = emitter_in(made(1)[kind])
    assert {"drop": ["ALL"]} == container["linuxParameters"]["capabilities"]
    assert container["readonlyRootFilesystem"]
    assert ["no-new-privileges"] == container["dockerSecurityOptions"]
    assert {"privileged", "user"}.isdisjoint(container)
    assert ["/tmp"] == [one["containerPath"] for one in container["linuxParameters"]["tmpfs"]]
    (mount,) = container["mountPoints"]
    assert variables_of(container)["NEURON_EMF_SPOOL_DIR"] == mount["containerPath"]


@pytest.mark.parametrize("kind", ["daemon", "sidecar"])
def test_every_setting_is_one_of_run(made, kind):
    """
    A variable that no setting reads would be overlooked; metrics that the stack has cost once.
    """
    known = {f"NEURON_EMF_{field.name.upper()}" for field in dataclasses.fields(RunSettings)}
    variables = variables_of(emitter_in(made(1)[kind]))
    assert {"GOMEMLIMIT"} == variables.keys() - known
    assert "none" == variables["NEURON_EMF_METRICS"]


@pytest.mark.parametrize("kind", ["daemon", "sidecar"])
def test_a_stop_leaves_time_to_flush(made, kind):
    """neuron-monitor ends, the minute is closed and sent, before ECS kills."""
    assert FLUSH_WITHIN_S + STOP_WITHIN_S < emitter_in(made(1)[kind])["stopTimeout"]


def test_the_files_are_as_the_programs_write_them(programs_of_ecs, golden):
    """daemon.json, sidecar.json and the written parts of service.yaml."""
    for path, text in programs_of_ecs[1].files().items():
        golden(path, text)
