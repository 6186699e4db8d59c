"""
What was found in all lines, and how that is shown.

Every violation is counted, the first of each rule kept. Names in a line are foreign text: what
does not print is shown as its number, so that no line can tell a terminal anything.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.text import Text

from neuron_emf.lint.verdict import ADVICE, ERRORS
from neuron_emf.printing import escaped
from neuron_wire.extraction.violation import ROOT
from neuron_wire.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from neuron_emf.lint.verdict import LineVerdict

SHOWN_PER_RULE: Final = 5
MAX_METRICS: Final = 200_000  # listed separately; more are "or more"


def listing(verdicts: Iterable[tuple[str, LineVerdict]]) -> tuple[list[RenderableType], bool]:
    """
    What to show of *verdicts* and their places, such as `lines.jsonl:7`; whether all is well.

    It is where some line is EMF and none of them loses a metric.

    All are counted, the first of each rule shown, and the advice with the very first.
    """
    kinds: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    metrics: set[int] = set()
    shown: list[RenderableType] = []
    lossy = 0
    for place, verdict in verdicts:
        kinds[verdict.kind] += 1
        lossy += any(violation.rule in ERRORS for violation in verdict.violations)
        if len(metrics) < MAX_METRICS:
            metrics |= verdict.metrics
        for violation in verdict.violations:
            rules[violation.rule] += 1
            if rules[violation.rule] <= SHOWN_PER_RULE:
                where = f" at {escaped(violation.path)}" if violation.path != ROOT else ""
                shown.append(_titled(f"{escaped(place)}: ", violation.rule, where))
                shown.append(_indented(f"{escaped(violation.sentence)}."))
            if rules[violation.rule] == 1:
                shown.append(_indented(f"What to do: {ADVICE[violation.rule]}"))
    if rules:
        counts = sorted(rules.items(), key=lambda item: (-item[1], item[0]))
        shown += ["", *(_titled(f"{count:>7}  ", rule) for rule, count in counts), ""]
    shown.append(
        f"{counted(kinds.total(), 'line')}: {kinds['emf']} EMF, of which {lossy} would lose a "
        f"metric; not EMF {kinds['text']} text, {kinds['json']} JSON, {kinds['blank']} blank."
    )
    more = " or more" if len(metrics) >= MAX_METRICS else ""
    shown.append(f"CloudWatch would make {counted(len(metrics), 'metric')}{more} of them.")
    return shown, kinds["emf"] > 0 == lossy


def _titled(before: str, rule: str, after: str = "") -> Text:
    level, color = ("error", "bold red") if rule in ERRORS else ("warning", "yellow")
    # One line, so that an editor finds the place.
    return Text.assemble(before, (level, color), f" {rule}{after}", no_wrap=True)


def _indented(sentence: str) -> Padding:
    return Padding(Text(sentence), (0, 0, 0, 4), expand=False)
