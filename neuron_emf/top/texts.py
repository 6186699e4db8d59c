"""
Figures as the short texts of a table, and the cores of an instance as a strip of signs.

What nobody knows is a dash, never a zero. In a strip a busy core is a block as high
as it is busy, any other the letter of its state; an idle core, one that has not been
busy for long enough, has a capital. So the strip says the same without colors, and
without blocks where an encoding has none. A gap after every eight cores helps to count.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from neuron_emf.figures import hours, idle_cores
from neuron_emf.figures import percent as figures_percent
from neuron_wire.names import ATTACHED_IDLE, BUSY, UNATTACHED
from neuron_wire.names import UNKNOWN as UNKNOWN_CORE
from neuron_wire.phrases import dollars, duration

if TYPE_CHECKING:
    from neuron_emf.top.fleet import Figures, InstanceSnapshot
    from neuron_wire import MinuteRecord

UNKNOWN: Final = "-"
_ROUNDING: Final = 1e-9  # of a sum of seconds
BLOCKS: Final = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
DIGITS: Final = "0123456789"
GROUP: Final = 8
KEYS: Final = """\
up, down        choose a row
Enter, right    into the cluster, into the instance
Escape, left    back
s               sort by the next of idle, cost, name, utilization
r               refresh now
?               show or hide these keys
q               quit

idle            cores not busy for --idle-after minutes or longer
for             how long the longest of them has been idle
USD/h           cost of the idle cores per hour; +? if some have no price
avoidable       the most that stopping instances saves: all their cores are idle
                and they are not paid for even if stopped; the rest is shared with
                busy cores, or sunk
owner           who holds most of the idle cores, and how many others hold some
util            mean utilization of the known cores
cover           share of the minute that telemetry covers
att, unatt, ?   attached idle, unattached and unknown cores
core-h          total idle time of all idle cores until now
flops           FLOP/s, percent of the chips' dense BF16 peak; not MFU

A narrow terminal shows the first columns that fit; --json shows all.
"""
"""What `?` shows."""

STATES: Final = {
    BUSY: "busy",
    ATTACHED_IDLE: "attached idle",
    UNATTACHED: "unattached",
    UNKNOWN_CORE: "unknown",
}


def percent(value: float | None) -> str:
    """`39.9 %`."""
    return figures_percent(value, UNKNOWN)


def coverage(figures: Figures) -> str:
    """`100 %`; a hundred only when nothing is missing."""
    value = figures.coverage_percent
    return UNKNOWN if value is None else f"{math.floor(value + _ROUNDING)} %"


def count(value: int, figures: Figures) -> str:
    """A number of known cores; a dash where no core is known."""
    return f"{value:,}" if figures.known else UNKNOWN


def core_hours(figures: Figures) -> str:
    """The minutes of all idle cores, in hours: `50.0`."""
    return hours(figures.idle_core_minutes) if figures.known else UNKNOWN


def cores(figures: Figures) -> str:
    """How many cores there are; a dash where nobody could tell."""
    return f"{figures.cores:,}" if figures.cores else UNKNOWN


def unknown(figures: Figures) -> str:
    """How many cores are unknown; a dash where nobody knows of any core."""
    return f"{figures.unknown:,}" if figures.cores else UNKNOWN


def idle_for(figures: Figures) -> str:
    """For how long the longest idle core; nothing where none is idle."""
    return duration(figures.idle_minutes) if figures.idle_minutes else ""


def usd(figures: Figures) -> str:
    """USD per hour of the idle cores; a plus where some have no price, a dash where none has."""
    if figures.usd_per_hour is None:
        return UNKNOWN
    text = dollars(figures.usd_per_hour)
    return f"{text} +?" if figures.unpriced_idle_cores else text


def avoidable(figures: Figures) -> str:
    """USD per hour that end, at most, when instances stop; a dash where nothing has a price."""
    value = figures.avoidable_usd_per_hour
    return UNKNOWN if value is None else dollars(value)


def saving(figures: Figures) -> str:
    """What it takes to save the price of one instance's idle cores; empty where there is none."""
    if figures.sunk_usd:
        return "sunk"
    if figures.shared_usd:
        return "shared"
    return "avoidable" if figures.avoidable_usd_per_hour else ""


def instances(figures: Figures) -> str:
    """`4`, and how many are silent."""
    return f"{figures.instances:,}" + (f" +{figures.silent:,} silent" if figures.silent else "")


def status(instance: InstanceSnapshot) -> str:
    """Why an instance has no figures, or what is strange about those it has."""
    behind = duration(instance.behind_minutes)
    if not instance.reports:
        return f"silent {behind}" if instance.status == "silent" else "stopped"
    notes = []
    if instance.figures.duplicates:
        notes.append("two emitters")
    if instance.record.bye:
        notes.append("shut down after it")
    if instance.behind_minutes:
        notes.append(f"{behind} late")
    if instance.record.identity_guessed:
        notes.append("name guessed")
    return ", ".join(notes)


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
    idle = set(idle_cores(record, idle_after))
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
