"""
What was found, for a person and for a program.

Names in a line are foreign text: what does not print is shown as its number, so
that no line can tell a terminal anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.text import Text

from neuron_emf.lint.advice import RULES
from neuron_emf.printing import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from neuron_emf.lint.tally import LintIssue, Tally

_COLOURS: Final = {"error": "bold red", "warning": "yellow"}


def listing(tally: Tally) -> Iterator[RenderableType]:
    """Every kept issue, the advice with the first of its rule, and the counts."""
    advised: set[str] = set()
    for issue in tally.issues:
        yield from _issue(issue, advised)
    if tally.left_out:
        yield Text(f"{_many(tally.left_out, 'more finding')}: --limit shows more of each rule.")
    if tally.rules:
        yield Text("")
        for rule, count in sorted(tally.rules.items(), key=lambda one: (-one[1], one[0])):
            level = RULES[rule].level
            yield Text.assemble(f"{count:>7}  ", (level, _COLOURS[level]), f" {rule}")
        yield Text("")
    yield from (Text(sentence) for sentence in _sums(tally))


def document(tally: Tally, files: Sequence[str]) -> dict[str, object]:
    """The same as one JSON document."""
    widest = tally.widest
    return {
        "files": list(files),
        "lines": sum(tally.kinds.values()),
        "emf": {
            "lines": tally.kinds["emf"],
            "extracted": tally.kinds["emf"] - tally.lossy,
            "lossy": tally.lossy,
        },
        "not_emf": {kind: tally.kinds[kind] for kind in ("text", "json", "blank")},
        "metrics": {"distinct": tally.series, "or_more": tally.is_full},
        "widest_dimension": {"name": widest[0], "values": widest[1]} if widest else None,
        "rules": {
            rule: {"level": RULES[rule].level, "count": count}
            for rule, count in sorted(tally.rules.items())
        },
        "findings": [
            {
                "file": issue.file,
                "line": issue.line,
                "level": issue.level,
                "rule": issue.violation.rule,
                "member": issue.violation.member,
                "path": issue.violation.path,
                "sentence": issue.violation.sentence,
                "advice": RULES[issue.violation.rule].advice,
            }
            for issue in tally.issues
        ],
        "findings_left_out": tally.left_out,
    }


def _issue(issue: LintIssue, advised: set[str]) -> Iterator[RenderableType]:
    violation = issue.violation
    place = f"{escaped(issue.file)}:{issue.line}: "
    where = f" at {escaped(violation.path)}" if violation.path != "$" else ""
    level = (issue.level, _COLOURS[issue.level])
    # One line, so that an editor finds the place.
    yield Text.assemble(place, level, f" {violation.rule}{where}", no_wrap=True)
    yield _indented(f"{escaped(violation.sentence)}.")
    if violation.rule not in advised:
        advised.add(violation.rule)
        yield _indented(f"What to do: {RULES[violation.rule].advice}")


def _indented(text: str) -> RenderableType:
    return Padding(Text(text), (0, 0, 0, 4), expand=False)


def _sums(tally: Tally) -> Iterator[str]:
    emf, lines = tally.kinds["emf"], sum(tally.kinds.values())
    text, other = tally.kinds["text"], tally.kinds["json"]
    if not emf:
        yield f"{_many(lines, 'line')}, none of them EMF."
        return
    yield (
        f"{_many(lines, 'line')}: {emf} EMF, of which {tally.lossy} would lose a metric; "
        f"not EMF {text} text, {other} JSON, {tally.kinds['blank']} blank."
    )
    widest = tally.widest
    more = " or more" if tally.is_full else ""
    by = f"; {escaped(widest[0])} has the most values, {widest[1]}" if widest else ""
    yield f"CloudWatch would make {_many(tally.series, 'metric')}{more} of them{by}."


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
