"""Devices assigned to ECS containers, read from their bundles."""

from __future__ import annotations

import json
from dataclasses import replace
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.instance.machine import TASK_MARK
from neuron_emitter.owners.assignments import Allocation, UnknownAssignmentsError
from neuron_emitter.owners.container_devices import ContainerDevices, is_here
from neuron_emitter.owners.container_names import BUNDLES, neuron_devices
from tests.neuron_emitter.owners.fake_machine import (
    CONTAINER,
    DOCKER_V2,
    ECS_V2,
    METADATA_ID,
    OTHER_CONTAINER,
    v2,
)

OWN_CONTAINER = "e" * 64
DENIED_DEVICE = {"allow": False, "access": "rwm"}
PRIVILEGED = {"allow": True, "access": "rwm"}


def bundle(*minors, rule=DENIED_DEVICE, path="/dev/neuron{}"):
    """Return runc's configuration of a container with these devices; other members are missing."""
    devices = [{"path": "/dev/null", "type": "c", "major": 1, "minor": 3}]
    devices += [
        {"path": path.format(minor), "type": "c", "major": 243, "minor": minor} for minor in minors
    ]
    rules = [rule, {"allow": True, "type": "c", "major": 243, "minor": 0, "access": "rwm"}]
    return {
        "process": {"env": ["SECRET=x"]},
        "linux": {"devices": devices, "resources": {"devices": rules}},
    }


def run(machine, container, content, *, pid=42, namespace="moby", groups=None, command="python3"):
    """Start a container."""
    machine.process(pid, groups=groups or v2(f"/docker/{container}"), command=command)
    machine.file(f"{BUNDLES}/{namespace}/{container}/config.json", content)
    machine.file(f"{BUNDLES}/{namespace}/{container}/init.pid", str(pid))


def task(container, name="server", status="RUNNING", family="llama"):
    """Return a task as the ECS agent reports it."""
    containers = [{"DockerId": container, "Name": name}] if container else []
    return {"Family": family, "KnownStatus": status, "Containers": containers}


def exactly(name, *devices):
    return Allocation(name, None, devices=frozenset(devices), is_exact=True)


def test_a_task_has_the_devices_of_its_bundle(machine, play):
    """
    A task has the devices of its bundle, under its processes' name.

    Two tasks of one service have their devices together.
    """
    stopped = task("f", status="STOPPED")
    agent = play(
        {
            "/v1/tasks": {"Tasks": [task(CONTAINER), task(OTHER_CONTAINER), stopped]},
            f"/v1/tasks?dockerid={CONTAINER}": task(CONTAINER),
            f"/v1/tasks?dockerid={OTHER_CONTAINER}": task(OTHER_CONTAINER),
        }
    )
    machine.urls["ecs_agent_url"] = agent.url
    run(machine, CONTAINER, bundle(0, 1), groups=ECS_V2)
    run(machine, OTHER_CONTAINER, bundle(11, path="/dev/neuron0"), pid=43)
    devices = ContainerDevices(machine.places)
    assert [exactly("ecs:llama/server", 0, 1, 11)] == list(devices.read_allocations())
    asked = agent.paths().count(f"/v1/tasks?dockerid={CONTAINER}")
    devices.read_allocations()
    assert asked == agent.paths().count(f"/v1/tasks?dockerid={CONTAINER}"), (
        "a name is requested once"
    )


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        (bundle(0), {}, {0}), (bundle(), {}, None), ({}, {}, None), ({"linux": None}, {}, None),
        (bundle(0, rule=PRIVILEGED), {}, None),
        (bundle(0, 1), {"command": "neuron-monitor"}, None),
        (bundle(0, 1), {"groups": v2("/own")}, None),
        (bundle(0), {"namespace": "k8s.io"}, None), (bundle(0), {"namespace": "default"}, {0}),
        (bundle(0, path="/dev/neuron_{}"), {}, None), (bundle(0, path="/dev/xneuron{}"), {}, None),
    ],
)  # fmt: skip
def test_only_listed_devices_of_an_ordinary_container_are_assigned(
    machine, content, options, expected
):
    """
    Only listed devices of an ordinary container are assigned.

    Privileged containers, neuron-monitor, the emitter and pods have none here.
    """
    machine.file("proc/self/cgroup", v2("/own"))
    run(machine, CONTAINER, content, **options)
    owner = f"container:{CONTAINER[:12]}"
    assigned_devices = [exactly(owner, *expected)] if expected else []
    assert assigned_devices == list(ContainerDevices(machine.places).read_allocations())


