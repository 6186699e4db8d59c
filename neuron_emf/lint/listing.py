"""
The lines of a file, what was found in all of them, and how that is shown.

Every issue is counted, the first of each rule kept. Names in a line are foreign text: what does
not print is shown as its number, so that no line can tell a terminal anything.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.text import Text

from neuron_emf.lint.verdict import ADVICE, ERRORS, KEPT_BYTES, FileLine
from neuron_emf.printing import escaped
from neuron_emf.reading.files import is_standard_input, opened
from neuron_wire.extraction.dimensions import dimension_sets
from neuron_wire.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from neuron_emf.lint.verdict import LineVerdict
    from neuron_emf.printing import Advance
    from neuron_wire.extraction import Violation

MAX_SERIES: Final = 200_000  # listed separately; more are "or more"
_LINES_PER_ADVANCE: Final = 1000
_INDENT: Final = (0, 0, 0, 4)
_COLOURS: Final = {"error": "bold red", "warning": "yellow"}


def lines_of(path: Path, advance: Advance) -> Iterator[FileLine]:
    """
    The lines of *path*, one after the other, however long one is.

    Raises:
        SettingsError: If it cannot be opened.
        SourceError: If it cannot be read, or standard input is closed.
    """
    with opened(path) as (raw, file):
        total = 0 if is_standard_input(path) else path.stat().st_size
        number = 0
        while piece := file.readline(KEPT_BYTES):
            number += 1
            content, size = piece, len(piece)
            while not piece.endswith(b"\n") and (piece := file.readline(KEPT_BYTES)):
                size += len(piece)
            if total and number % _LINES_PER_ADVANCE == 0:
                advance(raw.tell(), total)
            end = len(piece) - len(piece.rstrip(b"\r\n"))
            whole = content.rstrip(b"\r\n") if size == len(content) else content
            yield FileLine(number, whole, size - end)


@dataclass
class Tally:
    """Counts of what was judged; of each rule the first *limit* issues, with file and line."""

    limit: int
    kinds: Counter[str] = field(default_factory=Counter)
    lossy: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    issues: list[tuple[str, int, Violation]] = field(default_factory=list)
    series: set[int] = field(default_factory=set)

    def add(self, file: str, line: int, verdict: LineVerdict) -> None:
        """Count what was found in one line, and the metrics that CloudWatch would make of it."""
        self.kinds[verdict.kind] += 1
        self.lossy += bool(verdict.errors)
        for violation in (*verdict.errors, *verdict.warnings):
            self.rules[violation.rule] += 1
            if self.rules[violation.rule] <= self.limit:
                self.issues.append((file, line, violation))
        if verdict.document is None or self.is_full:
            return
        for directive in verdict.document["_aws"]["CloudWatchMetrics"]:
            for names in dimension_sets(directive):
                values = tuple(sorted((name, verdict.document[name]) for name in names))
                for definition in directive["Metrics"]:
                    self.series.add(hash((directive["Namespace"], definition["Name"], values)))

    @property
    def is_full(self) -> bool:
        """Whether there are more metrics than are told apart."""
        return len(self.series) >= MAX_SERIES

    @property
    def left_out(self) -> int:
        """Issues that were counted and not kept."""
        return sum(self.rules.values()) - len(self.issues)


def level_of(rule: str) -> str:
    """Whether breaking *rule* costs a metric."""
    return "error" if rule in ERRORS else "warning"


def _coloured(before: str, rule: str, after: str = "") -> Text:
    level = level_of(rule)
    # One line, so that an editor finds the place.
    return Text.assemble(before, (level, _COLOURS[level]), f" {rule}{after}", no_wrap=True)


def listing(tally: Tally) -> Iterator[RenderableType]:
    """Every kept issue, the advice with the first of its rule, and the counts."""
    advised: set[str] = set()
    for file, line, violation in tally.issues:
        where = f" at {escaped(violation.path)}" if violation.path != "$" else ""
        yield _coloured(f"{escaped(file)}:{line}: ", violation.rule, where)
        yield Padding(Text(f"{escaped(violation.sentence)}."), _INDENT, expand=False)
        if violation.rule not in advised:
            advised.add(violation.rule)
            advice = f"What to do: {ADVICE[violation.rule]}"
            yield Padding(Text(advice), _INDENT, expand=False)
    if tally.left_out:
        yield Text(f"{counted(tally.left_out, 'more finding')}: --limit shows more of each rule.")
    if tally.rules:
        yield Text("")
        for rule, count in sorted(tally.rules.items(), key=lambda item: (-item[1], item[0])):
            yield _coloured(f"{count:>7}  ", rule)
        yield Text("")
    lines, kinds = counted(sum(tally.kinds.values()), "line"), tally.kinds
    if not kinds["emf"]:
        yield Text(f"{lines}, none of them EMF.")
        return
    yield Text(
        f"{lines}: {kinds['emf']} EMF, of which {tally.lossy} would lose a metric; "
        f"not EMF {kinds['text']} text, {kinds['json']} JSON, {kinds['blank']} blank."
    )
    more = " or more" if tally.is_full else ""
    yield Text(f"CloudWatch would make {counted(len(tally.series), 'metric')}{more} of them.")


def document(tally: Tally, files: Sequence[str]) -> dict[str, object]:
    """The same as one JSON document."""
    emf = tally.kinds["emf"]
    rules = {
        rule: {"level": level_of(rule), "count": count}
        for rule, count in sorted(tally.rules.items())
    }
    findings = [
        {"file": file, "line": line, "level": level_of(one.rule), **asdict(one)}
        for file, line, one in tally.issues
    ]
    return {
        "files": list(files),
        "lines": sum(tally.kinds.values()),
        "emf": {"lines": emf, "extracted": emf - tally.lossy, "lossy": tally.lossy},
        "not_emf": {kind: tally.kinds[kind] for kind in ("text", "json", "blank")},
        "metrics": {"distinct": len(tally.series), "or_more": tally.is_full},
        "rules": rules,
        "findings": [{**one, "advice": ADVICE[str(one["rule"])]} for one in findings],
        "findings_left_out": tally.left_out,
    }
