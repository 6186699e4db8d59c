"""
The one family of Metrics Insights queries that the template's alarms use.

    SELECT AVG(IdleCorePercent) FROM SCHEMA("Neuron/Cluster", ClusterName)
    GROUP BY ClusterName ORDER BY AVG() DESC

    SELECT SUM(DeliveryErrors) FROM "AWS/Logs" WHERE FilterName = 'a' AND LogGroupName = 'b'

Pure. Anything else is refused with the place where it stops being of this
family, never half understood. Grammar:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch-metrics-insights-querylanguage.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from local.alarms.errors import AlarmDefinitionError

FUNCTIONS: Final = ("AVG", "COUNT", "MAX", "MIN", "SUM")
_TOKEN: Final = re.compile(r"""\s*("[^"]*"|'[^']*'|[A-Za-z_][A-Za-z0-9_.]*|[(),=])""")
_WORDS: Final = frozenset({
    *FUNCTIONS, "AND", "ASC", "BY", "DESC", "FROM", "GROUP", "LIMIT", "ORDER", "SCHEMA", "SELECT",
    "WHERE",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class MetricsInsightsQuery:
    """
    One parsed query.

    Attributes:
        function: `AVG`, `COUNT`, `MAX`, `MIN` or `SUM`, over all metrics of a group.

        dimensions: Exactly the dimension names a metric must have; None without SCHEMA,
            when it may have any beside those that are asked for.

        group_by: Names that make one contributor each, a part of *dimensions*;
            empty when the query makes one time series of all it finds.

        where: Dimension values that a metric must have.
    """

    function: str
    metric: str
    namespace: str
    dimensions: tuple[str, ...] | None
    group_by: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()

    def takes(self, names: set[str]) -> bool:
        """Whether it finds metrics with dimensions of these *names*."""
        return set(self.dimensions) == names if self.dimensions is not None else True


def parse_query(text: str) -> MetricsInsightsQuery:
    """
    Read *text*.

    Raises:
        AlarmDefinitionError: If it is not of the family this module knows.
    """
    return _Parser(text).query()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def query(self) -> MetricsInsightsQuery:
        self._expect("SELECT")
        function = self._one_of(FUNCTIONS)
        self._expect("(")
        metric = self._name("a metric name")
        self._expect(")")
        self._expect("FROM")
        namespace, dimensions = self._source()
        where = self._conditions() if self._peek() == "WHERE" else []
        # Without groups it is one time series; with them the alarm has contributors.
        group_by = self._groups(function) if not where or self._peek() else []
        if self._peek():
            self._refuse("the end of the query")
        asked = {*group_by, *(name for name, _ in where)}
        if dimensions is not None and asked - set(dimensions):
            strangers = sorted(asked - set(dimensions))
            verb = "groups" if strangers[0] in group_by else "selects"
            msg = f"the query {verb} by {strangers[0]}, which its SCHEMA does not name"
            raise AlarmDefinitionError(msg)
        return MetricsInsightsQuery(
            function, metric, namespace, dimensions, tuple(group_by), tuple(where)
        )

    def _source(self) -> tuple[str, tuple[str, ...] | None]:
        if self._peek() != "SCHEMA":
            return self._name("SCHEMA or a namespace"), None
        self._expect("SCHEMA")
        self._expect("(")
        namespace = self._name("a namespace")
        dimensions = []
        while self._one_of((",", ")")) == ",":
            dimensions.append(self._name("a dimension name"))
        return namespace, tuple(dimensions)

    def _conditions(self) -> list[tuple[str, str]]:
        conditions = []
        word = "WHERE"
        while self._peek() == word:
            self._expect(word)
            name = self._name("a dimension name")
            self._expect("=")
            conditions.append((name, self._value()))
            word = "AND"
        return conditions

    def _groups(self, function: str) -> list[str]:
        self._expect("GROUP")
        self._expect("BY")
        names = [self._name("a dimension name")]
        while self._peek() == ",":
            self._expect(",")
            names.append(self._name("a dimension name"))
        # An alarm on several time series must say which come first.
        self._expect("ORDER")
        self._expect("BY")
        self._expect(function)
        self._expect("(")
        self._expect(")")
        if self._peek() in ("ASC", "DESC"):
            self._one_of(("ASC", "DESC"))
        return names

    def _token(self) -> tuple[str, int]:
        match = _TOKEN.match(self._text, self._at)
        if match:
            return match[1], match.end()
        rest = self._text[self._at :].strip()
        return rest[:1], len(self._text)

    def _peek(self) -> str:
        token = self._token()[0]
        return token.upper() if token.upper() in _WORDS else token

    def _expect(self, word: str) -> None:
        self._one_of((word,))

    def _one_of(self, words: tuple[str, ...]) -> str:
        word = self._peek()
        if word not in words:
            self._refuse(" or ".join(words))
        self._at = self._token()[1]
        return word

    def _name(self, what: str) -> str:
        word, end = self._token()
        if not word or word in {"(", ")", ",", "="} or word.upper() in _WORDS:
            self._refuse(what)
        if word.startswith("'"):  # a value, and no name
            self._refuse(what)
        self._at = end
        return word.strip('"')

    def _value(self) -> str:
        word, end = self._token()
        if not word.startswith("'"):
            self._refuse("a value in single quotes")
        self._at = end
        return word.strip("'")

    def _refuse(self, expected: str) -> None:
        found = self._token()[0] or "its end"
        msg = (
            f"expected {expected} and found {found} in {self._text!r}; the evaluator knows "
            "f(metric) of one namespace or SCHEMA, selected by dimension values, grouped and "
            "ordered by f(), and no other query"
        )
        raise AlarmDefinitionError(msg)
