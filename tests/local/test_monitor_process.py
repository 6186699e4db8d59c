"""
As a process the simulator starts, ends and refuses like neuron-monitor.

It is always started by the script that the emitter is given as its command.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest


@pytest.fixture
def start(repository, tmp_path):
    """Start it somewhere else than in the repository; whatever the test leaves is killed."""

    @contextmanager
    def starter(*arguments, **variables):
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        with subprocess.Popen(
            [str(repository / "local" / "monitor" / "neuron-monitor"), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={**kept, "NEURON_SIM_PYTHON": sys.executable, **variables},
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    return starter


def finish(process):
    """The rest of its output, its last words and its code."""
    output, words = process.communicate()
    return output, words.decode(), process.returncode


def test_the_emitter_s_command_line_is_enough(start, tmp_path):
    """-c FILE, of which the period counts; what to play comes from a variable."""
    config = tmp_path / "monitor.json"
    config.write_text('{"period": "7s"}')
    play = {"instance_type": "trn2.3xlarge", "scenario": "half-idle", "instance_id": "i-0cafe"}
    play |= {"reports": 3, "start_ms": 0}
    with start("-c", str(config), NEURON_SIM=json.dumps(play)) as process:
        output, words, code = finish(process)
    reports = [json.loads(line) for line in output.splitlines()]
    assert (3, "", 0) == (len(reports), words, code)
    identities = [one["instance_info"] for one in reports]
    assert {("i-0cafe", "trn2.3xlarge")} == {
        (one["instance_id"], one["instance_type"]) for one in identities
    }
    assert 7 == round(reports[1]["system_data"]["memory_info"]["period"])


@pytest.mark.proof
def test_a_signal_ends_it_cleanly(start):
    """In the middle of a long wait: code 0, no last words, whole lines."""
    with start('{"period_s": 60}') as process:
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert (b"", "", 0) == finish(process)
