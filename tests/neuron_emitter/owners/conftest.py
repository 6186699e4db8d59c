"""Fixtures for owners: a fake machine, its kubelet, and isolation from the network."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from neuron_emitter.owners import places
from tests.neuron_emitter.owners.fake_machine import FakeKubelet, FakeMachine
from tests.neuron_emitter.spool_parts import SpoolClock


@pytest.fixture
def clock():
    """Return a clock at 1,000 s after the boot."""
    return SpoolClock(1000.0)


@pytest.fixture(autouse=True)
def fence(monkeypatch, this_host_alone):  # noqa: ARG001 it bars the others
    """Permit connections only to this host, with timeouts that a busy machine does not reach."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)  # the tests may run in a pod
    monkeypatch.setattr(places, "ECS_AGENT_TIMEOUT_S", 8.0)
    monkeypatch.setattr("neuron_emitter.instance.local_http.CONNECT_S", 8.0)
    monkeypatch.setattr("neuron_emitter.instance.local_http.EXCHANGE_S", 8.0)


@pytest.fixture
def machine(closed_url):
    """Yield a machine with only init, in a folder with a path short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="host-", dir="/tmp") as folder:
        yield FakeMachine(Path(folder) / "host", closed_url)


@pytest.fixture
def kubelet(machine):
    """Yield a function that starts the machine's kubelet with an answer, until the test ends."""
    kubelets = []

    def start(answer):
        kubelets.append(FakeKubelet(machine.root, answer))
        return kubelets[-1]

    yield start
    for kubelet in kubelets:
        kubelet.close()
