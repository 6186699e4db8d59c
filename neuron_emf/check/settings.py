"""
The settings of `neuron-emf check`: those of `run`, and the stack that receives the lines.

Each value is shown with its source, without secrets.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from click.core import ParameterSource

from neuron_emf.command_options import AnswerSettings, StackSettings, flag
from neuron_emitter import VARIABLE_PREFIX
from neuron_emitter.settings import RunSettings
from neuron_emitter.settings.minute_settings import Amount, setting

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DEFAULT_SOURCE: Final = "default"

_PASSWORD: Final = re.compile(r"(?<=://)[^/@\s]*@")


@dataclass(frozen=True, kw_only=True)
class CheckSettings(AnswerSettings, StackSettings, RunSettings):
    """The settings of the checks, and the time limit of a monitor."""

    monitor_seconds: float = setting(
        30.0, "Seconds to wait for neuron-monitor's first report, 1 to 120.", kind=Amount(1, 120)
    )
    quick: bool = flag(
        "Health check of this machine's emitter: no network, no neuron-monitor; fails only on what "
        "a restart can fix."
    )
    deployment: bool = flag(
        "Before a deployment: check what the region and the account lack for the stack; no emitter "
        "is checked."
    )


@dataclass(frozen=True, slots=True)
class Origin:
    """
    One setting.

    Attributes:
        name: Its name as typed, without leading hyphens: `log-group`.

        value: Its value for people; empty for none.

        where: Its source: the flag, the variable, the file, or `default`.
    """

    name: str
    value: str
    where: str

    @property
    def is_given(self) -> bool:
        """True if the operator has set it."""
        return self.where != DEFAULT_SOURCE


def origins(
    settings: RunSettings, sources: Mapping[str, ParameterSource | None], file: Path | None
) -> tuple[Origin, ...]:
    """
    Return every setting with its source, in the order of the help.

    Args:
        settings: The values.

        sources: The sources that click found, by the name of the field.

        file: The configuration file that was read; None if none was.
    """
    return tuple(
        _origin(field.name, getattr(settings, field.name), sources.get(field.name), file)
        for field in dataclasses.fields(settings)
        if field.name not in {"deployment", "json", "quick"}  # options of the output
    )


def _origin(name: str, value: object, source: ParameterSource | None, file: Path | None) -> Origin:
    option = name.replace("_", "-")
    where = DEFAULT_SOURCE
    if source is ParameterSource.COMMANDLINE:
        where = f"--{option}"
    elif source is ParameterSource.ENVIRONMENT:
        where = f"{VARIABLE_PREFIX}_{name.upper()}"
    elif source is ParameterSource.DEFAULT_MAP:
        where = str(file)
    return Origin(option, _shown(value), where)


def _shown(value: object) -> str:
    if value is None or value is False or value == ():
        return ""
    if value is True:
        return "yes"
    text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return _PASSWORD.sub("", text)  # an address may contain one
