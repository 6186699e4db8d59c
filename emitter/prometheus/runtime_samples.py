"""
The runtimes of the last report, under the names of neuron-monitor-prometheus.py.

The script has no label but the tag to tell runtimes apart, and tags collide: an
unset one is the pid that the container sees, "1" everywhere. So the runtimes
with one tag are merged here by the rules of a minute, where the script shows
whichever came last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from emitter.fold.amounts import MAX_LATENCY_S, amount
from emitter.fold.inventory import CORE_INDEX
from emitter.fold.periods import is_long_enough
from emitter.prometheus.families import (
    CORE_MEMORY,
    CORE_MEMORY_LOCATION,
    EXECUTION_ERRORS,
    EXECUTION_STATUS,
    LATENCY,
    RUNTIME_MEMORY,
    RUNTIME_VCPU,
    UTILIZATION,
    Sample,
)
from emitter.prometheus.last_values import standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from emitter.prometheus.last_values import RuntimeValues, Totals, View
    from emitter.reports.groups import Counters

MAX_SAMPLES: Final = 10_000
"""Of all runtimes; 32 runtimes that list 32 cores each make some 6,700."""

PERCENTILES: Final = ("p0", "p1", "p25", "p50", "p75", "p99", "p100")
_MOST_VCPU_PERCENT: Final = 1e6

_Key = TypeVar("_Key")


def runtime_samples(view: View, now_s: float) -> tuple[list[Sample], int]:
    """
    What the runtimes told that still stands at *now_s*, seconds since the epoch.

    Returns:
        At most `MAX_SAMPLES`, whole tags in the order of the report, and how
        many runtimes were left out.
    """
    by_tag: dict[str, list[RuntimeValues]] = {}
    for runtime in view.runtimes:
        by_tag.setdefault(runtime.tag, []).append(runtime)
    samples: list[Sample] = []
    left_out = view.left_out
    for tag, runtimes in by_tag.items():
        more = [
            *_utilization(tag, runtimes, now_s),
            *_vcpu(tag, runtimes, now_s),
            *_memory(tag, runtimes, now_s),
            *_executions(tag, runtimes, view.totals.get(tag, {}), now_s),
        ]
        if len(samples) + len(more) > MAX_SAMPLES:
            left_out += len(runtimes)
        else:
            samples += more
    return samples, left_out


def _utilization(tag: str, runtimes: Sequence[RuntimeValues], now_s: float) -> Iterable[Sample]:
    percent: dict[int, float] = {}
    hides = False  # whether a runtime of the tag failed: then a 0 of another proves nothing
    for runtime in runtimes:
        counters = standing(runtime.counters, now_s)
        if counters is None:
            continue
        if not _is_usable(counters):
            hides = True
            continue
        for key, use in (counters.neuroncores_in_use or {}).items():
            share = None if use is None else use.neuroncore_utilization
            core = CORE_INDEX.get(key)
            if core is not None and share is not None:
                percent[core] = max(percent.get(core, 0.0), min(share, 100.0))
    for core in sorted(percent):
        if percent[core] or not hides:
            yield Sample(UTILIZATION, (tag, str(core)), percent[core] / 100.0)


def _is_usable(counters: Counters) -> bool:
    """Whether its percentages mean anything: the first sample covers milliseconds, and is noise."""
    has_cores = counters.neuroncores_in_use is not None
    return not counters.error and has_cores and is_long_enough(counters.period)


def _vcpu(tag: str, runtimes: Sequence[RuntimeValues], now_s: float) -> Iterable[Sample]:
    groups = [standing(runtime.vcpu, now_s) for runtime in runtimes]
    shares = [
        group.vcpu_usage
        for group in groups
        if group is not None and not group.error and is_long_enough(group.period)
    ]
    for name in ("user", "system"):
        percent = [
            told
            for share in shares
            if share is not None
            and (told := getattr(share, name)) is not None
            and 0 <= told < _MOST_VCPU_PERCENT
        ]
        if percent:
            yield Sample(RUNTIME_VCPU, (tag, name), sum(percent) / 100.0)


def _memory(tag: str, runtimes: Sequence[RuntimeValues], now_s: float) -> Iterable[Sample]:
    locations: dict[str, int] = {}
    cores: dict[tuple[int, str], int] = {}
    for runtime in runtimes:
        group = standing(runtime.memory, now_s)
        if group is None or group.error or (used := group.neuron_runtime_used_bytes) is None:
            continue
        _add(locations, "host", used.host)
        if amount(used.neuron_device) == 0 and group.loaded_models:
            continue  # inf1 says 0 while models are loaded: it does not measure this
        _add(locations, "neuron_device", used.neuron_device)
        breakdown = used.usage_breakdown
        by_core = None if breakdown is None else breakdown.neuroncore_memory_usage
        for key, by_use in (by_core or {}).items():
            core = CORE_INDEX.get(key)
            if core is None or by_use is None:
                continue
            for use in CORE_MEMORY:
                _add(cores, (core, use), by_use.get(use))
    for location, size in locations.items():
        yield Sample(RUNTIME_MEMORY, (tag, location), size)
    for (core, use), size in sorted(cores.items()):
        yield Sample(CORE_MEMORY[use], (tag, CORE_MEMORY_LOCATION, str(core)), size)


def _add(sums: dict[_Key, int], key: _Key, told: float | None) -> None:
    size = amount(told)
    if size is not None:
        sums[key] = sums.get(key, 0) + size


def _executions(
    tag: str, runtimes: Sequence[RuntimeValues], totals: Totals, now_s: float
) -> Iterable[Sample]:
    groups = [
        group
        for runtime in runtimes
        if (group := standing(runtime.executions, now_s)) is not None and not group.error
    ]
    if not groups:
        return
    for (kind, name), count in totals.items():
        family = EXECUTION_STATUS if kind == "status" else EXECUTION_ERRORS
        yield Sample(family, (tag, name), count)
    latencies = [
        group.latency_stats.total_latency
        for group in groups
        if group.latency_stats is not None and group.latency_stats.total_latency is not None
    ]
    for name in PERCENTILES:
        seconds = [
            told
            for latency in latencies
            if (told := getattr(latency, name)) is not None and 0 <= told <= MAX_LATENCY_S
        ]
        if seconds:
            # Percentiles do not merge: what is surely not exceeded stands for all.
            value = min(seconds) if name == PERCENTILES[0] else max(seconds)
            yield Sample(LATENCY, (tag, name), value)
