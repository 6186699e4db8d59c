"""
The members of a line by core: state letters, utilization, idle minutes, and core ranges.

Letters and idle minutes have a value for every core, utilization only for cores whose letter is not
`?`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import count, groupby
from typing import TYPE_CHECKING, Final, TypeAlias

from neuron_wire.line_members import BAD_MEMBER, NUMBER_TYPES, WireFormatError, read_array
from neuron_wire.names import (
    ATTACHED_IDLE_STATE,
    CORE_STATES,
    MAX_CORES,
    MAX_METRIC_VALUES,
    UNATTACHED_STATE,
    UNKNOWN_STATE,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neuron_wire.line_members import JsonObject, Members


Percents: TypeAlias = "tuple[float | None, ...]"
"""Utilization by core index; None if unknown."""

_RANGES: Final = re.compile(r"[0-9]{1,4}(?:-[0-9]{1,4})?(?:,[0-9]{1,4}(?:-[0-9]{1,4})?)*")
_RANGES_REMEMBERED: Final = 512  # range texts: the instances of a fleet have the same few

_NOT_BUSY: Final = ATTACHED_IDLE_STATE + UNATTACHED_STATE


def idle_cores(state: str, minutes: Sequence[int], after_minutes: int) -> list[int]:
    """Return the indexes of the cores known to be idle for *after_minutes* or longer."""
    if max(minutes, default=0) < after_minutes:
        return []
    return [
        core_index
        for core_index, count in enumerate(minutes)
        if count >= after_minutes and state[core_index] in _NOT_BUSY
    ]


def utilization_members(per_core: Percents) -> Members:
    """
    Return the utilization members of a line: known cores in core order, two decimals.

    One metric has at most 100 values in a line; the others are in a member that CloudWatch does not
    extract but the stack reads.
    """
    known = [round(value, 2) for value in per_core if value is not None]
    if not known:
        return {}
    members: Members = {"NeuronCoreUtilization": known[:MAX_METRIC_VALUES]}
    if len(known) > MAX_METRIC_VALUES:
        members["NeuronCoreUtilizationMore"] = known[MAX_METRIC_VALUES:]
    return members


def read_core_state(line: JsonObject) -> str:
    """
    Return the letters of a line; an empty text if the number of cores is unknown.

    >>> read_core_state({"CoreState": "bba?"})
    'bba?'

    Raises:
        WireFormatError: If the member is not such a text, or too long.
    """
    state = line.get("CoreState")
    if state is None:
        return ""
    if not isinstance(state, str) or len(state) > MAX_CORES or not CORE_STATES.issuperset(state):
        raise WireFormatError(
            BAD_MEMBER,
            f"CoreState is not a text of at most {MAX_CORES} letters of b, a, u and ?",
        )
    return state


def read_utilization(line: JsonObject, state: str) -> Percents:
    """
    Return the percent of each core, None if its letter in *state* is `?`.

    >>> read_utilization({"NeuronCoreUtilization": [93.5, 0.0]}, "ba?")
    (93.5, 0.0, None)

    Raises:
        WireFormatError: If a known core has no percentage, or a value is not from 0 to 100.
    """
    given = read_array(line, "NeuronCoreUtilization") + read_array(
        line, "NeuronCoreUtilizationMore"
    )
    known = len(state) - state.count(UNKNOWN_STATE)
    if len(given) != known:
        raise WireFormatError(
            BAD_MEMBER, f"the line has {len(given)} utilization values for {known} known cores"
        )
    msg = "NeuronCoreUtilization holds a value that is not a number from 0 to 100"
    types = set(map(type, given))
    if given and not (
        types <= NUMBER_TYPES and 0 <= min(given) <= max(given) <= 100  # type: ignore[type-var,operator]
    ):
        raise WireFormatError(BAD_MEMBER, msg)
    # Most lines have only fractions, which need no conversion.
    shares: tuple[float, ...] = tuple(map(float, given) if int in types else given)  # type: ignore[arg-type]
    if not sum(shares) <= 100 * known:  # min and max ignore a NaN, a sum does not
        raise WireFormatError(BAD_MEMBER, msg)
    if known == len(state):
        return shares
    values = iter(shares)
    return tuple(None if letter == UNKNOWN_STATE else next(values) for letter in state)


def read_idle_minutes(line: JsonObject, state: str) -> tuple[int, ...]:
    """
    Return the idle minutes of each core.

    >>> read_idle_minutes({"CoreIdleMinutes": [0, 62]}, "ba")
    (0, 62)

    Raises:
        WireFormatError: If a core has no value, or a value is not a count.
    """
    given = read_array(line, "CoreIdleMinutes")
    if not given:
        # 0 means not known to be idle, so no core is counted as idle.
        return (0,) * len(state)
    if len(given) != len(state):
        raise WireFormatError(
            BAD_MEMBER, f"CoreIdleMinutes has {len(given)} values for {len(state)} cores"
        )
    # The exact type: in Python, bool is an int too.
    if not (set(map(type, given)) == {int} and 0 <= min(given) <= max(given) < 1 << 31):  # type: ignore[type-var,operator]
        raise WireFormatError(BAD_MEMBER, "CoreIdleMinutes holds a value that is not a count")
    return tuple(given)  # type: ignore[arg-type]


def core_ranges(cores: Iterable[int]) -> str:
    """
    Return core indexes as text: 0 to 7 and 12 are `0-7,12`.

    >>> core_ranges([0, 1, 2, 3, 12])
    '0-3,12'
    """
    # Index minus position is constant within a range.
    place = count()
    runs = (list(run) for _, run in groupby(sorted(set(cores)), lambda core: core - next(place)))
    return ",".join(f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def cores_in(line: JsonObject, name: str, width: int = MAX_CORES) -> Sequence[int]:
    """
    Return the cores in a member of *line*; none if it is not a list of cores below *width*.

    >>> cores_in({"Cores": "0-2"}, "Cores"), cores_in({"Cores": "0-2"}, "Cores", width=2)
    ((0, 1, 2), ())
    """
    text = line.get(name)
    try:
        cores = core_indexes(text) if isinstance(text, str) else ()
    except WireFormatError:
        return ()
    return cores if cores and cores[-1] < width else ()


@lru_cache(_RANGES_REMEMBERED)
def core_indexes(text: str) -> tuple[int, ...]:
    """
    Return the core indexes of a text that `core_ranges` wrote, ascending.

    >>> core_indexes("0-3,12")
    (0, 1, 2, 3, 12)

    Raises:
        WireFormatError: If *text* is not of that form or names a core that no
            instance has.
    """
    indexes: list[int] = []
    if text and not _RANGES.fullmatch(text):
        raise WireFormatError(BAD_MEMBER, "Cores is not a list of core ranges such as 0-7,12")
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        start = int(first)
        end = int(last or first)
        if not (indexes[-1] if indexes else -1) < start <= end < MAX_CORES:
            raise WireFormatError(BAD_MEMBER, f"Cores is not ascending from 0 to {MAX_CORES - 1}")
        indexes.extend(range(start, end + 1))
    return tuple(indexes)


def round_half_even(amount: int, unit: int) -> int:
    """Return *amount* in multiples of *unit*, rounded half to even."""
    whole, rest = divmod(amount, unit)
    return whole + (2 * rest + whole % 2 > unit)
