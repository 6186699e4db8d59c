"""Figures as short texts; what nobody knows is a dash, never a zero."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from neuron_emf.top.figures import Figures
    from neuron_emf.top.fleet import Instance

UNKNOWN: Final = "-"
_SMALLEST_USD: Final = 0.005  # what two decimals still show
_MINUTES_IN_HOUR: Final = 60
_ROUNDING: Final = 1e-9  # of a sum of seconds
_MANY_HOURS: Final = 1000
_MINUTES_IN_DAY: Final = 24 * _MINUTES_IN_HOUR


def counted(number: int, noun: str) -> str:
    """`1 core`, `1,200 cores`."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def percent(value: float | None) -> str:
    """`39.9 %`."""
    return UNKNOWN if value is None else f"{value:.1f} %"


def coverage(figures: Figures) -> str:
    """`100 %`; a hundred only when nothing is missing."""
    value = figures.coverage_percent
    return UNKNOWN if value is None else f"{math.floor(value + _ROUNDING)} %"


def count(value: int, figures: Figures) -> str:
    """A number of known cores; a dash where no core is known."""
    return f"{value:,}" if figures.known else UNKNOWN


def core_hours(figures: Figures) -> str:
    """The minutes of all idle cores, in hours: `50.0`, `1,250`."""
    if not figures.known:
        return UNKNOWN
    hours = figures.idle_core_minutes / _MINUTES_IN_HOUR
    return f"{hours:,.1f}" if hours < _MANY_HOURS else f"{hours:,.0f}"


def cores(figures: Figures) -> str:
    """How many cores there are; a dash where nobody could tell."""
    return f"{figures.cores:,}" if figures.cores else UNKNOWN


def unknown(figures: Figures) -> str:
    """How many cores are unknown; a dash where nobody knows of any core."""
    return f"{figures.unknown:,}" if figures.cores else UNKNOWN


def duration(minutes: int) -> str:
    """`20 min`, `3 h 12 min` or `4 d 6 h`; nothing for none."""
    if not minutes:
        return ""
    if minutes < _MINUTES_IN_HOUR:
        return f"{minutes} min"
    if minutes < _MINUTES_IN_DAY:
        return f"{minutes // _MINUTES_IN_HOUR} h {minutes % _MINUTES_IN_HOUR:02} min"
    return f"{minutes // _MINUTES_IN_DAY} d {minutes % _MINUTES_IN_DAY // _MINUTES_IN_HOUR} h"


def usd(figures: Figures) -> str:
    """USD per hour of the idle cores; a plus where some have no price, a dash where none has."""
    value = figures.usd_per_hour
    if value is None:
        return UNKNOWN
    text = "<0.01" if 0 < value < _SMALLEST_USD else f"{value:,.2f}"
    return f"{text} +?" if figures.unpriced_idle_cores else text


def instances(figures: Figures) -> str:
    """`4`, and how many are silent."""
    return f"{figures.instances:,}" + (f" +{figures.silent:,} silent" if figures.silent else "")


def status(instance: Instance) -> str:
    """Why an instance has no figures, or what is strange about those it has."""
    behind = f"{instance.behind_minutes} min"
    if not instance.reports:
        return f"silent {behind}" if instance.status == "silent" else "stopped"
    notes = []
    if instance.figures.duplicates:
        notes.append("two emitters")
    if instance.behind_minutes:
        notes.append(f"{behind} late")
    if instance.record.identity_guessed:
        notes.append("name guessed")
    return ", ".join(notes)


def moment(at_ms: int) -> str:
    """`2026-11-20 08:59 UTC`."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(at_ms / 1000))


def iso(at_ms: int) -> str:
    """`2026-11-20T08:59:00Z`."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at_ms / 1000))
