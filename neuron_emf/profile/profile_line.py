"""
Turn one profiler summary into one line that CloudWatch extracts, and check rules of thumb.

The keys are those of neuron-profile 2.26 to 2.29, as in the catalogue. A value whose key ends in
`_percent` is a fraction of 1 in a summary. A missing value has no member; an unknown key stays as
the profiler wrote it in the object `Other`. The limits of the rules of thumb, except that of
throttling, are those of Neuron Explorer's Summary Viewer (read 2026-11-21):
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-explorer/overview-summary-page.html
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from neuron_emf.cost.tariff import TABLES
from neuron_emf.reading.files import opened
from neuron_emitter.errors import SourceError
from neuron_wire import VERSION
from neuron_wire.catalogue import PROFILE_MEMBERS
from neuron_wire.catalogue import PROFILE_METRICS as METRICS
from neuron_wire.line import emf_line, encode
from neuron_wire.names import (
    CLUSTER_DIMENSION,
    MODEL_DIMENSION,
    PROFILE_CORE_DIMENSION,
    PROFILE_KIND,
    PROFILE_NAMESPACE,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from neuron_wire.line_members import Amounts, JsonObject, Members, Texts

_INDEXES: Final = ("nd_idx", "nc_idx")
_PROFILE_KEYS: Final = {
    entry.source: entry for entry in PROFILE_MEMBERS if re.fullmatch("[a-z_]+", entry.source)
}
FRACTIONS: Final = {
    key for key, entry in _PROFILE_KEYS.items() if entry.unit and key.endswith("_percent")
}
_SHARES: Final = {
    entry.name: entry.source.split(" / ") for entry in PROFILE_MEMBERS if " / " in entry.source
}
_LIMIT = "ThrottleLimitPercent"
_THROTTLED = "ThrottledSeconds"
# Keys of each core: a fraction, with 1 for no limit; the time for which the tensor engine was
# throttled while it worked, and its share of that time.
_LIMIT_KEY: Final = re.compile(r"throttle_avg_util_limit_nc[0-9]+_percent")
_TIME_KEY: Final = re.compile(r"throttle_active_nc[0-9]+_time_ns")
_SHARE_KEY: Final = re.compile(r"throttle_(activity_[0-9]+_)?active_.+_percent")
_NS: Final = 1e9

KNOWN_VERSIONS: Final = ("2.26.", "2.27.", "2.28.", "2.29.")
MAX_FRACTION: Final = 2.0  # of a fraction: estimates may be above 1, and percentages are above 2
_MOST_PERCENT: Final = {"transpose": ("TransposePercent", 10), "spill": ("SpillReloadPercent", 25)}
_SENTENCES: Final = TABLES["profile"]
LEAST_THROTTLED: Final = 5  # percent; a moment at the start of a run is not a finding
MAX_PROFILE_BYTES: Final = 1 << 26  # a longer text is cut, and then not JSON
MAX_OTHER: Final = 150
MAX_PROFILE_TEXT_CHARS: Final = 256
MAX_NUMBER: Final = 1e18  # of a member; the largest counts of operations have 15 digits
# NaN, which profilers before 2.19 wrote, is not a number.
_DECODER: Final = json.JSONDecoder(parse_constant=lambda _: None)
_DOCUMENT_START: Final = re.compile(r"^[{\[]", re.MULTILINE)
_PROFILE_METRIC_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class Profile:
    """One summary: its line, each broken rule with advice, and reasons for doubt."""

    line: str
    broken_rules: Texts
    doubts: tuple[str, ...]


def summaries_in(path: Path) -> list[tuple[str, JsonObject]]:
    """
    Return the summaries in the file *path*, `-` for standard input, each with its name, maybe "".

    Three shapes are known: an object with a summary for each profile, an object with an array
    `summary` next to the instructions, and a summary alone. Log lines before and after are skipped.

    Raises:
        SettingsError: If there is no such file.
        SourceError: If it holds none.
    """
    with opened(path) as (_, file):
        content = file.read(MAX_PROFILE_BYTES)
    text = content.decode("utf-8-sig", "replace")
    named = [pair for document in _documents_in(text) for pair in _named_rows(document)]
    summaries = [(name, values) for name, values in named if _is_summary(values)]
    if not summaries:
        advice = "Use neuron-explorer view --output-format summary-json."
        msg = f"{path} is not the summary of a profile: it has none of its keys. {advice}"
        raise SourceError(msg)
    return summaries


def _documents_in(text: str) -> Iterator[object]:
    """Yield each JSON document of *text* that begins a line."""
    end = 0
    for start in _DOCUMENT_START.finditer(text):
        if start.start() >= end:
            with suppress(ValueError, RecursionError):
                document, end = _DECODER.raw_decode(text, start.start())
                yield document


def _named_rows(document: object) -> list[tuple[str, Any]]:
    """Return the possible summaries in *document*, each with its name."""
    match document:
        case {"summary": [*rows]} | [*rows]:
            return [("", row) for row in rows]
        case dict() if not _is_summary(document):
            return list(document.items())
    return [("", document)]


def _is_summary(values: object) -> bool:
    return isinstance(values, Mapping) and any(
        _member(key) is not None and not isinstance(value, (Mapping, list))
        for key, value in values.items()
    )


def profile_of(values: JsonObject, cluster: str, model: str, at_ms: int, name: str = "") -> Profile:
    """
    Return the line of the summary *values*, called *name*, with its remarks.

    Raises:
        WireFormatError: If CloudWatch would not extract it, which is a fault of ours.
    """
    amounts = {key: value for key, value in values.items() if _is_amount(value)}
    is_in_fractions = all(amounts.get(key, 0) <= MAX_FRACTION for key in FRACTIONS)
    numbers = _numbers(amounts, is_in_fractions=is_in_fractions)
    labels = _labels(values, amounts)
    if _is_text(name):
        labels["Profile"] = name
    broken_rules = _broken_rules(numbers, amounts)
    other, dropped = _other(values, {*numbers, *labels})
    sets = [[CLUSTER_DIMENSION, MODEL_DIMENSION]]
    if "CoreIndex" in labels:
        sets.append([*sets[0], PROFILE_CORE_DIMENSION])
        places = [labels[label] for label in ("DeviceIndex", "CoreIndex") if label in labels]
        labels[PROFILE_CORE_DIMENSION] = ".".join(map(str, places))
    metrics = {name: value for name, value in numbers.items() if name in METRICS}
    optional = {"KeysDropped": dropped, "Findings": ", ".join(broken_rules), "Other": other}
    properties: Members = {
        "Schema": VERSION,
        "Kind": PROFILE_KIND,
        CLUSTER_DIMENSION: cluster,
        MODEL_DIMENSION: model,
        **labels,
        **{name: value for name, value in numbers.items() if name not in METRICS},
        **{name: value for name, value in optional.items() if value},
    }
    # Equal for the same profile at any time.
    text = json.dumps({**properties, **metrics}, sort_keys=True)
    properties["ProfileId"] = blake2b(text.encode(), digest_size=10).hexdigest()
    if metrics:
        line = emf_line(
            PROFILE_NAMESPACE,
            dimension_sets=sets,
            metrics=metrics,
            units={name: METRICS[name].unit for name in metrics},
            properties=properties,
            timestamp_ms=at_ms,
        )
    else:  # not an EMF document: its time is at the root
        line = encode({"Timestamp": at_ms, **properties})
    return Profile(line, broken_rules, tuple(_doubts(labels, is_in_fractions=is_in_fractions)))


def _is_amount(value: object) -> bool:
    """Return True for a number from 0: neither a truth value nor NaN."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and 0 <= value <= MAX_NUMBER  # type: ignore[operator]


