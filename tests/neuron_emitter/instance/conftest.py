"""
What the tests of the instance's identity share: a fake metadata service, patience, and a fence.

No test may reach a real link-local address: on an instance, or on a machine
that pretends to be one, somebody would answer.
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

# What answers on this machine does so in milliseconds, but the machine may be busy.


@pytest.fixture(autouse=True)
def fence(monkeypatch, this_host_alone):  # noqa: ARG001 it bars the others
    """Only this host is reachable, and no variable of the machine changes what is tested."""
    for name in (
        *("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL"),
        *("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Bounds that a busy machine does not reach; a test of a bound sets its own."""

    def set_bounds(within_s):
        monkeypatch.setattr(local_http, "CONNECT_S", within_s)
        monkeypatch.setattr(local_http, "EXCHANGE_S", within_s)
        for module in (metadata_service, instance_facts, instance_tags):
            monkeypatch.setattr(module, "METADATA_TIMEOUT_S", within_s)

    set_bounds(HUNG_AFTER_S)
    return set_bounds


@pytest.fixture
def imds():
    """A metadata service of an instance that allows tags in it and has none."""
    playing = PlayedImds()
    yield playing
    playing.close()


@pytest.fixture
def machine(tmp_path):
    """Write files of a machine whose root is an empty folder; gives the root."""

    def write(files=None):
        for name, text in (files or {}).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write
