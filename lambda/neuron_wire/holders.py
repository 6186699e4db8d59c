"""
Who holds the cores that are attached idle, written and read.

A reader is lenient here: what cannot be read of a holder is left out and
counted as one more, because a name is worth less than the minute it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, groupby
from typing import Final, TypeGuard

from neuron_wire import checked, names

MAX_HOLDERS: Final = 8
"""Holders that one line names; the rest is a count."""

MAX_NAME_CHARS: Final = 128
MAX_TEAM_CHARS: Final = 63
"""What a Kubernetes namespace has at most."""

_MAX_CORES_CHARS: Final = 3 * names.MAX_CORES
"""Of one list of core ranges: pairs with a gap of one between them are the longest."""

_RANGES: Final = re.compile(r"[0-9]{1,4}(?:-[0-9]{1,4})?(?:,[0-9]{1,4}(?:-[0-9]{1,4})?)*")
_MINUTE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}Z")
_REMEMBERED: Final = 512  # texts of ranges: a fleet's instances have the same few


@dataclass(frozen=True, slots=True)
class Holder:
    """
    One runtime that holds attached-idle cores.

    Attributes:
        cores: The attached-idle cores it holds, for example `0-7,12`.

        name: Whose it is, for example `namespace/pod/container`; None when nobody says.

        pid: Process id as neuron-monitor sees it.

        tag: Its `neuron_runtime_tag`. Neither pid nor tag alone tells two apart.

        team: Of whom, as the scheduler says; None where it does not.

        last_execution: The last minute in which it completed an execution, such as
            `2026-11-22T02:10Z`; None when none was seen since the emitter watches it.

        gone: Its pod or its Slurm job is no longer on the instance, and its process is.

        given_to: To whom the scheduler has given what it holds, where that is somebody else.
    """

    cores: str
    name: str | None = None
    pid: int | None = None
    tag: str | None = None
    team: str | None = None
    last_execution: str | None = None
    gone: bool = False
    given_to: str | None = None


def core_ranges(cores: Iterable[int]) -> str:
    """Core indexes as text: 0 to 7 and 12 are `0-7,12`."""
    # Less its place in the row, an index is the same all along a range.
    place = count()
    runs = (list(run) for _, run in groupby(sorted(set(cores)), lambda core: core - next(place)))
    return ",".join(f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


@lru_cache(_REMEMBERED)
def core_indexes(text: str) -> tuple[int, ...]:
    """
    The core indexes of a text that `core_ranges` wrote, ascending.

    Raises:
        WireFormatError: If *text* is not of that form or names a core that no
            instance has.
    """
    indexes: list[int] = []
    if text and not _RANGES.fullmatch(text):
        msg = "Cores is not a list of core ranges such as 0-7,12"
        raise checked.bad(msg)
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        start, end = int(first), int(last or first)
        if not (indexes[-1] if indexes else -1) < start <= end < names.MAX_CORES:
            msg = f"Cores is not ascending from 0 to {names.MAX_CORES - 1}"
            raise checked.bad(msg)
        indexes.extend(range(start, end + 1))
    return tuple(indexes)


def holder_members(holders: Iterable[Holder]) -> list[dict[str, object]]:
    """The objects of the member Holders; absent values have no member."""
    return [
        {
            name: value
            for name, value in (
                ("Cores", one.cores),
                ("Name", printable(one.name)),
                ("Pid", one.pid if _is_count(one.pid) else None),
                ("Tag", printable(one.tag)),
                ("Team", printable(one.team, MAX_TEAM_CHARS)),
                ("LastExecution", one.last_execution),
                ("Gone", one.gone or None),
                ("GivenTo", printable(one.given_to)),
            )
            if value is not None
        }
        for one in holders
    ]


def read_holders(line: Mapping[str, object]) -> tuple[tuple[Holder, ...], int]:
    """The holders of a line, and how many more there are."""
    given = line.get("Holders")
    listed = given if isinstance(given, list) else []
    holders = tuple(
        one for one in (_holder(value) for value in listed[:MAX_HOLDERS]) if one is not None
    )
    more = line.get("HoldersMore")
    uncounted = more if _is_count(more) else 0
    return holders, min(uncounted + len(listed) - len(holders), checked.MAX_COUNT)


def _holder(value: object) -> Holder | None:
    """The holder that one object of Holders tells; None where it cannot be read."""
    if not isinstance(value, Mapping):
        return None
    cores, pid = value.get("Cores"), value.get("Pid")
    if not isinstance(cores, str) or len(cores) > _MAX_CORES_CHARS or not _RANGES.fullmatch(cores):
        return None
    last = value.get("LastExecution")
    return Holder(
        cores=cores,
        name=_text(value.get("Name")),
        pid=pid if _is_count(pid) else None,
        tag=_text(value.get("Tag")),
        team=_text(value.get("Team"), MAX_TEAM_CHARS),
        last_execution=last if isinstance(last, str) and _MINUTE.fullmatch(last) else None,
        gone=value.get("Gone") is True,
        given_to=_text(value.get("GivenTo")),
    )


def _is_count(value: object) -> TypeGuard[int]:
    """Whether *value* is a whole number that can be a count."""
    # bool is an int to Python.
    return (
        isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= checked.MAX_COUNT
    )


def _text(value: object, longest: int = MAX_NAME_CHARS) -> str | None:
    return printable(value, longest) if isinstance(value, str) else None


def printable(text: str | None, longest: int = MAX_NAME_CHARS) -> str | None:
    """Names are other people's: of any length, with any character, or empty."""
    if not text:
        return None
    text = text[:longest]
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else "?" for letter in text)
