"""
One summary as one line that CloudWatch extracts.

What is not told has no member. A key that is not known stays as the profiler
wrote it, name and value, in the object `Other`.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from neuron_emf.profile import keys
from neuron_emf.profile.advice import ProfileAdvice, advice_for
from neuron_emf.profile.versions import doubts, is_in_fractions
from neuron_wire import VERSION
from neuron_wire.catalogue import PROFILE as METRICS
from neuron_wire.emf import emf_line
from neuron_wire.line import encode
from neuron_wire.names import (
    CLUSTER_DIMENSION,
    MODEL_DIMENSION,
    PROFILE,
    PROFILE_CORE_DIMENSION,
    PROFILE_NAMESPACE,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from neuron_emf.profile.summaries import Summary

MAX_OTHER: Final = 150
MAX_TEXT_CHARS: Final = 256
MAX_NUMBER: Final = 1e18  # of a member; the greatest counts of operations have 15 digits
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")
_ID_BYTES: Final = 10


@dataclass(frozen=True, slots=True)
class Profile:
    """
    What becomes of one summary.

    Attributes:
        title: How people call it: file, and name where it has one.

        line: For CloudWatch Logs.

        advice: What is worth a look.

        doubts: Why the figures may be wrong.
    """

    title: str
    line: str
    advice: tuple[ProfileAdvice, ...]
    doubts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProfileSubject:
    """What all summaries of one call are of."""

    cluster: str
    model: str
    instance_id: str | None
    timestamp_ms: int


def profile_of(summary: Summary, subject: ProfileSubject) -> Profile:
    """
    The line of *summary*, with what is to be said of it.

    Raises:
        WireFormatError: If CloudWatch would not extract it, which is a fault of ours.
    """
    values = summary.values
    numbers = _numbers(values)
    labels = _labels(values)
    advice = tuple(advice_for(numbers, values))
    other, dropped = _other(values, numbers.keys() | labels.keys())
    labels.update(_named(summary, subject))
    core = _core(labels)
    if core:
        labels[PROFILE_CORE_DIMENSION] = core
    properties: dict[str, object] = {
        "Schema": VERSION,
        "Kind": PROFILE,
        CLUSTER_DIMENSION: subject.cluster,
        MODEL_DIMENSION: subject.model,
        **labels,
        **{name: value for name, value in numbers.items() if name not in METRICS},
    }
    if dropped:
        properties["KeysDropped"] = dropped
    if advice:
        properties["Findings"] = ", ".join(broken.rule for broken in advice)
    if other:
        properties["Other"] = other
    metrics = {name: value for name, value in numbers.items() if name in METRICS}
    properties["ProfileId"] = _digest({**properties, **metrics})
    return Profile(
        title=f"{summary.file} {summary.name}".rstrip(),
        line=_line_text(properties, metrics, subject.timestamp_ms, has_core=bool(core)),
        advice=advice,
        doubts=tuple(doubts(values)),
    )


def _line_text(
    properties: Mapping[str, object],
    metrics: Mapping[str, float],
    timestamp_ms: int,
    *,
    has_core: bool,
) -> str:
    if not metrics:  # no EMF document: its time stands at the root
        return encode({"Timestamp": timestamp_ms, **properties})
    by_model = [CLUSTER_DIMENSION, MODEL_DIMENSION]
    sets = [by_model, [*by_model, PROFILE_CORE_DIMENSION]] if has_core else [by_model]
    return emf_line(
        PROFILE_NAMESPACE,
        dimension_sets=sets,
        metrics=metrics,
        units={name: METRICS[name].unit for name in metrics},
        properties=properties,
        timestamp_ms=timestamp_ms,
    )


def _number(value: object) -> float | None:
    """An amount from 0; None for what is none."""
    found = keys.amount(value)
    # NaN compares false with everything.
    return found if found is not None and 0 <= found <= MAX_NUMBER else None


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """The members that are numbers, in the order of the catalogue."""
    numbers: dict[str, float] = {}
    if is_in_fractions(values):
        for key, name in keys.FRACTIONS.items():
            _put(numbers, name, _number(values.get(key)), 100.0)
    for key, name in keys.NUMBERS.items():
        _put(numbers, name, _number(values.get(key)))
    _put_share(numbers, "TransposePercent", "TransposeFlops", "HardwareFlops")
    _put_share(numbers, "SpillReloadPercent", "SpillReloadBytes", "HbmReadBytes")
    limits = _all(values, keys.THROTTLE_LIMIT)
    if limits and is_in_fractions(values):
        _put(numbers, "ThrottleLimitPercent", min(limits), 100.0)
    times = _all(values, keys.THROTTLED_TIME)
    if times:
        _put(numbers, "ThrottledSeconds", sum(times) / keys.NS)
    return numbers


def _put(found: dict[str, float], name: str, value: float | None, factor: float = 1.0) -> None:
    if value is not None:
        found[name] = round(value * factor, 6) if factor != 1.0 else value


def _put_share(found: dict[str, float], name: str, part: str, whole: str) -> None:
    if part in found and found.get(whole, 0) > 0:
        _put(found, name, _number(found[part] / found[whole]), 100.0)  # of next to nothing: none


def _all(values: Mapping[str, Any], pattern: re.Pattern[str]) -> list[float]:
    numbers = [_number(value) for key, value in values.items() if pattern.fullmatch(key)]
    return [one for one in numbers if one is not None]


def _labels(values: Mapping[str, Any]) -> dict[str, object]:
    labels: dict[str, object] = {}
    for key, name in keys.TEXTS.items():
        value = values.get(key)
        if isinstance(value, str) and _is_text(value):
            labels[name] = value
    for key, name in keys.INDEXES.items():
        number = _number(values.get(key))
        if number is not None and float(number).is_integer():
            labels[name] = int(number)
    return labels


def _named(summary: Summary, subject: ProfileSubject) -> dict[str, object]:
    names: dict[str, object] = {}
    if subject.instance_id is not None:
        names["InstanceId"] = subject.instance_id
    if summary.name and _is_text(summary.name):
        names["Profile"] = summary.name
    return names


def _core(labels: Mapping[str, object]) -> str:
    places = [str(labels[name]) for name in ("DeviceIndex", "CoreIndex") if name in labels]
    return ".".join(places) if "CoreIndex" in labels else ""


def _is_text(value: str) -> bool:
    return bool(value.strip()) and len(value) <= MAX_TEXT_CHARS and value.isprintable()


def _other(values: Mapping[str, Any], given: AbstractSet[str]) -> tuple[dict[str, object], int]:
    """What no member says, and how many keys were left out. What is not told is not left out."""
    kept: dict[str, object] = {}
    dropped = 0
    for key, value in values.items():
        if value is None or (isinstance(value, float) and math.isnan(value)):
            continue
        if _is_said(key, given):
            continue
        if len(kept) < MAX_OTHER and _NAME.fullmatch(key) and _is_scalar(value):
            kept[key] = value
        else:
            dropped += 1
    return kept, dropped


def _is_said(key: str, given: AbstractSet[str]) -> bool:
    for known in (keys.FRACTIONS, keys.NUMBERS, keys.TEXTS, keys.INDEXES):
        if key in known:
            return known[key] in given
    if keys.THROTTLE_LIMIT.fullmatch(key):
        return "ThrottleLimitPercent" in given
    return bool(keys.THROTTLED_TIME.fullmatch(key)) and "ThrottledSeconds" in given


def _is_scalar(value: object) -> bool:
    if isinstance(value, str):
        return _is_text(value)
    return isinstance(value, (bool, int, float)) and abs(value) <= MAX_NUMBER


def _digest(members: Mapping[str, object]) -> str:
    """The same for the same profile, whenever it is told."""
    text = json.dumps(members, sort_keys=True, ensure_ascii=True)
    return blake2b(text.encode(), digest_size=_ID_BYTES).hexdigest()
