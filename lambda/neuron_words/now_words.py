"""
The words of *now*: idle cores, their cost, their owners and their holders.

Messages, commands and pages use these words, so that one number reads the same everywhere.
Durations round down, and an amount above 0 is never shown as 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from neuron_accounts.prices import OVERRIDE_NAME
from neuron_wire.names import (
    MICRO,
    NOT_REPORTED_OWNER,
    OTHER_OWNERS,
    REASON_WORDS,
    UNALLOCATED_OWNER,
)
from neuron_wire.owners import TEAM_OWNER, UNNAMED_OWNER
from neuron_words.name_words import MAX_NAME_WORDS_CHARS, safe_name
from neuron_words.quantity_words import amount, clock, counted, dollars, joined, share_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_accounts.now import ClusterNow, IdleOwner
    from neuron_wire.line_members import Counts

NO_OWNERS: Final = {
    UNALLOCATED_OWNER: "Unallocated",
    OTHER_OWNERS: "Other owners",
    UNNAMED_OWNER: "Unnamed processes",
    "": "Unnamed processes",
    NOT_REPORTED_OWNER: "Not reported",
}
"""The words for a placeholder owner."""

Urgency = Literal["now", "today", "can wait"]
NOW: Final = "now"
TODAY: Final = "today"
CAN_WAIT: Final = "can wait"
URGENCIES: Final[tuple[Urgency, ...]] = (NOW, TODAY, CAN_WAIT)
"""Urgencies of messages, the most urgent first."""

RESERVED: Final = "reserved, not opened"
ALLOCATION_UNKNOWN: Final = "allocation unknown"
_MAX_TYPES_SHOWN: Final = 5  # types without a price that are named
_MAX_REASONS: Final = 2  # reasons of unknown cores that are named
_SLURM: Final = "slurm:"  # the beginning of a Slurm job's name; no name of a pod has a colon
_CONSOLES: Final = {"cn-": "amazonaws.cn", "us-gov-": "amazonaws-us-gov.com"}


def console_address(page: str, region: str) -> str:
    """Return the address of a *page* of AWS's console in a *region*, up to the `#`."""
    ends = (end for start, end in _CONSOLES.items() if region.startswith(start))
    return f"https://{region}.console.{next(ends, 'aws.amazon.com')}/{page}?region={region}#"


def holder_marks(
    name: str | None,
    last_execution: int | None,
    minute: int | None,
    *,
    is_gone: bool,
    assigned_to: str | None = None,
) -> list[str]:
    """
    Return the facts about a holder: `no execution since 02:10 UTC`, `assigned to ml/b`.

    *last_execution* and the present *minute* are minutes since the epoch. An execution in that
    minute or the one before is `executing, last at 08:59 UTC`; its cores are unknown. The day is
    shown if it differs from the day of *minute*, or if that is unknown.
    """
    marks = []
    if last_execution is not None:
        said = "last execution"
        if minute is not None:
            is_executing = is_executing_at(last_execution, minute)
            said = "executing, last at" if is_executing else "no execution since"
        marks.append(f"{said} {clock(last_execution, minute)}")
    if is_gone:
        kinds = {_SLURM: "job", TEAM_OWNER: "pod or job"}
        begins = (kind for start, kind in kinds.items() if (name or "").startswith(start))
        marks.append(f"its {next(begins, 'pod')} is gone")
    if assigned_to:
        marks.append(f"assigned to {assigned_to}")
    return marks


def is_executing_at(last_execution: int | None, minute: int | None) -> bool:
    """Return True if the last execution is in *minute* or the one before it."""
    return last_execution is not None and minute is not None and minute - last_execution <= 1


def use_words(allocated: float | None, busy: float | None) -> str:
    """Return `uses 16 of 24` for an owner that works on some cores, otherwise an empty text."""
    return f"uses {amount(busy)} of {amount(allocated)}" if allocated and busy else ""


def use_of(owner: IdleOwner) -> str:
    """Return `uses 16 of 24` for *owner*, or an empty string."""
    if owner.allocated is None or owner.busy is None:
        return ""
    return use_words(owner.allocated / MICRO, owner.busy / MICRO)


def low_activity_words(executions: int | None) -> str:
    """Return `low activity (80 executions)` for an owner without a busy core, otherwise empty."""
    return f"low activity ({counted(executions, 'execution')})" if executions else ""