def _matching(amounts: Amounts, pattern: re.Pattern[str]) -> list[float]:
    return [value for key, value in amounts.items() if pattern.fullmatch(key)]


def _numbers(amounts: Amounts, *, is_in_fractions: bool) -> dict[str, float]:
    """Return the members that are numbers, in the order of the catalogue."""
    numbers: dict[str, float] = {}
    for key, entry in _PROFILE_KEYS.items():
        if not entry.unit or key not in amounts:
            continue
        if key not in FRACTIONS:
            numbers[entry.name] = amounts[key]
        elif is_in_fractions:
            numbers[entry.name] = round(amounts[key] * 100, 6)
    for name, (part, whole) in _SHARES.items():
        share = amounts[part] / amounts[whole] if part in amounts and amounts.get(whole) else None
        if share is not None and share <= MAX_NUMBER:  # a share of almost nothing is omitted
            numbers[name] = round(share * 100, 6)
    if is_in_fractions and (limits := _matching(amounts, _LIMIT_KEY)):
        numbers[_LIMIT] = round(min(limits) * 100, 6)
    if times := _matching(amounts, _TIME_KEY):
        numbers[_THROTTLED] = sum(times) / _NS
    return numbers


def _labels(values: JsonObject, amounts: Amounts) -> Members:
    labels = {
        entry.name: values[key]
        for key, entry in _PROFILE_KEYS.items()
        if not entry.unit and key not in _INDEXES and _is_text(values.get(key))
    }
    for key in _INDEXES:
        if key in amounts and amounts[key] % 1 == 0:
            labels[_PROFILE_KEYS[key].name] = int(amounts[key])
    return labels


