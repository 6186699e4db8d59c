"""
Run every AWS CLI command that the product shows with both CLIs, without AWS behind them.

The endpoint is a closed port of 127.0.0.1: a command that the CLI accepts ends with a refused
connection, and one with an unknown operation, option or value ends before it connects.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from local import REPOSITORY
from proof.real.shown_commands import Shown, files_of, shown_commands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TITLE = "AWS CLI, versions 1 and 2"
CLAIM = "Both CLIs parse every aws command of pages, messages, templates and programs."

CLI_PROGRAMS = {"1": str(REPOSITORY / ".real/aws_cli/bin/aws"), "2": "/usr/bin/aws"}
PYTHONS = {"1": [str(REPOSITORY / ".real/aws_cli/bin/python")], "2": ["/usr/bin/python3"]}
EACH = r"""
import json, os, sys
import awscli.clidriver

for folder, file, words in json.load(sys.stdin):
    if not os.fork():
        os.chdir(folder)
        output = os.open(file, os.O_CREAT | os.O_WRONLY)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.argv = words
        sys.exit(awscli.clidriver.main())  # all that the script aws does
    _, status = os.wait()
    with open(file, "a") as answer:
        answer.write(f"\nexit code {os.waitstatus_to_exitcode(status)}")
"""
"""The CLI for each command, in a process of its own that is forked after its imports."""

CLI_PATH = re.compile(r"(?!.*\.\.)[a-z][\w./-]{0,99}\w")
REFUSED_CONNECTION = "Could not connect to the endpoint URL"
UNKNOWN_CHOICE = re.compile(r"argument (operation|command): Invalid choice")
INCOMPLETE = re.compile(r"the following arguments are required|too few arguments")
ONLY_IN_VERSION_2 = {("logs", "tail"), ("sso", "login")}  # docs/operations.md shows both
NEEDS_A_PROFILE: dict[tuple[str, ...], str] = {
    ("sso", "login"): "Missing the following required SSO configuration values"
}


def missing() -> str | None:
    """Return why the part cannot run here."""
    if shutil.which("node") is None:
        return "node is missing: install Node.js 20 or later"
    for program in CLI_PROGRAMS.values():
        if shutil.which(program) is None:
            return f"{program} is missing: run proof/real/install.sh aws_cli"
    if version_of("2").startswith("1."):
        return "/usr/bin/aws is version 1: run proof/real/install.sh aws_cli"
    return None


def versions() -> dict[str, str]:
    """Return the versions of both CLIs."""
    return {f"AWS CLI {major}": version_of(major) for major in CLI_PROGRAMS}


def run(folder: Path) -> list[str]:
    """Run each command with each CLI, and count the accepted commands."""
    commands, unfilled = shown_commands()
    assert not unfilled, f"No command here is made from the templates at {', '.join(unfilled)}."
    by_words: dict[tuple[tuple[str, ...], str], Shown] = {}
    for command in commands:
        page = command.page if any("file://" in word for word in command.words) else ""
        by_words.setdefault((command.words, page), command)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound without listening: the port refuses connections
        endpoint = f"http://127.0.0.1:{closed.getsockname()[1]}"
        answers = {
            major: dict(answers_of(major, by_words.values(), endpoint, folder))
            for major in CLI_PROGRAMS
        }
    known = {
        shown.operation for shown, text in answers["1"].items() if not UNKNOWN_CHOICE.search(text)
    }
    newer = sorted(
        {
            " ".join(shown.operation)
            for shown, text in answers["2"].items()
            if UNKNOWN_CHOICE.search(text) and shown.operation in known
        }
    )
    faults = []
    for major, texts in answers.items():
        for shown, text in texts.items():
            if major == "2" and " ".join(shown.operation) in newer:
                continue
            if major == "1" and shown.operation in ONLY_IN_VERSION_2:
                assert UNKNOWN_CHOICE.search(text), f"Version 1 has {shlex.join(shown.operation)}."
                continue
            if not is_accepted(shown, text):
                refused = shlex.join(["aws", *shown.words])
                faults.append(f"{shown.place}: {refused[:120]}: CLI {major}: {text[-300:]}")
    assert not faults, "\n".join([f"{len(faults)} commands are refused.", *faults])
    return [
        f"{len(commands)} commands, {len(by_words)} of them different: both CLIs accept each.",
        f"Operations of version 2 alone: {', '.join(sorted(map(' '.join, ONLY_IN_VERSION_2)))}.",
        f"Operations newer than version {version_of('2')}: {', '.join(newer) or 'none'}.",
    ]


def version_of(major: str) -> str:
    """Return the version that a CLI prints."""
    command = [*PYTHONS[major], CLI_PROGRAMS[major], "--version"]
    printed = subprocess.run(command, capture_output=True, text=True, check=False)
    match = re.search(r"aws-cli/(\S+)", printed.stdout + printed.stderr)
    return match[1] if match else "unknown"


def answers_of(
    major: str, commands: Iterable[Shown], endpoint: str, folder: Path
) -> Iterator[tuple[Shown, str]]:
    """Yield the CLI's answer to each command, on one line."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_PAGER": "",
        "HTTPS_PROXY": endpoint,  # for programs that ignore --endpoint-url
    }
    calls: list[tuple[str, str, list[str]]] = []
    for number, shown in enumerate(commands):
        place = folder / f"{major}-{number}"
        make_files(place, shown)
        words = ["aws", "--endpoint-url", endpoint, *shown.words]
        calls.append((str(place), str(folder / f"{major}-{number}.txt"), words))
    ended = subprocess.run(
        [*PYTHONS[major], "-c", EACH],
        env=environment,
        input=json.dumps(calls),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    for shown, (_, file, _) in zip(commands, calls, strict=True):
        text = Path(file).read_text("utf-8", "replace")
        yield shown, " ".join(text.split())


def make_files(folder: Path, shown: Shown) -> None:
    """Write the files that a command reads: from its page, from the repository, or empty."""
    folder.mkdir()
    of_page = files_of(shown.page) if shown.page else {}
    for before, word in pairwise(shown.words):
        name = re.sub("^(file|fileb)://", "", word)
        if not CLI_PATH.fullmatch(name):
            continue
        is_named = name != word or "/" in name or before in {"--template-file", "cp"}
        path = folder / name
        if not is_named and not (REPOSITORY / name).is_file():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if name in of_page:
            path.write_text(of_page[name], "utf-8")
        elif (REPOSITORY / name).is_file():
            shutil.copy(REPOSITORY / name, path)
        else:
            path.write_text("{}")


def is_accepted(shown: Shown, answer: str) -> bool:
    """Return True if the CLI tried to connect, or knows an operation that is only mentioned."""
    if REFUSED_CONNECTION in answer or answer.endswith("exit code 0"):
        return True
    if len(shown.words) == 2 and INCOMPLETE.search(answer):
        return True
    expected = NEEDS_A_PROFILE.get(shown.operation)
    return expected is not None and expected in answer
