"""The command as users see it: a process, its exit code, and one sentence if it fails."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from neuron_emf.cli import main
from neuron_emitter.errors import DeliveryError, EmitterError, SettingsError, SourceError
from neuron_emitter.reports.monitor_config import monitor_config
from neuron_emitter.spool import SpoolFailedError
from neuron_emitter.spool.directory import SpoolHeldError
from neuron_wire import parse
from neuron_words.quantity_words import counted
from proof.emitter_process import environment
from tests.neuron_emitter.emitter_command import (
    EMITTER_COMMAND,
    error_lines,
    logging_restored,
    neuron_emf,
    sentence,
)
from tests.neuron_emitter.neuron_reports import GOOD_REPORT

REPLAY_WORDS = ("replay", "--interval", 5, "--start", "2026-01-01T00:00:00Z", "--cluster", "blue")

RUN_WORDS = ("run", "--cluster", "blue", "--runtime-lines", "none", "--output", "stdout", "--input")

# Inputs without reports, and the words of the error.
MALFORMED = {
    "not JSON": (b"hello world\n", "not a JSON"),
    "half a line": (GOOD_REPORT[:200], "ended in the middle of a report"),
    "an empty file": (b"", "empty"),
    "a line of 20 MB": (b"x" * 20_000_000, "16777216 bytes"),
}


@pytest.fixture
def reports(tmp_path):
    """Return a file with one good report."""
    path = tmp_path / "reports.jsonl"
    path.write_bytes(GOOD_REPORT)
    return path


@pytest.fixture
def here(monkeypatch, capfd, tmp_path):
    """Return a function that runs a command in this process and returns its output and code."""
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    def run(*arguments, stdin=None):
        with (stdin or Path(os.devnull)).open() as opened:
            monkeypatch.setattr(sys, "stdin", opened)
            with logging_restored(), pytest.raises(SystemExit) as ended:
                main([*map(str, arguments)])
        code: Any = ended.value.code
        return subprocess.CompletedProcess(arguments, code, *capfd.readouterr())

    return run


@pytest.mark.parametrize("command", ["run --input -", "run --input FILE", "replay"])
@pytest.mark.parametrize("name", MALFORMED)
def test_an_input_without_reports_ends_with_one_sentence(command, name, here, tmp_path):
    """
    An input without reports ends with exit code 3, without output.

    The sentence has the expected and found values and a remedy.
    """
    content, reported = MALFORMED[name]
    path = tmp_path / "reports.jsonl"
    path.write_bytes(content)
    arguments = {
        "replay": (*REPLAY_WORDS, path),
        "run --input FILE": (*RUN_WORDS, path),
        "run --input -": (*RUN_WORDS, "-"),
    }
    message = sentence(here(*arguments[command], stdin=path), 3)
    place = "standard input" if command == "run --input -" else str(path)
    expected = [place, "has no neuron-monitor reports", reported, "Use the output"]
    assert [] == [words for words in expected if words not in message]
    assert "hello" not in message
    assert len(message) < 400


@pytest.mark.parametrize("command", [RUN_WORDS, REPLAY_WORDS], ids=["run", "replay"])
def test_a_missing_file_or_a_folder_ends_with_one_sentence(command, here, tmp_path):
    """A missing file or a folder is an error of use, and the sentence names it."""
    missing = sentence(here(*command, "missing.jsonl"), 2)
    assert "Cannot read missing.jsonl: No such file" in missing
    folder = sentence(here(*command, tmp_path), 2)
    assert str(tmp_path) in folder
    assert re.search("is a (folder|directory)", folder, re.IGNORECASE)


@pytest.mark.parametrize("command", ["run", "replay"])
def test_without_a_cluster_name_nothing_starts(command, reports, here, tmp_path):
    """
    Without a cluster name nothing starts. The error names flag, variable and key.

    The error of `run` also lists the sources that were tried.
    """
    arguments = ("run", "--input", reports) if command == "run" else (*REPLAY_WORDS[:-2], reports)
    ended = here(*arguments)
    assert 2 == ended.returncode
    message = ended.stderr
    for words in ("No cluster name is set", "--cluster", "NEURON_EMF_CLUSTER", 'cluster = "'):
        assert words in message
    tried = ("ECS task", "ECS agent", "EKS", "ParallelCluster and Slurm", "auto-scaling group")
    assert [command == "run"] * 5 == [f"\n  {name}" in message for name in tried]
    assert "Traceback" not in message
    assert not (tmp_path / ".local").exists()


@pytest.mark.parametrize("command", [RUN_WORDS, REPLAY_WORDS], ids=["run", "replay"])
def test_unwritable_standard_output_is_a_refusal(command, reports, tmp_path):
    """A full disk or a closed output ends with exit code 4 and one sentence, not a traceback."""
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123 a device
        ended = neuron_emf(*command, reports, home=tmp_path, stdout=full)
    assert "No space left on device" in sentence(ended, 4)
    closed = neuron_emf(
        *command, reports, home=tmp_path, preexec_fn=lambda: os.close(1), stdout=None
    )
    assert "Standard output is closed" in sentence(closed, 4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "--periot", "5"), ["--periot", "neuron-emf run --help"]),
        (("run", "--period", "16"), ["--period", "16", "1<=x<=15", "neuron-emf run --help"]),
        (("run", "--interval", "nan"), ["--interval", "nan", "neuron-emf run --help"]),
        (("run", "--config", "none.toml"), ["none.toml", "does not exist"]),
        (("run", "--cluster", "caf\u00e9"), ["cluster name", "ASCII"]),
        (("run", "--cluster=c", "--monitor-command", "nowhere"), ["nowhere", "aws-neuronx-tools"]),
        (("replay",), ["FILES", "neuron-emf replay --help"]),
        (("replay", "x", "--cluster", "c"), ["--interval SECONDS"]),
        (("replay", "x", "--cluster", "c", "--interval", "5"), ["--start"]),
        ((*REPLAY_WORDS, "--start", "noon", "x"), ["--start", "'noon'", "2026-01-01T00:00:00Z"]),
        ((*REPLAY_WORDS, "--start", "1969-12-31", "x"), ["1970", "'1969-12-31'"]),
    ],
    ids=lambda value: " ".join(map(str, value))[:40],
)  # fmt: skip
def test_wrong_use_ends_with_one_sentence(arguments, words, here, tmp_path, monkeypatch):
    """Wrong use ends with a sentence that has the expected and found values and the help."""
    monkeypatch.setenv("PATH", str(tmp_path))
    message = sentence(here(*arguments), 3 if "nowhere" in arguments else 2)
    assert [] == [word for word in words if word not in message]


def test_a_pipe_that_ends_is_a_failure(tmp_path):
    """
    If neuron-monitor's pipe ends, the emitter exits with code 3 and one sentence.

    The record has no CleanShutdown, because the stop was not planned. A supervisor restarts the
    pipe `neuron-monitor | tee >(head -n 3) | neuron-emf run --input -`.
    """
    ended = neuron_emf(
        *("run", "--runtime-lines", "none", "--output", "stdout", "--input", "-"),
        home=tmp_path,
        input=(GOOD_REPORT * 3).decode(),
        variables={"NEURON_EMF_CLUSTER": "blue"},
    )
    assert 3 == ended.returncode
    (message,) = error_lines(ended.stderr)
    assert message.startswith("neuron-emf: The program writing to standard input has exited. ")
    # A minute can end between two reports.
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert ["InputEnded"] == [line["Event"] for line in lines if line["Kind"] == "event"]
    records: list[Any] = [parse(json.dumps(line)) for line in lines if line["Kind"] == "minute"]
    assert 3 == sum(record.reports for record in records)
    assert records[-1].is_clean_shutdown is False
    assert "blue" == records[-1].cluster
    assert "i-0123456789abcdef0" == records[-1].instance_id
    assert "baaa" == records[-1].core_state


def test_dropped_input_is_logged_and_counted(reports, here):
    """Junk between two reports costs only itself: exit code 0, a warning, a count in the line."""
    reports.write_bytes(GOOD_REPORT + b"junk\n" + GOOD_REPORT)
    ended = here(*RUN_WORDS, "-", stdin=reports)
    assert 0 == ended.returncode
    (warning,) = ended.stderr.splitlines()
    assert "warning: Dropped 1 piece of input" in warning
    line = json.loads(ended.stdout.splitlines()[-1])
    assert 2 == line["ReportsRead"]
    assert 1 == line["ReportsMalformed"]


def test_replay_succeeds_if_its_reader_exits(reports, tmp_path):
    """`replay ... | head -1` ends silently, with exit code 0."""
    shell = " ".join(
        [*EMITTER_COMMAND, *map(str, REPLAY_WORDS[:2]), "3600", *map(str, REPLAY_WORDS[3:])]
    )
    reports.write_bytes(GOOD_REPORT * 30)
    ended = subprocess.run(
        ["bash", "-c", f"{shell} {reports} | head -1 | wc -l; echo ${{PIPESTATUS[0]}}"],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "1\n0\n" == ended.stdout
    assert "" == ended.stderr


def test_a_closed_output_pipe_ends_the_run(tmp_path):
    """After its output pipe is closed, the emitter ends with exit code 4 and one sentence."""
    process = subprocess.Popen(
        [*EMITTER_COMMAND, *RUN_WORDS, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    )
    process.stdout.close()
    process.stdin.write(GOOD_REPORT)
    _, output = process.communicate(timeout=300)
    assert 4 == process.returncode
    (line,) = error_lines(output.decode())
    assert "The program reading standard output has exited" in line


def test_a_reload_parses_the_command_line_of_the_start(tmp_path, monkeypatch):
    """
    A reload parses the original command line and the current file: flags win over the file.

    A mistake in the file is an error with one sentence.
    """
    config = tmp_path / "config.toml"
    config.write_text('cluster = "blue"\nperiod = 3\n')
    served = []
    monkeypatch.setattr(
        "neuron_emitter.run.service.serve", lambda *arguments, **_: served.append(arguments)
    )
    with logging_restored(), pytest.raises(SystemExit) as ended:
        main(["run", "--config", str(config), "--period", "7", "-d", "ami_id", "instance_id"])
    assert 0 == ended.value.code
    ((settings, read_again),) = served
    assert settings == read_again()
    config.write_text('cluster = "green"\nperiod = 3\nverbose = true\n')
    again = read_again()
    assert "green" == again.cluster
    assert 7 == again.period
    assert ("ami_id", "instance_id") == again.common_dims
    assert again.verbose is True
    config.write_text("period = 99\nclutser = 3\n")
    with pytest.raises(SettingsError, match="clutser"):
        read_again()


def test_the_monitors_configuration_is_printed(here, tmp_path):
    """The command prints the generated configuration or the given file, and refuses both."""
    ended = here("run", "--print-monitor-config", "--groups", "neuroncore_counters")
    assert 0 == ended.returncode
    assert "" == ended.stderr
    assert monitor_config(5, ["neuroncore_counters"]) + "\n" == ended.stdout
    own = tmp_path / "own.json"
    own.write_text('{"period": "0.5s",\n "neuron_runtimes": [], "system_metrics": []}')
    ended = here("run", "--print-monitor-config", "--monitor-config", own)
    assert 0 == ended.returncode
    assert own.read_text() + "\n" == ended.stdout
    assert "warning" in ended.stderr
    both = here("run", "--print-monitor-config", "--monitor-config", own, "--groups", "memory_used")
    assert "--monitor-config" in sentence(both, 2)


CLI_REGION = "us-east-1"


def logs(reports, home, *more, **variables):
    """Run the emitter on a file, with a spool in *home* and the default output."""
    return neuron_emf(
        *("run", "--cluster", "blue", "--runtime-lines", "none", "--input", reports),
        *("--spool-dir", home / "spool", *more),
        home=home,
        variables=variables,
    )


@pytest.mark.parametrize(
    ("more", "reported", "to_do"),
    [
        ((), "No AWS Region is set", "Use --region or AWS_REGION"),
        (("--region", CLI_REGION), "No AWS credentials found", "Attach the stack's emitter policy"),
    ],
    ids=["no region", "no credentials"],
)
def test_without_credentials_or_region_records_are_kept(more, reported, to_do, reports, tmp_path):
    """Without credentials or region, each run ends with exit code 4 and the spool's folder."""
    for count in (1, 2):
        message = sentence(logs(reports, tmp_path, *more), 4)
        kept = f"{counted(count, 'record')} could not be delivered (kept in {tmp_path / 'spool'}"
        assert [] == [words for words in (kept, reported, to_do) if words not in message]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SettingsError, 2),
        (SourceError, 3),
        (SpoolHeldError, 3),
        (SpoolFailedError, 3),
        (DeliveryError, 4),
    ],
)
def test_an_error_has_its_exit_code(error, code):
    """Exit codes: 2 for the operator, 3 for the source of reports, 4 for the destination."""
    assert issubclass(error, EmitterError)
    assert code == error("sentence").exit_code
