"""
How people read durations, money, moments, foreign names, and the numbers of *now*.

Messages, commands and pages use these, so that one number reads the same everywhere.
Durations round down, and an amount above 0 is never shown as 0.
"""

from __future__ import annotations

import math
import re
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final, Literal

from neuron_wire.holders import printable_name
from neuron_wire.names import (
    DAY_MINUTES,
    HOUR_MINUTES,
    MICRO,
    MINUTE_MS,
    OTHER_OWNERS,
    REASON_WORDS,
    UNALLOCATED_OWNER,
    UNSTATED_OWNER,
)
from neuron_wire.owners import TEAM_OWNER, UNNAMED
from neuron_wire.prices import OVERRIDE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neuron_wire.line_members import Counts
    from neuron_wire.now import ClusterNow, IdleOwner

NO_OWNERS: Final = {
    UNALLOCATED_OWNER: "Unallocated",
    OTHER_OWNERS: "Other owners",
    UNNAMED: "Unnamed processes",
    "": "Unnamed processes",
    UNSTATED_OWNER: "Not told",
}
"""What people read for a placeholder owner."""

Urgency = Literal["now", "today", "can wait"]
NOW: Final = "now"
TODAY: Final = "today"
CAN_WAIT: Final = "can wait"
URGENCIES: Final[tuple[Urgency, ...]] = (NOW, TODAY, CAN_WAIT)
"""Urgencies of messages, the most urgent first."""

RESERVED: Final = "reserved, not opened"
LONGEST_NAME: Final = 80  # characters of any one name in a message
_MAX_TYPES: Final = 5  # without a price, that are named
_MAX_REASONS: Final = 2  # of unknown cores, that are named
_ALL_PERCENT: Final = 100
_SMALLEST_USD: Final = 0.005  # what two decimals still show
_SLURM: Final = "slurm:"  # how names of jobs begin; no name of a pod has a colon
_CONSOLES: Final = {"cn-": "amazonaws.cn", "us-gov-": "amazonaws-us-gov.com"}
_FORMULA: Final = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula; the last four are the wide ones."""


def console_address(page: str, region: str) -> str:
    """Where AWS's console has a *page* of a *region*, but for what stands behind the `#`."""
    ends = (end for start, end in _CONSOLES.items() if region.startswith(start))
    return f"https://{region}.console.{next(ends, 'aws.amazon.com')}/{page}?region={region}#"


