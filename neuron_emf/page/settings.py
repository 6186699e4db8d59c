"""The settings of `neuron-emf page`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from emitter.settings.declaration import setting
from neuron_emf.account import AccountSettings


@dataclass(frozen=True, kw_only=True)
class PageSettings(AccountSettings):
    """Where the page is served, and what it counts as idle."""

    port: int = setting(
        0,
        "Port on 127.0.0.1, 1 to 65535; 0 takes a free one.",
        kind=click.IntRange(0, 65_535),
    )
    idle_after: int = setting(
        15,
        "Minutes after which the map of cores shows a core that is not busy as idle, 1 to 1440; "
        "the stack's IdleAfterMinutes.",
        kind=click.IntRange(1, 1440),
    )
    policy: bool = setting(
        default=False, help_text="Print the IAM policy that the page needs and end."
    )
