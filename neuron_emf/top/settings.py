"""The settings of `neuron-emf top`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from emitter.settings.declaration import Amount, setting
from neuron_emf.account import AccountSettings
from neuron_emf.payment import PAID_FORM, PAID_HELP
from neuron_emf.prices import OVERRIDES_FORM, OVERRIDES_HELP
from neuron_emf.top.order import IDLE, ORDERS


@dataclass(frozen=True, kw_only=True)
class TopSettings(AccountSettings):
    """What is shown of which fleet, and how often."""

    cluster: str = setting("", "Only this cluster; by default all.", metavar="NAME")
    sort: str = setting(
        IDLE,
        "Sort by most idle core-minutes, highest cost, name, or lowest utilization.",
        kind=click.Choice(ORDERS),
    )
    since: str = setting(
        "10m",
        "How far back to read at first; an instance is silent after 5 minutes, and not seen if "
        "its last line is older than this.",
        metavar="PERIOD",
    )
    idle_after: int = setting(
        15,
        "Minutes after which a core that is not busy is idle, 1 to 1440; the stack's "
        "IdleAfterMinutes.",
        kind=click.IntRange(1, 1440),
    )
    price_overrides: str = setting("", OVERRIDES_HELP, metavar=OVERRIDES_FORM)
    paid_by_type: str = setting("", PAID_HELP, metavar=PAID_FORM)
    refresh: float = setting(
        5.0, "Seconds between updates of the live view, 1 to 3600.", kind=Amount(1, 3600)
    )
    live_tail: bool = setting(
        default=False,
        help_text="Receive new lines by Live Tail (StartLiveTail, 0.01 USD a minute) instead of "
        "polling.",
    )
    rows: int = setting(
        20,
        "Instances per cluster that --once prints, 0 to 100000.",
        kind=click.IntRange(0, 100_000),
    )
    once: bool = setting(default=False, help_text="Print the fleet once and exit.")
    json: bool = setting(default=False, help_text="Print the fleet as one JSON document and exit.")
