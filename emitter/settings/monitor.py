"""What neuron-monitor is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from emitter.errors import SettingsError
from emitter.settings.declaration import Texts, setting

EVERY_TAG: Final = ".*"
LONGEST_PERIOD_S: Final = 15
"""With longer ones a minute has so few reports that one lost leaves it half unknown."""


@dataclass(frozen=True, kw_only=True)
class MonitorSettings:
    """The settings that make neuron-monitor's configuration."""

    period: int = setting(
        5,
        f"Seconds between reports that neuron-monitor is asked for, 1 to {LONGEST_PERIOD_S}.",
        kind=click.IntRange(1, LONGEST_PERIOD_S),
    )
    groups: tuple[str, ...] = setting(
        (),
        "Groups that neuron-monitor is asked for, such as neuroncore_counters alone; by default "
        "all there are.",
        kind=Texts(),
        metavar="GROUP",
    )
    tag_filter: str = setting(
        EVERY_TAG,
        "Regular expression of the runtime tags to watch; cores of other runtimes are unknown.",
        metavar="REGEX",
    )
    monitor_config: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "Configuration file for neuron-monitor to use as it is; by default one made of --period, "
        "--groups and --tag-filter.",
        kind=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
    )

    def __post_init__(self) -> None:
        """Refuse what contradicts."""
        if self.monitor_config is not None and (self.groups or self.tag_filter != EVERY_TAG):
            msg = (
                "either --monitor-config or --groups and --tag-filter was expected, and both were "
                "given: a file of your own is used as it is; leave the others out"
            )
            raise SettingsError(msg)
