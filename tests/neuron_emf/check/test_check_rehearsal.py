"""The check against the deployed template, on the embedded AWS of the rehearsal."""

from __future__ import annotations

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from local.alarms.template import load
from local.embedded_aws import EmbeddedAws, SamCli
from local.embedded_aws.clients import REGION, environment
from local.rehearsal.stack import STACK_NAME, DeployedStack, overrides
from neuron_emf import account as accounts
from tests.neuron_emf.check.rows import CHECKS

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel"),
]


@pytest.fixture
def aws(programs, tmp_path):
    """An emulator with nothing in it."""
    folder = tmp_path / "aws"
    folder.mkdir()
    embedded = EmbeddedAws(programs[0], folder)
    embedded.start()
    yield embedded
    embedded.stop()


@pytest.fixture
def stack(aws, programs, repository, tmp_path):
    """The real template in it, by the real SAM CLI."""
    folder = tmp_path / "sam"
    folder.mkdir()
    sam = SamCli(programs[1], folder, lambda: None)
    template = load((repository / "template.yaml").read_text(encoding="utf-8"))
    built = sam.build(repository / "template.yaml", environment())
    deployment = sam.deploy(built, STACK_NAME, overrides(template), aws)
    return DeployedStack(aws, deployment, round(time.time() * 1000))


@pytest.fixture
def rehearsal(aws, stack, monkeypatch):
    """The page that says where the rehearsal is."""
    place = {
        "endpoint_url": aws.endpoint_url,
        "region": REGION,
        "log_group": stack.records_group,
        "rollups_log_group": f"/neuron-emf/{STACK_NAME}/rollups",
        "stack_name": STACK_NAME,
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(place).encode())

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/rehearsal.json"
        monkeypatch.setattr(accounts, "REHEARSAL", address)
        yield stack
        server.shutdown()
        thread.join()


def test_of_the_deployed_template_nothing_is_wrong(checked, rehearsal, repository, monkeypatch):
    """
    Groups, classes, filter, receiver and permissions as deployed; the probe becomes no record.
    """
    monkeypatch.setenv("NEURON_SIM_PYTHON", sys.executable)
    command = repository / "local" / "monitor" / "neuron-monitor"
    found = checked("--rehearsal", "--monitor-command", command, "--period", 1)
    assert {**CHECKS, "metric extraction": "not needed"} == found.states, found.document
    assert f"{REGION}, from the rehearsal" == found.of("region")["found"]
    assert 0 == found.code
    assert 0 == rehearsal.stored_records()
