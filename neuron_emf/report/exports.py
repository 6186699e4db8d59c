"""
The idle report for programs: all of it as JSON, its rows as CSV (RFC 4180) for a spreadsheet.

What nobody knows is null in the one and empty in the other, never 0. JSON has names as
the lines have them; in CSV they are made safe: a spreadsheet must see no formula in one.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, Final

from neuron_emf import figures
from neuron_emf.report import sentences
from neuron_emf.report.saved_queries import usd_of
from neuron_wire.holders import core_ranges
from neuron_wire.phrases import cell, iso
from neuron_wire.prices import PRICES_AS_OF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuron_emf.report.amounts import IdleAmount
    from neuron_emf.report.comparison import Comparison, Difference
    from neuron_emf.report.counting import InstanceTime
    from neuron_emf.report.idle_report import IdleReport, Provenance, Sums
    from neuron_emf.report.owners import IdleOwner

COLUMNS: Final = (
    # total, cluster, owner, instance or core: filter by one, never add up several
    "row",
    "cluster", "instance_id", "instance_type", "core", "owner", "owner_kind",
    "idle_core_minutes", "idle_usd", "unpriced_idle_core_minutes", "whole_instance_idle_usd",
    "busy_core_minutes", "attached_idle_core_minutes", "unattached_core_minutes",
    "unknown_core_minutes", "instance_minutes", "missing_instance_minutes", "coverage_percent",
    "longest_idle_minutes",
)  # fmt: skip


def document(report: IdleReport) -> dict[str, Any]:
    """The report as one JSON value."""
    return {
        "start": iso(report.start_ms),
        "end": iso(report.end_ms),
        "made": iso(report.made_ms),
        "cluster": report.cluster or None,
        "idle_after_minutes": report.idle_after_minutes,
        "headline": sentences.headline(report),
        "total": _sums(report.total),
        "would_be_saved": {
            "by_stopping_idle_instances_usd": _usd(report.total.whole.usd),
            "only_by_moving_work_usd": _usd(report.total.partly_usd),
            "instances_never_busy": [instance.instance_id for instance in report.never_busy],
            "sentences": sentences.savings(report),
        },
        "clusters": [{"cluster": name, **_sums(sums)} for name, sums in report.clusters],
        "owners": [
            {
                "cluster": row.cluster,
                **_owner(row.owner),
                "instances": sorted(row.time.instances),
                **_idle(row.time.idle),
            }
            for row in report.owners
        ],
        "instances": [
            {
                **_identity(instance),
                **_idle(instance.idle),
                "whole_instance_idle_minutes": instance.whole_minutes,
                "whole_instance_idle_usd": _usd(instance.whole.usd),
                "is_never_busy": instance.is_never_busy,
                **_times(instance),
                "duplicate_emitter_minutes": instance.duplicate_minutes,
            }
            for instance in report.instances
        ],
        "cores": [
            {
                "cluster": row.instance.cluster,
                "instance_id": row.instance.instance_id,
                "cores": core_ranges(row.cores),
                "last_owner": _owner(row.each.owner),
                "longest_idle_minutes": row.each.longest_minutes,
                "each": _idle(row.each.amount),
            }
            for row in report.cores
        ],
        "idle_cores": report.core_count,
        "prices": {
            "as_of": PRICES_AS_OF,
            "regions": sorted(report.basis.regions),
            "overridden": sorted(report.basis.overridden),
            "idle_without_a_price": [
                {"what": name, "core_minutes": report.basis.unpriced[name]}
                for name in report.basis.unpriced_names()
            ],
        },
        "rollups": _comparison(report.comparison, report.provenance.rollups_problem),
        "reading": _provenance(report.provenance),
    }


def spreadsheet(report: IdleReport) -> str:
    """The report's rows as CSV, with a header and the line ends of RFC 4180."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for kind, row in _rows(report):
        writer.writerow({"row": kind, **{column: _cell(value) for column, value in row.items()}})
    return file.getvalue()