def duration(minutes: float) -> str:
    """Whole minutes in their two greatest units: `45 min`, `3 h`, `3 h 5 min`, `2 d 4 h`."""
    whole = int(minutes)
    if whole < DAY_MINUTES:
        units = (whole // HOUR_MINUTES, "h"), (whole % HOUR_MINUTES, "min")
    else:
        units = (
            (whole // DAY_MINUTES, "d"),
            (whole % DAY_MINUTES // HOUR_MINUTES, "h"),
        )
    return " ".join(f"{number:,} {unit}" for number, unit in units if number) or "0 min"


def dollars(value: float) -> str:
    """`1,234.50`, under a heading that says USD; *value* is at least 0."""
    return "under 0.01" if 0 < value < _SMALLEST_USD else f"{value:,.2f}"


def usd(value: float) -> str:
    """`1,234.50 USD`; *value* is at least 0."""
    return f"{dollars(value)} USD"


def amount(value: float) -> str:
    """`1,204`, `0.5`: at most two decimals."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def counted(count: float, noun: str) -> str:
    """`1 core`, `1,200 cores`."""
    return f"{amount(count)} {noun if count == 1 else noun + 's'}"


def percent(value: float) -> str:
    """`34.7 %` of a measured value or a change."""
    return f"{value:.1f} %"


def share_words(value: float) -> str:
    """`45 %` of 44.78: the nearest, half up; `<1 %` and `>99 %` if 0 or 100 are not exact."""
    nearest = math.floor(value + 0.5)
    if nearest == 0 and value:
        return "<1 %"
    return ">99 %" if value < _ALL_PERCENT <= nearest else f"{nearest} %"


def coverage_words(value: float) -> str:
    """`99 %` of 99.97: rounded down, because it must show that something is missing."""
    return "<1 %" if 0 < value < 1 else f"{math.floor(value)} %"


def joined(parts: Sequence[str], more: int = 0, separator: str = ", ") -> str:
    """`a, b and 3 more`."""
    text = separator.join(parts)
    return f"{text} and {more:,} more" if more > 0 else text


def moment(epoch_ms: float) -> str:
    """`2026-11-21 03:14 UTC`."""
    return _formatted(epoch_ms, "%Y-%m-%d %H:%M UTC")


def iso(epoch_ms: float) -> str:
    """`2026-11-21T03:14:07Z`."""
    return _formatted(epoch_ms, "%Y-%m-%dT%H:%M:%SZ")


def iso_minute(epoch_minute: int) -> str:
    """`2026-11-21T03:14Z`, of which the greater text is the later minute."""
    return _formatted(epoch_minute * MINUTE_MS, "%Y-%m-%dT%H:%MZ")


def holder_marks(
    name: str | None,
    last_execution: int | None,
    minute: int | None,
    *,
    is_gone: bool,
    given_to: str | None = None,
) -> list[str]:
    """
    What is known of a holder: `no execution since 02:10 UTC`, `its pod is gone`, `given to ml/b`.

    *last_execution*, and *minute*, at which it is said, are minutes since the epoch. One of
    that minute or the one before is `executing, last at 08:59 UTC`: on which cores is
    unknown. The day is shown where it is not that of *minute*, or where that is not known.
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
    if given_to:
        marks.append(f"given to {given_to}")
    return marks


def clock(epoch_minute: int, now_minute: int | None) -> str:
    """`02:10 UTC`, with its day where that is not the day of *now_minute*, or it is not known."""
    day, time = _formatted(epoch_minute * MINUTE_MS, "%Y-%m-%d %H:%M").split()
    is_same_day = now_minute is not None and day == _formatted(now_minute * MINUTE_MS, "%Y-%m-%d")
    return f"{time if is_same_day else f'{day} {time}'} UTC"


def is_executing_at(last_execution: int | None, minute: int | None) -> bool:
    """Whether the last execution is of *minute* or the one before it."""
    return last_execution is not None and minute is not None and minute - last_execution <= 1


def use_words(held: float | None, busy: float | None) -> str:
    """`uses 16 of 24` of an owner that works on some cores; empty of all others, or unknown."""
    return f"uses {amount(busy)} of {amount(held)}" if held and busy else ""


def use_of(owner: IdleOwner) -> str:
    """The same of *owner*."""
    if owner.held is None or owner.busy is None:
        return ""
    return use_words(owner.held / MICRO, owner.busy / MICRO)


def little_used_words(executions: int | None) -> str:
    """`little used (80 executions)` of who has no busy core; empty of none."""
    return f"little used ({counted(executions, 'execution')})" if executions else ""


def owner_words(owner: IdleOwner) -> str:
    """What *owner* does, in a few words; `63 of 64 without a busy core` is of its siblings."""
    if used := use_of(owner) or little_used_words(owner.executions):
        return used
    if owner.siblings and owner.idle_siblings is not None and owner.idle_siblings < owner.siblings:
        return f"{owner.idle_siblings:,} of {owner.siblings:,} without a busy core"
    if not owner.reserved:
        return ""
    cores = "" if owner.reserved == owner.idle else f"{amount(owner.reserved / MICRO)} "
    return f"{cores}{RESERVED}"


def host_words(percent: float | None, vcpus: int | None) -> str:
    """Return `25 of 128 vCPUs are busy`; empty if one of both is unknown."""
    if percent is None or vcpus is None:
        return ""
    return f"{percent * vcpus / 100:.3g} of {vcpus} vCPUs are busy"


def idle_words(now: ClusterNow, noun: str = "known core", state: str = "") -> str:
    """`50 of 98 known cores (51 %)`, under a heading without *noun*; empty where it is unknown."""
    if now.idle is None or now.known is None:
        return ""
    share = "" if now.idle_percent is None else f" ({share_words(now.idle_percent)})"
    known = counted(now.known, noun) if noun else amount(now.known)
    return f"{amount(now.idle)} of {known}{state}{share}"


def unknown_words(cores: int, by_reason: Counts, remark: str = "") -> str:
    """`3 cores unknown: the monitor does not see the devices`; no reason if none is known."""
    words = f"{counted(cores, 'core')} unknown{remark}"
    ordered = sorted(by_reason, key=lambda reason: -by_reason[reason])
    reasons = []
    for reason in ordered[:_MAX_REASONS]:
        of_these = by_reason[reason]
        number = "" if of_these == cores else f" ({of_these:,})"
        reasons.append(f"{REASON_WORDS[reason]}{number}")
    more = len(ordered) - len(reasons)
    return f"{words}: {joined(reasons, more, '; ')}" if reasons else words


def per_hour(cost: int | None) -> str:
    """`36.84 USD/h` of micro-USD; empty where it is unknown."""
    return "" if cost is None else f"{usd(cost / MICRO)}/h"


def unpriced_words(now: ClusterNow, most: int = _MAX_TYPES) -> str:
    """`4 idle cores have no price (us-west-2/trn2.3xlarge)`; empty if none is known."""
    cores = now.idle_unpriced
    if not cores:
        return ""
    types = [safe_name(name) for name in now.unpriced_types[:most]]
    named = f" ({joined(types, len(now.unpriced_types) - most)})" if types else ""
    verb = "has" if cores == 1 else "have"
    return f"{counted(cores, 'idle core')} {verb} no price{named}"


def price_overrides_line(types: Iterable[str], setting: str = "PriceOverrides=") -> str:
    """
    `PriceOverrides=us-west-2/trn2.48xlarge=USD`: what to type for *types* without a price.

    Five of them at most, and only what *setting* takes; empty where none is.
    """
    fit = [name for name in types if len(name) <= LONGEST_NAME and OVERRIDE_NAME.fullmatch(name)]
    return f"{setting}{','.join(f'{name}=USD' for name in fit[:_MAX_TYPES])}" if fit else ""


def wholly_idle_words(now: ClusterNow) -> str:
    """`2 wholly idle instances`; empty where that is unknown."""
    instances = now.wholly_idle_instances
    return "" if instances is None else counted(instances, "wholly idle instance")


def in_other_clusters_words(now: ClusterNow) -> str:
    """`without instances that report in two clusters`; empty of none."""
    return "without instances that report in two clusters" if now.in_other_clusters else ""


def avoidable_parts_words(now: ClusterNow) -> str:
    """`21.50 held, 1.34 unheld`; empty where that is unknown."""
    held, unheld = now.avoidable_held, now.avoidable_unheld
    if held is None or unheld is None:
        return ""
    return f"{dollars(held / MICRO)} held, {dollars(unheld / MICRO)} unheld"


def _formatted(epoch_ms: float, form: str) -> str:
    return datetime.fromtimestamp(epoch_ms / 1000, timezone.utc).strftime(form)


def printable(text: str, longest: int = LONGEST_NAME) -> str:
    """
    *text* on one line of at most *longest* characters.

    Foreign names may hold anything: characters that control a terminal, break a line or turn
    the direction of writing become question marks.
    """
    if len(text) > longest:
        text = text[: longest - 3] + "..."
    return printable_name(text, longest) or ""


_PLACEHOLDER: Final = re.compile(r"\[[a-z ]{1,40}\]")  # `[unallocated]`
_MARKUP: Final = str.maketrans(dict.fromkeys('`$\\|<>[]{}";&', "?"))


def safe_name(text: str, longest: int = LONGEST_NAME) -> str:
    """
    Return *text*, a name that a line, an event or a person gave, as every face shows it.

    A letter that a shell, a page or a chat would take for more becomes a question mark, an
    address cannot be clicked, and a spreadsheet sees no formula. Names of placeholder owners
    stay. Log lines and JSON for programs keep names as they are.
    """
    if _PLACEHOLDER.fullmatch(text):
        return text
    return printable(cell(text.translate(_MARKUP).replace("://", ":??")), longest)


def cell(text: str) -> str:
    """*text* behind an apostrophe if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def cells(value: Any) -> Any:  # noqa: ANN401  # any JSON value
    """*value*, each text in it, but the names of members, as a `cell`."""
    if isinstance(value, list):
        return [cells(item) for item in value]
    if isinstance(value, dict):
        return {name: cells(item) for name, item in value.items()}
    return cell(value) if isinstance(value, str) else value
