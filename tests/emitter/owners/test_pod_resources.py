"""What the kubelet's pod-resources socket tells, and what becomes of one that does not."""

from __future__ import annotations

import os
import pwd
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from played_kubelet import (
    CORE,
    DEVICE,
    EFA,
    OLD_DEVICE,
    OTHER_DRIVER,
    PLUGIN,
    TRAINER,
    answers,
    claim,
    container,
    devices,
    listed,
    message,
    pod,
    says,
)

from emitter.owners.given import Allocation, UnreadError
from emitter.owners.pod_resources import MAX_BYTES, MAX_ENTRIES, PodResources, allocations_of

PATIENT_S = 60.0  # a loaded machine is no reason for a missing answer


def given_to(name, cores=(), devices=(), **others):
    return Allocation(name, "ml", cores=frozenset(cores), devices=frozenset(devices), **others)


ANSWERS = {
    "cores of one container": ([TRAINER], [given_to("ml/trainer-0/main", [0, 1])]),
    "devices, and those of before 2.22": (
        [pod("a", container("c", devices(DEVICE, "3"), devices(OLD_DEVICE, "4")))],
        [given_to("ml/a/c", devices=[3, 4])],
    ),
    "claimed devices are those very ones": (
        [pod("a", container("c", claims=[claim(PLUGIN, "neuron-device-0", "neurondevice15")]))],
        [given_to("ml/a/c", devices=[0, 15], is_exact=True)],
    ),
    "a claim that two containers share": (
        [pod("a", *(container(one, claims=[claim(PLUGIN, "neuron-device-2")]) for one in "xy"))],
        [given_to("ml/a", devices=[2], is_exact=True)],
    ),
    "a sidecar without any": (
        [pod("a", container("c", devices(CORE, "7")), container("log-router"))],
        [given_to("ml/a/c", [7])],
    ),
    "containers together, also where they say the same core": (
        [pod("a", container("c", devices(CORE, "1", "2")), container("d", devices(CORE, "2")))],
        [given_to("ml/a", [1, 2])],
    ),
    "one resource by NUMA node": (
        [pod("a", container("c", devices(CORE, "0"), devices(CORE, "9"), is_new=True))],
        [given_to("ml/a/c", [0, 9])],
    ),
    "others' devices": (
        [pod("a", container("c", devices(EFA, "rdma0"), claims=[claim(OTHER_DRIVER, "gpu-0")]))],
        [],
    ),
    "pods without ids": ([pod("a", container("c", devices(CORE))), pod("b", container("c"))], []),
    "ids that are none": (
        [pod("a", container("c", devices(CORE, "0::1", "3", "x", "-1", "1024", "")))],
        [given_to("ml/a/c", [3], odd_ids=5)],
    ),
    "claimed devices without a number": (
        [pod("a", container("c", claims=[claim(PLUGIN, "neuron-node", "neuron-device-99999")]))],
        [given_to("ml/a/c", odd_ids=2, is_exact=True)],
    ),
    "a container as none can be called": (
        [pod("a", container("\x1b[2J", devices(CORE, "0")))], [given_to("ml/a", [0])],
    ),
    "nobody": ([], []),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_each_pod_has_what_its_containers_were_given(name):
    """By the interface's numbers, whatever else an older or newer kubelet says."""
    pods, expected = ANSWERS[name]
    assert expected == allocations_of(memoryview(listed(*pods)))


@given(st.binary(max_size=200))
def test_an_answer_is_read_or_refused(answer):
    """Whatever it is: nothing else is raised."""
    with suppress(ValueError):
        allocations_of(memoryview(answer))


def test_an_answer_that_is_cut_is_refused():
    """A pod that is left out would be a core that nobody has."""
    whole, between = listed(TRAINER, TRAINER), len(listed(TRAINER))
    for cut in set(range(1, len(whole))) - {between}:  # there the length before it tells
        with pytest.raises(ValueError, match="the form"):
            allocations_of(memoryview(whole[:cut]))


def test_a_hundred_thousand_entries_are_read_and_one_more_is_refused():
    """Ids of one container; the messages around them count, too."""
    around = 5  # pod, its names, its container and the devices of that
    few = [str(one % 1024) for one in range(MAX_ENTRIES - around - 2)]
    answer = listed(pod("a", container("c", devices(CORE, *few))))
    assert 1024 == len(allocations_of(memoryview(answer))[0].cores)
    answer = listed(pod("a", container("c", devices(CORE, *few, "0"))))
    with pytest.raises(ValueError, match="more than 100,000 entries"):
        allocations_of(memoryview(answer))


# --- the socket ---


def read(node, within_s=PATIENT_S):
    return PodResources(node.places, within_s=within_s).read_allocations()


def failure(node, within_s=PATIENT_S):
    with pytest.raises(UnreadError) as raised:
        read(node, within_s)
    return str(raised.value), raised.value.remedy


@pytest.mark.parametrize("is_new", [False, True])
def test_the_socket_tells_what_was_given(node, kubelet, is_new):
    """A node with 200 pods, as kubelets before 1.20 and of today say it: several windows long."""
    pods = [
        pod(f"web-{one}-{'x' * 200}", container("c", is_new=is_new), namespace="default")
        for one in range(200)
    ]
    main = container("main", devices(CORE, "2", "3", is_new=is_new), is_new=is_new)
    kubelet(answers(listed(*pods, pod("trainer-0", main))))
    assert [given_to("ml/trainer-0/main", [2, 3])] == read(node)


def compressed(body):
    return b"\1" + len(body).to_bytes(4, "big") + body


def twice(body):
    return 2 * (b"\0" + len(body).to_bytes(4, "big") + body)


MISNAMED = listed(pod("A b", container("c", devices(CORE, "0"))))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (answers(b"", status="8"), "refuses to answer so many questions"),
        (answers(b"", status="12"), "no pod resources of version 1"),
        (answers(b"", status="`rm`"), "the call failed"),
        (answers(listed(TRAINER), status=None), "ended without a status"),
        (answers(b"", frames=lambda _: b""), "has not the form"),
        (answers(listed(TRAINER), frames=compressed), "has not the form"),
        (answers(listed(TRAINER), frames=twice), "has not the form"),
        (answers(listed(TRAINER)[:-1]), "has not the form"),
        (answers(MISNAMED), "as no pod can be called"),
        (answers(bytes(MAX_BYTES)), "larger than 16 MiB"),
        (answers(listed(*[TRAINER] * 20_000)), "more than 100,000 entries"),
        (says(b"\0\0\1" + bytes(6) + b"x"), "has not the form"),  # data of no stream
        (lambda _channel: None, "closed the connection"),
    ],
)
def test_a_kubelet_that_does_not_tell_is_a_reason_and_a_remedy(node, kubelet, answer, reason):
    """Busy, old, lying or leaving; nothing that it says itself is repeated."""
    kubelet(answer)
    said, remedy = failure(node)
    assert reason in said
    assert "`" not in said
    assert remedy


