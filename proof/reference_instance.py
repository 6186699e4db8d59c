"""One instance in one minute, computed from its records the slow way: a part of `reference`."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuron_wire import MinuteRecord

    Records = list[MinuteRecord]
    """The records of one instance in one minute."""
    Pair = tuple[int | None, int | None]
    """Used and total bytes; None if unknown."""

Number = int | float | Fraction
Value = TypeVar("Value")


@dataclass
class Core:
    """
    One core of an instance in one minute.

    Attributes:
        letter: The last known state, or `?`.

        owners: Names of its holders, or of owners that have it reserved.

        usd_per_hour: The core's part of the instance's price; None if unknown.

        idle: Minutes without work. Reading it for an unknown core is an AttributeError.

        utilization: Percent. Reading it for an unknown core is an AttributeError.
    """

    letter: str
    owners: set[str]
    usd_per_hour: Fraction | None
    idle: int = field(init=False)
    utilization: Fraction = field(init=False)


def type_of(parts: Records) -> str | None:
    return last_of(part.instance_type for part in parts)


def covered_seconds_of(parts: Records) -> Fraction:
    return sum((exact(part.covered_seconds) for part in parts), Fraction(0))


def has_two_emitters(parts: Records) -> bool:
    return len({p.boot for p in parts}) > 1 and covered_seconds_of(parts) > 66


def counting_records(parts: Records) -> Records:
    """Return the records of one instance that count, the latest last."""
    parts = sorted(parts, key=lambda part: (part.boot, part.seq))
    if not has_two_emitters(parts):
        return parts
    covered = {
        boot: covered_seconds_of([part for part in parts if part.boot == boot])
        for boot in {part.boot for part in parts}
    }
    winner = min(boot for boot in covered if covered[boot] == max(covered.values()))
    return [part for part in parts if part.boot == winner]


def shut_down(parts: Records) -> bool:
    """Return True if the instance shut down cleanly; with two emitters, both must have."""
    last = {part.boot: part for part in sorted(parts, key=lambda part: part.seq)}
    if has_two_emitters(parts):
        return all(part.is_clean_shutdown for part in last.values())
    return last[max(last)].is_clean_shutdown


def knows_a_core(parts: Records) -> bool:
    """Return True if a record that counts has telemetry of a core."""
    return any(part.core_state.strip("?") for part in counting_records(parts))


def cores_of(parts: Records, usd_per_hour: Mapping[str, Fraction]) -> list[Core]:
    cores: list[Core] = []
    count = max(len(part.core_state) for part in parts)
    instance_type = str(type_of(parts))
    region = last_of(part.region for part in parts)
    price = usd_per_hour.get(
        instance_type, usd_per_hour.get(f"{region or 'us-east-1'}/{instance_type}")
    )
    for index in range(count):
        knowing = [p for p in parts if p.core_state[index : index + 1] not in ("", "?")]
        having = knowing or [part for part in parts if len(part.core_state) > index]
        letter = having[-1].core_state[index]
        core = Core(
            letter,
            owners_of_core(parts, having[-1], index, letter),
            None if price is None else price / count,
        )
        utilization = weighted_mean(
            (part.utilization_percent[index], part.covered_seconds) for part in knowing
        )
        if utilization is not None:
            core.idle = knowing[-1].idle_minutes[index]
            core.utilization = round(utilization, 2)  # the precision of one record
        cores.append(core)
    return cores


def owners_of_core(parts: Records, last: MinuteRecord, core: int, letter: str) -> set[str]:
    """
    Return the owners of a core with that *letter*; *last* is the last of *parts* that knows it.
    """
    has_owners = any(part.owners or part.owners_more for part in parts)
    said = last.owners if has_owners else last.holders
    if letter == "u":
        names = {owner.name for owner in last.owners if core in core_set(owner.reserved)}
        if not names and core in core_set(last.owners_more):
            return {"[others]"}
        is_known = last_of(part.reservations for part in parts) in ("known", "none")
        return names or {"[unallocated]" if is_known else "[not reported]"}
    names = {holder.name or "[unnamed]" for holder in said if core in core_set(holder.cores)}
    if names:
        return names
    if letter == "?" and core not in core_set(last.owners_more):
        return set()
    if has_owners:
        return {"[others]" if core in core_set(last.owners_more) else "[not reported]"}
    return {"[others]" if any(part.holders_more for part in parts) else "[not reported]"}


def core_set(ranges: str) -> set[int]:
    pairs = [part.partition("-") for part in ranges.split(",") if part]
    return {core for first, _, last in pairs for core in range(int(first), int(last or first) + 1)}


def memory_of(parts: Records) -> Pair:
    return (
        last_of(part.device_memory_used_bytes for part in parts),
        last_of(part.device_memory_total_bytes for part in parts),
    )


def percent_of(pairs: Iterable[Pair]) -> Fraction | None:
    both = [(used, capacity) for used, capacity in pairs if used is not None and capacity]
    capacity = sum(capacity for _, capacity in both)
    return Fraction(100 * sum(used for used, _ in both), capacity) if capacity else None


def exact(value: Number) -> Fraction:
    """Return a number as it is written, not as a float holds it."""
    return Fraction(str(value))


def weighted_mean(pairs: Iterable[tuple[Number | None, Number]]) -> Fraction | None:
    present = [
        (value if isinstance(value, Fraction) else exact(value), exact(weight))
        for value, weight in pairs
        if value is not None
    ]
    if not present:
        return None
    if not any(weight for _, weight in present):
        present = [(value, Fraction(1)) for value, _ in present]
    total = sum((v * w for v, w in present), Fraction(0))
    return total / sum(w for _, w in present)


def total_of(values: Iterable[Number | None]) -> Number | None:
    present = [value for value in values if value is not None]
    return sum(present) if present else None


def last_of(values: Iterable[Value | None]) -> Value | None:
    present = [value for value in values if value is not None]
    return present[-1] if present else None
