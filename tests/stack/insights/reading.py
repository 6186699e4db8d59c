"""
What is wrong with a query, in sentences: its order, its names, and what it does to a number.

Order and limits are those of Logs Insights. The rest follows from the
catalogue: a gauge is never added up, a tally only once for each line, however
often it came, and of a total only the difference counts.
"""

from __future__ import annotations

from local.insights.parser import parse
from local.insights.tree import (
    AGGREGATES,
    LARGEST_PERIOD,
    Field,
    FunctionCall,
    Operation,
    Placeholder,
    walk,
)
from tests.stack.insights.scope import VALUE, Origin, Scope, kinds_of

MAX_STATS = 2
IDENTITIES = ({"RollupId"}, {"InstanceId", "Boot", "Seq"})
BOOT = {"InstanceId", "Boot"}
PICKS = {"earliest", "latest", "max", "min", "sortsFirst", "sortsLast"}


def problems(query):
    """
    Everything that is wrong with *query*, nothing when it may be deployed.

    Raises:
        QueryError: If it cannot be read at all.
    """
    return Reading(parse(query)).problems


def kinds(query):
    """The kinds of line that *query* reads."""
    return Reading(parse(query)).kinds


def placeholders(query):
    """The names that a reader must give values for."""
    commands = parse(query)
    parts = [one for command in commands for each in command.expressions for one in walk(each)]
    return {one.name for one in parts if isinstance(one, Placeholder)}


