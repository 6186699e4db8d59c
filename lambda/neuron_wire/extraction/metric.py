"""One metric definition, and the number or numbers at the root that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neuron_wire.checked import NUMBERS
from neuron_wire.extraction.limits import MAX_METRIC_NAME_CHARS, MAX_VALUE, RESOLUTIONS, UNITS
from neuron_wire.extraction.violation import Violation, at_root, in_directive
from neuron_wire.names import MAX_METRIC_VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def metric_violations(
    definition: Mapping[str, Any],
    document: Mapping[str, Any],
    dimensions: set[str],
    resolutions: dict[str, object],
    place: tuple[int, int],
) -> Iterator[Violation]:
    """
    What is wrong with *definition*; *place* is that of its directive and its own in it, from 0.

    *dimensions* are the names in its directive's sets; *resolutions* are those
    of the metrics before it, and it adds its own.
    """
    name = definition.get("Name")
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_METRIC_NAME_CHARS:
        sentence = f"a metric name is not 1 to {MAX_METRIC_NAME_CHARS} characters"
        yield Violation("metric_name", sentence, _path(place, "Name"))
        return
    unit = definition.get("Unit", "None")
    if not isinstance(unit, str) or unit not in UNITS:
        sentence = f"the metric {name} has a unit that CloudWatch does not know"
        yield Violation("unit", sentence, _path(place, "Unit"))
    resolution = definition.get("StorageResolution", 60)
    if isinstance(resolution, bool) or resolution not in RESOLUTIONS:  # True is 1 to Python
        sentence = f"the metric {name} has a storage resolution other than 1 or 60"
        yield Violation("resolution", sentence, _path(place, "StorageResolution"))
    elif resolutions.setdefault(name, resolution) != resolution:
        sentence = f"the metric {name} has two storage resolutions in one line"
        yield Violation("resolution", sentence, _path(place, "StorageResolution"))
    if name in dimensions:
        sentence = f"{name} is both a metric and a dimension"
        yield Violation("collision", sentence, _path(place, "Name"))
    yield from _value_violations(name, document)


def _path(place: tuple[int, int], member: str) -> str:
    index, number = place
    return in_directive(index, f".Metrics[{number}].{member}")


def _value_violations(name: str, document: Mapping[str, Any]) -> Iterator[Violation]:
    if name not in document:
        sentence = f"the metric {name} has no value at the root of the line"
        yield Violation("value", sentence, at_root(name))
        return
    value = document[name]
    values = value if isinstance(value, list) else [value]
    if not 1 <= len(values) <= MAX_METRIC_VALUES:
        counts = f"{len(values)} values, expected 1 to {MAX_METRIC_VALUES}"
        yield Violation("values", f"the metric {name} has {counts}", at_root(name))
    if not all(_is_metric_value(one) for one in values):
        sentence = f"the metric {name} has a value that is not a number within 2^360"
        yield Violation("value", sentence, at_root(name))


def _is_metric_value(value: object) -> bool:
    # NaN compares false with everything.
    return type(value) in NUMBERS and -MAX_VALUE <= value <= MAX_VALUE  # type: ignore[operator]
