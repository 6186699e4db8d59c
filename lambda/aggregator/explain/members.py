"""
The last rollup of a cluster, read back from the table into one typed value.

The line was written by a stack of this release or of another one. A member
that a message tells of is of its type, or the whole rollup is refused with the
reason: a message without details is sent, and one that half knows is not.
Names in it are other people's, so a message never has them as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeVar

from aggregator.explain import foreign_text
from aggregator.rollups.amounts import FAILING
from neuron_wire.emf import MAX_VALUE
from neuron_wire.names import MINUTE_S

LATEST_S: Final = 1e11  # in the year 5138; what is later, or before 1970, is no time of ours
_LARGEST: Final = 1e18  # what is not below it fills a message

_T = TypeVar("_T")
_Shape = Mapping[str, "type[object] | list[type[str]] | _Shape"]
_AS_JSON: Final[Mapping[type[object], str]] = {
    str: "a text",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}
_AMOUNTS: Final = (
    "Instances SilentInstances BusyCores AttachedIdleCores UnattachedCores UnknownCores"
    " IdleCores IdleCorePercent IdleInstanceCount WhollyIdleInstances UnpricedCores"
    " IdleCostPerHour AvoidableCostPerHour AvoidableHeldCostPerHour SharedCostPerHour"
    " SunkCostPerHour NeuronCoreUtilization NeuronCoreUtilizationP50"
    " NeuronCoreUtilizationP90 ExecutionErrors HardwareErrors"
)
_INSTANCE: Final[_Shape] = {"InstanceId": str, "InstanceType": str}
_SHAPE: Final[_Shape] = {
    "Minute": str,
    **dict.fromkeys(_AMOUNTS.split(), float),
    "PricesAsOf": str,
    "PriceRegions": [str],
    "PricesOverridden": [str],
    "UnpricedTypes": [str],
    "TopIdleOwners": {
        **dict.fromkeys(("Owner", "Team"), str),
        **dict.fromkeys(
            ("Cores", "Instances", "HeldCores", "BusyCores", "IdleMinutes", "UsdPerHour"), float
        ),
    },
    "TopIdleInstances": {
        **_INSTANCE,
        **dict.fromkeys(
            ("NeuronCores", "BusyCores", "Executions", "IdleMinutes", "UsdPerHour", "HoldersMore"),
            float,
        ),
        **dict.fromkeys(("Cores", "AttachedCores"), str),
        "Holders": {
            **dict.fromkeys(("Cores", "Name", "Tag", "Team", "LastExecution"), str),
            "Pid": float,
            "Gone": bool,
        },
    },
    "StragglerInstances": {**_INSTANCE, "BusyUtilization": float, "TypeMedian": float},
    "SilentInstanceNames": {**_INSTANCE, "LastSeen": str},
    **{name: {**_INSTANCE, amount: float} for name, amount in FAILING.items()},
}
"""What a message tells of; a mapping is the entries of a list. Other members may be anything."""


class RollupRefusedError(Exception):
    """A stored rollup is not one; the text is the reason, and has nothing of the rollup."""


@dataclass(frozen=True, slots=True)
class Members:
    """
    A stored rollup, or one entry of its lists. What it does not have is None or empty.

    Attributes:
        values: What messages tell of, each of its type: amounts are finite and from 0, names
            and lists of names as they were given, lists of entries are `Members`.

        given: All that stood in the line.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, object] = field(default_factory=dict)

    def number(self, name: str) -> float | None:
        """An amount from 0."""
        value = self.values.get(name)
        return None if value is None or value >= _LARGEST else value

    def text(self, name: str) -> str | None:
        """A name for a message; None when it is empty."""
        value = self.values.get(name)
        return foreign_text.name(value) if value else None

    def entries(self, name: str) -> list[Members]:
        """The objects of a list."""
        return list(self.values.get(name, ()))

    def names(self, name: str) -> list[str]:
        """The texts of a list, for a message."""
        return [foreign_text.name(one) for one in self.values.get(name, ()) if one]

    def minute_s(self, name: str) -> float | None:
        """When the minute of a member began, seconds since the epoch; None of no calendar's."""
        try:
            found = datetime.strptime(self.values.get(name, ""), "%Y-%m-%dT%H:%M%z").timestamp()
        except (ValueError, OverflowError):
            return None
        return found if 0 <= found <= LATEST_S else None

    def minute(self, name: str) -> int | None:
        """The minute of a member, since the epoch; None of no calendar's."""
        start_s = self.minute_s(name)
        return None if start_s is None else int(start_s // MINUTE_S)

    def minute_end_s(self) -> float | None:
        """When the minute of the rollup was over, seconds since the epoch."""
        start_s = self.minute_s("Minute")
        return None if start_s is None else start_s + MINUTE_S


def read_rollup(line: str) -> Members:
    """
    The rollup that *line* is.

    Raises:
        RollupRefusedError: If it is no JSON object, does not give its minute, or a member
            that messages tell of is of another type.
    """
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        msg = "it is not a JSON object"
        raise RollupRefusedError(msg)
    rollup = _members(found, _SHAPE, "")
    if rollup.minute_s("Minute") is None:
        msg = "Minute is not a minute such as 2026-11-21T03:13Z"
        raise RollupRefusedError(msg)
    return rollup


def _members(given: Mapping[str, object], shape: _Shape, place: str) -> Members:
    values = {
        name: _value(given[name], kind, f"{place}{name}")
        for name, kind in shape.items()
        if name in given
    }
    return Members(values, given)


def _value(value: object, kind: type[object] | list[type[str]] | _Shape, where: str) -> object:
    if isinstance(kind, Mapping):
        entries = (_typed(one, dict, f"{where}[]") for one in _typed(value, list, where))
        return tuple(_members(one, kind, f"{where}[].") for one in entries)
    if isinstance(kind, list):
        return tuple(_typed(one, str, f"{where}[]") for one in _typed(value, list, where))
    return _number(value, where) if kind is float else _typed(value, kind, where)


def _typed(value: object, kind: type[_T], where: str) -> _T:
    if not isinstance(value, kind):
        msg = f"{where} is not {_AS_JSON[kind]}"
        raise RollupRefusedError(msg)
    return value


def _number(value: object, where: str) -> float:
    # An int of a thousand digits is JSON too, and no float; bool is an int to Python.
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < MAX_VALUE:
        msg = f"{where} is not an amount from 0"
        raise RollupRefusedError(msg)
    return value
