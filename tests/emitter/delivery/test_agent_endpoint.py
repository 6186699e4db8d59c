"""The address of the CloudWatch agent: what can be one."""

from __future__ import annotations

import pytest

from emitter.delivery.agent_socket import parse_endpoint
from emitter.errors import SettingsError


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        ("tcp://127.0.0.1:25888", ("127.0.0.1", 25888)),
        ("tcp://cwagent:1", ("cwagent", 1)),
        ("tcp://[::1]:65535", ("::1", 65535)),
        ("tcp://localhost:25888/", ("localhost", 25888)),
    ],
)
def test_an_endpoint_is_a_host_and_a_port(endpoint, expected):
    """An IPv6 host stands in brackets."""
    assert expected == parse_endpoint(endpoint)


@pytest.mark.parametrize(
    "endpoint",
    [
        "", "127.0.0.1:25888", "udp://127.0.0.1:25888", "tcp://127.0.0.1", "tcp://:25888",
        "tcp://::1:25888", "tcp://[::1:25888", "tcp://host:0", "tcp://host:65536",
        "tcp://host:port", "tcp://a..b:1", "tcp://host:1/path", "tcp://me@host:1",
    ],
)  # fmt: skip
def test_an_endpoint_that_cannot_be_is_wrong_use(endpoint):
    """UDP too: it loses lines without a word."""
    with pytest.raises(SettingsError, match="Use tcp://HOST:PORT"):
        parse_endpoint(endpoint)


def test_a_password_is_not_repeated():
    """The sentence goes to a log, and what stands before an @ may be secret."""
    with pytest.raises(SettingsError) as refused:
        parse_endpoint("tcp://me:hunter2@127.0.0.1:25888")
    assert "hunter2" not in str(refused.value)
    assert "@" in str(refused.value)
