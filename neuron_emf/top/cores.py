"""
The cores of an instance as a strip of signs, one for each.

A busy core is a block as high as it is busy, any other the letter of its state;
an idle core, one that has not been busy for long enough, has a capital. So the
strip says the same without colours, and without blocks where an encoding has
none. A gap after every eight cores helps to count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from neuron_emf.top.figures import idle_cores
from neuron_wire.names import ATTACHED_IDLE, BUSY, UNATTACHED, UNKNOWN

if TYPE_CHECKING:
    from neuron_wire import MinuteRecord

BLOCKS: Final = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
DIGITS: Final = "0123456789"
GROUP: Final = 8
STATES: Final = {
    BUSY: "busy",
    ATTACHED_IDLE: "attached idle",
    UNATTACHED: "unattached",
    UNKNOWN: "unknown",
}


def heights(encoding: str | None) -> str:
    """The signs of busy cores, from least to most, that *encoding* has."""
    try:
        BLOCKS.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return DIGITS
    return BLOCKS


def legend(signs: str, idle_after: int) -> str:
    """What the signs of a strip mean."""
    return (
        f"{signs[0]} to {signs[-1]} busy, by utilization; a attached idle, u unattached, ? unknown;"
        f" A, U: not busy for {idle_after} minutes or longer"
    )


def strip_of(record: MinuteRecord, idle_after: int, signs: str = BLOCKS) -> str:
    """One sign for each core, without gaps."""
    idle = set(idle_cores(record.core_state, record.idle_minutes, idle_after))
    return "".join(
        _sign(letter, percent, signs) if core_index not in idle else letter.upper()
        for core_index, (letter, percent) in enumerate(
            zip(record.core_state, record.utilization_percent, strict=True)
        )
    )


def grouped(strip: str) -> str:
    """*strip* with a gap after every eight cores."""
    return " ".join(strip[start : start + GROUP] for start in range(0, len(strip), GROUP))


def _sign(letter: str, percent: float | None, signs: str) -> str:
    if letter != BUSY or percent is None:
        return letter
    return signs[min(len(signs) - 1, int(percent * len(signs) / 100))]
