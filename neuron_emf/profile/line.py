"""
One summary of a profiler as one line that CloudWatch extracts, and what in it is worth a look.

The keys are those of neuron-profile 2.26 to 2.29. What ends in `_percent` is a fraction of 1 in
a summary, whatever its name says. What is not told has no member; a key that is not known stays
as the profiler wrote it in the object `Other`. The bounds of the rules of thumb, but for that of
throttling, are those of Neuron Explorer's Summary Viewer (read 2026-11-21):
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-explorer/overview-summary-page.html
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from emitter.errors import SettingsError, SourceError
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
    from collections.abc import Collection, Iterator
    from pathlib import Path

FRACTIONS: Final = {
    "mfu_estimated_percent": "MfuPercent", "hfu_estimated_percent": "HfuPercent",
    "mbu_estimated_percent": "MbuPercent",
    "mfu_max_achievable_estimated_percent": "MfuAchievablePercent",
    "total_active_time_percent": "ActivePercent",
    "tensor_engine_active_time_percent": "TensorActivePercent",
    "vector_engine_active_time_percent": "VectorActivePercent",
    "scalar_engine_active_time_percent": "ScalarActivePercent",
    "gpsimd_engine_active_time_percent": "GpSimdActivePercent",
    "sync_engine_active_time_percent": "SyncActivePercent",
    "dma_active_time_percent": "DmaActivePercent",
}  # fmt: skip
NUMBERS: Final = {
    "mm_arithmetic_intensity": "ArithmeticIntensity", "spill_save_bytes": "SpillSaveBytes",
    "spill_reload_bytes": "SpillReloadBytes", "dma_transfer_total_bytes": "DmaTransferBytes",
    "total_time": "TotalSeconds", "total_active_time": "ActiveSeconds",
    "model_flops": "ModelFlops", "hardware_flops": "HardwareFlops",
    "transpose_flops": "TransposeFlops", "hbm_read_bytes": "HbmReadBytes",
    "hbm_write_bytes": "HbmWriteBytes",
    "peak_flops_bandwidth_ratio": "PeakFlopsBandwidthRatio",
    "dma_transfer_count": "DmaTransfers",
    "dma_transfer_average_bytes": "DmaTransferMeanBytes", "dma_queue_count": "DmaQueues",
    "cc_op_count": "CollectiveOperations", "cc_op_time": "CollectiveSeconds",
}  # fmt: skip
TEXTS: Final = {
    "instance_type": "InstanceType", "compiler_version": "CompilerVersion",
    "runtime_version": "RuntimeVersion", "driver_version": "DriverVersion",
    "profiler_version": "ProfilerVersion",
}  # fmt: skip
INDEXES: Final = {"nd_idx": "DeviceIndex", "nc_idx": "CoreIndex"}
SHARES: Final = {
    "TransposePercent": ("TransposeFlops", "HardwareFlops"),
    "SpillReloadPercent": ("SpillReloadBytes", "HbmReadBytes"),
}
LIMIT, THROTTLED = "ThrottleLimitPercent", "ThrottledSeconds"
_NAMES: Final = {**FRACTIONS, **NUMBERS, **TEXTS, **INDEXES}
# Of each core: a fraction, 1 is no limit; the time in which the tensor engine was held back while
# it worked; the same as a fraction of that time.
_LIMIT_KEY: Final = re.compile(r"throttle_avg_util_limit_nc[0-9]+_percent")
_TIME_KEY: Final = re.compile(r"throttle_active_nc[0-9]+_time_ns")
_SHARE_KEY: Final = re.compile(r"throttle_(activity_[0-9]+_)?active_.+_percent")
_NS: Final = 1e9

FIRST, LAST = (2, 26), (2, 29)
MOST: Final = 2.0  # of a fraction: estimates may be above 1, and percent are above 2
MOST_TRANSPOSE, MOST_SPILL = 10, 25  # percent
LEAST_THROTTLED: Final = 5  # percent; a moment at the start of a run is no finding
MAX_FILE_BYTES: Final = 1 << 26
MAX_OTHER: Final = 150
MAX_TEXT_CHARS: Final = 256
MAX_NUMBER: Final = 1e18  # of a member; the greatest counts of operations have 15 digits
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")
_VERSION: Final = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})(\..*)?")
_USE: Final = "Use neuron-explorer view --output-format summary-json."


@dataclass(frozen=True, slots=True)
class ProfileSubject:
    """What all summaries of one call are of."""

    cluster: str
    model: str
    instance_id: str | None
    timestamp_ms: int


@dataclass(frozen=True, slots=True)
class Profile:
    """One summary: its line, each rule it breaks with what to do, why it may be wrong."""

    title: str
    line: str
    findings: Mapping[str, str]
    doubts: tuple[str, ...]


def summaries_in(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """
    The summaries in the file *path*, `-` for standard input, each with its name, which may be "".

    Three shapes are known: an object with a summary for each profile, an object with an array
    `summary` beside the instructions, and a summary alone.

    Raises:
        SettingsError: If there is no such file.
        SourceError: If it holds none.
    """
    raw = _content(path)
    if len(raw) > MAX_FILE_BYTES:
        msg = f"{path} has more than {MAX_FILE_BYTES} bytes. {_USE}"
        raise SourceError(msg)
    try:  # NaN, which profilers before 2.19 wrote, is no number
        found = json.loads(raw.decode("utf-8-sig"), parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        msg = f"{path} is not JSON of a profiler. {_USE}"
        raise SourceError(msg) from error
    if isinstance(found, dict):
        if isinstance(found.get("summary"), list):
            found = found["summary"]
        elif _is_summary(found):
            found = [found]
    named = found.items() if isinstance(found, dict) else [("", one) for one in _listed(found)]
    summaries = [(name, values) for name, values in named if _is_summary(values)]
    if not summaries:
        msg = f"{path} is not the summary of a profile: it has none of its keys. {_USE}"
        raise SourceError(msg)
    return summaries


def _content(path: Path) -> bytes:
    if str(path) == "-":
        if sys.stdin is None:
            msg = "Standard input is closed. Name a file."
            raise SourceError(msg)
        return sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    try:
        with path.open("rb") as opened:
            return opened.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        msg = f"Cannot read {path}: {error.strerror}. Check the name."
        raise SettingsError(msg) from error


def _listed(found: object) -> list[Any]:
    return found if isinstance(found, list) else []


def _is_summary(values: object) -> bool:
    return isinstance(values, Mapping) and any(
        _member(key) is not None and not isinstance(value, (Mapping, list))
        for key, value in values.items()
    )


def profile_of(
    values: Mapping[str, Any], subject: ProfileSubject, name: str = "", title: str = ""
) -> Profile:
    """
    The line of the summary *values*, called *name*, with what is to be said of it.

    Raises:
        WireFormatError: If CloudWatch would not extract it, which is a fault of ours.
    """
    numbers, labels = _numbers(values), _labels(values)
    findings = _findings(numbers, values)
    other, dropped = _other(values, {*numbers, *labels})
    if subject.instance_id is not None:
        labels["InstanceId"] = subject.instance_id
    if _is_text(name):
        labels["Profile"] = name
    places = [str(labels[one]) for one in INDEXES.values() if one in labels]
    sets = [[CLUSTER_DIMENSION, MODEL_DIMENSION]]
    if "CoreIndex" in labels:
        labels[PROFILE_CORE_DIMENSION] = ".".join(places)
        sets.append([*sets[0], PROFILE_CORE_DIMENSION])
    metrics = {name: value for name, value in numbers.items() if name in METRICS}
    properties: dict[str, object] = {
        "Schema": VERSION,
        "Kind": PROFILE,
        CLUSTER_DIMENSION: subject.cluster,
        MODEL_DIMENSION: subject.model,
        **labels,
        **{name: value for name, value in numbers.items() if name not in METRICS},
    }
    rules = ", ".join(findings)
    told = {"KeysDropped": dropped, "Findings": rules, "Other": other}
    properties.update({name: value for name, value in told.items() if value})
    # The same for the same profile, whenever it is told.
    text = json.dumps({**properties, **metrics}, sort_keys=True)
    properties["ProfileId"] = blake2b(text.encode(), digest_size=10).hexdigest()
    if metrics:
        line = emf_line(
            PROFILE_NAMESPACE,
            dimension_sets=sets,
            metrics=metrics,
            units={name: METRICS[name].unit for name in metrics},
            properties=properties,
            timestamp_ms=subject.timestamp_ms,
        )
    else:  # no EMF document: its time stands at the root
        line = encode({"Timestamp": subject.timestamp_ms, **properties})
    return Profile(title, line, findings, tuple(_doubts(values)))


def _amount(value: object) -> float | None:
    """A number from 0; None for what is none, such as a truth value or NaN."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= MAX_NUMBER else None  # type: ignore[operator,return-value]


