"""The kubelet's assignments: from its socket, another container or its checkpoint."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from contextlib import suppress
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.owners.assignments import Allocation, UnknownAssignmentsError
from neuron_emitter.owners.kubelet import FRESH_S, HandedOver, hand_over, is_here, mark_ended_pods
from neuron_emitter.owners.kubelet_checkpoint import CLAIMS_FILE, PLUGINS_FILE, KubeletCheckpoint
from neuron_emitter.owners.pod_resources import MAX_RESPONSE_BYTES, PodResources, allocations_of
from tests.neuron_emitter.owners.fake_machine import (
    BARE,
    CORE,
    DEVICE,
    EFA,
    EKS_CGROUPFS_V1,
    EKS_SYSTEMD_V2,
    GOAWAY,
    OLD_DEVICE,
    OTHER_DRIVER,
    PLUGIN,
    POD_ID,
    TRAINER,
    answers,
    claim,
    container,
    devices,
    framed,
    listed,
    message,
    pod,
)

OTHER_POD = "00000000-0000-0000-0000-000000000001"
OTHER_POD_GROUPS = EKS_CGROUPFS_V1.replace(POD_ID, OTHER_POD)
TRAINER_LOGS = f"var/log/pods/ml_trainer-0_{POD_ID}"


def assigned_to(name, cores=(), devices=(), **others):
    return Allocation(name, "ml", cores=frozenset(cores), devices=frozenset(devices), **others)


TRAINER_ALLOCATION = assigned_to("ml/trainer-0/main", [0, 1])


def failure(source):
    with pytest.raises(UnknownAssignmentsError) as raised:
        source.read_allocations()
    return str(raised.value), raised.value.remedy


# --- the socket's answer ---


@pytest.mark.parametrize(
    ("containers", "expected"),
    [
        (
            [container("c", devices(DEVICE, "3"), devices(OLD_DEVICE, "4"))],  # from before 2.22
            [assigned_to("ml/a/c", devices=[3, 4])],
        ),
        (
            [container("c", claims=[claim(PLUGIN, "neuron-device-0", "neurondevice15")])],
            [assigned_to("ml/a/c", devices=[0, 15], is_exact=True)],
        ),
        (
            [container(name, claims=[claim(PLUGIN, "neuron-device-2")]) for name in "xy"],
            [assigned_to("ml/a", devices=[2], is_exact=True)],
        ),
        (
            [container("c", devices(CORE, "1", "2")), container("d", devices(CORE, "2"))],
            [assigned_to("ml/a", [1, 2])],
        ),
        ([container("c", devices(EFA, "rdma0"), claims=[claim(OTHER_DRIVER, "gpu-0")])], []),
        (
            [container("c", devices(CORE, "0::1", "3", "x", "-1", "1024", ""))],
            [assigned_to("ml/a/c", [3], odd_ids=5)],
        ),
        ([container("\x1b[2J", devices(CORE, "0"))], [assigned_to("ml/a", [0])]),
    ],
)
def test_each_pod_has_the_assignments_of_its_containers(containers, expected):
    """A pod has its containers' cores, devices and claims. IDs in another form are counted."""
    assert expected == allocations_of(memoryview(listed(pod("a", *containers), pod("b"))))


@given(st.binary(max_size=200))
def test_an_answer_is_read_or_refused(answer):
    """Any bytes are read, or refused with a ValueError."""
    with suppress(ValueError):
        allocations_of(memoryview(answer))


def test_a_truncated_answer_is_refused():
    """A truncated answer is refused, because a missing pod would make cores look free."""
    whole = listed(TRAINER, TRAINER)
    between = len(listed(TRAINER))
    # at *between*, the length before the message shows the cut
    for cut in set(range(1, len(whole))) - {between}:
        with pytest.raises(ValueError, match="the form"):
            allocations_of(memoryview(whole[:cut]))


# --- the socket ---


def framed_twice(body):
    return 2 * framed(body)


def compressed(body):
    return framed(body, b"\1")


