"""
What a name in a query stands for: a member of the catalogue, a part of one, or something computed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from local.insights.tree import Constant, Field, FunctionCall, Operation, Placeholder
from neuron_wire.catalogue import members_of

SYSTEM_FIELDS = {"@timestamp", "@message", "@logStream", "@log", "@ingestionTime"}

VALUE, MAP, LIST = "value", "map", "list"


@dataclass(frozen=True)
class Origin:
    """
    Where a value comes from.

    Attributes:
        members: Members of the catalogue that are in it.

        shape: `value`, or what `jsonParse` made: `map` or `list`.

        prefix: For a map or list of members, their path before the last name.

        is_amount: It may be added up: each line is in it once.

        is_system: It is a field that CloudWatch Logs adds.
    """

    members: frozenset = frozenset()
    shape: str = VALUE
    prefix: str | None = None
    is_amount: bool = False
    is_system: bool = False


def kinds_of(condition):
    """The kinds of line that *condition* lets through; None when it does not restrict them."""
    if not isinstance(condition, Operation):
        return None
    is_kind = condition.operands[0] == Field("Kind")
    if is_kind and condition.operator in {"=", "in"}:
        return {one.value for one in condition.operands[1:] if isinstance(one, Constant)}
    inner = [kinds_of(one) for one in condition.operands]
    if condition.operator == "and":
        stated = [kinds for kinds in inner if kinds is not None]
        return set.intersection(*stated) if stated else None
    if condition.operator == "or" and None not in inner:
        return set.union(*inner)
    return None


class Scope:
    """The names that a command can use."""

    def __init__(self, kinds):
        """Before the first command: the members of lines of *kinds*."""
        self.members = {
            name: member for kind in sorted(kinds) for name, member in members_of(kind).items()
        }
        self._given = {}
        self.is_closed = False

    def give(self, name, origin):
        """A command calls something *name* from here on."""
        self._given[name] = origin

    def close(self, given):
        """After `stats` nothing but what it gave is left."""
        self._given, self.is_closed = dict(given), True

    def hides(self, name):
        """Whether *name* is that of a member, which could no longer be meant."""
        return not self.is_closed and name in self.members

    def field(self, path):
        """What *path* stands for, None when there is no such thing."""
        if path in self._given:
            return self._given[path]
        first, _, rest = path.partition(".")
        if first in self._given:
            return self._inside(self._given[first], rest)
        if self.is_closed:
            return None
        if path in SYSTEM_FIELDS:
            return Origin(is_system=True)
        return self._member(path)

    def _inside(self, origin, rest):
        if origin.shape != MAP or origin.prefix is None:
            return None
        path = f"{origin.prefix}.{rest}" if origin.prefix else rest
        found = self._member(path)
        if found and self._is_list(path):
            return replace(found, shape=LIST, prefix=path)
        return found

    def _member(self, path):
        name = ".".join(part for part in path.split(".") if not part.isdigit())
        return Origin(frozenset([name])) if name in self.members else None

    def _is_list(self, path):
        """Whether a member is an array: of objects with members, or of one value for each core."""
        is_by_core = path in {"NeuronCoreUtilization", "CoreIdleMinutes"}
        return self.has_parts(path) or (is_by_core and "CoreState" in self.members)

    def has_parts(self, path):
        """Whether the elements of the array *path* are objects."""
        return any(name.startswith(f"{path}.") for name in self.members)

    def element(self, origin):
        """One element of what `unnest` takes apart."""
        if origin.prefix is not None and self.has_parts(origin.prefix):
            return Origin(shape=MAP, prefix=origin.prefix)
        return replace(origin, shape=VALUE, prefix=None)

    def of(self, expression):
        """What *expression* comes from, with the fields in it that do not exist."""
        if isinstance(expression, Field):
            found = self.field(expression.path)
            return (found or Origin(), [] if found else [expression.path])
        if isinstance(expression, (Constant, Placeholder)):
            return Origin(), []
        inner = (
            expression.arguments if isinstance(expression, FunctionCall) else expression.operands
        )
        origins, missing = [], []
        for one in inner:
            origin, without = self.of(one)
            origins.append(origin)
            missing += without
        members = frozenset().union(*(origin.members for origin in origins))
        if isinstance(expression, FunctionCall) and expression.function == "jsonParse":
            is_line = origins[0].is_system
            return Origin(members, MAP, "") if is_line else Origin(members, LIST), missing
        is_system = any(origin.is_system for origin in origins)
        return Origin(members, is_system=is_system), missing
