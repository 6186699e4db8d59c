"""Fixtures for tests of the emitter, which keep the tests on this machine."""

from __future__ import annotations

import socket

import pytest

from tests.neuron_emitter.instance_services import PlayedService


@pytest.fixture(autouse=True)
def _no_metadata_service(monkeypatch):
    """
    Turn off the metadata service, kernel messages and the naming of owners.

    The tests may run on a real instance.
    """
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NEURON_EMF_KERNEL_MESSAGES", "none")
    monkeypatch.setenv("NEURON_EMF_ATTRIBUTION", "none")


@pytest.fixture
def this_host_alone(monkeypatch):
    """Permit connections only to this host."""
    connect = socket.create_connection

    def connect_here(address, *arguments, **options):
        assert address[0] in {"127.0.0.1", "localhost", "::1"}, address
        return connect(address, *arguments, **options)

    monkeypatch.setattr(socket, "create_connection", connect_here)


@pytest.fixture
def play():
    """Yield a function that starts a played service; each ends with the test."""
    playing = []

    def start(routes=None):
        playing.append(PlayedService(routes or {}))
        return playing[-1]

    yield start
    for service in playing:
        service.close()


@pytest.fixture
def closed_url():
    """Yield an address where no server listens or can start during the test."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
