"""
The command `neuron-emf lint`: the results of all lines, and their listing.

Every violation is counted, and the first ones of each rule are shown. Names in a line are foreign
text: an unprintable character is shown as its number, so that no line can control a terminal.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from rich.padding import Padding
from rich.text import Text

from neuron_emf.command_output import escaped, progress, show_answer
from neuron_emf.lint import LINT_ADVICE, LINT_ERRORS, judge
from neuron_emf.reading.files import numbered_lines
from neuron_emitter.command_line import Command
from neuron_wire.extraction import ROOT_REFERENCE
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from neuron_emf.lint import LineVerdict
    from neuron_wire.extraction import Violation
    from neuron_wire.line_members import Members

SHOWN_PER_RULE: Final = 5
MAX_METRICS_COUNTED: Final = 200_000  # counted exactly; more are "or more"


@click.command(
    name="lint",
    cls=Command,
    epilog=(
        "Exit codes: 0 no line loses a metric, 1 a line does or no line is EMF, 2 usage error, 3 a "
        "file cannot be read."
    ),
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--no-age", is_flag=True, help="Do not check the age of lines: for old lines.")
@click.option("--json", is_flag=True, help="Print one JSON document, for a program.")
def command(files: tuple[Path, ...], *, no_age: bool, json: bool) -> int:
    """
    Check whether CloudWatch would extract metrics from log lines, and why not.

    FILES hold lines in Embedded Metric Format from any program, plain or gzip;
    - is standard input. Lines that are not EMF are counted and not checked.
    """
    now_ms = None if no_age else int(time.time() * 1000)
    with progress("Reading lines") as advance:
        lines = numbered_lines(files, advance)
        results = tally((f"{path}:{number}", judge(line, now_ms)) for path, number, line in lines)
    show_answer(results, for_programs, for_people, as_json=json)
    return 0 if results.is_well else 1


@dataclass
class Tally:
    """
    The results of all lines.

    Attributes:
        kinds: Lines by kind, as in `LineVerdict`.

        rules: Violations by rule.

        violations: The first `SHOWN_PER_RULE` of each rule, with their places, such as
            `lines.jsonl:7`, in the order of the lines.

        lossy: EMF lines that lose a metric.

        metrics: The metrics that CloudWatch would extract, up to about `MAX_METRICS_COUNTED`.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    violations: list[tuple[str, Violation]] = field(default_factory=list)
    lossy: int = 0
    metrics: set[int] = field(default_factory=set)

    @property
    def is_well(self) -> bool:
        """True if some line is EMF, and no line loses a metric."""
        return self.kinds["emf"] > 0 == self.lossy

    @property
    def has_more(self) -> bool:
        """True if there may be more metrics than were counted."""
        return len(self.metrics) >= MAX_METRICS_COUNTED


def tally(verdicts: Iterable[tuple[str, LineVerdict]]) -> Tally:
    """Count *verdicts*, each with its place."""
    results = Tally()
    for place, verdict in verdicts:
        results.kinds[verdict.kind] += 1
        results.lossy += any(violation.rule in LINT_ERRORS for violation in verdict.violations)
        if not results.has_more:
            results.metrics |= verdict.metrics
        for violation in verdict.violations:
            results.rules[violation.rule] += 1
            if results.rules[violation.rule] <= SHOWN_PER_RULE:
                results.violations.append((place, violation))
    return results


def for_people(found: Tally) -> list[RenderableType]:
    """Yield the shown violations, the advice with the first of each rule, and the sums."""
    parts: list[RenderableType] = []
    advised = set()
    for place, violation in found.violations:
        where = f" at {escaped(violation.path)}" if violation.path != ROOT_REFERENCE else ""
        sentences = [f"{escaped(violation.sentence)}."]
        sentences += (
            [] if violation.rule in advised else [f"What to do: {LINT_ADVICE[violation.rule]}"]
        )
        advised.add(violation.rule)
        parts.append(_titled(f"{escaped(place)}: ", violation.rule, where))
        parts += [Padding(text, (0, 0, 0, 4), expand=False) for text in sentences]
    if found.rules:
        counts = found.rules.most_common()
        parts += ["", *(_titled(f"{count:>7}  ", rule) for rule, count in counts), ""]
    kinds = found.kinds
    more = " or more" if found.has_more else ""
    parts.append(
        f"{counted(kinds.total(), 'line')}: {kinds['emf']} EMF, of which {found.lossy} would lose "
        f"a metric; not EMF: {kinds['text']} text, {kinds['json']} JSON, {kinds['blank']} blank."
    )
    metrics = counted(len(found.metrics), "metric")
    return [*parts, f"CloudWatch would make {metrics}{more} of them."]


def for_programs(found: Tally) -> Members:
    """Return the results as one document."""
    return {
        "ok": found.is_well,
        "lines": {kind: found.kinds[kind] for kind in ("emf", "text", "json", "blank")},
        "lossy": found.lossy,
        "metrics": len(found.metrics),
        "more_metrics": found.has_more,
        "rules": [
            {"rule": rule, "level": _level(rule), "count": count, "advice": LINT_ADVICE[rule]}
            for rule, count in found.rules.most_common()
        ],
        "violations": [
            {"place": place, **asdict(violation)} for place, violation in found.violations
        ],
    }


def _level(rule: str) -> str:
    return "error" if rule in LINT_ERRORS else "warning"


def _titled(before: str, rule: str, after: str = "") -> Text:
    level = _level(rule)
    style = "bold red" if level == "error" else "yellow"
    # One line, so that an editor finds the place.
    return Text.assemble(before, (level, style), f" {rule}{after}", no_wrap=True)
