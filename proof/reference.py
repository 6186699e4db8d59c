"""
The expected rollups of a set of records, computed the slow way.

It shares no code with the aggregator: every number is computed from all distinct records at once,
with fractions instead of running sums, directly from the rules. It knows nothing of deliveries,
invocations or publications.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING

from proof.reference_instance import (
    cores_of,
    counting_records,
    covered_seconds_of,
    has_two_emitters,
    knows_a_core,
    last_of,
    memory_of,
    percent_of,
    shut_down,
    total_of,
    type_of,
    weighted_mean,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from neuron_wire import MinuteRecord
    from proof.reference_instance import Number, Records

    Key = tuple[int, str]
    """A minute since the epoch and a cluster."""
    Prices = Mapping[str, Fraction]
    Minutes = dict[Key, dict[str, Records]]
    """The records of each minute and cluster, by instance."""
    Numbers = dict[str, Number | None]
    Merged = dict[str, tuple[int | None, int | None]]
    """Executions and quiet minutes by owner; None if unknown."""

REFERENCE_USD_PER_HOUR = {
    "us-east-1/trn1.2xlarge": Fraction("1.34375"),
    "us-east-1/inf2.xlarge": Fraction("0.7582"),
    "eu-north-1/inf2.xlarge": Fraction("0.83402"),
}
"""Prices by Region and type; an entry with only a type counts in each Region, and first."""
PEAKS = {
    "inf1.6xlarge": (256, 16),
    "inf2.xlarge": (190, 2),
    "inf2.8xlarge": (190, 2),
    "inf2.24xlarge": (1140, 12),
    "inf2.48xlarge": (2280, 24),
    "trn1.2xlarge": (190, 2),
    "trn1.32xlarge": (3040, 32),
    "trn1n.32xlarge": (3040, 32),
    "trn2.3xlarge": (667, 4),
    "trn2.48xlarge": (10672, 64),
    "trn9.huge": None,
    None: None,
}
"""
Dense BF16, TFLOPS of an instance, and its cores, by type; None if the chip is unknown. A type that
is missing here raises `KeyError`: without it, its share would silently be wrong.
"""
REFERENCE_IDLE_AFTER_MINUTES = 15
FORGOTTEN_AFTER_MINUTES = 60
BACK_WITHIN_MINUTES = 5
"""Minutes after a clean shutdown in which an instance may report again."""

NOTHING_SAID: Mapping[str, str] = {}


@dataclass
class OwnerRow:
    """Idle cores of one owner: number of cores, of instances, minutes, USD per hour."""

    cores: Fraction = Fraction(0)
    unpriced: Fraction = Fraction(0)
    instances: int = 0
    minutes: int = 0
    cost: Fraction = Fraction(0)


def rollups(
    records: Iterable[MinuteRecord],
    idle_after_minutes: int = REFERENCE_IDLE_AFTER_MINUTES,
    usd_per_hour: Prices = REFERENCE_USD_PER_HOUR,
    paid_by_type: Mapping[str, str] = NOTHING_SAID,
) -> dict[Key, dict[str, float]]:
    """
    Return every number of every (minute, cluster) that has a record.

    Numbers that depend on more than the minute's records are omitted: SilentInstances,
    CoveragePercent and LateRecords; instead there are `CoveredSeconds` and `Records`.
    """
    minutes = _minutes(records)
    rules = idle_after_minutes, usd_per_hour, paid_by_type
    return {
        key: _rollup(
            own,
            *rules,
            last_seen=_last_seen(minutes, *key),
            in_two_clusters=_in_two_clusters(key, minutes),
        )
        for key, own in minutes.items()
    }


def idle_owners(
    records: Iterable[MinuteRecord], usd_per_hour: Prices
) -> dict[Key, dict[str, OwnerRow]]:
    """
    Return the owners of idle cores of every (minute, cluster): a row for each owner.

    The records must have the name of every holder; a core of several is split evenly.
    """
    found: dict[Key, dict[str, OwnerRow]] = {}
    for key, instances in _minutes(records).items():
        rows = found[key] = {}
        for parts in map(counting_records, instances.values()):
            own = set()
            for core in cores_of(parts, usd_per_hour):
                if core.letter in "b?" or core.idle < REFERENCE_IDLE_AFTER_MINUTES:
                    continue
                holding = sorted(core.owners)
                for number, owner in enumerate(holding):
                    row = rows.setdefault(owner, OwnerRow())
                    share = 1_000_000 // len(holding) + (number < 1_000_000 % len(holding))
                    row.cores += Fraction(share, 1_000_000)
                    row.minutes = max(row.minutes, core.idle)
                    if core.usd_per_hour is None:
                        row.unpriced += Fraction(share, 1_000_000)
                    else:
                        row.cost += core.usd_per_hour * Fraction(share, 1_000_000)
                    own.add(owner)
            for owner in own:
                rows[owner].instances += 1
    return found


def types(records: Iterable[MinuteRecord]) -> dict[Key, dict[str, dict[str, float]]]:
    """Return every number of every instance type in each (minute, cluster)."""
    found = {}
    for key, instances in _minutes(records).items():
        by_type: dict[str | None, list[Records]] = {}
        for parts in map(counting_records, instances.values()):
            by_type.setdefault(type_of(parts), []).append(parts)
        found[key] = {name: _cores_alone(own) for name, own in by_type.items() if name is not None}
    return found


def _percent_of_peak(instances: Iterable[Records]) -> Fraction | None:
    """Return the share of the peak of known cores, over the instances that report FLOPs."""
    done = Fraction(0)
    possible = Fraction(0)
    for own in instances:
        tera_flops = weighted_mean((part.tera_flops, part.covered_seconds) for part in own)
        peak = PEAKS[type_of(own)]
        letters = [core.letter for core in cores_of(own, {})]
        known = len(letters) - letters.count("?")
        if tera_flops is None or not known or peak is None:
            continue
        done += tera_flops
        possible += Fraction(peak[0] * known, max(peak[1], len(letters)))
    return 100 * done / possible if possible else None


def _minutes(records: Iterable[MinuteRecord]) -> Minutes:
    distinct = {(r.cluster, r.instance_id, r.boot, r.seq, r.minute_ms): r for r in records}
    minutes: Minutes = {}
    for r in distinct.values():
        minute = minutes.setdefault((r.minute_ms // 60_000, r.cluster), {})
        minute.setdefault(r.instance_id, []).append(r)
    return minutes


def _last_seen(minutes: Minutes, minute: int, cluster: str) -> list[Records]:
    """Return the last records with a known core, of instances unknown in *minute*."""
    found = []
    before = [
        (at, instances)
        for (at, name), instances in sorted(minutes.items(), key=lambda item: item[0])
        if name == cluster and minute - FORGOTTEN_AFTER_MINUTES <= at <= minute
    ]
    for name in {name for _, instances in before for name in instances}:
        reported = [(at, instances[name]) for at, instances in before if name in instances]
        last, parts = reported[-1]
        knowing = [(at, own) for at, own in reported if knows_a_core(own)]
        is_away = shut_down(parts) and minute - last > BACK_WITHIN_MINUTES
        if knowing and knowing[-1][0] < minute and not is_away:
            found.append(counting_records(knowing[-1][1]))
    return found


def _in_two_clusters(key: Key, minutes: Minutes) -> set[str]:
    """Return instances of a (minute, cluster) that other clusters also have, unless they moved."""
    found = set()
    for name in minutes[key]:
        own = [
            instances[name]
            for (minute, _), instances in minutes.items()
            if minute == key[0] and name in instances
        ]
        covered = [min(Fraction(60), covered_seconds_of(counting_records(parts))) for parts in own]
        if len(own) > 1 and sum(covered) > 66:
            found.add(name)
    return found


def _rollup(
    instances: dict[str, Records],
    idle_after_minutes: int,
    usd_per_hour: Prices,
    paid_by_type: Mapping[str, str],
    *,
    last_seen: list[Records],
    in_two_clusters: set[str],
) -> dict[str, float]:
    counting = {name: counting_records(parts) for name, parts in instances.items()}
    cores = [core for parts in counting.values() for core in cores_of(parts, usd_per_hour)]
    known = [core for core in cores if core.letter != "?"]
    idle = [core for core in known if core.letter != "b" and core.idle >= idle_after_minutes]
    parts = [part for own in counting.values() for part in own]
    found: Numbers = {
        **_cores_alone(counting.values()),
        "DuplicateEmitters": sum(has_two_emitters(own) for own in instances.values()),
        "InstancesInOtherClusters": len(in_two_clusters),
        "Records": sum(len(own) for own in instances.values()),
        "CoveredSeconds": sum(
            min(Fraction(60), covered_seconds_of(own)) for own in counting.values()
        ),
        "Executions": total_of(part.executions for part in parts),
        "ExecutionErrors": total_of(part.execution_errors for part in parts),
        "EccCorrectedRise": total_of(part.ecc_corrected_rise for part in parts),
        "EccUncorrectedRise": total_of(part.ecc_uncorrected_rise for part in parts),
        "HardwareFaults": total_of(part.readings.get("HardwareFaults") for part in parts),
        "HardwareErrors": total_of(_hardware_errors(own) for own in counting.values()),
        "TeraFlops": total_of(
            weighted_mean((part.tera_flops, part.covered_seconds) for part in own)
            for own in counting.values()
        ),
        "DeviceMemoryUsed": total_of(memory_of(own)[0] for own in counting.values()),
        "DeviceMemoryPercent": percent_of(memory_of(own) for own in counting.values()),
        "LatencyP99Max": max(
            (part.latency_p99_max_s for part in parts if part.latency_p99_max_s is not None),
            default=None,
        ),
        "LatencyP50Mean": weighted_mean(
            (
                weighted_mean(
                    (part.latency_p50_mean_s, max(1, part.executions or 0)) for part in own
                ),
                max(1, sum(part.executions or 0 for part in own)),
            )
            for own in counting.values()
        ),
        "Stragglers": _stragglers(counting.values()),
    }
    if cores:
        found["UnknownCores"] = len(cores) - len(known)
        found["UnpricedCores"] = sum(core.usd_per_hour is None for core in cores)
    if known:
        found["IdleInstanceCount"] = 0
        found.update(_percentiles([core.utilization for core in known]))
        found["IdleCores"] = found["IdleCoreMinutes"] = len(idle)
        found["IdleCorePercent"] = Fraction(100 * len(idle), len(known))
    if any(core.usd_per_hour is not None for core in known):
        cost = sum((core.usd_per_hour for core in idle if core.usd_per_hour), Fraction(0))
        found["IdleCostPerHour"] = cost
        found["IdleCost"] = cost / 60
        found.update(
            dict.fromkeys(
                (
                    "AvoidableCostPerHour",
                    "AvoidableAllocatedCostPerHour",
                    "SharedCostPerHour",
                    "CommittedCostPerHour",
                ),
                Fraction(0),
            )
        )
    if known:
        found["FullyIdleInstances"] = 0
        found["ReservedCores"] = total_of(
            reserved
            for own in counting.values()
            for reserved in [_reserved_cores(own)]
            if reserved or last_of(part.reservations for part in own) == "known"
        )
        unattached = [core.owners for core in known if core.letter == "u"]
        found["UnknownAllocationCores"] = unattached.count({"[not reported]"})
        unallocated = [core.owners for core in idle if core.letter == "u"]
        found["UnpricedIdleCores"] = sum(core.usd_per_hour is None for core in idle)
        found["UnallocatedIdleCores"] = unallocated.count({"[unallocated]"})
        found["UnknownAllocationIdleCores"] = unallocated.count({"[not reported]"})
    committed = [own for own in counting.values() if _is_committed(own, paid_by_type)]
    twice = [counting[name] for name in in_two_clusters]
    numbers = {name: value for name, value in found.items() if value is not None}
    _add_parts(
        numbers,
        counting.values(),
        idle_after_minutes,
        usd_per_hour,
        paid_anyway=committed,
        twice=twice,
        last_seen=last_seen,
    )
    return {name: float(value) for name, value in numbers.items()}


def _add_parts(
    found: dict[str, Number],
    instances: Collection[Records],
    after_minutes: int,
    usd_per_hour: Prices,
    *,
    paid_anyway: list[Records],
    twice: list[Records],
    last_seen: list[Records],
) -> None:
    """Add the price of the idle cores of each instance to its part, and remove unknown parts."""
    fully_idle = _fully_idle(instances, after_minutes)
    unseen = {_stem(name) for own in last_seen for name in _names(own)}
    is_allocation_unknown = any(map(_hides_owners, last_seen))
    unknown = []
    for own in instances:
        every = cores_of(own, usd_per_hour)
        theirs = [c for c in every if c.letter in "au" and c.idle >= after_minutes]
        price = theirs[0].usd_per_hour or 0 if theirs else 0
        found_idle = len(theirs) * price
        if theirs:
            found["IdleInstanceCount"] += 1
        if own in paid_anyway:
            _add(found, "CommittedCostPerHour", found_idle)
        elif (
            own in twice
            or len(theirs) < len(every)
            or any(p.executions or p.execution_errors for p in own)
            or not _may_stop(own, fully_idle, after_minutes)
        ):
            _add(found, "SharedCostPerHour", found_idle)
        elif any(
            is_allocation_unknown or _stem(name) in unseen for name in _names(own) - {"[unnamed]"}
        ):
            unknown.append(found_idle)
        elif every:
            held = sum(core.owners != {"[unallocated]"} for core in theirs)
            _add(found, "AvoidableCostPerHour", found_idle)
            _add(found, "AvoidableAllocatedCostPerHour", held * price)
            found["FullyIdleInstances"] += 1
    if unknown:
        del found["FullyIdleInstances"]
    if any(unknown):
        for name in ("AvoidableCostPerHour", "AvoidableAllocatedCostPerHour", "SharedCostPerHour"):
            del found[name]


def _reserved_cores(own: Records) -> int:
    unattached = [core.owners for core in cores_of(own, {}) if core.letter == "u"]
    return sum(not owners & {"[unallocated]", "[not reported]"} for owners in unattached)


def _may_stop(own: Records, fully_idle: set[str], after_minutes: int) -> bool:
    """Return True if all owners of a fully idle instance are fully idle in the cluster."""
    names = _names(own)
    if names & {"[others]", "[not reported]"}:
        return False
    here = _idle_minutes(own)
    return all(here[name] >= after_minutes for name in names) and names <= {
        *fully_idle,
        "[unnamed]",
    }


def _fully_idle(instances: Iterable[Records], after_minutes: int) -> set[str]:
    """
    Return owners that have not worked for *after_minutes* and whose siblings do not work now.
    """
    minutes: dict[str, int] = {}
    working = set()
    for own in instances:
        if _hides_owners(own):
            return set()
        cores = cores_of(own, {})
        merged = _merged_owners(own)
        for name, idle in _idle_minutes(own).items():
            minutes[name] = min(minutes.get(name, idle), idle)
            busy = any(core.letter == "b" and name in core.owners for core in cores)
            if busy or merged.get(name, (0, 0))[0]:
                working.add(_stem(name))
    return {
        name
        for name, idle in minutes.items()
        if idle >= after_minutes and _stem(name) not in working
    }


def _hides_owners(own: Records) -> bool:
    """Return True if an owner with cores, a busy core or an execution is not named."""
    cores = cores_of(own, {})
    merged = _merged_owners(own)
    if any("[others]" in core.owners for core in cores):
        return True
    if any(core.letter == "b" and "[not reported]" in core.owners for core in cores):
        return True
    named = [merged[name][0] for name in _names(own) & merged.keys()]
    done = _sum_if_known(named)
    executed = total_of(part.executions for part in own) or 0
    failed = total_of(part.execution_errors for part in own) or 0
    if not named or done is None:
        return False
    return bool(executed or failed) and done < max(1, executed)


def _names(own: Records) -> set[str]:
    """Return the owners of an instance's cores."""
    return set().union(*(core.owners for core in cores_of(own, {}))) - {"[unallocated]"}


