"""
The idle report for programs: all of it as JSON, its rows as CSV (RFC 4180) for a spreadsheet.

What nobody knows is null in the one and empty in the other, never 0. JSON has names as
the lines have them; in CSV they are made safe: a spreadsheet must see no formula in one.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, Final, TypeVar

from neuron_emf import figures
from neuron_emf.payment import AVOIDABLE, Saving
from neuron_emf.report import sentences
from neuron_emf.report.apportionment import MICRO_USD, Parts, row_parts, sum_of, total_parts
from neuron_emf.report.log_queries import usd_of
from neuron_wire.holders import core_ranges
from neuron_wire.names import UNKNOWN_OWNER
from neuron_wire.phrases import cell, iso
from neuron_wire.prices import PRICES_AS_OF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from neuron_emf.owners import CoreOwner
    from neuron_emf.report.amounts import CoreTime, IdleAmount
    from neuron_emf.report.comparison import Comparison, Difference
    from neuron_emf.report.counting import InstanceTime
    from neuron_emf.report.idle_report import IdleReport, Provenance, Sums
    from neuron_emf.report.trends import DayRow, TrendRow

_Row = TypeVar("_Row")

COLUMNS: Final = (
    # total, cluster, owner, team, day, instance or core: filter by one, never add up several
    "row",
    "cluster", "instance_id", "instance_type", "core", "owner", "team", "day",
    "idle_core_minutes", "idle_usd", "avoidable_held_usd", "avoidable_unheld_usd", "shared_usd",
    "sunk_usd", "unpriced_idle_core_minutes",
    "busy_core_minutes", "attached_idle_core_minutes", "unattached_core_minutes",
    "unknown_core_minutes", "instance_minutes", "missing_instance_minutes", "coverage_percent",
    "flops_percent_of_bf16_peak",
    "longest_idle_minutes", "minutes", "minutes_with_data",
)  # fmt: skip

_COLUMN_OF: Final = {
    Saving.HELD: "avoidable_held_usd",
    Saving.UNHELD: "avoidable_unheld_usd",
    Saving.SHARED: "shared_usd",
    Saving.SUNK: "sunk_usd",
}


def document(report: IdleReport) -> dict[str, Any]:
    """The report as one JSON value; of each list the amounts add up to those of the total."""
    total = total_parts(report.total.idle)
    idle = report.total.idle
    return {
        "start": iso(report.start_ms),
        "end": iso(report.end_ms),
        "made": iso(report.made_ms),
        "cluster": report.cluster or None,
        "idle_after_minutes": report.idle_after_minutes,
        "minutes": report.minutes,
        "minutes_with_data": report.told_minutes,
        "headline": sentences.headline(report),
        "total": _sums(report.total, total),
        "a_month_at_this_rate": {
            "hours": figures.MONTH_HOURS,
            "idle_usd": _usd(report.a_month(idle.usd)),
            "avoidable_usd": _usd(report.a_month(idle.usd_of(*AVOIDABLE))),
        },
        "could_be_saved": {
            "instances_without_busy_core": [
                instance.instance_id for instance in report.without_busy_core
            ],
            "sentences": sentences.savings(report),
        },
        "clusters": [
            {"cluster": name, **_sums(sums, parts)}
            for (name, sums), parts in _with_parts(total, report.clusters, lambda row: row[1].idle)
        ],
        "owners": [
            {
                "cluster": row.cluster,
                **_owner(row.owner),
                "instances": sorted(row.time.instances),
                "busy_core_minutes": row.time.cores.busy,
                **_idle(row.time.idle, parts),
            }
            for row, parts in _with_parts(total, report.owners, lambda row: row.time.idle)
        ],
        "unknown": [
            {"cluster": cluster, "owner": UNKNOWN_OWNER, "unknown_core_minutes": minutes}
            for cluster, minutes in report.unknown
        ],
        "teams": [
            {"team": team, **_idle(idle, parts)}
            for (team, idle), parts in _with_parts(total, report.teams, lambda row: row[1])
        ],
        "days": [_day(day, parts) for day, parts in _days(total, report)],
        "weeks": [_trend("week", *pair) for pair in _with_parts(total, report.weeks, _idle_of)],
        "months": [_trend("month", *pair) for pair in _with_parts(total, report.months, _idle_of)],
        "instances": [
            {
                **_identity(instance),
                **_idle(instance.idle, parts),
                "avoidable_minutes": (
                    None if report.provenance.settled_hours else instance.avoidable_minutes
                ),
                "is_without_busy_core": instance.is_without_busy_core,
                "executions": instance.executions,
                **_times(instance),
                "duplicate_emitter_minutes": instance.duplicate_minutes,
            }
            for instance, parts in _with_parts(total, report.instances, lambda row: row.idle)
        ],
        "cores": [
            {
                "cluster": row.instance.cluster,
                "instance_id": row.instance.instance_id,
                "cores": core_ranges(row.cores),
                "last_owners": [_owner(owner) for owner in row.each.owners],
                "longest_idle_minutes": row.each.longest_minutes,
                "each": _idle(row.each.amount, total_parts(row.each.amount)),
            }
            for row in report.cores
        ],
        "idle_cores": report.core_count,
        "prices": {
            "as_of": PRICES_AS_OF,
            "basis": report.price_words or None,
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
    total = total_parts(report.total.idle)
    yield "total", _row_of(report.total, total)
    for (name, sums), parts in _with_parts(total, report.clusters, lambda row: row[1].idle):
        yield "cluster", {"cluster": name, **_row_of(sums, parts)}
    for row, parts in _with_parts(total, report.owners, lambda row: row.time.idle):
        yield (
            "owner",
            {
                "cluster": row.cluster,
                **_owner(row.owner),
                "busy_core_minutes": row.time.cores.busy,
                **_idle(row.time.idle, parts),
            },
        )
    for cluster, minutes in report.unknown:
        yield (
            "owner",
            {
                "cluster": cluster,
                "owner": UNKNOWN_OWNER,
                "unknown_core_minutes": minutes,
            },
        )
    for (team, idle), parts in _with_parts(total, report.teams, lambda row: row[1]):
        yield "team", {"team": team, **_idle(idle, parts)}
    for day, parts in _days(total, report):
        yield "day", _day(day, parts)
    for instance, parts in _with_parts(total, report.instances, lambda row: row.idle):
        yield "instance", {**_identity(instance), **_row_of(instance, parts)}
    for cores in report.cores:
        amount = cores.each.amount
        each = {
            **_identity(cores.instance),
            "owner": cores.owner_names,
            **_idle(amount, total_parts(amount)),
            "longest_idle_minutes": cores.each.longest_minutes,
        }
        yield from (("core", {**each, "core": core}) for core in cores.cores)


def _with_parts(
    total: Parts, rows: Sequence[_Row], idle_of: Callable[[_Row], IdleAmount]
) -> Iterator[tuple[_Row, Parts]]:
    return zip(rows, row_parts(total, [idle_of(row) for row in rows]), strict=True)


def _days(total: Parts, report: IdleReport) -> Iterator[tuple[DayRow, Parts]]:
    return _with_parts(total, report.days, _idle_of)


def _idle_of(row: DayRow | TrendRow) -> IdleAmount:
    return row.time.idle


def _day(day: DayRow, parts: Parts) -> dict[str, Any]:
    return {"day": iso(day.start_ms)[:10], **_span(day, parts)}


def _trend(kind: str, row: TrendRow, parts: Parts) -> dict[str, Any]:
    return {kind: row.name, "is_whole": row.is_whole, **_span(row, parts)}


def _span(day: DayRow | TrendRow, parts: Parts) -> dict[str, Any]:
    cores = day.time.cores
    return {
        "minutes": day.minutes,
        "minutes_with_data": day.told_minutes,
        **(_idle(day.time.idle, parts) if day.told_minutes else {}),
        **(_core_times(cores) if day.told_minutes else {}),
    }


def _row_of(sums: Sums | InstanceTime, parts: Parts) -> dict[str, Any]:
    return {**_idle(sums.idle, parts), **_times(sums)}


def _cell(value: object) -> object:
    return cell(figures.name(value)) if isinstance(value, str) else value


def _sums(sums: Sums, parts: Parts) -> dict[str, Any]:
    return {
        "instances": sums.instances,
        "instances_without_busy_core": sums.without_busy_core,
        **_idle(sums.idle, parts),
        "idle_percent_of_known": _rounded(
            figures.share(sums.idle.core_minutes, sums.cores.known), 3
        ),
        **_times(sums),
    }


def _identity(instance: InstanceTime) -> dict[str, Any]:
    return {
        "cluster": instance.cluster,
        "instance_id": instance.instance_id,
        "instance_type": instance.instance_type,
    }


def _idle(idle: IdleAmount, parts: Parts) -> dict[str, Any]:
    return {
        "idle_core_minutes": idle.core_minutes,
        "idle_usd": _of_micros(sum_of(parts)),
        **{column: _of_micros(parts[saving]) for saving, column in _COLUMN_OF.items()},
        "unpriced_idle_core_minutes": idle.unpriced_core_minutes,
    }


def _times(sums: Sums | InstanceTime) -> dict[str, Any]:
    coverage = sums.coverage
    return {
        **_core_times(sums.cores),
        "instance_minutes": coverage.minutes or None,
        "missing_instance_minutes": coverage.missing if coverage.minutes else None,
        "coverage_percent": _rounded(coverage.percent, 3),
        "flops_percent_of_bf16_peak": _rounded(sums.flops.percent_of_peak, 3),
    }


def _core_times(cores: CoreTime) -> dict[str, int]:
    return {
        "busy_core_minutes": cores.busy,
        "attached_idle_core_minutes": cores.attached_idle,
        "unattached_core_minutes": cores.unattached,
        "unknown_core_minutes": cores.unknown,
    }


def _owner(owner: CoreOwner) -> dict[str, Any]:
    return {"owner": owner.name, "team": owner.team}


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
        "settled_hours": provenance.settled_hours,
        "ledger_rows": provenance.rows,
        "damaged_ledger_rows": provenance.damaged,
        "not_in_the_ledger": provenance.not_counted,
        "ledger_problem": provenance.ledger_problem or None,
        "logs_insights_bytes_scanned": scanned,
        "logs_insights_usd": None if scanned is None else _usd(usd_of(scanned)),
    }


def _of_micros(micros: int | None) -> float | None:
    return None if micros is None else micros / MICRO_USD


def _usd(value: float | None) -> float | None:
    return _rounded(value, 6)


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
