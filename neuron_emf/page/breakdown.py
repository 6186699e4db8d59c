"""
The breakdown: idle cores now and their cost over a range, by owner, team, cluster, type, instance.

Cores and USD per hour are those of the newest minute, whatever the range; the amount is the sum
over the range, from rollups or from settled hours. An unknown value is None. As in the report, an
amount covers the cores that have a price, and is None if none has one.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from neuron_accounts.core_time import CoreTime, Part
from neuron_accounts.then import InstanceKey, OwnerKey, Then, TypeKey
from neuron_emf.page.ranges import empty_then
from neuron_wire.names import (
    HOUR_MINUTES,
    MICRO,
    NOT_REPORTED_OWNER,
    OTHER_OWNERS,
    PLACEHOLDER_OWNERS,
    UNKNOWN_OWNER,
)
from neuron_wire.owners import UNNAMED_OWNER
from neuron_words.now_words import NO_OWNERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from neuron_emf.reading.rollup_lines import IdleRow, PublishedRollup
    from neuron_wire.line_members import JsonObject, Texts

GROUPS: Final = {
    "owner": ("owner", "cluster"),
    "team": ("team",),
    "cluster": ("cluster",),
    "type": ("instance_type",),
    "instance": ("instance", "cluster"),
}
"""The members that tell rows apart, by group."""

BY_INSTANCE: Final = frozenset({"type", "instance"})
"""Groups of instances; all others are groups of owners."""

ROLLUP_UNIT: Final = MICRO * HOUR_MINUTES
"""Rollups have micro-USD per hour, added up over minutes."""

LISTED_WORDS: Final = (
    "Rollups list 20 idle instances of a cluster, and old hours of the ledger no types. Amounts of "
    "what is not listed are together in one row."
)
WHOLE_WORDS: Final = "Numbers are of whole instances, not of this owner or team alone."
_NO_TEAM: Final = "[no team]"
_NAMES: Final = {**NO_OWNERS, UNKNOWN_OWNER: "Unknown", _NO_TEAM: "No team"}
_BRACKETS: Final = _NAMES.keys() | PLACEHOLDER_OWNERS
_CORES: Final = ("idle_cores", "cores", "unpriced_cores")
_RANGE_AMOUNTS: Final = ("usd", "idle_core_hours")
_AMOUNTS: Final = ("usd_per_hour", *_RANGE_AMOUNTS)
_NUMBERS: Final[dict[str, Callable[[Iterable[Any]], Any]]] = {
    **dict.fromkeys((*_CORES, *_AMOUNTS), sum), "idle_minutes": max, "since_ms": min,
}  # fmt: skip
_PLACES: Final = frozenset({"owner", "team", "cluster", "instance", "instance_type"})
_ALSO: Final = {"owner": "team", "instance": "instance_type"}
"""Members of a group's rows in addition to those that tell them apart."""

_NO_FACTS: Final[JsonObject] = {"uses": "", "marks": [], "is_gone": None, "cannot_wait": ""}
_INSTANCE_NAMES: Final = {OTHER_OWNERS: "Others", NOT_REPORTED_OWNER: "Not reported"}
_RENAMED: Final = {"instance_id": "instance"}
_EMPTY: Final[JsonObject] = {
    **dict.fromkeys((*_NUMBERS, *_PLACES)),
    **_NO_FACTS,
}  # fmt: skip


@dataclass(slots=True)
class Amounts:
    """
    The idle time of a range.

    Attributes:
        then: The idle time by owner, instance and instance type.

        unit: The parts of a dollar in its amounts.

        unlisted: Clusters whose instances are not all listed.
    """

    then: Then
    unit: int
    unlisted: set[str] = field(default_factory=set)

    def items(self, group: str) -> tuple[list[JsonObject], bool]:
        """
        Return the amounts that rows of *group* add up, and whether each row has all of its own.

        Amounts that are unknown by instance or type belong to `[others]`.
        """
        owners = [self._item(key, time) for key, time in self.then.owners.items()]
        if group not in BY_INSTANCE:
            return owners, True
        times = self.then.instances if group == "instance" else self.then.cluster_types
        listed = [
            self._item(key, time) for key, time in times.items() if key.cluster not in self.unlisted
        ]
        others = _others(owners, listed)
        if group == "instance":
            return [*listed, *others], not self.unlisted
        if others:  # an amount of one cluster is not the amount of a type
            listed = []
            others = _others(owners, listed)
        return [*listed, *others], not others

    def _item(self, key: OwnerKey | InstanceKey | TypeKey, time: CoreTime) -> JsonObject:
        cost = time.idle_cost
        item = {_RENAMED.get(name, name): value for name, value in key._asdict().items()}
        if isinstance(key, OwnerKey):
            item["team"] = team_of(key.owner, key.team)
        return {
            **item,
            "usd": None if cost is None else cost / self.unit,
            "idle_core_hours": time.idle / MICRO / HOUR_MINUTES,
        }


