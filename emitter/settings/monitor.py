"""What neuron-monitor is asked for."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

import click

from emitter.errors import SettingsError
from emitter.settings.declaration import Texts, advanced

EVERY_TAG: Final = ".*"
LONGEST_PERIOD_S: Final = 15
"""With longer ones a minute has so few reports that one lost leaves it half unknown."""


@dataclass(frozen=True, kw_only=True)
class MonitorSettings:
    """The settings that make neuron-monitor's configuration."""

    HEADING: ClassVar = "neuron-monitor"

    period: int = advanced(
        5,
        f"Seconds between neuron-monitor reports, 1 to {LONGEST_PERIOD_S}.",
        kind=click.IntRange(1, LONGEST_PERIOD_S),
    )
    groups: tuple[str, ...] = advanced(
        (),
        "Groups that neuron-monitor reports, such as neuroncore_counters alone; by default all.",
        kind=Texts(),
        metavar="GROUP",
    )
    tag_filter: str = advanced(
        EVERY_TAG,
        "Regular expression of the runtime tags to watch; cores of other runtimes are unknown.",
        metavar="REGEX",
    )
    monitor_config: Path | None = advanced(  # noqa: RUF009 - a field, not a shared value
        None,
        "Configuration file for neuron-monitor, used unchanged; by default "
        "generated from --period, --groups and --tag-filter.",
        kind=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
    )

    def __post_init__(self) -> None:
        """Refuse what contradicts."""
        if self.monitor_config is not None and (self.groups or self.tag_filter != EVERY_TAG):
            msg = (
                "--monitor-config cannot be combined with --groups or --tag-filter: the "
                "file is used unchanged. Omit one or the other."
            )
            raise SettingsError(msg)
        require_expression(self.tag_filter)


# What only RE2 has: some escapes (group 1), flags anywhere (group 2); other escapes as they are.
_RE2: Final = re.compile(
    r"\\(?:(Q.*?(?:\\E|$)|[zC]|[pP](?:\{[^}]*\}|.))|.)|(\(\?[imsU-]+)(?=[:)])", re.DOTALL
)


def require_expression(text: str) -> None:
    """
    Refuse what is no regular expression, in Python's form or in neuron-monitor's (RE2).

    Raises:
        SettingsError: If it is none.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of [[:alpha:]], which RE2 has
            re.compile(_RE2.sub(_in_python, text))
    except (re.error, OverflowError, RecursionError) as error:
        msg = f"--tag-filter {text!r} is not a valid regular expression: {error}. Correct it."
        raise SettingsError(msg) from error


def _in_python(found: re.Match[str]) -> str:
    if found[2]:
        return "(?:"
    return "x" if found[1] else found[0]
