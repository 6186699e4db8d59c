"""What is shipped keeps the rules of bandit, as ruff has them, but for what is answered here."""

from __future__ import annotations

import json
import subprocess
import sys

SHIPPED = ("emitter", "lambda", "neuron_emf")

ANSWERED = {
    ("emitter/owners/naming.py", "S105"): "the path of the file of users",
    ("emitter/owners/scontrol.py", "S603"): "starts Slurm's own command, by a fixed path",
    ("emitter/backoff.py", "S311"): "jitter keeps no secret",
    ("emitter/instance/instance_tags.py", "S314"): "XML from EC2 over TLS, of bounded length",
    ("emitter/instance/metadata_service.py", "S105"): "the path of a token, not a token",
    ("emitter/reports/child.py", "S603"): "starts neuron-monitor, by the name the operator gives",
    ("lambda/aggregator/storage/dynamodb.py", "S311"): "jitter keeps no secret",
    ("neuron_emf/page/server.py", "S105"): "the name of a header, not a token",
}
"""Findings that stay, by file and rule, and why."""


def findings(*arguments, cwd, text=None):
    """What the rules of bandit say, suppressed or not, whatever this repository's settings."""
    run = subprocess.run(
        [
            *(sys.executable, "-m", "ruff", "check", "--isolated", "--select", "S"),
            *("--ignore-noqa", "--no-cache", "--output-format", "json", *arguments),
        ],
        cwd=cwd,
        check=False,
        capture_output=True,
        text=True,
        input=text,
    )
    assert "" == run.stderr
    return json.loads(run.stdout)


def test_every_finding_is_answered(repository):
    """A new one needs a line above; a line above without a finding must go."""
    found = {
        (one["filename"].removeprefix(f"{repository}/"), one["code"])
        for one in findings(*SHIPPED, cwd=repository)
    }
    assert ANSWERED.keys() == found
