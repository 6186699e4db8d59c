"""What the tests of attribution share: played machines, and a fence."""

from __future__ import annotations

import socket
import sys
import tempfile
from pathlib import Path

import pytest

from emitter.owners import places

sys.path.insert(0, str(Path(__file__).resolve().parent))

from played_kubelet import PlayedKubelet
from played_machines import PlayedMachine

_connect = socket.create_connection


@pytest.fixture(autouse=True)
def fence(monkeypatch):
    """Only this host is reachable, and a busy machine is no reason for a missing answer."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)  # the tests may run in a pod

    def connect(address, *arguments, **options):
        assert address[0] in {"127.0.0.1", "localhost"}, address
        return _connect(address, *arguments, **options)

    monkeypatch.setattr(socket, "create_connection", connect)
    monkeypatch.setattr(places, "WITHIN_S", 8.0)
    monkeypatch.setattr("emitter.instance.local_http.CONNECT_S", 8.0)
    monkeypatch.setattr("emitter.instance.local_http.EXCHANGE_S", 8.0)


@pytest.fixture
def played(tmp_path, closed_url):
    """A machine with init and nothing else; no service answers on it."""
    return PlayedMachine(tmp_path / "host", closed_url)


@pytest.fixture
def asked_at(monkeypatch):
    """Set when a source that did not answer may be asked again, in seconds from now."""
    return lambda rest_s: monkeypatch.setattr(places, "REST_S", rest_s)


@pytest.fixture
def node(closed_url):
    """A machine whose files have names short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="node-", dir="/tmp") as folder:
        yield PlayedMachine(Path(folder) / "host", closed_url)


@pytest.fixture
def kubelet(node):
    """Start the kubelet of *node* with what it answers; it ends with the test."""
    playing = []

    def start(answer):
        playing.append(PlayedKubelet(node.root, answer))
        return playing[-1]

    yield start
    for one in playing:
        one.close()
