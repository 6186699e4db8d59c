"""The commands are there, and cost an emitter and `--help` nothing."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from emitter.cli import cli as of_an_instance
from emitter.errors import SettingsError
from neuron_emf.cli import COMMANDS, cli


def loaded_after(program):
    """Modules that are loaded after *program* ran."""
    shown = f"{program}\nimport sys; print(*sys.modules, file=sys.stderr)"
    ended = subprocess.run(
        [sys.executable, "-c", shown], capture_output=True, text=True, check=True
    )
    return ended.stderr.split()


def test_help_names_every_command_and_imports_none():
    """Not even settings: `--help` costs little more than click."""
    loaded = loaded_after(
        "from neuron_emf.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    )
    ours = {name for name in loaded if name.split(".")[0] in ("emitter", "neuron_emf")}
    assert {
        "emitter",
        "emitter.command_line",
        "emitter.errors",
        "neuron_emf",
        "neuron_emf.cli",
    } == ours
    shown = cli.get_help(click.Context(cli))
    hidden = [name for name in COMMANDS if f"\n  {name} " not in shown]
    assert ["completion"] == hidden


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_the_name_and_the_sentence_of_the_table(name):
    """What `--help` says without importing it is what it says of itself."""
    command = cli.get_command(click.Context(cli), name)
    assert (name, COMMANDS[name].help) == (command.name, command.get_short_help_str(200))


@pytest.mark.parametrize("name", ["run", "check"])
def test_a_tag_filter_that_is_no_expression_is_refused_at_once(name):
    """By every command that takes one."""
    assert "--tag-filter" in [
        flag for option in cli.get_command(click.Context(cli), name).params for flag in option.opts
    ]
    with pytest.raises(SettingsError, match=r"--tag-filter .* is not a valid regular expression"):
        CliRunner().invoke(
            cli, [name, "--tag-filter", "("], standalone_mode=False, catch_exceptions=False
        )


def test_the_bare_command_helps_and_is_no_success(typed):
    """On standard error: whoever reads standard output asked for nothing of this."""
    code, out, err = typed()
    assert (2, "") == (code, out)
    code, helped, _ = typed("--help")
    assert (0, helped) == (code, err)


@pytest.mark.parametrize(
    ("typo", "said"),
    [
        ("topp", "No such command 'topp' (did you mean 'top'?). See neuron-emf --help."),
        ("walk", "No such command 'walk'. See neuron-emf --help."),
    ],
)
def test_a_mistyped_command_is_told_its_likeness(typed, typo, said):
    """Wrong use, in one sentence."""
    assert (2, "", f"neuron-emf: {said}\n") == typed(typo)


def test_python_m_emitter_has_what_an_instance_needs():
    """Nothing that only a person types."""
    assert ["replay", "run"] == sorted(of_an_instance.commands)


def test_an_emitter_imports_nothing_of_the_other_commands():
    """Its memory is an instance's: no tables, no colors, no folder of another command."""
    loaded = loaded_after("import neuron_emf.cli, emitter.cli, emitter.run.service, emitter.replay")
    ours = [name for name in loaded if name.startswith("neuron_emf.")]
    assert ["neuron_emf.cli"] == ours
    assert set() == {"rich", "boto3"} & set(loaded)
