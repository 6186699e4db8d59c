"""The pod-resources client against gRPC's own server."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from neuron_emitter.owners.assignments import Allocation, UnknownAssignmentsError
from neuron_emitter.owners.pod_resources import PodResources
from tests.neuron_emitter.owners.fake_machine import CORE, container, devices, listed, pod

pytest.importorskip("grpc", reason="grpcio is missing: run `make venvs`")

SERVER = Path(__file__).with_name("grpc_server.py")
OTHER_PODS = [
    pod(f"web-{number}-{'x' * 200}", container("c", is_new=number % 2)) for number in range(2000)
]
MAIN = container("main", devices(CORE, "0", "1", is_new=True), is_new=True)
MANY_PODS = listed(*OTHER_PODS, pod("trainer-0", MAIN))  # 500 kB: 8 windows of HTTP/2, 30 frames
TRAINER_ANSWER = Allocation("ml/trainer-0/main", "ml", cores=frozenset({0, 1}))


@contextmanager
def serving(machine, mode, answer=MANY_PODS):
    """Serve *answer* on the machine's kubelet socket, in a mode of the server."""
    socket = machine.root / "var/lib/kubelet/pod-resources/kubelet.sock"
    socket.parent.mkdir(parents=True)
    file = machine.root / "answer"
    file.write_bytes(answer)
    command = [sys.executable, SERVER, socket, mode, file]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as server:
        assert "ready\n" == server.stdout.readline()
        yield
        server.communicate()


@pytest.mark.parametrize("mode", ["OK", "stopping"])
def test_an_answer_of_many_frames_is_read(machine, mode):
    """An answer of many frames is read, in old and new forms, also from a server that stops."""
    with serving(machine, mode):
        source = PodResources(machine.places, within_s=60.0)
        assert [TRAINER_ANSWER] == source.read_allocations()


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("RESOURCE_EXHAUSTED", "rejected the call: too many calls"),
        ("UNIMPLEMENTED", "does not serve pod resources of version 1"),
        ("UNAVAILABLE", "the call failed"),
        ("compressed", "the answer is compressed"),
    ],
)
def test_a_refusal_is_a_reason(machine, mode, reason):
    """A status without an answer, and a compressed answer, are reasons."""
    with serving(machine, mode), pytest.raises(UnknownAssignmentsError, match=reason) as raised:
        PodResources(machine.places, within_s=60.0).read_allocations()
    assert "`" not in str(raised.value)


def test_a_call_ends_at_its_deadline(machine):
    """The call ends at the emitter's deadline if the server does not answer."""
    with (
        serving(machine, "silent"),
        pytest.raises(UnknownAssignmentsError, match="no complete answer in time"),
    ):
        PodResources(machine.places, within_s=0.05).read_allocations()