def _idle_minutes(own: Records) -> dict[str, int]:
    """Return for each owner of an instance its minutes without work there; 0 if unknown."""
    cores = cores_of(own, {})
    merged = _merged_owners(own)
    found: dict[str, int] = {}
    for core in cores:
        for name in core.owners - {"[unallocated]", "[others]", "[not reported]"}:
            idle = 0 if core.letter in "b?" else core.idle
            quiet = merged.get(name, (None, None))[1] or 0
            found[name] = min(found.get(name, idle), idle, quiet)
    return found


def _merged_owners(own: Records) -> Merged:
    """
    Return executions (None if a part with its cores lacks them) and quiet minutes by owner.
    """
    found: Merged = {}
    for name in {owner.name for part in own for owner in part.owners}:
        entries = [owner for part in own for owner in part.owners if owner.name == name]
        held = [entry.executions for entry in entries if entry.cores]
        holds = any(name in core.owners and core.letter != "u" for core in cores_of(own, {}))
        done = _sum_if_known(held)
        executions = done if holds else 0
        quiet_minutes = None if done else entries[-1].quiet_minutes
        found[name] = executions, quiet_minutes
    return found


def _sum_if_known(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known == counts else None


def _stem(name: str) -> str:
    if name.startswith("ecs:"):
        return name.split("/", maxsplit=1)[0] if name.count("/") >= 2 else name
    if "/" not in name or ":" in name.split("/", maxsplit=1)[0]:
        return name
    namespace, pod = name.split("/")[:2]
    parts = pod.split("-")
    while len(parts) > 1 and (
        (parts[-1].isdigit() and len(parts[-1]) <= 5)
        or (5 <= len(parts[-1]) <= 10 and set(parts[-1]) <= set("bcdfghjklmnpqrstvwxz2456789"))
    ):
        parts.pop()
    return f"{namespace}/{'-'.join(parts)}/"


def _add(found: dict[str, Number], name: str, amount: Number) -> None:
    if amount:
        found[name] += amount


def _is_committed(parts: Records, paid_by_type: Mapping[str, str]) -> bool:
    said = last_of(part.paid for part in parts) or paid_by_type.get(str(type_of(parts)))
    if said is None:
        lifecycle = str(last_of(part.lifecycle for part in parts))
        family = str(type_of(parts))[:4]
        by_family = "committed" if family in ("trn2", "trn3") else "avoidable"
        said = {"spot": "avoidable", "capacity-block": "committed"}.get(lifecycle, by_family)
    return said == "committed"


def _cores_alone(instances: Iterable[Records]) -> dict[str, float]:
    """Return the values that are computed alike for a cluster and for each of its types."""
    instances = list(instances)
    cores = [core for parts in instances for core in cores_of(parts, {})]
    known = [core for core in cores if core.letter != "?"]
    found: Numbers = {"Instances": len(instances)}
    if cores:
        found["NeuronCores"] = len(cores)
    if known:
        found["BusyCores"] = sum(core.letter == "b" for core in known)
        found["AttachedIdleCores"] = sum(core.letter == "a" for core in known)
        found["UnattachedCores"] = sum(core.letter == "u" for core in known)
        found["NeuronCoreUtilization"] = sum(core.utilization for core in known) / len(known)
    found["FlopsPercentOfBf16Peak"] = _percent_of_peak(instances)
    return {name: float(value) for name, value in found.items() if value is not None}


def _percentiles(utilization: Iterable[Fraction]) -> dict[str, Fraction]:
    """Return percentiles by nearest rank: the smallest value that enough of 100 do not exceed."""
    values = sorted(utilization)
    ranks = {percentile: -(-percentile * len(values) // 100) for percentile in (10, 50, 90, 99)}
    return {
        f"NeuronCoreUtilizationP{percentile}": values[rank - 1]
        for percentile, rank in ranks.items()
    }


def _hardware_errors(parts: Records) -> Number | None:
    """Return the larger of the counters' and the kernel's number for one instance."""
    rises = total_of(part.ecc_uncorrected_rise for part in parts)
    faults = total_of(part.readings.get("HardwareFaults") for part in parts)
    return max((count for count in (rises, faults) if count is not None), default=None)


def _stragglers(instances: Iterable[Records]) -> int | None:
    """Return the number of stragglers; None if no type has at least four busy instances."""
    by_type: dict[str, list[Fraction]] = {}
    for parts in instances:
        busy = [core.utilization for core in cores_of(parts, {}) if core.letter == "b"]
        instance_type = type_of(parts)
        if busy and instance_type is not None:
            by_type.setdefault(instance_type, []).append(sum(busy, Fraction(0)) / len(busy))
    judged = [means for means in by_type.values() if len(means) >= 4]
    if not judged:
        return None
    return sum(mean < median(means) / 2 for means in judged for mean in means)
