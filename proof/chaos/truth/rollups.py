"""
One minute of one cluster: what its lines say, held against what they should.

Lines are read plainly: no parser of the product has a part.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neuron_wire.catalogue import BY_TYPE
from proof.rollup_differences import if_not

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from proof.reference import OwnerRow
    from proof.rollup_differences import Said

MAX_NAMES = 50
MAX_OWNERS = 20
Key = tuple[int, str]  # minute since the epoch, cluster


@dataclass(frozen=True)
class PrintedMinute:
    """
    What was printed of one minute of one cluster.

    Attributes:
        rollups: The last copy of each publication, in the order of their last copies.

        types: The last line of each instance type.
    """

    rollups: Sequence[dict[str, Any]]
    types: dict[str, dict[str, Any]]


def printed_lines(printed: Iterable[str]) -> dict[Key, PrintedMinute]:
    """The lines by minute since the epoch and cluster, copies left out by their RollupId."""
    rollups: dict[tuple[int, str], dict[str, dict[str, Any]]] = {}
    types: dict[tuple[int, str], dict[str, dict[str, Any]]] = {}
    for text in printed:
        line = json.loads(text)
        key = line["_aws"]["Timestamp"] // 60_000, line["ClusterName"]
        if line["Kind"] == "type":
            types.setdefault(key, {})[line["InstanceType"]] = line
            continue
        own = rollups.setdefault(key, {})
        own.pop(line["RollupId"], None)
        own[line["RollupId"]] = line
    return {
        key: PrintedMinute(list(rollups.get(key, {}).values()), types.get(key, {}))
        for key in rollups.keys() | types.keys()
    }


def of_owners(lines: PrintedMinute, owners: Mapping[str, OwnerRow]) -> Iterator[Said]:
    """Where the last line's TopIdleOwners differ from *owners*, of whom no others may be more."""
    *_, last = lines.rollups
    rows = {row["Owner"]: row for row in last.get("TopIdleOwners", ())}
    if len(owners) <= MAX_OWNERS and rows.keys() != owners.keys():
        yield "TopIdleOwners", _names(owners.keys()), _names(rows.keys())
    for name in sorted(rows.keys() & owners.keys() - {"[others]"}):
        row, owner = rows[name], owners[name]
        priced = owner.cores != owner.unpriced
        for member, expected in (
            ("Cores", owner.cores), ("UnpricedCores", owner.unpriced),
            ("Instances", owner.instances), ("IdleMinutes", owner.minutes),
            ("UsdPerHour", owner.cost if priced else None),
        ):  # fmt: skip
            number = None if expected is None else float(expected)
            for what, *rest in if_not(member, number, row.get(member)):
                yield (f"{what} of {name}", *rest)


def of_silence(lines: PrintedMinute, silent: AbstractSet[str]) -> Iterator[Said]:
    """Where the last line names others than those who were *silent*."""
    *_, last = lines.rollups
    yield from if_not("SilentInstances", len(silent), last["SilentInstances"])
    named = {one["InstanceId"] for one in last.get("SilentInstanceNames", ())}
    if len(silent) <= MAX_NAMES and silent != named:
        yield "SilentInstanceNames", _names(silent), _names(named)


def of_types(lines: PrintedMinute, types: Mapping[str, Mapping[str, float]]) -> Iterator[Said]:
    """
    Where the lines of instance types differ from *types*.

    A type without a record, of a silent instance, has no instance and nothing else.
    """
    for instance_type in sorted(types.keys() | lines.types.keys()):
        if instance_type not in lines.types:
            yield f"line of {instance_type}", "one", "none"
            continue
        numbers = types.get(instance_type, {"Instances": 0})
        for name in BY_TYPE:
            found = lines.types[instance_type].get(name)
            for what, *rest in if_not(name, numbers.get(name), found):
                yield (f"{what} of {instance_type}", *rest)


def _names(names: AbstractSet[str]) -> str:
    return ", ".join(sorted(names)) or "nobody"
