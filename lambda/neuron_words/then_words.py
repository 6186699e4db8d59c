"""Sentences and amounts about a period of the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from neuron_accounts.core_time import IDLE_LEAVES, Leaf, round_leaves, round_shares
from neuron_accounts.ledger import USD_PLACES
from neuron_accounts.then import OwnerKey
from neuron_wire.names import HOUR_MINUTES, PLACEHOLDER_OWNERS
from neuron_words.name_words import safe_name
from neuron_words.now_words import price_overrides_line
from neuron_words.quantity_words import counted, coverage_words, joined, share_words, usd

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_accounts.core_time import CoreTime
    from neuron_accounts.savings import Saving
    from neuron_accounts.then import InstanceKey, Then

_Key = TypeVar("_Key", "OwnerKey", "InstanceKey")

MAX_NAMED: Final = 5


MAX_SAVINGS: Final = 3
"""Sentences about savings; more clusters are counted."""


LONGEST_BASIS: Final = 1000  # characters of Regions and overrides


_NANO: Final = 10**USD_PLACES


NANO_CENT: Final = _NANO // 100


_MICRO_HOURS: Final = 10**6 * HOUR_MINUTES


def headline(total: CoreTime) -> str:
    """Return the cost of idle cores as a sentence."""
    if not total.known:
        return "No core was known."
    if not total.idle:
        return "No core was idle."
    hours = f"{core_hours(total.idle)} idle, {share_words(100 * total.idle / total.known)}"
    if not total.has_idle_price:
        return f"The price of idle cores is unknown: {hours} of the known time."
    cents = round_shares(total.leaves, NANO_CENT)
    avoidable = cents_words(cents[Leaf.AVOIDABLE], total.leaves[Leaf.AVOIDABLE])
    return (
        f"Idle cores cost {idle_usd(total)}, of which at most {avoidable} avoidable: {hours} of "
        "the known time."
    )


def price_sentences(then: Then) -> list[str]:
    """Return the sources of the prices; empty without any."""
    bases = [safe_name(basis, LONGEST_BASIS) for basis in sorted(then.bases)]
    return [f"Prices: {'; '.join(bases)}."] if bases else []


def gap_sentences(then: Then, setting: str) -> list[str]:
    """Return the types without a price, the *setting* for one, and the unknown time."""
    said = []
    if unpriced := then.unpriced:
        named = sorted(unpriced, key=lambda name: (-unpriced[name], name))
        listed = [f"{safe_name(name)} ({core_hours(unpriced[name])})" for name in named[:MAX_NAMED]]
        shown = joined(listed, len(named) - MAX_NAMED)
        line = price_overrides_line(named, setting)
        said.append(f"Without a price and in no amount: {shown}.{f' Set {line}.' if line else ''}")
    total = then.total
    if total.allocated:
        unknown = f"; {core_hours(total.unknown)} are unknown and not counted as idle"
        covered = coverage_words(100 * total.known / total.allocated)
        said.append(
            f"Telemetry covers {covered} of the core hours{unknown if total.unknown else ''}."
        )
    return said


def savings_sentences(savings: Sequence[Saving], hours: int) -> list[str]:
    """Return at most three sentences about *savings*; the period has *hours* hours."""
    sentences = [
        f"Cluster {safe_name(saving.cluster)}, {saving.hours:,} of {hours:,} hours: {words}."
        for saving in savings
        if (words := "; ".join(_saving_words(saving)))
    ]
    more = len(sentences) - MAX_SAVINGS
    if more > 0:
        sentences[MAX_SAVINGS - 1] += f" {counted(more, 'more cluster')} could have saved less."
    return sentences[:MAX_SAVINGS]


def _saving_words(saving: Saving) -> list[str]:
    words = []
    if saving.released:
        words.append(
            f"{counted(saving.released, 'instance')} could have been released (at least "
            f"{saving.released:,} fully idle in 95 % of these hours), which saves at least "
            f"{usd_of(saving.saved)}"
        )
    if saving.packed and saving.packed < saving.instances:
        words.append(
            f"on as few instances as possible, the busy cores needed at least "
            f"{saving.packed:,} of {saving.instances:,} instances"
        )
    if saving.committed:
        words.append(f"unused: {core_hours(saving.committed)} already paid")
    return words


def name_of(key: OwnerKey | InstanceKey) -> str:
    """Return `slurm:4711 ada, cluster research, team ml`."""
    said = f"{safe_name(key[0])}, cluster {safe_name(key.cluster)}"
    team = key.team if isinstance(key, OwnerKey) and key.owner not in PLACEHOLDER_OWNERS else None
    return f"{said}, team {safe_name(team)}" if team else said


def usd_of(nano_usd: int | None) -> str:
    """Return `1,234.50 USD`, or `no price`."""
    return "no price" if nano_usd is None else usd(nano_usd / _NANO)


def tie_order(labels: Sequence[str | None]) -> tuple[str, ...]:
    """
    Return the order of rows in which equal remainders of a cent are rounded up.

    Names in the first place and clusters in the last, as in rows of the report's table.
    """
    return tuple(map(str, (labels[0], labels[-1], *labels)))


def idle_cents(times: Mapping[_Key, CoreTime], total: CoreTime) -> dict[_Key, int]:
    """Return the cents of idle cost that the report prints for *times*, a part of *total*."""
    keys = sorted(times, key=lambda key: tie_order((key[0], *key[2:], key.cluster)))
    leaves: list[list[int]] = [times[key].leaves for key in keys]
    rest = [amount - sum(listed) for amount, *listed in zip(total.leaves, *leaves, strict=True)]
    cents = round_leaves([*leaves, rest], NANO_CENT)
    return {key: sum(amounts[IDLE_LEAVES]) for key, amounts in zip(keys, cents, strict=False)}


def idle_usd(total: CoreTime) -> str:
    """Return the cost of idle cores in the cents that the report prints."""
    if not total.has_idle_price:
        return usd_of(None)
    cents = round_shares(total.leaves, NANO_CENT)
    return cents_words(sum(cents[IDLE_LEAVES]), total.idle_cost)


def cents_words(cents: int, exact: int | None) -> str:
    """Return `29.85 USD`; `under 0.01 USD` if *exact* is above 0 and would be printed as 0."""
    amount = "under 0.01" if exact and not cents else f"{cents / 100:,.2f}"
    return f"{amount} USD"


def core_hours(micro_core_minutes: int) -> str:
    """Return `24.5 core hours`."""
    return f"{micro_core_minutes / _MICRO_HOURS:,.1f} core hours"
