"""The pipe of docs/how-to/migrating.md under a real supervisord."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from neuron_reports import GOOD

from proof.emitter_process import environment, wait_until

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "migrating.md"


@pytest.mark.proof
def test_a_dead_pipe_is_started_again_and_a_stop_is_clean(program_of, tmp_path):
    """Exit code 3 is one that it does not expect; a stop reaches both, and says Bye."""
    (tmp_path / "reports").write_bytes(GOOD)
    variables = environment(tmp_path, NEURON_EMF_OUTPUT="stdout", NEURON_EMF_SPOOL_DIR="spool")
    path = variables.pop("PYTHONPATH")  # supervisord may be of another Python
    for name, program in {
        "neuron-monitor": "cat reports; sleep 1; [ -e again ] && exec sleep 60; >again; exit 1",
        "neuron-monitor-emf": f'PYTHONPATH={path} exec {sys.executable} -m emitter.drop_in "$@"'
        " >>lines",
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / name).chmod(0o755)
    shown = re.search(r"<!-- supervisord -->\n```ini\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    config = tmp_path / "supervisord.conf"
    config.write_text(f"[supervisord]\nnodaemon=true\npidfile=pid\nlogfile=log\n{shown[1]}")
    variables["PATH"] = f"{tmp_path}:{variables['PATH']}"
    with subprocess.Popen(
        [program_of(".venv-tools", "supervisord"), "-c", str(config)],
        env={**variables, "NEURON_EMF_CLUSTER": "blue"},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as supervisor:
        wait_until((tmp_path / "again").exists, 20)
        log = tmp_path / "log"
        wait_until(lambda: 2 == log.read_text("utf-8").count("spawned: "), 20)
        wait_until(lambda: 2 == log.read_text("utf-8").count("entered RUNNING"), 20)
        supervisor.terminate()
    assert "(exit status 3; not expected)" in log.read_text("utf-8")
    lines = [json.loads(line) for line in (tmp_path / "lines").read_text("utf-8").splitlines()]
    minutes = [line.get("Bye", False) for line in lines if line["Kind"] == "minute"]
    assert [False, True] == [minutes[0], minutes[-1]]
