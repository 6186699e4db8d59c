"""The settings of `neuron-emf replay`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from emitter.settings.declaration import LONGEST_INTERVAL_S, Amount, setting
from emitter.settings.minutes import MinuteSettings


@dataclass(frozen=True, kw_only=True)
class ReplaySettings(MinuteSettings):
    """Saved reports have no clock: when each was received must be said."""

    cluster: str = setting(
        "", "Name of the cluster that the reports belong to; required.", metavar="NAME"
    )
    interval: float | None = setting(
        None,
        "Seconds between two reports, at most 3600; required.",
        kind=Amount(min=0.0, min_open=True, max=LONGEST_INTERVAL_S),
    )
    start: str | None = setting(
        None,
        "Time of the first report, ISO 8601, in UTC if it has no offset; required.",
        metavar="TIME",
    )
    saved_proc: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "The /proc of the reports' machine, live or a copy, to name owners from; "
        "the machine's other files are read beside it; by default no owner is "
        "named.",
        kind=click.Path(file_okay=False, path_type=Path),
    )
