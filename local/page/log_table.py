"""A log widget with its rows: its query, run on the lines of its log groups."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from local.insights.engine import columns, run_on
from local.insights.parser import parse
from local.insights.tree import QueryError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local.insights.fields import Value
    from local.page.log_lines import LogLines

_TIMES: Final = frozenset({"@timestamp", "@ingestionTime"})


def log_table(
    properties: Mapping[str, Any], lines: LogLines, start_ms: int, end_ms: int
) -> dict[str, Any]:
    """What the page shows of the log widget with *properties* in [*start_ms*, *end_ms*)."""
    query = properties["query"]
    shown: dict[str, Any] = {
        "title": properties.get("title", ""),
        "query": query,
        "columns": [],
        "rows": [],
        "missing": [],
    }
    try:
        first = parse(query)[0]
        groups = [one.value for one in first.expressions] if first.name == "SOURCE" else []
        if not groups:
            shown["missing"].append("Not run: its query names no log group.")
            return shown
        rows_of_groups = []
        for group in groups:
            of_group = lines.of(group)
            if not of_group:
                shown["missing"].append(f"The log group {group} has no line.")
            rows_of_groups += [one.row for one in of_group if start_ms <= one.timestamp_ms < end_ms]
        shown["columns"] = columns(query)
        shown["rows"] = [
            [_text(name, row.get(name)) for name in shown["columns"]]
            for row in run_on(rows_of_groups, query)
        ]
    except QueryError as error:
        shown["missing"].append(f"Not run: {error}.")
    return shown


def _text(name: str, value: Value) -> str:
    if value is None:
        return ""
    if name in _TIMES:
        at = datetime.fromtimestamp(value / 1000, timezone.utc)
        return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d}"
    if isinstance(value, (bool, dict, list)):
        return json.dumps(value)
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".")
    return str(value)