def owner_words(owner: IdleOwner) -> str:
    """Return the use of *owner*; `63 of 64 without a busy core` is about its siblings."""
    if used := use_of(owner) or low_activity_words(owner.executions):
        return used
    if owner.siblings and owner.idle_siblings is not None and owner.idle_siblings < owner.siblings:
        return f"{owner.idle_siblings:,} of {owner.siblings:,} without a busy core"
    part = owner.reserved
    state = RESERVED
    if owner.owner == NOT_REPORTED_OWNER:
        part = owner.unallocated
        state = ALLOCATION_UNKNOWN
    if not part:
        return ""
    cores = "" if part == owner.idle else f"{amount(part / MICRO)} "
    return f"{cores}{state}"


def host_words(percent: float | None, vcpus: int | None) -> str:
    """Return `25 of 128 vCPUs are busy`; empty if either number is unknown."""
    if percent is None or vcpus is None:
        return ""
    return f"{percent * vcpus / 100:.3g} of {vcpus} vCPUs are busy"


def idle_words(now: ClusterNow, state: str = "") -> str:
    """Return `50 of 98 known cores (51 %)`; empty if unknown. *state* follows the cores."""
    if now.idle is None or now.known is None:
        return ""
    share = "" if now.idle_percent is None else f" ({share_words(now.idle_percent)})"
    return f"{amount(now.idle)} of {counted(now.known, 'known core')}{state}{share}"


def unknown_words(cores: int, by_reason: Counts, remark: str = "") -> str:
    """Return `3 cores unknown: the monitor does not see the devices`, without an unknown reason."""
    words = f"{counted(cores, 'core')} unknown{remark}"
    ordered = sorted(by_reason, key=lambda reason: -by_reason[reason])
    reasons = []
    for reason in ordered[:_MAX_REASONS]:
        of_these = by_reason[reason]
        number = "" if of_these == cores else f" ({of_these:,})"
        reasons.append(f"{REASON_WORDS[reason]}{number}")
    more = len(ordered) - len(reasons)
    return f"{words}: {joined(reasons, more, '; ')}" if reasons else words


def unpriced_words(now: ClusterNow) -> str:
    """Return `4 idle cores have no price (us-west-2/trn2.3xlarge)`; empty if there is none."""
    cores = now.idle_unpriced
    if not cores:
        return ""
    types = [safe_name(name) for name in now.unpriced_types[:_MAX_TYPES_SHOWN]]
    named = f" ({joined(types, len(now.unpriced_types) - len(types))})" if types else ""
    verb = "has" if cores == 1 else "have"
    return f"{counted(cores, 'idle core')} {verb} no price{named}"


def price_overrides_line(types: Iterable[str], setting: str = "PriceOverrides=") -> str:
    """
    Return `PriceOverrides=us-west-2/trn2.48xlarge=USD`, the setting for *types* without a price.

    It has at most five types that *setting* accepts; empty if there is none.

    >>> price_overrides_line(["us-east-2/trn2.48xlarge"])
    'PriceOverrides=us-east-2/trn2.48xlarge=USD'
    """
    fit = [
        name
        for name in types
        if len(name) <= MAX_NAME_WORDS_CHARS and OVERRIDE_NAME.fullmatch(name)
    ]
    return f"{setting}{','.join(f'{name}=USD' for name in fit[:_MAX_TYPES_SHOWN])}" if fit else ""


def fully_idle_words(now: ClusterNow) -> str:
    """Return `2 fully idle instances`; empty if unknown."""
    instances = now.fully_idle_instances
    return "" if instances is None else counted(instances, "fully idle instance")


def in_other_clusters_words(now: ClusterNow) -> str:
    """Return `without instances that report in two clusters`; empty if there is none."""
    return "without instances that report in two clusters" if now.in_other_clusters else ""


def avoidable_parts_words(now: ClusterNow) -> str:
    """Return `21.50 allocated, 1.34 unallocated`; empty if unknown."""
    allocated = now.avoidable_allocated
    unallocated = now.avoidable_unallocated
    if allocated is None or unallocated is None:
        return ""
    return f"{dollars(allocated / MICRO)} allocated, {dollars(unallocated / MICRO)} unallocated"
