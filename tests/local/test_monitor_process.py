"""
As a process the simulator starts, waits, ends and breaks like neuron-monitor.

It is always started by the script that the emitter is given as its command.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from local.monitor.command_line import OPTIONS, main

PATIENCE_S = 8.0
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel")
QUICK = ("--period", "0.02", "--no-align", "--instance-type", "inf2.xlarge")


@pytest.fixture
def start(repository, tmp_path):
    """Start it somewhere else than in the repository; whatever the test leaves is killed."""

    @contextmanager
    def starter(*arguments, command=None, stdout=subprocess.PIPE, **variables):
        environment = {
            name: value
            for name, value in os.environ.items()
            if name != "PYTHONPATH" and not name.startswith("NEURON_SIM_")
        }
        process = subprocess.Popen(
            [str(command or repository / "local" / "monitor" / "neuron-monitor"), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={**environment, "NEURON_SIM_PYTHON": sys.executable, **variables},
        )
        with process:
            try:
                yield process
            finally:
                process.kill()

    return starter


def finish(process):
    """The rest of its output, its last words and its code."""
    output, words = process.communicate(timeout=PATIENCE_S)
    return output, words.decode(), process.returncode


def next_report(process):
    """Its next line, decoded."""
    return json.loads(process.stdout.readline())


def until_deaf(process):
    """Wait until the kernel says that it takes no notice of SIGTERM."""
    status = Path(f"/proc/{process.pid}/status")
    deadline = time.monotonic() + PATIENCE_S
    while True:
        ignored = int(status.read_text().partition("SigIgn:")[2].split()[0], 16)
        if ignored >> (signal.SIGTERM - 1) & 1:
            return
        assert time.monotonic() < deadline, "it never became deaf"
        time.sleep(0.01)


def test_the_emitter_s_command_line_is_enough(start, tmp_path):
    """Only -c FILE; what to play comes from variables."""
    config = tmp_path / "monitor.json"
    config.write_text('{"neuron_runtimes": [{"metrics": [{"type": "neuroncore_counters"}]}]}')
    said = "INSTANCE_TYPE=trn2.3xlarge SCENARIO=half-idle INSTANCE_ID=i-0cafe PERIOD=0.02 REPORTS=3"
    variables = {f"NEURON_SIM_{one}" for one in f"{said} NO_ALIGN=1".split()}
    with start("-c", str(config), **dict(one.split("=") for one in variables)) as process:
        output, words, code = finish(process)
    reports = [json.loads(line) for line in output.splitlines()]
    assert (3, "", 0) == (len(reports), words, code)
    identities = [one["instance_info"] for one in reports]
    assert {("i-0cafe", "trn2.3xlarge")} == {
        (one["instance_id"], one["instance_type"]) for one in identities
    }
    assert ["neuroncore_counters"] == list(reports[0]["neuron_runtime_data"][0]["report"])


def test_live_reports_come_at_their_period_and_say_so(start):
    """What each covers adds up to no more than the time that has passed."""
    began = time.monotonic()
    with start(*QUICK, "--reports", "10") as process:
        output, _, _ = finish(process)
    reports = [json.loads(line) for line in output.splitlines()]
    periods = [
        one["neuron_runtime_data"][0]["report"]["neuroncore_counters"]["period"] for one in reports
    ]
    assert 9 * 0.0195 < sum(periods[1:]) < time.monotonic() - began + 0.1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(start, number):
    """In the middle of a long wait: code 0, no last words, whole lines."""
    with start(*QUICK[2:], "--period", "60") as process:
        next_report(process)
        process.send_signal(number)
        assert (b"", "", 0) == finish(process)


def test_it_dies_with_a_message_and_a_code(start):
    """After the reports it was told to write, all of them whole."""
    with start(*QUICK, "--scenario", "dies", "--ends-after", "4") as process:
        output, words, code = finish(process)
    assert 1 == code
    assert 1 == words.count("\n")
    assert "lost the connection to the Neuron driver" in words
    assert 4 == len([json.loads(line) for line in output.splitlines()])


@LINUX
def test_it_hangs_and_only_sigkill_helps(start):
    """Silent, alive after SIGTERM, gone after SIGKILL."""
    with start(*QUICK, "--scenario", "hangs", "--ends-after", "2") as process:
        for _ in range(2):
            next_report(process)
        until_deaf(process)
        process.terminate()
        assert [] == select.select([process.stdout], [], [], 0.2)[0]
        assert process.poll() is None
        process.kill()
        assert (b"", "", -signal.SIGKILL) == finish(process)


def test_a_hung_one_does_not_outlive_its_reader(start):
    """So that a rehearsal leaves nothing behind."""
    with start(*QUICK, "--scenario", "hangs", "--ends-after", "1") as process:
        next_report(process)
        process.stdout.close()
        assert 0 == process.wait(PATIENCE_S)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-c", "missing.json"), "1 Cannot read missing.json"),
        (("--verbose", "5"), "2 --verbose"),
        (("--scenario", "sleepy"), "2 not a scenario: 'sleepy'"),
        (("--instance-type", "trn9.huge"), "2 not an instance type: 'trn9.huge'"),
        (("--period", "0"), "2 not a number of seconds"),
        (("--seed", "-1"), "2 not a whole number"),
        (("--no-wait", "perhaps"), "2 neither yes nor no"),
        (("--no-wait", "--truth", "t"), "2 --start-ms"),
        (("--scen", "busy"), "2 --scen"),
        (("--truth", "no/such/folder/t"), "1 Cannot write no/such/folder/t"),
    ],
)
def test_wrong_use_gets_one_sentence(tmp_path, monkeypatch, capsys, arguments, says):
    """On stderr, with nothing on stdout; the number in front is the exit code."""
    monkeypatch.chdir(tmp_path)
    try:
        actual = main(arguments, {})
    except SystemExit as ended:
        actual = ended.code
    output, words = capsys.readouterr()
    assert "" == output
    code, _, sentence = says.partition(" ")
    assert int(code) == actual
    assert sentence in words.splitlines()[-1]


def test_a_variable_is_checked_like_its_flag(capsys):
    """A typing error in the environment must not play something else."""
    for option in OPTIONS:
        if option.flag in {"--truth", "--instance-id", "--machine"}:
            continue
        with pytest.raises(SystemExit) as ended:
            main((), {option.variable: "neither"})
        assert 2 == ended.value.code
        assert option.flag in capsys.readouterr().err