def amounts_of_rollups(rollups: Iterable[PublishedRollup]) -> Amounts:
    """Add up the idle cores of *rollups*."""
    then = empty_then()
    unlisted = set()
    for rollup in rollups:
        cluster = rollup.cluster
        if len(rollup.instances) < rollup.gauges.get("IdleInstanceCount", 0):
            unlisted.add(cluster)
        for row in rollup.owners:
            _fold_idle(then.owners[OwnerKey(row.name, cluster, row.kind)], row)
        for row in rollup.instances:
            _fold_idle(then.instances[InstanceKey(row.name, cluster)], row)
            _fold_idle(then.cluster_types[TypeKey(row.kind, cluster)], row)
    return Amounts(then, ROLLUP_UNIT, unlisted)


def _others(owners: Sequence[JsonObject], listed: Sequence[JsonObject]) -> list[JsonObject]:
    """Return for each cluster the amounts of *owners* beyond those *listed*."""
    taken = [
        {"cluster": row["cluster"], **{name: row[name] and -row[name] for name in _RANGE_AMOUNTS}}
        for row in listed
    ]
    return [
        {**row, "instance": OTHER_OWNERS, "instance_type": OTHER_OWNERS}
        for row in folded([*owners, *taken], ("cluster",)).values()
        if row["idle_core_hours"] > 1 / MICRO
    ]


def _fold_idle(time: CoreTime, row: IdleRow) -> None:
    time.idle_by_part[Part.SHARED] += row.idle
    time.cost_by_part[Part.SHARED] += row.cost or 0
    time.unpriced_idle += row.unpriced


