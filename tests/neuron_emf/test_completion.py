"""A shell completes commands, options and values: a real bash asks, and gets the answers."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from neuron_emf.cli import COMMANDS, cli
from neuron_emf.completion import INSTALLING, VARIABLE


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A PATH on which the program is installed, as pip would."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "neuron-emf"
    program.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m neuron_emf "$@"\n', "utf-8"
    )
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def printed(shell):
    """The script as the command prints it."""
    ended = CliRunner().invoke(cli, ["completion", shell], standalone_mode=False)
    assert 0 == ended.return_value
    return ended.stdout


def completed(path, folder, *words):
    """What bash offers for the last of *words*."""
    script = folder / "completion.bash"
    script.write_text(printed("bash"), "utf-8")
    typed = " ".join(shlex.quote(word) for word in words)
    asked = (
        f"source {shlex.quote(str(script))}\n"
        f"COMP_WORDS=(neuron-emf {typed})\nCOMP_CWORD={len(words)}\n"
        'function_of() { echo "${@: -2:1}"; }\n'
        '"$(function_of $(complete -p neuron-emf))" neuron-emf\n'
        "printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    )
    ended = subprocess.run(
        ["bash", "--norc", "--noprofile", "-c", asked],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={"PATH": path, "HOME": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return ended.stdout.split()


bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")


@bash
def test_bash_completes_commands(path, tmp_path):
    """All of them, those of an instance and those of an operator."""
    assert set(COMMANDS) == set(completed(path, tmp_path, ""))


@bash
def test_bash_completes_options_and_their_values(path, tmp_path):
    """Of the command that stands before; a choice is completed by its words."""
    found = completed(path, tmp_path, "lint", "--")
    assert {"--no-age", "--help"} <= set(found)
    assert ["stdout", "logs"] == completed(path, tmp_path, "profile", "--output", "")


@pytest.mark.parametrize("shell", INSTALLING)
def test_a_script_says_how_to_have_it_every_time(shell):
    """In comments, which every shell passes over; the help says the same."""
    text = printed(shell)
    assert f"{VARIABLE}={shell}_complete" in text
    last = [line for line in text.splitlines() if line][-2:]
    assert ["# To have it in every new shell:", f"#   {INSTALLING[shell]}"] == last
    shown = CliRunner().invoke(cli, ["completion", "--help"], terminal_width=120).output
    assert INSTALLING[shell] in shown


def test_another_shell_is_wrong_use():
    """The words there are, are said."""
    with pytest.raises(click.BadParameter, match="'bash', 'zsh', 'fish'"):
        cli.main(["completion", "tcsh"], standalone_mode=False)
