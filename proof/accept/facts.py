"""
What is believed of AWS and is decided by a recording of an acceptance alone.

Each stands in `local/differences.py` with its basis; once a step is recorded,
its recording decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from proof.accept.lines import BLANK, UNDIMENSIONED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Calls = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Fact:
    """
    One belief.

    Attributes:
        part: The row of `local.differences.DIFFERENCES`.

        step: Whose recording decides.

        holds: Whether the calls of the recording agree.
    """

    part: str
    step: str
    holds: Callable[[Calls], bool]


def _answers(calls: Calls, operation: str) -> Iterator[dict[str, Any]]:
    return (one["answer"] for one in calls if one["operation"] == operation and "answer" in one)


def _without_dimensions(calls: Calls) -> bool:
    *_, last = _answers(calls, "ListMetrics")
    found = {one["MetricName"]: one["Dimensions"] for one in last["Metrics"]}
    return found == {BLANK: [], UNDIMENSIONED: []}


def _values(calls: Calls) -> bool:
    results = [row for one in _answers(calls, "GetMetricData") for row in one["MetricDataResults"]]
    return any(row["Values"] for row in results)


def _complete(calls: Calls) -> bool:
    ended = {one["status"] for one in _answers(calls, "GetQueryResults")}
    return ended - {"Scheduled", "Running"} == {"Complete"}


def _computed_numbers(calls: Calls) -> bool:
    rows = [row for one in _answers(calls, "GetQueryResults") for row in one["results"]]
    texts = [cell["value"] for row in rows for cell in row if cell["field"] == "IdleCostUsd"]
    return bool(texts) and all(re.fullmatch(r"\d+\.\d+(E-?\d+)?", text) for text in texts)


def _contributor_ids(calls: Calls) -> bool:
    bodies = [
        message["Body"]
        for one in _answers(calls, "ReceiveMessage")
        for message in one.get("Messages", ())
    ]
    ids = re.findall(r'"alarmContributor":\s*\{.*?"id":\s*"([^"]*)"', "".join(bodies))
    return bool(ids) and all(re.fullmatch("[0-9a-f]{16}", one) for one in ids)


FACTS: Final = (
    Fact("CloudWatch, blank or missing dimensions", "odd-lines", _without_dimensions),
    Fact("CloudWatch, extraction", "metrics", _values),
    Fact("CloudWatch, ids of contributors", "events", _contributor_ids),
    Fact("CloudWatch Logs Insights", "queries", _complete),
    Fact("CloudWatch Logs, numbers of GetQueryResults", "queries", _computed_numbers),
)
