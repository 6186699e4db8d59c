"""The settings of `neuron-emf lint`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from emitter.settings.declaration import setting


@dataclass(frozen=True, kw_only=True)
class LintSettings:
    """When the lines arrive, and how much to show."""

    now: str = setting(
        "",
        "Moment at which the lines arrive, ISO 8601, UTC unless it says otherwise, or a period "
        "ago such as 2h; by default the clock's.",
        metavar="TIME",
    )
    no_age: bool = setting(
        default=False, help_text="Leave out the rules about age: for lines that are old by now."
    )
    limit: int = setting(
        5,
        "Findings to show of each rule, 0 to 100000; all are counted.",
        kind=click.IntRange(0, 100_000),
    )
    json: bool = setting(default=False, help_text="Print one JSON document, for a program.")
