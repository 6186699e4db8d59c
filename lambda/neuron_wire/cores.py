"""
What a line says core by core: letters, utilization and idle minutes, written and read.

Letters and idle minutes are those of all cores, utilization that of the cores
whose letter is not `?`; a reader that counts otherwise shifts every core behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from neuron_wire import checked, names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_COUNTS: Final = frozenset({int})  # the very type: to Python, bool is an int too


_NOT_BUSY: Final = names.ATTACHED_IDLE + names.UNATTACHED


def idle_cores(state: str, minutes: Sequence[int], after_minutes: int) -> list[int]:
    """Indexes of the cores known not to be busy for *after_minutes* or longer."""
    if max(minutes, default=0) < after_minutes:
        return []
    return [
        core_index
        for core_index, count in enumerate(minutes)
        if count >= after_minutes and state[core_index] in _NOT_BUSY
    ]


def utilization_members(per_core: tuple[float | None, ...]) -> dict[str, object]:
    """
    The utilization members of a line: known cores in core order, two decimals.

    One metric takes 100 values in a line; the rest follows in a member that
    CloudWatch does not extract but the stack reads.
    """
    known = [round(value, 2) for value in per_core if value is not None]
    if not known:
        return {}
    members: dict[str, object] = {"NeuronCoreUtilization": known[: names.MAX_METRIC_VALUES]}
    if len(known) > names.MAX_METRIC_VALUES:
        members["NeuronCoreUtilizationMore"] = known[names.MAX_METRIC_VALUES :]
    return members


def core_state(line: Mapping[str, object]) -> str:
    """The letters of a line, or an empty text when the number of cores is unknown."""
    state = line.get("CoreState")
    if state is None:
        return ""
    if (
        not isinstance(state, str)
        or len(state) > names.MAX_CORES
        or not names.CORE_STATES.issuperset(state)
    ):
        msg = f"CoreState is not a text of at most {names.MAX_CORES} letters of b, a, u and ?"
        raise checked.bad(msg)
    return state


def utilization(line: Mapping[str, object], state: str) -> tuple[float | None, ...]:
    """Percent per core, None where the letter of *state* says unknown."""
    given = checked.array(line, "NeuronCoreUtilization") + checked.array(
        line, "NeuronCoreUtilizationMore"
    )
    known = len(state) - state.count(names.UNKNOWN)
    if len(given) != known:
        msg = f"the line has {len(given)} utilization values for {known} known cores"
        raise checked.bad(msg)
    msg = "NeuronCoreUtilization holds a value that is not a number from 0 to 100"
    if given and not (
        checked.NUMBERS.issuperset(map(type, given)) and 0 <= min(given) <= max(given) <= 100  # type: ignore[type-var,operator]
    ):
        raise checked.bad(msg)
    shares = tuple(map(float, given))  # type: ignore[arg-type]
    if not sum(shares) <= 100 * known:  # a NaN hides from min and max, and not from a sum
        raise checked.bad(msg)
    if known == len(state):
        return shares
    values = iter(shares)
    return tuple(None if letter == names.UNKNOWN else next(values) for letter in state)


def idle_minutes(line: Mapping[str, object], state: str) -> tuple[int, ...]:
    """Idle minutes per core."""
    given = checked.array(line, "CoreIdleMinutes")
    if not given:
        # Not known to be idle is all that 0 says here: no core is called idle on it.
        return (0,) * len(state)
    if len(given) != len(state):
        msg = f"CoreIdleMinutes has {len(given)} values for {len(state)} cores"
        raise checked.bad(msg)
    if not (_COUNTS.issuperset(map(type, given)) and 0 <= min(given) <= max(given) < 1 << 31):  # type: ignore[type-var,operator]
        msg = "CoreIdleMinutes holds a value that is not a count"
        raise checked.bad(msg)
    return tuple(given)  # type: ignore[arg-type]
