"""
The idle report for a program.

Names are as the lines have them; an amount that nobody knows is null, never 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neuron_emf.report import figures, sentences
from neuron_emf.report.insights import usd_of
from neuron_wire.holders import core_ranges
from neuron_wire.prices import PRICES_AS_OF

if TYPE_CHECKING:
    from neuron_emf.report.amounts import IdleAmount
    from neuron_emf.report.comparison import Comparison, Difference
    from neuron_emf.report.holding import Owner
    from neuron_emf.report.instances import CoreTime, Coverage, InstanceTime
    from neuron_emf.report.outcome import Outcome, Sums


def document(found: Outcome) -> dict[str, Any]:
    """One JSON value."""
    return {
        "start": figures.iso(found.start_ms),
        "end": figures.iso(found.end_ms),
        "made": figures.iso(found.made_ms),
        "cluster": found.cluster or None,
        "idle_after_minutes": found.idle_after_minutes,
        "headline": sentences.headline(found),
        "total": _sums(found.total),
        "would_be_saved": {
            "by_stopping_idle_instances_usd": _usd(found.total.whole.usd),
            "only_by_moving_work_usd": _usd(found.total.partly_usd),
            "instances_never_busy": [one.instance_id for one in found.never_busy],
            "sentences": sentences.savings(found),
        },
        "clusters": [{"cluster": name, **_sums(sums)} for name, sums in found.clusters],
        "owners": [
            {
                "cluster": row.cluster,
                **_owner(row.owner),
                "instances": sorted(row.time.instances),
                **_idle(row.time.idle),
            }
            for row in found.owners
        ],
        "instances": [_instance(one) for one in found.instances],
        "cores": [
            {
                "cluster": row.instance.cluster,
                "instance_id": row.instance.instance_id,
                "cores": core_ranges(row.cores),
                "last_owner": _owner(row.each.owner),
                "longest_idle_minutes": row.each.longest_minutes,
                "each": _idle(row.each.amount),
            }
            for row in found.cores
        ],
        "idle_cores": found.core_count,
        "prices": {
            "as_of": PRICES_AS_OF,
            "overridden": list(found.overridden),
            "idle_without_a_price": [
                {"instance_type": name, "core_minutes": minutes} for name, minutes in found.unpriced
            ],
        },
        "rollups": _comparison(found.comparison, found.reading.rollups_problem),
        "reading": _reading(found),
    }


def _sums(sums: Sums) -> dict[str, Any]:
    return {
        "instances": sums.instances,
        "instances_never_busy": sums.never_busy,
        **_idle(sums.idle),
        "idle_percent_of_known": _rounded(
            figures.share(sums.idle.core_minutes, sums.cores.known), 3
        ),
        "whole_instances_idle_usd": _usd(sums.whole.usd),
        **_cores(sums.cores),
        **_coverage(sums.coverage),
    }


def _instance(one: InstanceTime) -> dict[str, Any]:
    return {
        "cluster": one.cluster,
        "instance_id": one.instance_id,
        "instance_type": one.instance_type,
        **_idle(one.idle),
        "whole_instance_idle_minutes": one.whole_minutes,
        "whole_instance_idle_usd": _usd(one.whole.usd),
        "is_never_busy": one.is_never_busy,
        **_cores(one.cores),
        **_coverage(one.coverage),
        "duplicate_emitter_minutes": one.duplicate_minutes,
    }


def _idle(idle: IdleAmount) -> dict[str, Any]:
    return {
        "idle_core_minutes": idle.core_minutes,
        "idle_usd": _usd(idle.usd),
        "unpriced_idle_core_minutes": idle.unpriced_core_minutes,
    }


def _cores(cores: CoreTime) -> dict[str, Any]:
    return {
        "busy_core_minutes": cores.busy,
        "attached_idle_core_minutes": cores.attached_idle,
        "unattached_core_minutes": cores.unattached,
        "unknown_core_minutes": cores.unknown,
    }


def _coverage(coverage: Coverage) -> dict[str, Any]:
    return {
        "instance_minutes": coverage.minutes,
        "missing_instance_minutes": coverage.missing,
        "coverage_percent": _rounded(coverage.percent, 3),
    }


def _owner(owner: Owner) -> dict[str, Any]:
    return {"owner": owner.name or None, "owner_kind": owner.kind.value}


def _comparison(compared: Comparison, problem: str) -> dict[str, Any]:
    return {
        "read": compared.rollups,
        "unreadable": compared.unreadable,
        "problem": problem or None,
        "idle_core_minutes": compared.core_minutes if compared.rollups else None,
        "idle_usd": _usd(compared.usd) if compared.rollups else None,
        "equal_minutes": compared.equal_minutes,
        "differing_minutes": compared.differing_minutes,
        "causes": [
            {
                "cause": cause.value,
                "minutes": one.minutes,
                "core_minutes_missing": one.core_minutes,
                "usd_missing": _usd(one.usd),
            }
            for cause, one in sorted(compared.causes.items(), key=lambda pair: pair[0].value)
        ],
        "worst": [_difference(one) for one in compared.worst],
    }


def _difference(one: Difference) -> dict[str, Any]:
    return {
        "cluster": one.cluster,
        "minute": figures.iso(one.minute_ms),
        "cause": one.cause.value,
        "lines": {
            "records": one.records[0],
            "idle_core_minutes": one.core_minutes[0],
            "idle_usd": _usd(one.usd[0]),
        },
        "rollup": {
            "records": one.records[1],
            "idle_core_minutes": one.core_minutes[1],
            "idle_usd": _usd(one.usd[1]),
        },
    }


def _reading(found: Outcome) -> dict[str, Any]:
    read = found.reading
    scanned = read.bytes_scanned
    return {
        "origin": read.origin,
        "minute_lines": read.records,
        "repeated_lines": read.repeated,
        "unreadable_lines": read.unreadable,
        "lines_outside_the_period_or_cluster": read.outside,
        "logs_insights_bytes_scanned": scanned,
        "logs_insights_usd": None if scanned is None else _usd(usd_of(scanned)),
    }


def _usd(value: float | None) -> float | None:
    return _rounded(value, 6)


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
