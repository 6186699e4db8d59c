"""The command `neuron-emf completion`."""

from __future__ import annotations

from typing import Final

import click

from emitter.command_line import CONTEXT
from neuron_emf.completion.script import INSTALLING, script_of

_EPILOG: Final = "\b\nOnce, for every new shell:\n" + "\n".join(
    f"  {line}" for line in INSTALLING.values()
)


@click.command(name="completion", context_settings=CONTEXT, epilog=_EPILOG)
@click.argument("shell", type=click.Choice(list(INSTALLING)))
@click.pass_context
def command(context: click.Context, shell: str) -> int:
    """
    Print what a shell needs to complete commands, options and their values.

    In this shell only: eval "$(neuron-emf completion bash)", or with zsh. In
    fish: neuron-emf completion fish | source
    """
    click.echo(script_of(context.find_root().command, shell), nl=False)
    return 0
