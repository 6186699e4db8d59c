"""
The report from the ledger: which hours are settled, and by what rules the others are counted.

The bucket is the stack's output, or the one that --ledger names. Whole hours count. What is
not settled is left to whoever reads lines, by the parameters of the stack, as `settle` will.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from emitter.errors import SourceError
from neuron_emf.account import documented
from neuron_emf.ledger import LedgerBucket, rows
from neuron_emf.reading.periods import Period
from neuron_emf.report.counting import HOUR_MS
from neuron_wire import STACK_NAMESPACE
from neuron_wire.ledger import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from neuron_emf.account import Account
    from neuron_emf.printing import Advance
    from neuron_emf.report.counting import Counting
    from neuron_wire import WireFormatError

OUTPUT: Final = "LedgerBucketName"
NOT_COUNTED: Final = ("RecordsTooLate", "RecordsRejected")
"""Metrics of the stack that say which records are in no rollup and not in the ledger."""

_DAY_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class SettledPart:
    """
    What of a period is settled.

    Attributes:
        bucket: Where it is.

        period: The whole hours that the period touches.

        hours: Those that are settled, ascending.

        parameters: Of the stack; empty where nobody may look.
    """

    bucket: LedgerBucket
    period: Period
    hours: Sequence[int]
    parameters: Mapping[str, str]

    @property
    def others(self) -> list[Period]:
        """The hours that are not settled, those that follow each other together."""
        settled = set(self.hours)
        hours = range(self.period.start_ms // HOUR_MS, -(-self.period.end_ms // HOUR_MS))
        spans = []
        for is_settled, span in itertools.groupby(hours, settled.__contains__):
            theirs = list(span)
            if not is_settled:
                end_ms = min((theirs[-1] + 1) * HOUR_MS, self.period.end_ms)
                spans.append(Period(theirs[0] * HOUR_MS, end_ms))
        return spans

    def count(self, counting: Counting, advance: Advance) -> int:
        """
        Count every settled hour; returns how many rows and objects could not be read.

        Raises:
            SourceError: If S3 refuses or does not answer.
        """
        damaged: list[WireFormatError] = []
        counting.settle(self.hours, rows(self._objects(advance), damaged.append))
        return len(damaged)

    def check(self) -> None:
        """
        Read an object, before anything is counted.

        Raises:
            SourceError: If S3 refuses or does not answer.
        """
        next(iter(self.bucket.objects(self.hours[:1])), None)

    def _objects(self, advance: Advance) -> Iterator[bytes]:
        for number, payload in enumerate(self.bucket.objects(self.hours), 1):
            yield payload
            advance(number, PARTS * len(self.hours))


def settled_part(account: Account, bucket: str, period: Period) -> SettledPart:
    """
    What of *period* is in *bucket*; without a name, in the stack's own.

    Raises:
        SourceError: If there is no ledger, or AWS refuses or does not answer.
    """
    try:
        outputs, parameters = _stack(account)
    except SourceError:
        if not bucket:
            raise
        outputs, parameters = {}, {}
    name = bucket or outputs.get(OUTPUT)
    if not name:
        msg = (
            f"Stack {account.stack_name} has no output {OUTPUT}. Deploy it with Ledger=true, "
            "or use --ledger."
        )
        raise SourceError(msg)
    ledger = LedgerBucket(account, name)
    start_hour, end_hour = period.start_ms // HOUR_MS, -(-period.end_ms // HOUR_MS)
    hours = ledger.settled_hours(range(start_hour, end_hour))
    end_ms = end_hour * HOUR_MS if end_hour - 1 in hours else period.end_ms
    part = SettledPart(ledger, Period(start_hour * HOUR_MS, end_ms), hours, parameters)
    part.check()
    return part


def not_counted(account: Account, period: Period) -> dict[str, int] | None:
    """How many records are not in the ledger, by metric; None where CloudWatch does not say."""
    queries: list[dict[str, Any]] = [
        {
            "Id": name.lower(),
            "MetricStat": {
                "Metric": {
                    "Namespace": STACK_NAMESPACE,
                    "MetricName": name,
                    "Dimensions": [{"Name": "StackName", "Value": account.stack_name}],
                },
                "Period": _DAY_S,
                "Stat": "Sum",
            },
        }
        for name in NOT_COUNTED
    ]
    try:
        with documented("cloudwatch:GetMetricData"):
            answer = account.client("cloudwatch").get_metric_data(
                MetricDataQueries=queries,
                StartTime=_moment(period.start_ms),
                EndTime=_moment(period.end_ms),
            )
            sums = {one["Id"]: round(sum(one["Values"])) for one in answer["MetricDataResults"]}
            return {name: sums[name.lower()] for name in NOT_COUNTED}
    except SourceError:
        return None


def _stack(account: Account) -> tuple[dict[str, str], dict[str, str]]:
    """Outputs and parameters."""
    with documented("cloudformation:DescribeStacks"):
        answer = account.client("cloudformation").describe_stacks(StackName=account.stack_name)
        (stack,) = answer["Stacks"]
        outputs = {one["OutputKey"]: one["OutputValue"] for one in stack.get("Outputs", [])}
        parameters = {
            one["ParameterKey"]: one.get("ParameterValue", "")
            for one in stack.get("Parameters", [])
        }
    return outputs, parameters


def _moment(epoch_ms: int) -> datetime:
    return datetime.fromtimestamp(epoch_ms / 1000, timezone.utc)
