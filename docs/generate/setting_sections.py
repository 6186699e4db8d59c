"""Every setting with its values, its default, and whether a change needs a restart."""

from __future__ import annotations

import dataclasses

import click

from docs.generate.commands import default, values
from docs.generate.markdown import codes
from neuron_emitter.run import service
from neuron_emitter.settings import MinuteSettings, MonitorSettings, ReplaySettings, RunSettings
from neuron_emitter.settings.options import options

SETTING_GROUPS = {
    "minutes": MinuteSettings,
    "monitor": MonitorSettings,
    "run": RunSettings,
    "replay": ReplaySettings,
}
"""The settings class of each block, by the name of its markers."""


def own_settings(settings):
    """Return the settings that no other group has, and those that *settings* declares again."""
    others = {
        field.name
        for other in (MinuteSettings, MonitorSettings)
        if other is not settings
        for field in dataclasses.fields(other)
    }
    own = vars(settings)["__annotations__"]
    return [
        field
        for field in dataclasses.fields(settings)
        if field.name in own or field.name not in others
    ]


def sections(settings):
    """Return one section for each setting."""
    return "\n".join(section(settings, setting) for setting in own_settings(settings))


def section(settings, setting):
    """Return its purpose, and how it is set unless its key shows it."""
    option = option_of(settings, setting.name)
    short = [name for name in option.opts if not name.startswith("--")]
    notes = [
        f"also {codes(short)}" if short else "",
        values(option),
        f"default {default(option)}" if default(option) else "",
        "restart" * (settings is not ReplaySettings and setting.name in service._FIXED),
    ]
    of = " of replay" if settings is ReplaySettings else ""
    said = "; ".join(filter(None, notes))
    end = f" ({said})" if said else ""
    return f"### {key_of(setting)}{of}\n\n{setting.metadata['help']}{end}\n"


def option_of(settings, name):
    """Return the option for this setting in a command with *settings*."""
    command = click.command()(options(settings)(lambda **_values: None))
    return next(param for param in command.params if param.name == name)


def key_of(setting):
    """Return its key in the file."""
    return setting.name.replace("_", "-")
