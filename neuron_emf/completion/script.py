"""
The script of a shell, and how to have it each time.

Click makes it, and answers the shell's questions when `_NEURON_EMF_COMPLETE`
is set: https://click.palletsprojects.com/en/stable/shell-completion/
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from click.shell_completion import get_completion_class

if TYPE_CHECKING:
    import click

PROGRAM: Final = "neuron-emf"
VARIABLE: Final = "_NEURON_EMF_COMPLETE"
INSTALLING: Final = {
    "bash": """echo 'eval "$(neuron-emf completion bash)"' >> ~/.bashrc""",
    "zsh": """echo 'eval "$(neuron-emf completion zsh)"' >> ~/.zshrc   # after compinit""",
    "fish": "neuron-emf completion fish > ~/.config/fish/completions/neuron-emf.fish",
}
"""What to type once, by shell."""


def script_of(program: click.Command, shell: str) -> str:
    """The script that *shell* reads to complete *program*; its last lines are comments."""
    found = get_completion_class(shell)
    if found is None:
        msg = f"click knows no shell {shell}"
        raise LookupError(msg)
    text = found(program, {}, PROGRAM, VARIABLE).source()
    return f"{text.rstrip()}\n\n# To have it in every new shell:\n#   {INSTALLING[shell]}\n"
