"""
The dimension sets of a directive, and the texts at the root that they name.

Two rules may be broken and the metric is extracted all the same, without dimensions: a
blank value, and no set, which is what AWS's own exporters for OpenTelemetry write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neuron_wire.extraction.limits import (
    MAX_DIMENSION_NAME_CHARS,
    MAX_DIMENSION_VALUE_CHARS,
    MAX_DIMENSIONS,
)
from neuron_wire.extraction.violation import Violation, at_root, in_directive

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping


def dimension_sets(directive: Mapping[str, Any]) -> list[list[str]]:
    """The sets of a *directive* that is by the rules: an empty one where it has none."""
    return directive.get("Dimensions") or [[]]


def dimension_violations(
    sets: object, document: Mapping[str, Any], index: int
) -> Generator[Violation, None, set[str]]:
    """What is wrong with the *sets* of directive *index*; returns the names in them."""
    keys: set[str] = set()
    if not isinstance(sets, list):
        sentence = "Dimensions is no array of dimension sets"
        yield Violation("dimensions", sentence, in_directive(index, ".Dimensions"))
        return keys
    if not sets:
        sentence = "the directive has no dimension set, so its metrics have no dimensions"
        yield Violation("no_dimensions", sentence, in_directive(index))
    for number, names in enumerate(sets):
        if not isinstance(names, list) or len(names) > MAX_DIMENSIONS:
            sentence = f"a dimension set is not an array of at most {MAX_DIMENSIONS} names"
            path = in_directive(index, f".Dimensions[{number}]")
            yield Violation("dimensions", sentence, path)
            continue
        for place, name in enumerate(names):
            yield from _dimension(name, document, (index, number, place))
            if isinstance(name, str):
                keys.add(name)
                if name in names[:place]:
                    sentence = f"a dimension set names {name} twice"
                    yield Violation("repeated", sentence, _path(index, number, place))
    return keys


def is_printable_ascii(text: str) -> bool:
    """ASCII without control characters, in MetricDatum's own words."""
    return text.isascii() and text.isprintable()


def _path(index: int, number: int, place: int) -> str:
    return in_directive(index, f".Dimensions[{number}][{place}]")


def _dimension(
    name: object, document: Mapping[str, Any], at: tuple[int, int, int]
) -> Iterator[Violation]:
    if (
        not isinstance(name, str)
        or not name.strip()
        or len(name) > MAX_DIMENSION_NAME_CHARS
        or not is_printable_ascii(name)
        or name.startswith(":")
    ):
        printable = f"1 to {MAX_DIMENSION_NAME_CHARS} printable ASCII characters"
        sentence = f"a dimension name is not {printable} without a leading colon"
        yield Violation("dimension_name", sentence, _path(*at))
        return
    value = document.get(name)
    if not isinstance(value, str):
        sentence = f"the dimension {name} has no text at the root of the line"
        yield Violation("dimension_value", sentence, at_root(name))
    elif not value.strip():
        sentence = f"the dimension {name} is blank, so the metric is extracted without dimensions"
        yield Violation("dimension_blank", sentence, at_root(name))
    elif len(value) > MAX_DIMENSION_VALUE_CHARS or not is_printable_ascii(value):
        printable = f"1 to {MAX_DIMENSION_VALUE_CHARS} printable ASCII characters"
        sentence = f"the dimension {name} is not {printable}"
        yield Violation("dimension_value", sentence, at_root(name))
