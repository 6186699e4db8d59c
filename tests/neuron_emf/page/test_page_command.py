"""`neuron-emf page`: the address that it prints opens the page, and the policy is what it needs."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from neuron_emf.page.server import TOKEN_HEADER
from tests.neuron_emf.account_doubles import OWN_QUERY
from tests.neuron_emf.page.looked_at import view_of


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_printed_address_opens_the_page(looked_at, number):
    """With its token there are data, of the account of the environment; Ctrl-C ends it well."""
    with subprocess.Popen(
        [sys.executable, "-m", "neuron_emf", "page"],
        env={**os.environ, **looked_at.variables}, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            url, _, token = process.stdout.readline().split()[-1].partition("#token=")
            assert url.startswith("http://127.0.0.1:")
            request = urllib.request.Request(f"{url}now.json", headers={TOKEN_HEADER: token})
            with urllib.request.urlopen(request, timeout=300) as answer:
                assert "neuron-emf" == json.load(answer)["stack_name"]
        finally:
            process.send_signal(number)
        assert 0 == process.wait(20)


@pytest.mark.usefixtures("double")
def test_a_port_that_is_taken_is_said(typed):
    """With the port, why, and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = typed("page", "--port", port)
    assert (2, "") == (code, out)
    assert f"Cannot listen on 127.0.0.1, port {port}: " in err
    assert "Use another --port, or 0" in err


def test_the_policy_allows_what_the_page_does(typed, looked_at):
    """
    Every call of every part, and no other; lines of three log groups of this stack alone, in the
    partition of the region.
    """
    code, out, err = typed("page", "--policy", "--region", "cn-north-1", "--stack-name", "blue")
    assert (0, "") == (code, err)
    policy = json.loads(out)
    allowed = {action for one in policy["Statement"] for action in one["Action"]}
    view = view_of()
    for answer in view.reads.values():
        answer({})
    view.query({"name": OWN_QUERY})
    done = {name.rpartition(":")[2] for name in looked_at.operations}
    assert {action.partition(":")[2] for action in allowed} == done
    (lines,) = [one for one in policy["Statement"] if "logs:FilterLogEvents" in one["Action"]]
    prefix = "arn:aws-cn:logs:cn-north-1:*:log-group:"
    assert [f"{prefix}{group}:*" for group in (
        "/neuron-emf/records", "/neuron-emf/blue/rollups", "/neuron-emf/blue/explain")
    ] == lines["Resource"]  # fmt: skip
