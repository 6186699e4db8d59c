"""The group of commands: `--help` imports none of them, and their JSON has closed schemas."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from neuron_emf.cli import COMMANDS, cli
from neuron_emitter import __version__
from neuron_emitter.cli import cli as of_an_instance
from neuron_words.quantity_words import counted

OF_ITS_COMMAND = {"cluster", "instance_type", "interval", "metrics", "output", "stack_name"}
"""Options that mean one thing for commands on an instance and another for commands that read."""


def options_of(name):
    """Return the options of a command, including those of `--help-all`."""
    command = cli.get_command(click.Context(cli), name)
    return [param for param in command.params if isinstance(param, click.Option)]


def shown_by(*words):
    """Return what a command prints on a terminal of 80 columns."""
    ended = CliRunner().invoke(cli, words, prog_name="neuron-emf", terminal_width=80)
    assert 0 == ended.exit_code
    return ended.stdout


def loaded_after(program):
    """Return the modules that are loaded after *program* ran."""
    shown = f"{program}\nimport sys; print(*sys.modules, file=sys.stderr)"
    ended = subprocess.run(
        [sys.executable, "-c", shown], capture_output=True, text=True, check=True
    )
    return ended.stderr.split()


def test_help_names_every_command_and_imports_none():
    """`--help` names every command and imports neither commands nor settings."""
    loaded = loaded_after(
        "from neuron_emf.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    )
    ours = {name for name in loaded if name.split(".")[0] in ("neuron_emitter", "neuron_emf")}
    light = {
        "neuron_emitter",
        "neuron_emitter.command_line",
        "neuron_emitter.errors",
        "neuron_emf",
        "neuron_emf.cli",
    }
    assert light == ours
    shown = shown_by("--help")
    assert [] == [name for name in COMMANDS if f"\n  {name} " not in shown]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_the_name_and_the_sentence_of_the_table(name):
    """A command's own name and sentence equal those of the table."""
    command = cli.get_command(click.Context(cli), name)
    assert name == command.name
    assert COMMANDS[name] == command.get_short_help_str(200)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_short_and_help_all_is_whole(name):
    """`--help` has under 60 lines and counts the options that only `--help-all` shows."""
    short = shown_by(name, "--help")
    assert len(short.splitlines()) < 60
    flags = [max(option.opts, key=len) for option in options_of(name)]
    left_out = [flag for flag in flags if f" {flag} " not in short]
    if "--help-all" in flags:
        hidden = counted(len(left_out), "more option")
        assert f"--help-all shows {hidden}." == short.splitlines()[-1].strip()
        whole = shown_by(name, "--help-all")
        assert [] == [flag for flag in flags if f" {flag} " not in whole]
    else:
        assert [] == left_out


def test_an_option_of_several_commands_is_declared_once():
    """An option of several commands has one help text."""
    texts = {}
    for name in COMMANDS:
        for option in options_of(name):
            texts.setdefault(option.name, set()).add(option.help)
    assert OF_ITS_COMMAND == {name for name, found in texts.items() if len(found) > 1}


def test_the_bare_command_prints_help_and_fails(typed):
    """Without a command, help is on standard error with exit code 2."""
    code, out, err = typed()
    assert 2 == code
    assert "" == out
    code, helped, _ = typed("--help")
    assert 0 == code
    assert helped == err
    assert (0, f"neuron-emf, version {__version__}\n", "") == typed("--version")


@pytest.mark.parametrize(
    ("typo", "said"),
    [
        ("topp", "No such command 'topp' (did you mean 'top'?). See neuron-emf --help."),
        ("walk", "No such command 'walk'. See neuron-emf --help."),
    ],
)
def test_a_mistyped_command_gets_a_suggestion(typed, typo, said):
    """A mistyped command is refused in one sentence, with the most similar name."""
    assert (2, "", f"neuron-emf: {said}\n") == typed(typo)


def test_an_emitter_imports_nothing_of_the_other_commands():
    """An emitter imports no other command, to save memory."""
    assert ["replay", "run"] == sorted(of_an_instance.commands)
    loaded = loaded_after(
        "import neuron_emf.cli, neuron_emitter.cli, neuron_emitter.replay, "
        "neuron_emitter.run.service"
    )
    ours = [name for name in loaded if name.startswith("neuron_emf.")]
    assert ["neuron_emf.cli"] == ours
    heavy = {"rich", "boto3", "botocore.session", "urllib3", "prometheus_client"}
    assert set() == heavy & set(loaded)


SCHEMAS = sorted((Path(__file__).parents[2] / "neuron_emf" / "schemas").glob("*.json"))


def objects(schema):
    """Yield each object that a schema describes by its members."""
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("type") == "object":
            yield schema
        schema = list(schema.values())
    if isinstance(schema, list):
        for member in schema:
            yield from objects(member)


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_a_schema_is_closed_and_describes_each_member(path):
    """Every schema is closed, follows draft 2020-12 and describes every member."""
    schema = json.loads(path.read_text(encoding="utf-8"))
    assert "https://json-schema.org/draft/2020-12/schema" == schema["$schema"]
    for described in objects(schema):
        assert described["additionalProperties"] is False
        assert set(described["required"]) <= described["properties"].keys()
        assert [] == [
            name for name, member in described["properties"].items() if "description" not in member
        ]