def folded(
    items: Iterable[JsonObject], members: Sequence[str]
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """
    Add up *items* that are equal in *members*.

    A number of cores is None if one of its parts is; an amount is None if all of its parts are.
    Other members are those of the first item.
    """
    parts: dict[tuple[Any, ...], list[JsonObject]] = defaultdict(list)
    for item in items:
        parts[tuple(item.get(member) for member in members)].append(item)
    return {key: _together(some) for key, some in parts.items()}


def _together(items: Sequence[JsonObject]) -> dict[str, Any]:
    row: dict[str, Any] = dict(items[0])
    for name in row.keys() & _NUMBERS.keys():
        values = [item[name] for item in items]
        known = [value for value in values if value is not None]
        is_unknown = len(known) < len(values) and name in _CORES
        row[name] = _NUMBERS[name](known) if known and not is_unknown else None
    return row


def team_of(owner: str, team: str | None) -> str:
    """Return the row of an owner among teams: that of a placeholder is its own."""
    return owner or UNNAMED_OWNER if owner in _BRACKETS else team or _NO_TEAM


def breakdown(
    group: str,
    now: JsonObject,
    instances: Sequence[JsonObject],
    amounts: Amounts | None,
    query: Texts,
) -> JsonObject:
    """
    Return the rows of *group*, most money first, their total, and remarks.

    *now* is the answer for the first screen and *instances* are those of `/cores.json`; *amounts*
    is None if the range is not read. *query* has the selected cluster, team and owner.
    """
    is_filtered = bool(query.get("team") or query.get("owner"))
    notes = []
    if group in BY_INSTANCE:
        items = [_of_instance(instance) for instance in instances if is_on(instance, query)]
        notes = [WHOLE_WORDS] if is_filtered else []
    elif group == "cluster" and not is_filtered:
        items = [{**row, "cores": row["known_cores"]} for row in now["clusters"]]
    else:
        facts = _facts_of_owners(instances) if group == "owner" else {}
        items = [
            {**_of_owner(row), **facts.get((row["owner"], row["cluster"]), {})}
            for row in now["owners"]
        ]
    items = [item for item in items if _is_shown(item, group, query)]
    in_range: list[JsonObject] = []
    is_whole = False
    if amounts is not None:
        in_range, is_whole = amounts.items(group)
        in_range = [item for item in in_range if _is_shown(item, group, query)]
        if group in BY_INSTANCE and is_filtered:
            there = folded(items, GROUPS[group])
            in_range = [row for key, row in folded(in_range, GROUPS[group]).items() if key in there]
        if not is_whole:
            notes.append(LISTED_WORDS)
    no_amount = dict.fromkeys(_RANGE_AMOUNTS, 0.0 if is_whole else None)
    rows = _rows(group, items, in_range, no_amount, _absent(group, now, in_range))
    nothing = {**dict.fromkeys((*_CORES, *_AMOUNTS), 0), **no_amount}
    total = folded(rows, ()).get((), nothing)
    if not is_filtered:
        total |= {
            "idle_cores": now["idle"]["cores"],
            "cores": now["idle"]["known_cores"],
            "usd_per_hour": now["cost"]["usd_per_hour"],
            "unpriced_cores": now["cost"]["idle_unpriced_cores"],
        }
    return {
        "rows": rows,
        "total": {name: total[name] for name in (*_CORES, *_AMOUNTS)},
        "notes": notes,
    }


def is_on(instance: JsonObject, query: Texts) -> bool:
    """Return True if *query* names *instance*, its type, or an owner or team on it."""
    values = {
        "instance": [instance["instance"]],
        "type": [instance["instance_type"]],
        "owner": instance["owners"],
        "team": [team for _, _, team in instance["owned"]],
    }
    return all(query.get(name, "") in ("", *names) for name, names in values.items())


def _is_shown(item: JsonObject, group: str, query: Texts) -> bool:
    names = ("cluster",) if group in BY_INSTANCE else ("cluster", "team", "owner")
    return all(query.get(name, "") in ("", item.get(name)) for name in names)


def _of_owner(row: JsonObject) -> JsonObject:
    return {
        **{name: row[name] for name in ("owner", "cluster", "unpriced_cores", "usd_per_hour",
                                        "idle_minutes", "since_ms")},
        "team": team_of(row["owner"], row["team"]),
        "idle_cores": row["cores"],
        "cores": row["allocated_cores"],
        "uses": row["words"]["uses"],
    }  # fmt: skip


def _of_instance(row: JsonObject) -> JsonObject:
    return {
        **{name: row[name] for name in ("cluster", "instance", "instance_type", "idle_cores",
                                        "idle_minutes", "usd_per_hour")},
        **_facts(row["holders"]),
        "cores": len(row["states"]),
    }  # fmt: skip


def _facts_of_owners(instances: Sequence[JsonObject]) -> dict[tuple[str, str], JsonObject]:
    """Return the facts about the holders of each owner, by its name and cluster."""
    holders: dict[tuple[str, str], list[JsonObject]] = defaultdict(list)
    for instance in instances:
        for holder in instance["holders"]:
            holders[holder.get("Name", ""), instance["cluster"]].append(holder)
    return {key: _facts(some) for key, some in holders.items()}


def _facts(holders: Sequence[JsonObject]) -> JsonObject:
    """Return the marks that all *holders* have, and whether the cores of one cannot wait."""
    held = [row for row in holders if not row.get("IsReserved")]
    if not held:
        return {}
    common = set.intersection(*(set(row["Marks"]) for row in held))
    blocked = [row["AssignedTo"] for row in held if row.get("AssignedTo")]
    words = [f"Its cores are assigned to {name}, which may fail to start." for name in blocked[:1]]
    return {
        "marks": sorted(mark for mark in common if not mark.endswith(" here")),
        "is_gone": any(row.get("Gone") for row in held),
        "cannot_wait": "".join(words),
    }


def _absent(group: str, now: JsonObject, in_range: Sequence[JsonObject]) -> JsonObject:
    """Return the idle cores of a row that only the range has: 0 if *now* lists every row."""
    published = {row["cluster"] for row in now["clusters"]}
    has_others = any(row["owner"] == OTHER_OWNERS for row in now["owners"])
    is_known = now["owners_known"] and not has_others and group not in BY_INSTANCE
    if is_known and published >= {item["cluster"] for item in in_range}:
        return {"idle_cores": 0.0, "usd_per_hour": 0.0}
    return {}


def _rows(
    group: str,
    now: Sequence[JsonObject],
    in_range: Sequence[JsonObject],
    no_amount: JsonObject,
    absent: JsonObject,
) -> list[dict[str, Any]]:
    members = GROUPS[group]
    shown = {*members, _ALSO.get(group)}
    rows = folded(now, members)
    amounts = folded(in_range, members)
    answers = []
    for key in {**rows, **amounts}:
        row = {**_EMPTY, **no_amount, **amounts.get(key, {}), **rows.get(key, absent)}
        if not (row["idle_cores"] or row["idle_core_hours"]):
            continue
        row |= dict.fromkeys(_PLACES - shown)
        if group not in _ALSO:
            row |= _NO_FACTS
        if group == "owner" and row["team"] in _BRACKETS:
            row["team"] = None
        name = NOT_REPORTED_OWNER if key[0] is None else key[0]
        row |= {"key": "|".join(map(str, key)), "is_bracket": name in _BRACKETS}
        names = _INSTANCE_NAMES if group in BY_INSTANCE else _NAMES
        answers.append({**row, "name": names.get(name, name)})
    return sorted(answers, key=_rank)


def _rank(row: JsonObject) -> tuple[float | str, ...]:
    money = [-(row[name] or 0) for name in ("usd", "usd_per_hour", "idle_cores")]
    return (*money, row["key"])