def _amounts(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, float]:
    found = {name: _amount(values.get(key)) for key, name in names.items()}
    return {name: value for name, value in found.items() if value is not None}


def _matching(values: Mapping[str, Any], pattern: re.Pattern[str]) -> list[float]:
    found = (_amount(value) for key, value in values.items() if pattern.fullmatch(key))
    return [value for value in found if value is not None]


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """The members that are numbers, in the order of the catalogue."""
    is_in_fractions = _is_in_fractions(values)
    shares = _amounts(values, FRACTIONS) if is_in_fractions else {}
    numbers = {name: round(value * 100, 6) for name, value in shares.items()}
    numbers |= _amounts(values, NUMBERS)
    for name, (part, whole) in SHARES.items():
        if part in numbers and numbers.get(whole, 0) > 0:
            share = _amount(numbers[part] / numbers[whole])
            if share is not None:  # of next to nothing: none
                numbers[name] = round(share * 100, 6)
    if is_in_fractions and (limits := _matching(values, _LIMIT_KEY)):
        numbers[LIMIT] = round(min(limits) * 100, 6)
    if times := _matching(values, _TIME_KEY):
        numbers[THROTTLED] = sum(times) / _NS
    return numbers


def _is_in_fractions(values: Mapping[str, Any]) -> bool:
    """Whether shares are fractions of 1, as in every summary that is known."""
    return all(
        not isinstance(value := values.get(key), (int, float)) or not value > MOST
        for key in FRACTIONS
    )


