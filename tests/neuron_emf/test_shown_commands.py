"""
The README and the docs show what commands print, and the commands that they name work.

A page has `<!-- run: neuron-emf ... -->`, then the output, then `<!-- /run -->`. Each command runs
in a folder with the recorded hour, and `--update-golden` writes its output. Commands for the owner
of an instance run in a shell with the simulated neuron-monitor on its path.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from local import REPOSITORY
from neuron_emf.cli import COMMANDS, main
from tests.docs.step_places import instance
from tests.docs.test_shown_steps import wait_for_reports

PAGE_FILES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
SHOWN_RUN = re.compile(r"<!-- run: (neuron-emf [^\n]+) -->\n(.*?)<!-- /run -->", re.DOTALL)


def shown_in(path: Path) -> list[tuple[str, str]]:
    """Return the commands of a page, each with its output."""
    return [(found[1], found[2]) for found in SHOWN_RUN.finditer(path.read_text("utf-8"))]


ALL_SHOWN = [
    pytest.param((path, command, text), id=f"{path.name}: {command}")
    for path in PAGE_FILES
    for command, text in shown_in(path)
]


@pytest.fixture
def at_the_hour(hour, short_folder, monkeypatch):
    """Return a folder with the hour's lines, as a reader would have it."""
    for file in (hour.records_file, hour.rollups_file):
        shutil.copy(file, short_folder)
    monkeypatch.chdir(short_folder)


def printed_by(command: str, capsys) -> str:
    """Return the output of *command* as a block of Markdown."""
    typed, _, rest = command.partition(" | ")
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(typed)[1:])
    assert 0 == ended.value.code
    printed = capsys.readouterr()
    lines = [line.rstrip() for line in (printed.err + printed.out).splitlines()]
    text = "\n".join(lines)
    if rest:
        piped = subprocess.run(
            rest, shell=True, input=f"{text}\n", capture_output=True, text=True, check=True
        )
        text = piped.stdout.rstrip()
    return f"```\n$ {command}\n{text}\n```\n"


@pytest.mark.slow
@pytest.mark.usefixtures("at_the_hour")
@pytest.mark.parametrize("shown", ALL_SHOWN)
def test_a_page_shows_what_is_printed(shown, capsys, request):
    """A page shows a command's output byte for byte, except for trailing spaces."""
    path, command, text = shown
    printed = printed_by(command, capsys)
    if request.config.getoption("--update-golden"):
        page = path.read_text("utf-8")
        path.write_text(
            page.replace(
                f"<!-- run: {command} -->\n{text}<!-- /run -->",
                f"<!-- run: {command} -->\n{printed}<!-- /run -->",
            ),
            "utf-8",
        )
        return
    assert printed == text


def test_every_operator_command_is_shown():
    """The output of every operator command is on a page, by this test or the page's own test."""
    text = "".join(
        page.read_text("utf-8") for page in (REPOSITORY / "docs" / "reference").glob("*.md")
    )
    own = {*("check", "cost", "deploy", "findings", "lint", "page", "profile", "top")}
    shown = {shlex.split(command)[1] for page in PAGE_FILES for command, _ in shown_in(page)}
    assert COMMANDS.keys() - {"replay", "run"} == shown | own
    assert [] == [name for name in own if f"neuron-emf {name}" not in text]


README_TEXT = (REPOSITORY / "README.md").read_text("utf-8")
PAGE_TEXTS = [
    README_TEXT,
    *(page.read_text("utf-8") for page in (REPOSITORY / "docs").rglob("*.md")),
]

RUN_COMMAND = "neuron-emf run --cluster my-cluster --region us-east-1"
CHECK = "neuron-emf check --cluster my-cluster --region us-east-1"
CONFIGURE = "neuron-emf run --print-monitor-config > monitor.json"
PIPE = "neuron-monitor -c monitor.json | neuron-emf run --input - --cluster my-cluster"
LOOK_COMMAND = "neuron-emf run --cluster my-cluster --output stdout"
REPLAY_COMMAND = (
    "neuron-emf replay reports.json --interval 5 --start 2026-01-01T00:00:00Z --cluster my-cluster"
)


@pytest.fixture
def place(tmp_path, request):
    """Return the folder of an inf2.xlarge with an account without faults."""
    with instance(tmp_path, request) as prepared:
        yield prepared


