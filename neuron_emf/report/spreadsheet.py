"""
All rows of an idle report as CSV (RFC 4180), one table for a spreadsheet to filter.

Names are other people's: a spreadsheet must see no formula in one.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

from neuron_emf.report import figures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuron_emf.report.amounts import IdleAmount
    from neuron_emf.report.holding import Owner
    from neuron_emf.report.instances import CoreTime, Coverage
    from neuron_emf.report.outcome import CoreRow, Outcome

COLUMNS: Final = (
    "row",  # total, cluster, owner, instance or core: filter by one, never add up several
    "cluster",
    "instance_id",
    "instance_type",
    "core",
    "owner",
    "owner_kind",
    "idle_core_minutes",
    "idle_usd",
    "unpriced_idle_core_minutes",
    "whole_instance_idle_usd",
    "busy_core_minutes",
    "attached_idle_core_minutes",
    "unattached_core_minutes",
    "unknown_core_minutes",
    "instance_minutes",
    "missing_instance_minutes",
    "coverage_percent",
    "longest_idle_minutes",
)

_Row = dict[str, object]


def text(found: Outcome) -> str:
    """The file, with a header and the line ends of RFC 4180."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\r\n")
    writer.writeheader()
    for row in _rows(found):
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return file.getvalue()


def _rows(found: Outcome) -> Iterator[_Row]:
    total = found.total
    yield {
        "row": "total",
        **_idle(total.idle),
        "whole_instance_idle_usd": _usd(total.whole.usd),
        **_cores(total.cores),
        **_coverage(total.coverage),
    }
    for name, sums in found.clusters:
        yield {
            "row": "cluster",
            "cluster": figures.name(name),
            **_idle(sums.idle),
            "whole_instance_idle_usd": _usd(sums.whole.usd),
            **_cores(sums.cores),
            **_coverage(sums.coverage),
        }
    for theirs in found.owners:
        yield {
            "row": "owner",
            "cluster": figures.name(theirs.cluster),
            **_owner(theirs.owner),
            **_idle(theirs.time.idle),
        }
    for one in found.instances:
        yield {
            "row": "instance",
            "cluster": figures.name(one.cluster),
            "instance_id": figures.name(one.instance_id),
            "instance_type": figures.name(one.instance_type) if one.instance_type else "",
            **_idle(one.idle),
            "whole_instance_idle_usd": _usd(one.whole.usd),
            **_cores(one.cores),
            **_coverage(one.coverage),
        }
    for core, row in _each_core(found):
        instance = row.instance
        yield {
            "row": "core",
            "cluster": figures.name(instance.cluster),
            "instance_id": figures.name(instance.instance_id),
            "instance_type": figures.name(instance.instance_type) if instance.instance_type else "",
            "core": core,
            **_owner(row.each.owner),
            **_idle(row.each.amount),
            "longest_idle_minutes": row.each.longest_minutes,
        }


def _each_core(found: Outcome) -> Iterator[tuple[int, CoreRow]]:
    for row in found.cores:
        for core in row.cores:
            yield core, row


def _idle(idle: IdleAmount) -> _Row:
    return {
        "idle_core_minutes": idle.core_minutes,
        "idle_usd": _usd(idle.usd),
        "unpriced_idle_core_minutes": idle.unpriced_core_minutes,
    }


def _cores(cores: CoreTime) -> _Row:
    return {
        "busy_core_minutes": cores.busy,
        "attached_idle_core_minutes": cores.attached_idle,
        "unattached_core_minutes": cores.unattached,
        "unknown_core_minutes": cores.unknown,
    }


def _coverage(coverage: Coverage) -> _Row:
    percent = coverage.percent
    return {
        "instance_minutes": coverage.minutes,
        "missing_instance_minutes": coverage.missing,
        "coverage_percent": "" if percent is None else round(percent, 3),
    }


def _owner(owner: Owner) -> _Row:
    return {
        "owner": figures.name(owner.name) if owner.name else "",
        "owner_kind": owner.kind.value,
    }


def _usd(value: float | None) -> object:
    return "" if value is None else round(value, 6)


def _cell(value: object) -> object:
    return figures.cell(value) if isinstance(value, str) else value