OTHER_PODS = [
    pod(f"web-{number}-{'x' * 200}", container("c", is_new=number % 2)) for number in range(2000)
]
MAIN = container("main", devices(CORE, "0", "1", is_new=True), is_new=True)
MANY_PODS = listed(*OTHER_PODS, pod("trainer-0", MAIN))  # 500 kB: 8 windows of HTTP/2, 30 frames


@pytest.mark.parametrize("first", [b"", GOAWAY], ids=["running", "stopping"])
def test_an_answer_of_many_frames_is_read(machine, kubelet, first):
    """An answer of many frames is read, in old and new forms, also from a server that stops."""
    kubelet(answers(MANY_PODS, first=first))
    source = PodResources(machine.places, within_s=60.0)
    assert [TRAINER_ALLOCATION] == source.read_allocations()


MISNAMED = listed(pod("A b", container("c", devices(CORE, "0"))))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (answers(b"", status="8"), "rejected the call: too many calls"),
        (answers(b"", status="12"), "does not serve pod resources of version 1"),
        (answers(b"", status="14"), "the call failed"),
        (answers(listed(TRAINER), frames=compressed), "the answer is compressed"),
        (answers(listed(TRAINER), status=None), "ended without a status"),
        (answers(listed(TRAINER), frames=framed_twice), "does not have the form"),
        (answers(MISNAMED), "an invalid pod name"),
        (answers(bytes(MAX_RESPONSE_BYTES)), "larger than 16 MiB"),
        # Data without a stream.
        (
            lambda channel: channel.recv(1 << 16) and channel.sendall(b"\0\0\1" + bytes(6) + b"x"),
            "does not have the form",
        ),
        (lambda _channel: None, "closed the connection"),
    ],
)
def test_a_failed_kubelet_has_a_reason_and_a_remedy(machine, kubelet, answer, reason):
    """A kubelet that fails has a reason and a remedy, without its own words."""
    kubelet(answer)
    failure_reason, remedy = failure(PodResources(machine.places, within_s=60.0))
    assert reason in failure_reason
    assert "`" not in failure_reason
    assert remedy


def test_a_kubelet_that_hangs_or_restarts_is_asked_again(machine, kubelet):
    """A kubelet that hangs or restarts is asked again, also through a new socket."""
    source = PodResources(machine.places, within_s=0.05)
    hanging = kubelet(None)
    hanging.answer = hanging.hang
    assert failure(source)[0].startswith("no complete answer in time: ")
    hanging.close()
    source = PodResources(machine.places, within_s=60.0)
    reason, remedy = failure(source)
    assert "no process is listening" in reason
    assert "Mount the node's folder /var/lib/kubelet/pod-resources" in remedy
    hanging.path.unlink()
    assert "the socket does not exist" in failure(source)[0]
    kubelet(answers(listed(TRAINER)))
    assert [TRAINER_ALLOCATION] == source.read_allocations()


# --- pods that have ended ---


@pytest.mark.parametrize(
    ("processes", "logs", "expected"),
    [
        ([EKS_SYSTEMD_V2], [f"{TRAINER_LOGS}/main/0.log"], True),
        ([EKS_CGROUPFS_V1], [f"{TRAINER_LOGS}/main/0.log"], True),
        ([OTHER_POD_GROUPS], [f"{TRAINER_LOGS}/main/0.log"], False),
        # A user can name his groups as he likes.
        (
            [
                EKS_SYSTEMD_V2.replace("kubepods.slice", "user@1000.service/kubepods.slice", 1),
                OTHER_POD_GROUPS,
            ],
            [f"{TRAINER_LOGS}/main/0.log"],
            False,
        ),
        # The pod pulls its image: no container has started. One of two with this name waits.
        ([OTHER_POD_GROUPS], [f"{TRAINER_LOGS}/"], True),
        (
            [OTHER_POD_GROUPS],
            [f"{TRAINER_LOGS}/main/0.log", f"var/log/pods/ml_trainer-0_{OTHER_POD}/"],
            True,
        ),
        # Its ID is unknown, or control groups or processes are not visible.
        ([OTHER_POD_GROUPS], [], True),
        ([BARE], [f"{TRAINER_LOGS}/main/0.log"], True),
        (None, [f"{TRAINER_LOGS}/main/0.log"], True),
    ],
)
def test_a_pod_without_a_process_has_ended_unless_it_waits(machine, processes, logs, expected):
    """
    A listed pod without a process has ended, unless it waits to start.

    Kubernetes before 1.34 lists finished pods. With hidden processes, no pod counts as ended.
    """
    for pid, groups in enumerate(processes or [OTHER_POD_GROUPS], 42):
        machine.process(pid, groups=groups)
    if processes is None:
        (machine.proc / "1" / "cgroup").unlink()
    for file in logs:
        machine.file(f"{file}x", "")
        if file.endswith("/"):
            (machine.root / f"{file}x").unlink()
    assert [TRAINER_ALLOCATION._replace(is_verified=expected)] == mark_ended_pods(
        [TRAINER_ALLOCATION], machine.places
    )


