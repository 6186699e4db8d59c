"""
What the report and the digest say of *then*, in the same sentences.

What nobody knows is said, and never 0. Names are other people's and on one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from neuron_wire.ledger import USD_PLACES
from neuron_wire.names import HOUR_MINUTES, NOBODY
from neuron_wire.phrases import joined, percent, price_overrides_line, printable, usd
from neuron_wire.then import OwnerKey

if TYPE_CHECKING:
    from neuron_wire.core_time import CoreTime
    from neuron_wire.then import InstanceKey, Then

MAX_NAMED: Final = 5
_NANO: Final = 10**USD_PLACES
_MICRO_HOURS: Final = 10**6 * HOUR_MINUTES


def headline(total: CoreTime) -> str:
    """What idle cores cost, in one sentence."""
    if not total.known:
        return "Nothing is known of any core."
    if not total.idle:
        return "No core was idle."
    hours = f"{core_hours(total.idle)} idle, {percent(100 * total.idle / total.known)}"
    if total.idle_cost is None:
        return f"The price of idle cores is unknown: {hours} of the known time."
    return (
        f"Idle cores cost {usd_of(total.idle_cost)}, of which at most "
        f"{usd_of(total.avoidable_cost)} avoidable: {hours} of the known time."
    )


def basis_sentences(then: Then, setting: str = "PriceOverrides=") -> list[str]:
    """What amounts are based on, what has no price and the *setting* of one, what is unknown."""
    said = [f"Prices: {'; '.join(sorted(then.bases))}."] if then.bases else []
    if unpriced := then.unpriced:
        named = sorted(unpriced, key=lambda name: (-unpriced[name], name))
        listed = [f"{printable(name)} ({core_hours(unpriced[name])})" for name in named[:MAX_NAMED]]
        shown = joined(listed, len(named) - MAX_NAMED)
        line = price_overrides_line(named, setting)
        said.append(f"Without a price, in no amount: {shown}.{f' Set {line}.' if line else ''}")
    total = then.total
    if total.held:
        unknown = f"; {core_hours(total.unknown)} are unknown and not counted as idle"
        covered = percent(100 * total.known / total.held)
        said.append(
            f"Telemetry covers {covered} of the core hours{unknown if total.unknown else ''}."
        )
    return said


def name_of(key: OwnerKey | InstanceKey) -> str:
    """`slurm:4711 ada, cluster research, team ml`."""
    said = f"{printable(key[0])}, cluster {printable(key.cluster)}"
    team = key.team if isinstance(key, OwnerKey) and key.owner not in NOBODY else None
    return f"{said}, team {printable(team)}" if team else said


def usd_of(nano_usd: int | None) -> str:
    """`1,234.50 USD`, and of what has no price `no price`."""
    return "no price" if nano_usd is None else usd(nano_usd / _NANO)


def core_hours(micro_core_minutes: int) -> str:
    """`24.5 core hours`."""
    return f"{micro_core_minutes / _MICRO_HOURS:,.1f} core hours"