@pytest.fixture
def shell(place):
    """Return a function that starts a command of a page as the leader of its own process group."""
    started = []

    def start(command):
        assert any(command in page for page in PAGE_TEXTS), f"no page says {command!r} any more"
        process = subprocess.Popen(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=place.folder,
            env={**place.variables, "NEURON_SIM": place.play(place.truth)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def stop_after_two_reports(process, place, stop=os.killpg):
    """Stop the whole group after two reports were written; return the output."""
    wait_for_reports(process, place)
    stop(process.pid, signal.SIGTERM)
    printed, said = process.communicate(timeout=place.patience_s)
    return process.returncode, printed, said


def stop_monitor(group, number):
    """Send *number* only to the simulated monitor of a process *group*."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            is_of_group = os.getpgid(int(folder.name)) == group
        except OSError:  # the process has ended
            continue
        if is_of_group and b"local.monitor" in words:
            os.kill(int(folder.name), number)


def sent_to(account):
    """Return the lines in the log group of the stack."""
    return [event.message for event in account.events(account.records_group)]


def minute_lines(texts):
    """Return the minute lines among *texts* as objects."""
    documents = [json.loads(text) for text in texts]
    return [line for line in documents if line["Kind"] == "minute"]


@pytest.mark.slow
def test_check_finds_all_that_run_needs(shell, place):
    """`check` finds everything that `run` needs, and sends one line that is not a record."""
    check = shell(CHECK)
    printed, said = check.communicate(timeout=place.patience_s)
    assert 0 == check.returncode
    assert "" == said
    assert "A first record can be sent" in printed
    (line,) = sent_to(place.account)
    assert "probe" == json.loads(line)["Kind"]


@pytest.mark.slow
def test_run_sends_to_the_log_group(shell, place):
    """`run` sends to the stack's log group; a stop is a clean shutdown."""
    code, _, said = stop_after_two_reports(shell(RUN_COMMAND), place)
    assert 0 == code, said
    (line,) = [line for line in minute_lines(sent_to(place.account)) if line.get("CleanShutdown")]
    assert "my-cluster" == line["ClusterName"]
    assert 2 == line["NeuronCores"]


@pytest.mark.slow
def test_where_something_else_runs_the_monitor_it_is_piped(shell, place):
    """Reports of another program's monitor are piped, with the configuration that `run` prints."""
    configured = shell(CONFIGURE)
    _, said = configured.communicate(timeout=place.patience_s)
    assert 0 == configured.returncode, said
    assert "period" in json.loads((place.folder / "monitor.json").read_text("utf-8"))
    code, _, said = stop_after_two_reports(shell(PIPE), place, stop_monitor)
    assert 3 == code, said
    assert {2} == {line["NeuronCores"] for line in minute_lines(sent_to(place.account))}, said


@pytest.mark.slow
def test_lines_that_would_be_sent_are_printed(shell, place):
    """The lines that would be sent are on standard output, and nothing is sent."""
    code, printed, said = stop_after_two_reports(shell(LOOK_COMMAND), place)
    assert 0 == code, said
    # two lines if the minute ends between the reports
    assert {2} == {line["NeuronCores"] for line in minute_lines(printed.splitlines())}
    assert [] == place.account.operations


@pytest.mark.slow
def test_saved_reports_are_replayed(shell, place, hour):
    """`replay` prints the lines of saved reports with the given times."""
    saved = min(hour.folder.glob("*.reports"))
    (place.folder / "reports.json").write_bytes(saved.read_bytes())
    replay = shell(REPLAY_COMMAND)
    printed, said = replay.communicate(timeout=place.patience_s)
    assert 0 == replay.returncode, said
    assert 1_767_225_600_000 == minute_lines(printed.splitlines())[0]["_aws"]["Timestamp"]


def test_every_command_line_of_the_readme_is_run():
    """A test runs every command line of the README."""
    text = re.sub(r"<!-- run: .*?<!-- /run -->", "", README_TEXT, flags=re.DOTALL)
    lines = re.findall(r"neuron-emf (?:check|run|replay)[^`\n#]*", text)
    assert lines
    run = (CHECK, RUN_COMMAND, CONFIGURE, PIPE, LOOK_COMMAND, REPLAY_COMMAND)
    assert [] == [line for line in lines if not any(line.strip() in command for command in run)]