def test_a_kubelet_that_hangs_costs_its_time_and_no_more(node, kubelet):
    """From the first byte or in the middle of its answer."""
    played = kubelet(None)
    played.answer = played.hang
    assert failure(node, within_s=0.05)[0].startswith("no whole answer in time: ")


def test_a_kubelet_that_restarts_is_asked_at_its_new_socket(node, kubelet):
    """Between them there is no socket, or one that nobody listens at."""
    kubelet(answers(listed(TRAINER))).close()
    reason, remedy = failure(node)
    assert "nobody is listening" in reason
    assert "Mount the node's folder /var/lib/kubelet/pod-resources" in remedy
    (node.root / "var/lib/kubelet/pod-resources/kubelet.sock").unlink()
    assert "there is no such socket" in failure(node)[0]
    kubelet(answers(listed(TRAINER)))
    assert 1 == len(read(node))


def test_another_user_is_told_who_may_ask(node, kubelet):
    """The socket is root's, and the group does not help."""
    played = kubelet(answers(listed(TRAINER)))
    played.path.chmod(0o755)
    if os.geteuid():
        pytest.skip("only root can be another user")
    for folder in (node.root, *node.root.parents[:-2]):
        folder.chmod(0o755)
    nobody = pwd.getpwnam("nobody").pw_uid
    os.seteuid(nobody)
    try:
        reason, remedy = failure(node)
    finally:
        os.seteuid(0)
    assert "permission denied" in reason
    assert "Run as root, without any capability" in remedy


def test_a_message_is_as_the_interface_writes_it():
    """The writer of these tests against bytes of protobuf's own documentation."""
    assert bytes.fromhex("089601") == message((1, 150))
    assert bytes.fromhex("120774657374696e67") == message((2, "testing"))