def _labels(values: Mapping[str, Any]) -> dict[str, object]:
    texts = {name: values.get(key) for key, name in TEXTS.items()}
    labels: dict[str, object] = {name: text for name, text in texts.items() if _is_text(text)}
    indexes = _amounts(values, INDEXES).items()
    return labels | {name: int(one) for name, one in indexes if float(one).is_integer()}


def _is_text(value: object) -> bool:
    is_short = isinstance(value, str) and len(value) <= MAX_TEXT_CHARS
    return is_short and bool(str(value).strip()) and str(value).isprintable()


def _other(values: Mapping[str, Any], given: Collection[str]) -> tuple[dict[str, object], int]:
    """What no member says, and how many keys were left out. What is not told is not left out."""
    kept: dict[str, object] = {}
    dropped = 0
    for key, value in values.items():
        # NaN alone is not itself, and an integer may be too great for `math.isnan`.
        if value is None or value != value or _member(key) in given:  # noqa: PLR0124
            continue
        is_number = isinstance(value, (bool, int, float))
        is_kept = abs(value) <= MAX_NUMBER if is_number else _is_text(value)
        if len(kept) < MAX_OTHER and _NAME.fullmatch(key) and is_kept:
            kept[key] = value
        else:
            dropped += 1
    return kept, dropped


def _member(key: str) -> str | None:
    """The member that says what *key* does."""
    if _LIMIT_KEY.fullmatch(key):
        return LIMIT
    return THROTTLED if _TIME_KEY.fullmatch(key) else _NAMES.get(key)


def _findings(members: Mapping[str, float], values: Mapping[str, Any]) -> dict[str, str]:
    """Each rule of thumb that is broken, and what to do; numbers that are not told break none."""
    found = {}
    if (percent := members.get("TransposePercent", 0)) > MOST_TRANSPOSE:
        found["transpose"] = (
            f"{percent:.1f} % of the tensor engine's operations only move data (a good profile: at "
            "most 10 %): lay tensors out so that fewer of them need transposing"
        )
    if (percent := members.get("SpillReloadPercent", 0)) > MOST_SPILL:
        found["spill"] = (
            f"{percent:.1f} % of the reads from device memory reload spilled data (a good profile: "
            "at most 25 %): use smaller tiles, or look for data kept on chip longer than needed"
        )
    tensor = members.get("TensorActivePercent", 0)
    mfu = members.get("MfuPercent", tensor)
    if tensor >= 1 and mfu < tensor / 2:  # below there is no matrix work to judge
        found["low_model_flops"] = (
            f"the tensor engine works {tensor:.1f} % of the time and does {mfu:.1f} % of its peak "
            "for the model (a good profile: at least 50 % of that time): use matrices that fill "
            "the engine, and let instructions overlap"
        )
    active_s = members.get("ActiveSeconds") or math.inf
    times = [value / _NS / active_s for value in _matching(values, _TIME_KEY)]
    percent = 100 * min(1, max([*times, *_matching(values, _SHARE_KEY)], default=0))
    if percent >= LEAST_THROTTLED:  # of the core that fared worst
        held = f", to {members[LIMIT]:.1f} % on average" if LIMIT in members else ""
        found["throttled"] = (
            f"the tensor engine was throttled in {percent:.1f} % of the active time{held} (a good "
            "profile: under 5 %): compare with another instance and with fewer cores at once"
        )
    return found


def _doubts(values: Mapping[str, Any]) -> Iterator[str]:
    """What to say before somebody trusts the line: AWS says that keys may change with versions."""
    match = _VERSION.match(str(values.get("profiler_version")))
    if match is None or not FIRST <= (int(match[1]), int(match[2])) <= LAST:
        found = f"profiler {match[1]}.{match[2]}" if match else "no profiler version"
        yield f"{found}; the keys known here are those of 2.26 to 2.29"
    if not _is_in_fractions(values):
        yield f"a share is above {MOST:g}, so the shares may be percentages already: none is taken"
