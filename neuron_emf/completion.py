"""
The command `neuron-emf completion`: what a shell needs to complete commands and options.

Click makes the script, and answers the shell's questions when `_NEURON_EMF_COMPLETE`
is set: https://click.palletsprojects.com/en/stable/shell-completion/
"""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from emitter.command_line import CONTEXT, PROGRAM

VARIABLE: Final = "_NEURON_EMF_COMPLETE"
INSTALLING: Final = {
    "bash": """echo 'eval "$(neuron-emf completion bash)"' >> ~/.bashrc""",
    "zsh": """echo 'eval "$(neuron-emf completion zsh)"' >> ~/.zshrc   # after compinit""",
    "fish": "neuron-emf completion fish > ~/.config/fish/completions/neuron-emf.fish",
}
"""What to type once, by shell."""
_CLASSES: Final = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
_EPILOG: Final = "\b\nOnce, for every new shell:\n" + "\n".join(
    f"  {line}" for line in INSTALLING.values()
)


@click.command(name="completion", context_settings=CONTEXT, epilog=_EPILOG)
@click.argument("shell", type=click.Choice(list(INSTALLING)))
@click.pass_context
def command(context: click.Context, shell: str) -> int:
    """
    Print the script with which a shell completes commands and options.

    In this shell only: eval "$(neuron-emf completion bash)", or with zsh. In
    fish: neuron-emf completion fish | source
    """
    click.echo(script_of(context.find_root().command, shell), nl=False)
    return 0


def script_of(program: click.Command, shell: str) -> str:
    """The script that *shell* reads to complete *program*; its last lines are comments."""
    text = _CLASSES[shell](program, {}, PROGRAM, VARIABLE).source()
    return f"{text.rstrip()}\n\n# To have it in every new shell:\n#   {INSTALLING[shell]}\n"
