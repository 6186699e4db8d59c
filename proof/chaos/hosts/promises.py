"""
What every emitter promised, held against what the service has taken from it.

Pure: notes and lines in, sentences out. A record that is not there must have
been dropped and counted; a minute that was surely closed must be there.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from proof.arrivals import Arrivals

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from proof.chaos.hosts.notes import Notes

MOST_NAMED = 5
TOO_NEW_MS = 10 * 60_000  # after the end only a clock that was hours ahead has a minute
TOO_NEW = "too_new"


@dataclass
class RecordBalance:
    """
    Of one host's records.

    Attributes:
        produced: Records that its spools have known.

        delivered: Different ones that arrived.

        copies: What arrived once more.

        dropped: What is missing and was counted, by reason.

        minutes: Different minute lines that arrived.

        closed: Minutes that were surely closed, and are all there if nothing is wrong.

        wrong: What must not be, in words.
    """

    produced: int = 0
    delivered: int = 0
    copies: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    minutes: int = 0
    closed: int = 0
    wrong: list[str] = field(default_factory=list)


def account(
    notes: Notes, events: Iterable[tuple[int, str]], closed: AbstractSet[int], latest_ms: int
) -> RecordBalance:
    """
    What became of everything one host has produced, given the *events* that arrived from it.

    *closed* are the minutes that it surely closed, *latest_ms* is the end of the
    run by the service's clock. What a clock that was hours ahead had after that
    is too new, and counted by record.
    """
    arrivals = Arrivals.of(events)
    minutes = arrivals.minutes()
    balance = RecordBalance(
        produced=sum(notes.produced.values()),
        delivered=len(arrivals.lines),
        copies=arrivals.copies,
        minutes=sum(one["Kind"] == "minute" for one in arrivals.documents),
        wrong=list(notes.wrong),
    )
    balance.dropped = _dropped(notes, arrivals, latest_ms, balance.wrong)
    unknown = [f"{boot} {seq}" for boot, seq in arrivals.lines if seq > notes.produced.get(boot, 0)]
    _say(balance.wrong, "record(s) arrived that no spool has known", unknown)
    twofold = [" ".join(map(str, one)) for one in arrivals.conflicts]
    _say(balance.wrong, "identities name two different lines", twofold)
    unbalanced = "line(s) whose produced is not delivered, spooled and dropped"
    _say(balance.wrong, unbalanced, arrivals.unbalanced())
    sure = sorted(one for one in closed if one < latest_ms + TOO_NEW_MS)
    balance.closed = len(sure)
    missed = [clock_time(one) for one in sure if one not in minutes]
    _say(balance.wrong, "minute(s) were surely closed and are not there", missed)
    last = [one for one in arrivals.documents if one["Kind"] == "minute"][-1:]
    if not (last and last[0].get("Bye")):
        balance.wrong.append("the last minute says no goodbye, after a planned stop")
    if notes.left:
        balance.wrong.append(f"{notes.left} record(s) are left in the spool")
    return balance


def _dropped(notes: Notes, found: Arrivals, latest_ms: int, wrong: list[str]) -> Counter[str]:
    """What is missing, by the reason that was counted for it."""
    missing: dict[str, list[int]] = {}
    for name in found.missing(notes.produced):
        boot, seq = name.split()
        missing.setdefault(boot, []).append(int(seq))
    counted: Counter[str] = Counter()
    older = 0
    for boot in notes.produced:
        lost = missing.get(boot, [])
        own = notes.dropped.get(boot, Counter())
        counted += own
        # Of an older start, dropped by a later one: its books are gone with its last record.
        later = [seq for seq in lost if notes.waited.get((boot, seq), 0) > latest_ms + TOO_NEW_MS]
        rest = len(lost) - sum(own.values())
        if 0 < rest <= len(later):
            counted[TOO_NEW] += rest
            older += rest
        elif rest > 0:
            names = [f"{boot} {seq}" for seq in lost]
            _say(wrong, "record(s) are missing and were not counted", names)
        elif rest < 0:
            wrong.append(f"{-rest} record(s) of {boot} arrived and were counted as dropped")
    # A kill before the next line costs the number that would have been in it.
    told = sum(_told_of_older(found.documents).values())
    if told > older:
        wrong.append(
            f"lines tell of {told} dropped record(s) of earlier starts, of which {older} are"
            " missing"
        )
    return counted


def _told_of_older(documents: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Records of earlier starts that each start says it has dropped."""
    told: dict[str, int] = {}
    for one in documents:
        boot = one["Boot"]
        told[boot] = max(told.get(boot, 0), one.get("RecordsDroppedOlder", 0))
    return told


def _say(wrong: list[str], what: str, names: Sequence[str]) -> None:
    if names:
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        wrong.append(f"{len(names)} {what}: {', '.join(names[:MOST_NAMED])}{more}")


def clock_time(ms: int) -> str:
    """A minute as the host called it."""
    return datetime.fromtimestamp(ms / 1000, timezone.utc).strftime("%H:%M")