def _is_text(value: object) -> bool:
    is_short = isinstance(value, str) and len(value) <= MAX_PROFILE_TEXT_CHARS
    return is_short and bool(str(value).strip()) and str(value).isprintable()


def _other(values: JsonObject, given: Collection[str]) -> tuple[Members, int]:
    """Return values without a member, and the number of omitted keys, without missing values."""
    kept: Members = {}
    dropped = 0
    for key, value in values.items():
        if value is None or _member(key) in given:
            continue
        is_number = isinstance(value, (bool, int, float))
        is_kept = abs(value) <= MAX_NUMBER if is_number else _is_text(value)
        if len(kept) < MAX_OTHER and _PROFILE_METRIC_NAME.fullmatch(key) and is_kept:
            kept[key] = value
        else:
            dropped += 1
    return kept, dropped


def _member(key: str) -> str | None:
    """Return the member for *key*."""
    if _LIMIT_KEY.fullmatch(key):
        return _LIMIT
    if _TIME_KEY.fullmatch(key):
        return _THROTTLED
    return _PROFILE_KEYS[key].name if key in _PROFILE_KEYS else None


def _broken_rules(members: Amounts, amounts: Amounts) -> dict[str, str]:
    """Return each broken rule of thumb and its advice; a missing number breaks no rule."""
    broken = {}
    for rule, (name, most) in _MOST_PERCENT.items():
        percent = members.get(name, 0)
        if percent > most:
            broken[rule] = _SENTENCES[rule].format(percent=percent)
    tensor = members.get("TensorActivePercent", 0)
    mfu = members.get("MfuPercent", tensor)
    if tensor >= 1 and mfu < tensor / 2:  # below it there is no matrix work to judge
        broken["low_model_flops"] = _SENTENCES["low_model_flops"].format(tensor=tensor, mfu=mfu)
    active_s = members.get("ActiveSeconds") or math.inf
    times = [value / _NS / active_s for value in _matching(amounts, _TIME_KEY)]
    percent = 100 * min(1, max([*times, *_matching(amounts, _SHARE_KEY)], default=0))
    limit = members.get(_LIMIT, 100)
    if percent >= LEAST_THROTTLED:  # the core that was throttled most
        limited = f", to {limit:.1f} % on average" if _LIMIT in members else ""
        broken["throttled"] = _SENTENCES["throttled"].format(percent=percent, limited=limited)
    elif limit <= 100 - LEAST_THROTTLED:
        broken["throttled"] = _SENTENCES["limited"].format(limit=limit)
    return broken


def _doubts(labels: JsonObject, *, is_in_fractions: bool) -> Iterator[str]:
    """Yield reasons to doubt the line: AWS says that keys may change between versions."""
    version = str(labels.get("ProfilerVersion", "unknown"))
    if not version.startswith(KNOWN_VERSIONS):
        yield f"profiler version {version}; the keys known here are those of 2.26 to 2.29"
    if not is_in_fractions:
        yield (
            f"a share is above {MAX_FRACTION:g}, so the shares may be percentages already: "
            "none is taken"
        )
