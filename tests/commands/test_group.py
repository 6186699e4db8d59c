"""The operator's commands are there, and cost an emitter nothing."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from emitter.cli import cli
from emitter.commands.group import ROOMS

OF_AN_INSTANCE = ["monitor-config", "replay", "run"]


def test_help_names_every_command():
    """What an instance needs comes first, then the operator's commands."""
    context = click.Context(cli)
    assert OF_AN_INSTANCE + list(ROOMS) == cli.list_commands(context)
    shown = cli.get_help(context)
    assert [] == [name for name in cli.list_commands(context) if f"\n  {name} " not in shown]


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_has_the_command_of_its_name(name):
    """
    It is called by the name that the group knows it by, and says in a sentence what it is for.
    """
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    assert name == found.name
    assert found.get_short_help_str(200).endswith((".", "?"))


def test_a_command_that_is_not_there_is_none():
    """click then says what there is."""
    assert cli.get_command(click.Context(cli), "tob") is None


def test_an_emitter_imports_nothing_of_the_rooms():
    """Its memory is an instance's: no tables, no colours, no room of another command."""
    program = (
        "import sys, emitter.cli, emitter.service, emitter.replay;"
        "print([name for name in sys.modules"
        " if name.split('.')[0] in ('rich', 'textual', 'boto3')"
        " or name.startswith('emitter.commands.') and name != 'emitter.commands.group'])"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "[]" == found.stdout.strip()
