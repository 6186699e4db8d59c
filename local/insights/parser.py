"""
The Logs Insights query language, as much of it as our queries use, read into a tree.

No linter knows it. The grammar is that of
https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html
Whatever is not here is refused, never half understood: what nobody has read
in the documentation shall not stand in a query that nobody can try.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from local.insights.tree import (
    FUNCTIONS,
    Command,
    Constant,
    Expression,
    Field,
    FunctionCall,
    Named,
    Operation,
    Placeholder,
    QueryError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Read = TypeVar("Read")

MAX_CHARS: Final = 10_000

_TOKEN: Final = re.compile(
    r"""
      (?P<space>\s+|\#[^\n]*)
    | (?P<text>"[^"\\]*"|'[^'\\]*')
    | (?P<placeholder>\{\{[A-Za-z_][A-Za-z0-9_]*\}\})
    | (?P<period>[0-9]+(?:ms|s|m|h|d)\b)
    | (?P<number>[0-9]+(?:\.[0-9]+)?)
    | (?P<name>@?[A-Za-z_][A-Za-z0-9_]*(?:\.(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+)|\[[0-9]+\])*)
    | (?P<sign><=|>=|!=|[=<>+\-*/%(),|\[\]])
    """,
    re.VERBOSE,
)
_REGEX: Final = re.compile(r"\s*/((?:[^/\\\n]|\\.)+)/")
_WORDS: Final = {"and", "as", "asc", "by", "desc", "in", "into", "like", "not", "or"}


def parse(text: str) -> tuple[Command, ...]:
    """
    The commands of a query, first to last.

    Raises:
        QueryError: If it is longer than Logs Insights takes, or not of the language.
    """
    if len(text) > MAX_CHARS:
        msg = f"a query has at most {MAX_CHARS:,} characters, this one has {len(text):,}"
        raise QueryError(msg)
    return _Parser(text).query()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = self._start = 0
        self._kind = self._token = ""
        self._advance()

    def query(self) -> tuple[Command, ...]:
        commands = [self._command()]
        while self._takes("|"):
            commands.append(self._command())
        if self._kind:
            self._refuse("| and a command, or the end of the query")
        return tuple(commands)

    # --- tokens ---

    def _advance(self) -> None:
        self._start = self._at
        match = _TOKEN.match(self._text, self._at)
        while match and match.lastgroup == "space":
            self._start = match.end()
            match = _TOKEN.match(self._text, match.end())
        if match:
            self._kind, self._token = match.lastgroup or "", match[0]
            self._at = match.end()
        elif self._text[self._start :].strip():
            self._kind, self._token = "stranger", self._text[self._start :].strip()[0]
            self._at = len(self._text)
        else:
            self._kind, self._token = "", "its end"

    def _refuse(self, expected: str) -> NoReturn:
        before = self._text[max(0, self._start - 30) : self._start]
        msg = f"expected {expected}, found {self._token} after {before!r}"
        raise QueryError(msg)

    def _is_next(self, sign: str) -> bool:
        return self._kind == "sign" and self._token == sign

    def _takes(self, *tokens: str) -> str:
        """Go past the next token if it is one of *tokens*."""
        is_taken = self._kind not in {"text", ""} and self._token in tokens
        found = self._token
        if is_taken:
            self._advance()
        return found if is_taken else ""

    def _expect(self, *tokens: str) -> str:
        found = self._takes(*tokens)
        if not found:
            self._refuse(" or ".join(tokens))
        return found

    def _of_kind(self, kind: str, what: str) -> str:
        if self._kind != kind or self._token in _WORDS:
            self._refuse(what)
        found = self._token
        self._advance()
        # list[1] of what jsonParse made, list.1 of a discovered field: the same element
        return found.replace("[", ".").replace("]", "") if kind == "name" else found

    # --- commands ---

    def _command(self) -> Command:
        name = self._of_kind("name", "a command")
        known: dict[str, Callable[[], tuple[Any, ...]]] = {
            "SOURCE": lambda: (Constant(self._of_kind("text", "a log group in quotes")[1:-1]),),
            "dedup": self._names,
            "display": self._names,
            "fields": lambda: self._list(self._named),
            "filter": lambda: (self._condition(),),
            "limit": lambda: (Constant(int(self._of_kind("number", "a number of rows"))),),
            "unnest": self._unnest,
        }
        if name == "stats":
            return self._stats()
        if name == "sort":
            return self._sort()
        if name not in known:
            msg = f"expected one of {', '.join(sorted({*known, 'sort', 'stats'}))}, found {name}"
            raise QueryError(msg)
        return Command(name, known[name]())

    def _list(self, one: Callable[[], Read]) -> tuple[Read, ...]:
        found = [one()]
        while self._takes(","):
            found.append(one())
        return tuple(found)

    def _names(self) -> tuple[Named, ...]:
        return self._list(lambda: self._bare_field("a field"))

    def _bare_field(self, what: str) -> Named:
        path = self._of_kind("name", what)
        return Named(Field(path), path)

    def _named(self) -> Named:
        expression = self._sum()
        if self._takes("as"):
            return Named(expression, self._of_kind("name", "a name"))
        if not isinstance(expression, Field):
            self._refuse("as and a name, because this is more than a field")
        return Named(expression, expression.path)

    def _unnest(self) -> tuple[Named]:
        field = self._of_kind("name", "a field that holds a list")
        self._expect("into")
        return (Named(Field(field), self._of_kind("name", "a name for one of the list")),)

    def _stats(self) -> Command:
        measures = self._list(self._named)
        groups = self._list(self._group) if self._takes("by") else ()
        return Command("stats", measures, groups)

    def _group(self) -> Named:
        """As `_named`, but a function may go without a name: it is called as it is written."""
        start = self._start
        expression = self._sum()
        end = len(self._text[: self._start].rstrip())
        if self._takes("as"):
            return Named(expression, self._of_kind("name", "a name"))
        return Named(expression, self._text[start:end])

    def _sort(self) -> Command:
        keys, descending = [], []
        while True:
            keys.append(self._bare_field("a field to sort by"))
            descending.append(self._takes("asc", "desc") == "desc")
            if not self._takes(","):
                return Command("sort", tuple(keys), descending=tuple(descending))

    # --- expressions, the loosest binding first ---

    def _condition(self) -> Expression:
        return self._chain(self._conjunction, "or")

    def _conjunction(self) -> Expression:
        return self._chain(self._negation, "and")

    def _chain(self, inner: Callable[[], Expression], operator: str) -> Expression:
        operands = [inner()]
        while self._takes(operator):
            operands.append(inner())
        return operands[0] if len(operands) == 1 else Operation(operator, tuple(operands))

    def _negation(self) -> Expression:
        if self._takes("not"):
            return Operation("not", (self._negation(),))
        return self._comparison()

    def _comparison(self) -> Expression:
        left = self._sum()
        operator = self._takes("=", "!=", "<", "<=", ">", ">=", "like", "in")
        if operator == "like":
            return Operation("like", (left, self._pattern()))
        if operator == "in":
            self._expect("[")
            choices = self._list(self._primary)
            self._expect("]")
            return Operation("in", (left, *choices))
        return Operation(operator, (left, self._sum())) if operator else left

    def _pattern(self) -> Constant:
        match = _REGEX.match(self._text, self._start)
        if not match:
            return Constant(self._of_kind("text", "a text or a /regular expression/")[1:-1])
        self._at = match.end()
        self._advance()
        try:
            return Constant(re.compile(match[1]))
        except re.error as error:
            msg = f"/{match[1]}/ is no regular expression: {error}"
            raise QueryError(msg) from error

    def _sum(self) -> Expression:
        return self._operations(self._product, "+", "-")

    def _product(self) -> Expression:
        return self._operations(self._primary, "*", "/", "%")

    def _operations(self, inner: Callable[[], Expression], *operators: str) -> Expression:
        left = inner()
        while operator := self._takes(*operators):
            left = Operation(operator, (left, inner()))
        return left

    def _primary(self) -> Expression:
        if self._takes("("):
            inner = self._condition()
            self._expect(")")
            return inner
        if self._kind == "text":
            return Constant(self._of_kind("text", "")[1:-1])
        if self._kind == "number":
            return Constant(float(self._of_kind("number", "")))
        if self._kind == "placeholder":
            return Placeholder(self._of_kind("placeholder", "")[2:-2])
        name = self._of_kind("name", "a field, a number, a text or a function")
        return self._call(name) if self._takes("(") else Field(name)

    def _call(self, function: str) -> Expression:
        if function not in FUNCTIONS:
            self._refuse(f"a function that we know, not {function}")
        arguments: tuple[Expression, ...] = ()
        if self._kind == "period":
            arguments = (Constant(self._of_kind("period", "")),)
        elif not (function == "count" and self._takes("*")) and not self._is_next(")"):
            arguments = self._list(self._condition)
        self._expect(")")
        fewest, most = FUNCTIONS[function]
        if not fewest <= len(arguments) <= most:
            msg = f"{function} takes {fewest} to {most} arguments, found {len(arguments)}"
            raise QueryError(msg)
        return FunctionCall(function, arguments)
