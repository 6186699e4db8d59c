"""Every command with its arguments, its options and its exit codes, as click has them."""

from __future__ import annotations

import re
from pathlib import Path

import click

from neuron_emf.cli import cli
from tests.docs.reference.markdown import code, codes, one_line, table

CONTEXT = click.Context(cli, info_name="neuron-emf")
CONFIG = "config"
HEADS = ["option", "values; default", "what it is for"]
EXIT_CODES = re.compile(r"Exit codes: (.+?)\.?$", re.DOTALL)


def each_command():
    """Name and command, in the order of `neuron-emf --help`."""
    return [(name, cli.get_command(CONTEXT, name)) for name in cli.list_commands(CONTEXT)]


def options_of(command):
    """The options of *command* in its own order, without `--help` and `--help-all`."""
    found = [param for param in command.params if isinstance(param, click.Option)]
    return [option for option in found if option.name != "help_all"]


def sections():
    """One section for each command, and one for the options that several have."""
    parts = [section(name, command) for name, command in each_command()]
    own = [option for _, command in each_command() for option in own_of(command)]
    several = {tuple(row): row for row in rows(filter(is_of_several, own))}
    return "\n".join([*parts, "## Options of several commands\n", table(HEADS, several.values())])


def section(name, command):
    """What it is for, how it is called, what it takes."""
    context = click.Context(command, info_name=name, parent=CONTEXT)
    usage = " ".join(command.collect_usage_pieces(context))
    parts = [f"## {name}\n", f"`neuron-emf {name} {usage}`\n", *paragraphs(command.help)]
    options = options_of(command)
    own = own_of(command)
    shared = [option for option in options if is_of_run(option)]
    if name != "run" and len(shared) == len(settings_of_run()):
        parts.append(f"It takes every setting of [`run`](#run){', and:' if own else '.'}\n")
    elif shared:
        parts.append(f"Settings: {', '.join(map(link, shared))}.\n")
    if several := [option for option in own if is_of_several(option)]:
        names = codes(max(option.opts, key=len) for option in several)
        parts.append(f"[Options of several commands](#options-of-several-commands): {names}.\n")
        own = [option for option in own if option not in several]
    if own:
        parts.append(table(HEADS, rows(own)))
    return "\n".join(parts)


def link(option):
    """An option that is a setting, leading to where it is told."""
    anchor = "how-a-setting-is-given" if option.name == CONFIG else option.name.replace("_", "-")
    return f"[`{max(option.opts, key=len)}`](settings.md#{anchor})"


def paragraphs(text):
    """The sentences of a help text, each on a line of its own."""
    found = []
    for paragraph in text.split("\n\n"):
        sentences = re.sub(r"(?<=\.) (?=[A-Z])", "\n", one_line(paragraph))
        found.append(f"{sentences}\n")
    return found


def own_of(command):
    """The options of *command* that `run` has not."""
    return [option for option in options_of(command) if not is_of_run(option)]


def is_of_several(option):
    """Whether more than one command has just this option."""
    alike = [
        same
        for _, command in each_command()
        for same in own_of(command)
        if (same.opts, same.help, same.default) == (option.opts, option.help, option.default)
    ]
    return len(alike) > 1


def is_of_run(option):
    """Whether `run` has just this option, too."""
    same = settings_of_run().get(option.name)
    return same is not None and (same.help == option.help or option.name == CONFIG)


def settings_of_run():
    """The options of `run` that can be variables, too; `--print-monitor-config` is a question."""
    options = options_of(cli.get_command(CONTEXT, "run"))
    return {option.name: option for option in options if option.allow_from_autoenv}


def rows(options):
    """One row for each option."""
    return [
        [codes(sorted(option.opts, key=len)), usual(option), one_line(option.help)]
        for option in options
    ]


def usual(option):
    """What it may be, and what it is when nobody says."""
    return "; ".join(filter(None, (values(option), default(option))))


def values(option):
    """What the option may be, empty for one that takes nothing."""
    if option.is_flag:
        return ""
    kind = option.type
    if isinstance(kind, click.Choice):
        return codes(kind.choices)
    bounds = range_of(kind)
    if bounds:
        return bounds
    return codes((option.metavar or kind.name.upper()).split("|"))


def range_of(kind):
    """The bounds of a number, in words."""
    low, high = getattr(kind, "min", None), getattr(kind, "max", None)
    if low is None and high is None:
        return ""
    if high is None:
        return f"{low:,} or more"
    begins = f"more than {low:g}, at most" if kind.min_open else f"{low:,} to"
    return f"{begins} {int(high):,}"


def default(option):
    """What it is when nobody says; empty for nothing and for a flag that is off."""
    value = option.default
    if not isinstance(value, (str, int, float, Path)) or isinstance(value, bool):
        return ""
    return code(value)


def exit_codes():
    """One row for each command."""
    found = []
    for name, command in each_command():
        said = EXIT_CODES.search(one_line(command.epilog or ""))
        text = said[1].partition("; of check and lint")[0] if said else "0 success, 2 usage error"
        found.append([f"`{name}`", text])
    return table(["command", "exit codes"], found)
