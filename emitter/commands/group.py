"""
The commands of an operator, each imported when it is called.

`run` must stay small on an instance: it imports no room of another command.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

import click

from emitter.settings import VARIABLE_PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTEXT: Final = {
    "auto_envvar_prefix": VARIABLE_PREFIX,  # one variable per setting, whatever the command
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
}
"""What every command has of click."""

ROOMS: Final[Mapping[str, str]] = {
    "top": "top",
    "report": "idle_report",
    "cost": "cost",
    "check": "check",
    "lint": "lint",
    "profile": "profile",
    "completion": "completion",
}
"""Name of a command, and the room under `emitter.commands` that has it."""


class CommandGroup(click.Group):
    """A group whose commands are those it was given and those of `ROOMS`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names: what an instance needs first, then the rooms in their order."""
        return [*super().list_commands(ctx), *ROOMS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; None when there is none."""
        if cmd_name not in ROOMS:
            return super().get_command(ctx, cmd_name)
        found: click.Command = import_module(f"emitter.commands.{ROOMS[cmd_name]}.command").command
        return found
