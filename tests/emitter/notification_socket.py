"""The socket on which a supervisor hears, and what was said on it."""

from __future__ import annotations

import contextlib
import os
import socket

import pytest


@pytest.fixture
def listening(tmp_path):
    """The socket of a supervisor, under a name that no file has."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.settimeout(0)
        server.bind(f"\0neuron-emf-{os.getpid()}-{tmp_path.name}")
        yield server


def variables(server, **others):
    """The variables as systemd sets them for an abstract socket."""
    return {"NOTIFY_SOCKET": "@" + server.getsockname()[1:].decode(), **others}


def heard(server):
    """Every datagram so far, as lists of assignments."""
    found = []
    with contextlib.suppress(BlockingIOError):
        while True:
            found.append(server.recv(4096).decode().split("\n"))
    return found