class Reading:
    """One pass over the commands of a query."""

    def __init__(self, commands):
        self.problems = []
        self.kinds = self._kinds(commands)
        self._scope = Scope(self.kinds)
        self._stats_seen = 0
        self._order(commands)
        for command in commands:
            getattr(self, f"_{command.name.lower()}")(command)

    def _kinds(self, commands):
        stated = []
        for command in commands:
            if command.name == "stats":
                break
            if command.name == "filter" and kinds_of(command.expressions[0]) is not None:
                stated.append(kinds_of(command.expressions[0]))
        if not stated:
            self.problems.append("it reads lines of every Kind; filter Kind first")
        return set.intersection(*stated) if stated else set()

    def _order(self, commands):
        names = [command.name for command in commands]
        if names.count("stats") > MAX_STATS:
            self.problems.append(f"it has more than {MAX_STATS} stats")
        last = len(names) - 1 - names[::-1].index("stats") if "stats" in names else 0
        early = {"sort", "limit", "dedup"} & set(names[:last])
        self.problems += [f"{name} stands before stats" for name in sorted(early)]
        if "dedup" in names and set(names[names.index("dedup") + 1 :]) - {"limit"}:
            self.problems.append("something else than limit follows dedup")

    # --- one method for each command ---

    def _source(self, _command):
        """Says nothing of fields."""

    _limit = _source

    def _filter(self, command):
        condition = command.expressions[0]
        self._no_aggregates(condition, "filter")
        self._values(condition, "filter")

    def _fields(self, command):
        for one in command.expressions:
            self._no_aggregates(one.expression, command.name)
            origin = self._known(one.expression)
            if one.expression != Field(one.name):
                if self._scope.hides(one.name):
                    self.problems.append(f"the name {one.name} hides a member")
                self._scope.give(one.name, origin)

    _display = _fields

    def _sort(self, command):
        for one in command.expressions:
            self._values(one.expression, command.name)

    _dedup = _sort

    def _unnest(self, command):
        (one,) = command.expressions
        origin = self._known(one.expression)
        if origin.shape != "list":
            self.problems.append(f"{one.expression.path} is no list of jsonParse")
        self._scope.give(one.name, self._scope.element(origin))

    def _stats(self, command):
        self._stats_seen += 1
        given = {}
        groups = {one.name for one in command.groups}
        for one in command.groups:
            self._period(one.expression)
            self._no_aggregates(one.expression, "by")
            given[one.name] = self._values(one.expression, "by")
        for one in command.expressions:
            if one.name in given:
                self.problems.append(f"two columns are called {one.name}")
            given[one.name] = self._measure(one.expression, groups)
        self._scope.close(given)

    # --- what commands have in common ---

    def _known(self, expression):
        origin, missing = self._scope.of(expression)
        self.problems += [f"{path} is not in {self._lines()}" for path in missing]
        return origin

    def _lines(self):
        of_kind = f"lines of Kind {', '.join(sorted(self.kinds))}"
        return "what stats gave" if self._scope.is_closed else of_kind

    def _values(self, expression, place):
        origin = self._known(expression)
        for part in walk(expression):
            if isinstance(part, Field):
                found = self._scope.field(part.path)
                if found and found.shape != VALUE:
                    self.problems.append(f"{part.path} in {place} is a map or list")
        return origin

    def _no_aggregates(self, expression, place):
        called = {part.function for part in walk(expression) if isinstance(part, FunctionCall)}
        self.problems += [f"{name} stands in {place}" for name in sorted(called & set(AGGREGATES))]
        if "bin" in called and place != "by":
            self.problems.append(f"bin stands in {place}")

    def _period(self, expression):
        if not (isinstance(expression, FunctionCall) and expression.function == "bin"):
            return
        text = expression.arguments[0].value
        number = text.rstrip("mshd")
        unit = text[len(number) :]
        if int(number) > LARGEST_PERIOD[unit]:
            self.problems.append(f"bin({text}) is cut to {LARGEST_PERIOD[unit]}{unit}")
        if self._stats_seen > 1:
            self.problems.append("bin needs @timestamp, which the first stats took away")

    # --- what is done to numbers ---

    def _measure(self, expression, groups):
        calls = [
            one for one in walk(expression) if isinstance(one, FunctionCall) and _aggregates(one)
        ]
        inside = [part for call in calls for each in call.arguments for part in walk(each)]
        if not calls:
            self.problems.append("a measure of stats aggregates nothing")
        if any(isinstance(part, FunctionCall) and _aggregates(part) for part in inside):
            self.problems.append("an aggregate stands in an aggregate")
        outside = [part for part in _without(expression, calls) if isinstance(part, Field)]
        self.problems += [f"{one.path} is neither aggregated nor grouped by" for one in outside]
        if _is_difference(expression):
            return self._difference(expression, groups)
        origins = [self._aggregate(call, groups) for call in calls]
        members = frozenset().union(*(origin.members for origin in origins))
        return Origin(members, is_amount=all(origin.is_amount for origin in origins))

    def _difference(self, expression, groups):
        origin = self._values(expression.operands[0].arguments[0], "stats")
        if not groups >= BOOT:
            self.problems.append("a difference of totals needs InstanceId and Boot in by")
        return Origin(origin.members, is_amount=True)

    def _aggregate(self, call, groups):
        function = call.function
        is_once = any(groups >= identity for identity in IDENTITIES)
        if not call.arguments:
            if self._stats_seen == 1:
                self.problems.append("count counts a line that came twice twice")
            return Origin(is_amount=False)
        origin = self._values(call.arguments[0], "stats")
        for name in sorted(origin.members):
            member = self._scope.members[name]
            wrong = self._misuse(function, member, origin)
            if wrong:
                self.problems.append(f"{function} of {name}: {wrong}")
        families = {self._scope.members[name].family for name in origin.members}
        is_amount = self._stats_seen == 1 and families == {"tally"} and is_once
        return Origin(origin.members, is_amount=is_amount and function in PICKS)

    def _misuse(self, function, member, origin):
        """Why *function* gives no true number of *member*; empty when it does."""
        is_first = self._stats_seen == 1
        if function in {"count", "count_distinct"}:
            return "" if member.family == "label" else "it counts values"
        if function == "sum":
            return "" if origin.is_amount else _SUMS[member.family]
        if member.family == "total" and is_first:
            return "only the difference of a total says something"
        if function in {"avg", "pct"} and member.statistic != "Average":
            return f"it is read with {member.statistic or 'no statistic'}"
        if function in {"max", "min"} and member.family == "label":
            return "it is no number"
        return ""


_SUMS = {
    "gauge": "a gauge does not add up",
    "tally": "a line that came twice would count twice; take one for each identity first",
    "total": "a total is the sum already",
    "label": "it is no number",
}


def _aggregates(call):
    return call.function in AGGREGATES


def _without(expression, calls):
    if expression in calls:
        return
    yield expression
    inner = ()
    if isinstance(expression, FunctionCall):
        inner = expression.arguments
    elif isinstance(expression, Operation):
        inner = expression.operands
    for one in inner:
        yield from _without(one, calls)


def _is_difference(expression):
    """`max(x) - min(x)`: how much a total rose."""
    if not isinstance(expression, Operation) or expression.operator != "-":
        return False
    most, least = expression.operands
    called = [one.function if isinstance(one, FunctionCall) else "" for one in (most, least)]
    return called == ["max", "min"] and most.arguments == least.arguments
