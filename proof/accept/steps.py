"""
The steps of an acceptance, in their order, and why some cannot be judged on the embedded AWS.

A step gives its problems; none is what was hoped for. What is believed of AWS and decided by a
recording alone stands in `local/differences.py` with its basis, and here as a `Fact`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from proof.accept import ledger, looking, path
from proof.accept.lines import BLANK, UNDIMENSIONED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from proof.accept.scene import Scene

    Calls = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Step:
    """
    One step.

    Attributes:
        name: Also of its recording.

        act: Does it; its problems, as sentences.

        not_here: Why the embedded AWS cannot judge it; empty when it can.
    """

    name: str
    act: Callable[[Scene], list[str]]
    not_here: str = ""

    @property
    def sentence(self) -> str:
        """What it shows."""
        return str(self.act.__doc__).strip()


STEPS: Final = (
    Step("preflight", path.preflight),
    Step("account-policies", path.account_policies, "it knows no policies of an account"),
    Step("frame", path.frame),
    Step("deploy", path.deploy),
    Step("deliver", path.deliver),
    Step("late", path.late),
    Step("ledger", ledger.ledger),
    Step("metrics", path.metrics, "it extracts no metrics from lines"),
    Step("odd-lines", path.odd, "it extracts no metrics from lines"),
    Step("alarms", looking.alarms, "it refuses these alarms and evaluates none by a clock"),
    Step("events", looking.events, "no alarm changes its state, so there is no event"),
    Step("queries", looking.queries, "it refuses saved queries and reads no JSON in a query"),
    Step("to-kinesis", path.to_kinesis),
    Step("through-the-stream", path.through_the_stream, "its log groups deliver to no stream"),
    Step("back-to-direct", path.back_to_direct),
    Step("broken-path", path.broken, "it evaluates no alarm by a clock"),
    Step("delete-and-adopt", path.delete_and_adopt),
)

LEFTOVERS: Final = ("Metrics of this run stay for 15 months; CloudWatch deletes none.",)


@dataclass(frozen=True)
class Fact:
    """
    One belief, which the recording of a step decides.

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


FACTS: Final = (
    Fact("CloudWatch, blank or missing dimensions", "odd-lines", _without_dimensions),
    Fact("CloudWatch, extraction", "metrics", _values),
)
