"""
Fixtures for the instance's identity: a fake metadata service, time limits and isolation.

No test may reach a real link-local address, because a real service may answer there.
"""

from __future__ import annotations

import pytest

from neuron_emitter.instance import (
    instance_facts,
    instance_tags,
    local_http,
    metadata_service,
)
from proof.emitter_process import HUNG_AFTER_S
from tests.neuron_emitter.instance_services import PlayedImds

# Services on this machine answer in milliseconds, unless the machine is busy.


@pytest.fixture(autouse=True)
def fence(monkeypatch, this_host_alone):  # noqa: ARG001 it bars the others
    """Permit connections only to this host, and remove the machine's variables."""
    for name in (
        *("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL"),
        *("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Set time limits that a busy machine does not reach; return a function that sets others."""

    def set_bounds(within_s):
        monkeypatch.setattr(local_http, "CONNECT_S", within_s)
        monkeypatch.setattr(local_http, "EXCHANGE_S", within_s)
        for module in (metadata_service, instance_facts, instance_tags):
            monkeypatch.setattr(module, "METADATA_TIMEOUT_S", within_s)

    set_bounds(HUNG_AFTER_S)
    return set_bounds


@pytest.fixture
def imds():
    """Yield a metadata service of an instance without tags that permits tags."""
    playing = PlayedImds()
    yield playing
    playing.close()


@pytest.fixture
def machine(tmp_path):
    """Return a function that writes files below an empty root folder and returns the root."""

    def write(files=None):
        for name, text in (files or {}).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write
