"""
The options of a command, from the fields of its settings class.

The order of precedence is flag, variable, key of the TOML file, default. The file is strict: an
unknown key or a value of the wrong type is rejected.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from neuron_emitter.command_line import DEFAULT_OPTION_GROUP, Option
from neuron_emitter.errors import SettingsError
from neuron_emitter.settings import ReplaySettings, RunSettings
from neuron_emitter.settings.minute_settings import Texts

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - the standard library reads TOML from 3.11 on
    import tomli as tomllib

SYSTEM_FILE: Final = Path("/etc/neuron-emf/config.toml")
MAX_SETTINGS_FILE_BYTES: Final = 1 << 20
FILE_READ: Final = "neuron_emitter.settings.options.file"
"""The key in click's `meta` for the configuration file that was read."""

_Command = TypeVar("_Command", bound=Callable[..., object])


def options(
    settings: type, shown_elsewhere: Collection[str] = ()
) -> Callable[[_Command], _Command]:
    """
    Decorate a command with one option per field of *settings*, and `--config`.

    Options in *shown_elsewhere*, which another command's help shows, are advanced here.
    """

    def decorate(command: _Command) -> _Command:
        for field in reversed(dataclasses.fields(settings)):
            form = {"heading": _heading(settings, field.name), **field.metadata}
            if field.name in shown_elsewhere:
                form["is_advanced"] = True
            command = _option(field, **form)(command)
        return _config_option(settings)(command)

    return decorate


def _heading(settings: type, name: str) -> str:
    """Return the `HEADING` of the class that declares the field *name*."""
    owner = next(base for base in settings.__mro__ if name in vars(base).get("__annotations__", ()))
    return str(vars(owner).get("HEADING", DEFAULT_OPTION_GROUP))


def _option(
    declared: dataclasses.Field[Any],
    *,
    kind: object = None,
    short: str | None = None,
    **form: Any,  # noqa: ANN401 - as click declares them
) -> Callable[[_Command], _Command]:
    default = declared.default
    names = [name for name in (short, f"--{_flag(declared.name)}", declared.name) if name]
    if isinstance(default, bool):
        form["is_flag"] = True
    else:
        is_shown = default not in (None, "", ())
        form |= {"type": kind, "default": default, "show_default": is_shown}
    if isinstance(default, tuple):
        form |= {"type": kind or Texts(), "multiple": True, "callback": _split}
    return click.option(*names, cls=Option, **form)


def _split(
    _context: click.Context, _parameter: click.Parameter, values: Sequence[str]
) -> tuple[str, ...]:
    """Return the texts between the commas of *values*, without empty ones."""
    pieces = (piece.strip() for value in values for piece in value.split(","))
    return tuple(piece for piece in pieces if piece)


def _config_option(settings: type) -> Callable[[_Command], _Command]:
    known = {field.name for field in dataclasses.fields(settings)}

    def read(context: click.Context, _parameter: click.Parameter, path: Path | None) -> None:
        if path is None and SYSTEM_FILE.exists():
            path = SYSTEM_FILE
        if path is not None:
            context.default_map = dict(_read_file(path, known))
            context.meta[FILE_READ] = path

    return click.option(
        "--config",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        is_eager=True,
        expose_value=False,
        callback=read,
        help=f"TOML file of the settings of run and replay; by default {SYSTEM_FILE} if it exists.",
    )


def read_bounded(path: Path) -> bytes:
    """
    Read a configuration file.

    Raises:
        OSError: If it cannot be read.
        SettingsError: If it is too large for one.
    """
    with path.open("rb") as file:
        content = file.read(MAX_SETTINGS_FILE_BYTES + 1)
    if len(content) > MAX_SETTINGS_FILE_BYTES:
        msg = f"{path} is larger than {MAX_SETTINGS_FILE_BYTES} bytes. Check the path."
        raise SettingsError(msg)
    return content


def _read_file(path: Path, known: set[str]) -> Mapping[str, object]:
    try:
        document = tomllib.loads(read_bounded(path).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        # A ValueError is invalid UTF-8, invalid TOML, or a number that is too long.
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        msg = f"Cannot read {path} as TOML: {reason}"
        raise SettingsError(msg) from error
    given = {key.replace("-", "_"): value for key, value in document.items()}
    unknown = sorted(given.keys() - _SETTINGS_FIELDS.keys())
    if unknown:
        known_keys = ", ".join(sorted(_flag(name) for name in _SETTINGS_FIELDS))
        msg = (
            f"Unknown setting {_flag(unknown[0])[:40]!r} in {path}. Correct or remove "
            f"it; the settings are {known_keys}."
        )
        raise SettingsError(msg)
    for name, value in given.items():
        _require_type(path, name, value)
        if isinstance(_SETTINGS_FIELDS[name].default, tuple) and isinstance(value, str):
            given[name] = [value]
    # One file serves all commands: settings of other commands are omitted.
    return {name: value for name, value in given.items() if name in known}


def _flag(name: str) -> str:
    return name.replace("_", "-")


def _require_type(path: Path, name: str, value: object) -> None:
    """Reject a value whose TOML type differs from its setting."""
    declared = str(_SETTINGS_FIELDS[name].type).removesuffix(" | None")
    types, expected = _TOML_TYPES[declared]
    texts = value if isinstance(value, list) else ()
    if type(value) not in types or not all(isinstance(text, str) for text in texts):
        found = _TOML_WORDS.get(type(value), "a date or time")
        msg = f"{_flag(name)} in {path} is {found}. Use {expected}."
        raise SettingsError(msg)


_TOML_WORDS: Final = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "an array",
    dict: "a table",
}
_TOML_TYPES: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    "str": ((str,), 'a string in quotes, such as "name"'),
    "ListenAddress": ((str,), 'a port in quotes, such as "8008"'),
    "Path": ((str,), 'a path in quotes, such as "/var/lib/name"'),
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "bool": ((bool,), "true or false"),
    "tuple[str, ...]": ((str, list), 'strings in brackets, such as ["one", "two"]'),
}
_SETTINGS_FIELDS: Final[Mapping[str, dataclasses.Field[Any]]] = {
    field.name: field
    for settings in (RunSettings, ReplaySettings)
    for field in dataclasses.fields(settings)
}