@pytest.mark.parametrize(
    ("file", "variables", "expected"),
    [
        (None, {}, False),
        ("var/lib/kubelet/x", {}, True),
        ("var/log/pods/x", {}, True),
        ("run/neuron-emf/x", {}, True),
        (None, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, True),
    ],
)
def test_a_kubelet_is_seen_by_its_folders_and_from_its_pods(
    machine, monkeypatch, file, variables, expected
):
    """
    A kubelet is recognized by its folders, or in a pod by its variables.

    A pod without the folders has unknown reservations.
    """
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    if file:
        machine.file(file, "")
    assert expected == is_here(machine.places)


# --- handed over ---


def test_another_container_hands_over_the_assignments(machine, kubelet):
    """Another container hands over the assignments, which count for 30 s by the file's time."""

    def handed_over(now_s=1000):
        return HandedOver(machine.places, clock=lambda: now_s)

    file = machine.places.handed_over
    assert "cannot be read" in failure(handed_over())[0]
    file.parent.mkdir(parents=True)
    socket = PodResources(machine.places)
    hand_over(socket, file, 1000.0)
    assert failure(socket) == failure(handed_over())
    kubelet(answers(listed(TRAINER)))
    hand_over(socket, file, 1000.0)
    assert [file] == list(file.parent.iterdir())
    for now_s in (1000 - FRESH_S, 1000 + FRESH_S):
        assert [TRAINER_ALLOCATION] == handed_over(now_s).read_allocations()
    for now_s in (999 - FRESH_S, 1001 + FRESH_S):
        reason, remedy = failure(handed_over(now_s))
        assert "more than 30 s ago" in reason
        assert "container `reservations`" in remedy
    hand_over(Mock(read_allocations=lambda: [TRAINER_ALLOCATION] * 40_000), file, 1000.0)
    assert file.stat().st_size < 1000, "a pod that fills its small volume is evicted"
    assert "larger than 1 MiB" in failure(handed_over())[0]
    file.write_text('{"at_s":1000,"allocations":[["a"],7]}')
    assert "cannot be read" in failure(handed_over())[0]


def test_the_container_ends_on_a_signal():
    """The container ends on a signal, also as the first process of its namespace."""
    script = (
        "import os, signal; from neuron_emitter.owners import __main__ as it; "
        "it.hand_over = lambda *_: os.kill(os.getpid(), signal.SIGTERM); it.main()"
    )
    command = ["unshare", "--pid", "--fork", sys.executable, "-c", script]
    ended = subprocess.run(
        command, env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True, check=False
    )
    if "unshare" in ended.stderr:
        pytest.skip("this machine does not allow it")
    assert 0 == ended.returncode
    assert "" == ended.stderr


# --- checkpoints ---


