"""The check against the deployed template, on the embedded AWS of the rehearsal."""

from __future__ import annotations

import json
import sys
import time

import pytest

from emitter.owners import Reach
from local.embedded_aws.clients import REGION
from local.rehearsal.stack import STACK_NAME, DeployedStack, overrides
from neuron_emf import account as accounts
from neuron_emf.check import this_machine
from neuron_emf.cli import main
from tests.json_page import json_page
from tests.neuron_emf.check.kernel_double import readable
from tests.neuron_emf.check.rows import CHECKS

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.proof,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel"),
]


@pytest.fixture
def rehearsal(aws, sam_build, template, monkeypatch):
    """The real template in the emulator, and the page that says where it is."""
    deployment = sam_build.sam.deploy(sam_build.template, STACK_NAME, overrides(template), aws)
    stack = DeployedStack(aws, deployment, round(time.time() * 1000))
    place = {
        "endpoint_url": aws.endpoint_url,
        "region": REGION,
        "log_group": stack.records_group,
        "rollups_log_group": f"/neuron-emf/{STACK_NAME}/rollups",
        "stack_name": STACK_NAME,
    }

    with json_page(place) as address:
        monkeypatch.setattr(accounts, "REHEARSAL", f"{address}/rehearsal.json")
        yield stack


def test_of_the_deployed_template_nothing_is_wrong(
    rehearsal, repository, monkeypatch, capsys, tmp_path
):
    """
    Groups, classes, filter, receiver and permissions as deployed; the probe becomes no record.
    """
    monkeypatch.setenv("NEURON_SIM_PYTHON", sys.executable)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr(this_machine, "reach", lambda _places: Reach())
    monkeypatch.setattr(this_machine, "opener", readable)
    monitor = repository / "local" / "monitor" / "neuron-monitor"
    words = ("--rehearsal", "--json", "--cluster", "blue", "--monitor-command", str(monitor))
    with pytest.raises(SystemExit) as ended:
        main(["check", *words, "--spool-dir", str(tmp_path / "spool")])
    results = json.loads(capsys.readouterr().out)["checks"]
    states = {result["check"]: result["state"] for result in results}
    assert {**CHECKS, "metric extraction": "not needed"} == states, results
    assert f"{REGION}, from the rehearsal" in [result["found"] for result in results]
    assert 0 == ended.value.code
    assert 0 == rehearsal.stored_records()
