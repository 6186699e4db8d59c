"""What was found in all lines: every issue counted, the first of each rule kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from neuron_emf.lint.advice import RULES
from neuron_wire.extraction.dimensions import dimension_sets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuron_emf.lint.advice import Level
    from neuron_emf.lint.verdict import LineVerdict
    from neuron_wire.extraction import Violation

MAX_SERIES: Final = 200_000  # told apart; more are told as "or more"
MAX_NAMES: Final = 100  # dimensions whose values are told apart


@dataclass(frozen=True, slots=True)
class LintIssue:
    """One rule that one line breaks."""

    file: str
    line: int
    violation: Violation

    @property
    def level(self) -> Level:
        """Whether it costs a metric."""
        return RULES[self.violation.rule].level


@dataclass
class Tally:
    """
    Counts of what was judged.

    Attributes:
        limit: Issues of each rule that are kept.

        kinds: Lines by what they are.

        lossy: EMF lines that lose at least one metric.

        rules: Issues by their rule.

        issues: The first *limit* of each rule, in the order of the lines.
    """

    limit: int
    kinds: Counter[str] = field(default_factory=Counter)
    lossy: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    issues: list[LintIssue] = field(default_factory=list)
    _series: set[int] = field(default_factory=set)
    _values: dict[str, set[int]] = field(default_factory=dict)
    is_full: bool = False

    def add(self, file: str, line: int, verdict: LineVerdict) -> None:
        """Count what was found in one line."""
        self.kinds[verdict.kind] += 1
        self.lossy += bool(verdict.errors)
        for violation in (*verdict.errors, *verdict.warnings):
            self.rules[violation.rule] += 1
            if self.rules[violation.rule] <= self.limit:
                self.issues.append(LintIssue(file, line, violation))
        if verdict.document is not None:
            self._count_series(verdict.document)

    @property
    def series(self) -> int:
        """How many metrics CloudWatch would make of all lines: each is billed."""
        return len(self._series)

    @property
    def widest(self) -> tuple[str, int] | None:
        """The dimension with the most values, and how many; None without dimensions."""
        if not self._values:
            return None
        name = max(self._values, key=lambda one: (len(self._values[one]), one))
        return name, len(self._values[name])

    @property
    def left_out(self) -> int:
        """Issues that were counted and not kept."""
        return sum(self.rules.values()) - len(self.issues)

    def _count_series(self, document: Mapping[str, Any]) -> None:
        if self.is_full:
            return
        for directive in document["_aws"]["CloudWatchMetrics"]:
            for names in dimension_sets(directive):
                values = tuple(sorted((name, document[name]) for name in names))
                for name, value in values:
                    if name in self._values or len(self._values) < MAX_NAMES:
                        self._values.setdefault(name, set()).add(hash(value))
                for definition in directive["Metrics"]:
                    self._series.add(hash((directive["Namespace"], definition["Name"], values)))
        self.is_full = len(self._series) >= MAX_SERIES