def entry(resource, ids, *, uid=POD_ID, container="main", files=()):
    """Return an entry of the device manager; *files* are the plugin's answer."""
    parts = [
        (3, message((1, f"/dev/neuron{n}"), (2, file), (3, "rw"))) for n, file in enumerate(files)
    ]
    variables = (1, message((1, "NEURON_RT_VISIBLE_CORES"), (2, "0-1")))
    by_node = ids if isinstance(ids, dict) else {"-1": ids}
    return {
        "PodUID": uid,
        "ContainerName": container,
        "ResourceName": resource,
        "DeviceIDs": by_node,
        "AllocResp": base64.b64encode(message(variables, *parts)).decode(),
    }


def claims(member, *names):
    """Return the claims of one pod, in a list called *member*."""
    driver = {"Devices": [{"PoolName": "p", "DeviceName": name} for name in names]}
    claim = {"ClaimName": "c", "PodUIDs": {POD_ID: {}}, "DriverState": {PLUGIN: driver}}
    return {"Data": json.dumps({"kind": "DRACheckpoint", member: [claim]}), "Checksum": 1}


def checkpoint(machine, *entries, claimed=None):
    """Return the checkpoint source of a machine with these files."""
    data = {"PodDeviceEntries": list(entries) or None, "RegisteredDevices": {CORE: ["0", "1"]}}
    machine.file(PLUGINS_FILE, {"Data": data, "Checksum": 1})
    if claimed is not None:
        machine.file(CLAIMS_FILE, claimed)
    return KubeletCheckpoint(machine.places)


def to_trainer(cores=(), devices=(), name="ml/trainer-0/main", **others):
    return [assigned_to(name, cores, devices, **others)]


CLAIMED = ("neuron-device-3", "neurondevice4")


@pytest.mark.parametrize(
    ("entries", "claimed", "expected"),
    [
        ([], None, []),
        ([entry(EFA, ["rdma0"])], None, []),
        ([entry(CORE, {"-1": ["0"], "1": ["1"]})], None, to_trainer([0, 1])),
        (
            [entry(DEVICE, ["0", "1"], files=["/dev/neuron4", "/dev/neuron5"])],
            None,
            to_trainer(devices=[4, 5], is_exact=True),
        ),
        (
            [entry(DEVICE, ["0"], files=["/dev/fuse", "/dev/neuron4", "/dev/neuron5"])],
            None,
            to_trainer(devices=[0]),
        ),
        (
            [entry(CORE, ["0"]), entry(CORE, ["1"], container="b")],
            None,
            to_trainer([0, 1], name="ml/trainer-0"),
        ),
        ([entry(CORE, ["0"], uid=OTHER_POD)], None, []),  # deleted, and not yet rewritten
        *(
            (
                [],
                claims(member, *CLAIMED),
                to_trainer(devices=[3, 4], is_exact=True, name="ml/trainer-0"),
            )
            for member in ("Entries", "ClaimInfoStateList")
        ),
    ],
)
def test_the_checkpoint_has_the_present_pods(machine, entries, claimed, expected):
    """The checkpoint has present pods' assignments: devices by the plugin's files, cores by ID."""
    machine.file(f"{TRAINER_LOGS}/main/0.log", "")
    assert expected == checkpoint(machine, *entries, claimed=claimed).read_allocations()


def test_an_unreadable_checkpoint_has_a_reason_and_a_remedy(machine):
    """An unreadable checkpoint, or no folder of pods, has a reason and a remedy."""
    source = KubeletCheckpoint(machine.places)
    assert "does not exist" in failure(source)[0]
    for content in ("", "{}", '{"Data": 7}', '{"Data": {"PodDeviceEntries": [{}]}}'):
        machine.file(PLUGINS_FILE, content)
        assert "not have the form" in failure(source)[0]
    checkpoint(machine, entry(CORE, ["0"]))
    reason, remedy = failure(source)
    assert "no pod has a folder" in reason
    assert "Mount the node's folders" in remedy
    (machine.root / f"var/lib/kubelet/pods/{POD_ID}").mkdir(parents=True)
    (allocation,) = source.read_allocations()
    assert f"pod:{POD_ID}" == allocation.name, "the name of the pod's processes"
    assert allocation.team is None