def _rows(report: IdleReport) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "total", _row_of(report.total)
    for name, sums in report.clusters:
        yield "cluster", {"cluster": name, **_row_of(sums)}
    for row in report.owners:
        yield "owner", {"cluster": row.cluster, **_owner(row.owner), **_idle(row.time.idle)}
    for instance in report.instances:
        yield "instance", {**_identity(instance), **_row_of(instance)}
    for cores in report.cores:
        each = {
            **_identity(cores.instance),
            **_owner(cores.each.owner),
            **_idle(cores.each.amount),
            "longest_idle_minutes": cores.each.longest_minutes,
        }
        yield from (("core", {**each, "core": core}) for core in cores.cores)


def _row_of(sums: Sums | InstanceTime) -> dict[str, Any]:
    return {**_idle(sums.idle), "whole_instance_idle_usd": _usd(sums.whole.usd), **_times(sums)}


def _cell(value: object) -> object:
    return cell(figures.name(value)) if isinstance(value, str) else value


def _sums(sums: Sums) -> dict[str, Any]:
    return {
        "instances": sums.instances,
        "instances_never_busy": sums.never_busy,
        **_idle(sums.idle),
        "idle_percent_of_known": _rounded(
            figures.share(sums.idle.core_minutes, sums.cores.known), 3
        ),
        "whole_instances_idle_usd": _usd(sums.whole.usd),
        **_times(sums),
    }


def _identity(instance: InstanceTime) -> dict[str, Any]:
    return {
        "cluster": instance.cluster,
        "instance_id": instance.instance_id,
        "instance_type": instance.instance_type,
    }


def _idle(idle: IdleAmount) -> dict[str, Any]:
    return {
        "idle_core_minutes": idle.core_minutes,
        "idle_usd": _usd(idle.usd),
        "unpriced_idle_core_minutes": idle.unpriced_core_minutes,
    }


def _times(sums: Sums | InstanceTime) -> dict[str, Any]:
    cores, coverage = sums.cores, sums.coverage
    return {
        "busy_core_minutes": cores.busy,
        "attached_idle_core_minutes": cores.attached_idle,
        "unattached_core_minutes": cores.unattached,
        "unknown_core_minutes": cores.unknown,
        "instance_minutes": coverage.minutes,
        "missing_instance_minutes": coverage.missing,
        "coverage_percent": _rounded(coverage.percent, 3),
    }


def _owner(owner: IdleOwner) -> dict[str, Any]:
    return {"owner": owner.name or None, "owner_kind": owner.kind.value}


def _comparison(comparison: Comparison, problem: str) -> dict[str, Any]:
    return {
        "read": comparison.rollups,
        "unreadable": comparison.unreadable,
        "problem": problem or None,
        "idle_core_minutes": comparison.core_minutes if comparison.rollups else None,
        "idle_usd": _usd(comparison.usd) if comparison.rollups else None,
        "equal_minutes": comparison.equal_minutes,
        "differing_minutes": comparison.differing_minutes,
        "causes": [
            {
                "cause": cause.value,
                "minutes": by_cause.minutes,
                "core_minutes_missing": by_cause.core_minutes,
                "usd_missing": _usd(by_cause.usd),
            }
            for cause, by_cause in sorted(comparison.causes.items(), key=lambda pair: pair[0].value)
        ],
        "worst": [
            {
                "cluster": difference.cluster,
                "minute": iso(difference.minute_ms),
                "cause": difference.cause.value,
                "lines": _side(difference, 0),
                "rollup": _side(difference, 1),
            }
            for difference in comparison.worst
        ],
    }


def _side(difference: Difference, side: int) -> dict[str, Any]:
    return {
        "records": difference.records[side],
        "idle_core_minutes": difference.core_minutes[side],
        "idle_usd": _usd(difference.usd[side]),
    }


def _provenance(provenance: Provenance) -> dict[str, Any]:
    scanned = provenance.bytes_scanned
    return {
        "origin": provenance.origin,
        "minute_lines": provenance.records,
        "repeated_lines": provenance.repeated,
        "unreadable_lines": provenance.unreadable,
        "lines_outside_the_period_or_cluster": provenance.outside,
        "logs_insights_bytes_scanned": scanned,
        "logs_insights_usd": None if scanned is None else _usd(usd_of(scanned)),
    }


def _usd(value: float | None) -> float | None:
    return _rounded(value, 6)


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
