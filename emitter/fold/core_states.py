"""Busy, attached idle, unattached or unknown: the letter and the number of each core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.fold.amounts import PERCENT_DECIMALS
from neuron_wire.names import ATTACHED_IDLE, BUSY, UNATTACHED, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from emitter.fold.cores import Cores
    from emitter.fold.stamp import FoldSettings


def core_states(
    cores: Cores, held: AbstractSet[int], known_cores: int | None, settings: FoldSettings
) -> tuple[str, tuple[float | None, ...]]:
    """
    What each core was over the minute, and its utilization, None where it is unknown.

    Cores are those that are known to exist, and beyond them those that were
    seen or are held.
    """
    width = max(known_cores or 0, cores.width(), max(held, default=-1) + 1)
    states: list[str] = []
    utilization: list[float | None] = []
    for core in range(width):
        percent = cores.utilization_percent(core)
        is_held = core in held or (percent is not None and percent > 0)
        if percent is None or (settings.only_matched and not is_held):
            states.append(UNKNOWN)
            utilization.append(None)
            continue
        # Rounded first, so that the letter agrees with the number beside it.
        percent = round(percent, PERCENT_DECIMALS)
        utilization.append(percent)
        if percent >= settings.idle_below_percent:
            states.append(BUSY)
        else:
            states.append(ATTACHED_IDLE if is_held else UNATTACHED)
    return "".join(states), tuple(utilization)
