"""Every setting with its variable, its key in the file, and when a change of it counts."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from emitter.run import service
from emitter.settings import MinuteSettings, MonitorSettings, ReplaySettings, RunSettings
from emitter.settings.options import options
from tests.docs.reference.commands import default, values
from tests.docs.reference.markdown import code, codes

GROUPS = {
    "minutes": MinuteSettings,
    "monitor": MonitorSettings,
    "run": RunSettings,
    "replay": ReplaySettings,
}
"""By the name of the markers: the class whose own settings stand between them."""

EXAMPLES = {
    "paid": "sunk",
    "cluster": "research",
    "instance_id": "i-0123456789abcdef0",
    "metric": ("DeviceMemoryUsed@instance",),
    "raw_reports": 60,
    "tag": ("team=search",),
    "tag_dimension": ("team",),
    "common_dims": ("instance_id",),
    "high_resolution_metrics": True,
    "groups": ("neuroncore_counters", "memory_used"),
    "monitor_config": "/etc/neuron-emf/monitor.json",
    "interval": 5.0,
    "region": "us-east-1",
    "prometheus": "8008",
    "spool_dir": "/var/lib/neuron-emf",
    "verbose": True,
    "start": "2026-01-01T00:00:00Z",
    "saved_proc": "/srv/saved/proc",
}
"""Values that the file may give those that have no default."""


def own_settings(settings):
    """The settings that no other group has, and those that *settings* declares again."""
    others = {field.name for other in (MinuteSettings, MonitorSettings) if other is not settings
              for field in dataclasses.fields(other)}  # fmt: skip
    own = vars(settings)["__annotations__"]
    return [
        field
        for field in dataclasses.fields(settings)
        if field.name in own or field.name not in others
    ]


def sections(settings):
    """One section for each of them."""
    return "\n".join(section(settings, setting) for setting in own_settings(settings))


def section(settings, setting):
    """What it is for, how it is given, and when a change counts."""
    option = option_of(settings, setting.name)
    usual = default(option) or ("`false`" if option.is_flag else "none")
    ways = [
        f"{codes(sorted(option.opts, key=len))}: {values(option) or '`true`, `false`'}",
        f"default {usual}",
        f"in the file {code(f'{key_of(setting)} = {toml_of(example(setting))}')}",
        f"changes {counts(settings, setting)}.",
    ]
    of = " of replay" if settings is ReplaySettings else ""
    return f"### {key_of(setting)}{of}\n\n{setting.metadata['help']}\n\n{'; '.join(ways)}\n"


def option_of(settings, name):
    """The option that a command with *settings* has for this one."""
    command = click.command()(options(settings)(lambda **_values: None))
    return next(param for param in command.params if param.name == name)


def key_of(setting):
    """Its key in the file."""
    return setting.name.replace("_", "-")


def example(setting):
    """Its default, or a value that it may have."""
    return EXAMPLES.get(setting.name, setting.default)


def toml_of(value):
    """*value* as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(toml_of(part) for part in value)}]"
    return f'"{value}"' if isinstance(value, (str, Path)) else f"{value}"


def counts(settings, setting):
    """When a running emitter takes over another value."""
    if settings is ReplaySettings:
        return "at the next run"
    return "at a restart" if setting.name in service._FIXED else "with SIGHUP"