@given(st.sets(st.integers(0, 15)), st.booleans())
def test_every_listed_device_is_assigned(minors, is_privileged):
    """Exactly the listed devices are assigned, by the host's numbers."""
    text = json.dumps(bundle(*minors, rule=PRIVILEGED if is_privileged else DENIED_DEVICE))
    assert neuron_devices(text) == (set() if is_privileged else minors)


@pytest.mark.parametrize(
    ("tasks", "reads"),
    [
        ([], True), ([task(OWN_CONTAINER)], True),
        ([task(OWN_CONTAINER), task("f", status="STOPPED")], True),
        ([task(OWN_CONTAINER), task(CONTAINER)], False), ([task(None, status="PENDING")], False),
        (None, False),
    ],
)  # fmt: skip
def test_without_rights_only_the_absence_of_tasks_is_known(
    machine, play, monkeypatch, tasks, reads
):
    """If bundles are unreadable, reservations are known only if the ECS agent has no other task."""
    routes = {} if tasks is None else {"/v1/tasks": {"Tasks": tasks}}
    machine.urls["ecs_agent_url"] = play(routes).url
    machine.urls["ecs_metadata_url"] = play({f"/v4/{METADATA_ID}/task": task(OWN_CONTAINER)}).url
    monkeypatch.setenv(TASK_MARK, f"http://169.254.170.2/v4/{METADATA_ID}")
    with monkeypatch.context() as patch:
        denied = Mock(side_effect=PermissionError(13, "Permission denied"))
        patch.setattr("os.listdir", denied)
        if reads:
            assert [] == list(ContainerDevices(machine.places).read_allocations())
        else:
            with pytest.raises(UnknownAssignmentsError) as error:
                ContainerDevices(machine.places).read_allocations()
            assert "NameServices" in error.value.remedy


@pytest.mark.parametrize("content", ["{", "[]", bundle("x"), bundle(0)])
def test_a_task_without_a_readable_bundle_leaves_reservations_unknown(machine, play, content):
    """A task without a readable bundle makes reservations unknown."""
    tasks = {"/v1/tasks": {"Tasks": [task(CONTAINER), task(OTHER_CONTAINER)]}}
    machine.urls["ecs_agent_url"] = play(tasks if content == bundle(0) else {}).url
    run(machine, CONTAINER, content, groups=DOCKER_V2)
    with pytest.raises(UnknownAssignmentsError, match="bundle"):
        ContainerDevices(machine.places).read_allocations()


def test_a_container_reads_through_the_first_process(machine):
    """
    In a container, bundles are read through the root of process 1.

    A saved machine has no such root.
    """
    run(machine, CONTAINER, bundle(3))
    (machine.root / "proc/1/root").symlink_to(machine.root)
    inside = replace(machine.places, root=machine.root / "empty")
    assert [{3}] == [
        allocation.devices for allocation in ContainerDevices(inside).read_allocations()
    ]
    with pytest.raises(UnknownAssignmentsError):
        ContainerDevices(replace(inside, is_saved=True)).read_allocations()


def test_ecs_is_here_where_its_agent_is(machine, monkeypatch):
    """ECS is present if its agent's folder exists or the emitter is an ECS task."""
    monkeypatch.delenv(TASK_MARK, raising=False)
    assert not is_here(machine.places)
    monkeypatch.setenv(TASK_MARK, "x")
    assert is_here(machine.places)
    assert not is_here(replace(machine.places, is_saved=True))
    monkeypatch.delenv(TASK_MARK)
    machine.file("var/lib/ecs/data/agent.db", "")
    assert is_here(machine.places)
