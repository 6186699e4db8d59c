"""Every command with its arguments, its options and its exit codes, from click."""

from __future__ import annotations

import re
from pathlib import Path

import click

from docs.generate.markdown import code, codes, one_line
from neuron_emf.cli import cli

CLI_CONTEXT = click.Context(cli, info_name="neuron-emf")
CONFIG_OPTION = "config"
EXIT_CODES_SENTENCE = re.compile(r"Exit codes: (.+?)\.?$", re.DOTALL)


def each_command():
    """Yield name and command, in the order of `neuron-emf --help`."""
    return [(name, cli.get_command(CLI_CONTEXT, name)) for name in cli.list_commands(CLI_CONTEXT)]


def options_of(command):
    """Return the options of *command* in its own order, without `--help` and `--help-all`."""
    found = [param for param in command.params if isinstance(param, click.Option)]
    return [option for option in found if option.name != "help_all"]


def sections():
    """Return one section for each command, and one for the shared options."""
    parts = [section(name, command) for name, command in each_command()]
    own = [option for _, command in each_command() for option in own_of(command)]
    several = dict.fromkeys(items(filter(is_of_several, own)))
    return "\n".join([*parts, "## Options of several commands\n", "".join(several)])


def section(name, command):
    """Return a command's purpose, usage, options and exit codes."""
    context = click.Context(command, info_name=name, parent=CLI_CONTEXT)
    usage = " ".join(command.collect_usage_pieces(context))
    parts = [f"## {name}\n", f"`neuron-emf {name} {usage}`\n", *paragraphs(command.help)]
    options = options_of(command)
    own = own_of(command)
    shared = [option for option in options if is_of_run(option)]
    if len(shared) == len(settings_of_run()):
        parts.append("It takes every [setting](settings.md).\n")
    elif shared:
        parts.append(f"Settings: {', '.join(map(link, shared))}.\n")
    if several := [option for option in own if is_of_several(option)]:
        names = codes(max(option.opts, key=len) for option in several)
        parts.append(f"[Options of several commands](#options-of-several-commands): {names}.\n")
        own = [option for option in own if option not in several]
    if own:
        parts.append("".join(items(own)))
    if said := exit_codes(command):
        parts.append(f"Exit codes: {said}.\n")
    return "\n".join(parts)


def link(option):
    """Return a link from an option that is a setting to its description."""
    anchor = (
        "how-a-setting-is-given" if option.name == CONFIG_OPTION else option.name.replace("_", "-")
    )
    return f"[`{max(option.opts, key=len)}`](settings.md#{anchor})"


def paragraphs(text):
    """Return a help text with one paragraph per line."""
    return [f"{one_line(paragraph)}\n" for paragraph in text.split("\n\n")]


def own_of(command):
    """Return the options of *command* that `run` does not have."""
    return [option for option in options_of(command) if not is_of_run(option)]


def is_of_several(option):
    """Return True if several commands have exactly this option."""
    alike = [
        other
        for _, command in each_command()
        for other in own_of(command)
        if (other.opts, other.help, other.default) == (option.opts, option.help, option.default)
    ]
    return len(alike) > 1


def is_of_run(option):
    """Return True if `run` has exactly this option, too."""
    same = settings_of_run().get(option.name)
    return same is not None and (same.help == option.help or option.name == CONFIG_OPTION)


def settings_of_run():
    """Return the options of `run` that can be variables; `--print-monitor-config` is not one."""
    options = options_of(cli.get_command(CLI_CONTEXT, "run"))
    return {option.name: option for option in options if option.allow_from_autoenv}


def items(options):
    """Return an item for each option."""
    found = []
    for option in options:
        may_be = f" ({usual(option)})" if usual(option) else ""
        found.append(f"- {codes(sorted(option.opts, key=len))}{may_be}: {one_line(option.help)}\n")
    return found


def usual(option):
    """Return its values and its default, unless its sentence has them."""
    said = f"default {default(option)}" if default(option) else ""
    return "; ".join(filter(None, (values(option), said)))


def values(option):
    """Return the choices or bounds that its sentence does not name."""
    kind = option.type
    if isinstance(kind, click.Choice):
        return codes(choice for choice in kind.choices if choice not in option.help)
    low = getattr(kind, "min", None)
    high = getattr(kind, "max", None)
    is_said = high is None or f"{high:g}" in option.help.replace(",", "")
    return "" if is_said else f"{low:g} to {high:g}"


def default(option):
    """Return its default; empty for none and for a flag that is off."""
    value = option.default
    if not isinstance(value, (str, int, float, Path)) or isinstance(value, bool):
        return ""
    return code(value)


def exit_codes(command):
    """Return the command's exit codes, except the two that all commands have."""
    said = EXIT_CODES_SENTENCE.search(one_line(command.epilog or ""))
    text = said[1].partition("; of check and lint")[0] if said else ""
    return text.replace("0 success, ", "").replace("2 usage error, ", "").strip()
