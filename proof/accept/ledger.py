"""
The step about the ledger: what settle puts, what the report reads of it, what the digest sends.

The hours of the lines are settled by their name, because none of them is due within an
acceptance. What the lines come to is reckoned by `proof.reference`, which shares no code.
"""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from neuron_emf.account import account
from neuron_emf.ledger import LedgerBucket, rows
from neuron_emf.options import AccountSettings
from neuron_wire.ledger import PARTS, USD_PLACES
from neuron_wire.names import HOUR_MINUTES, MICRO, MINUTE_MS
from neuron_wire.phrases import iso_minute, usd
from proof.accept.journal import AcceptError
from proof.accept.scene import IDLE_AFTER_MINUTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from neuron_emf.deploy.stack import Stack
    from neuron_wire.ledger import LedgerRow
    from proof.accept.scene import Scene

TEXT_MINUTES: Final = 3.0
_NANO: Final = 10**USD_PLACES
_REPORT_TIMEOUT_S: Final = 300


def ledger(scene: Scene) -> list[str]:
    """Hours of the lines, settled: rows, report and digest have the amounts of the lines."""
    stack, records = scene.stacks[scene.watched], scene.records(scene.watched)
    minutes = [record.minute_ms // MINUTE_MS for record in records]
    hours = range(min(minutes) // HOUR_MINUTES, max(minutes) // HOUR_MINUTES + 1)
    for hour in hours:
        done = invoke(scene, stack.outputs["SettleFunctionName"], Hour=_start(hour))
        if done.get("HoursSettled") != 1:
            return [f"settle of {_start(hour)} was expected to settle it, found {done}"]
    settings = AccountSettings(stack_name=stack.name, region=scene.place.region)
    bucket = LedgerBucket(
        account(settings), stack.outputs["LedgerBucketName"], scene.place.client("s3")
    )
    if (found := bucket.list_settled_hours(hours)) != [*hours]:
        return [f"all {PARTS} objects of hours {[*hours]} were expected, found those of {found}"]
    damaged: list[Exception] = []
    settled = list(rows(bucket.read_objects(hours), damaged.append))
    reports = [_report(scene, stack, hours, from_lines=each) for each in (False, True)]
    return [
        *map(str, damaged),
        *against_lines(settled, scene.expected(scene.watched)),
        *against_report(settled, *reports),
        *_digest(scene, stack, hours, settled),
    ]


def invoke(scene: Scene, function: str, **event: str) -> dict[str, Any]:
    """What a function answers to *event*; its error, where it fails."""
    answer = scene.place.client("lambda").invoke(
        FunctionName=function, Payload=json.dumps(event).encode()
    )
    found: dict[str, Any] = json.loads(answer["Payload"].read())
    return found


def against_lines(
    settled: Sequence[LedgerRow], expected: Mapping[tuple[int, str], Mapping[str, float]]
) -> list[str]:
    """Where *settled* rows are not what the lines come to, by hour."""
    problems = []
    hours = {row.hour for row in settled} | {minute // HOUR_MINUTES for minute, _ in expected}
    for hour in sorted(hours):
        of_hour = [rollup for key, rollup in expected.items() if key[0] // HOUR_MINUTES == hour]
        theirs = [row for row in settled if row.hour == hour]
        wanted = sum(Fraction(rollup.get("IdleCoreMinutes", 0)) for rollup in of_hour)
        idle = Fraction(sum(row.idle or 0 for row in theirs), MICRO)
        if wanted != idle:
            problems.append(f"{_start(hour)}: {wanted} idle core-minutes, found {idle}")
        cost = sum(Fraction(rollup.get("IdleCost", 0)) for rollup in of_hour)
        if abs(cost - _idle_usd(theirs)) > Fraction(len(theirs), _NANO):  # each is rounded once
            found = float(_idle_usd(theirs))
            problems.append(f"{_start(hour)}: idle cores cost {float(cost):.9f}, found {found:.9f}")
    return problems


def against_report(
    settled: Sequence[LedgerRow], by_ledger: Mapping[str, Any], by_lines: Mapping[str, Any]
) -> list[str]:
    """Where the report from the ledger is not that of the lines, or not of these rows."""
    problems = []
    if by_ledger["reading"]["ledger_rows"] != len(settled):
        found = by_ledger["reading"]["ledger_rows"]
        problems.append(f"the report was expected to read {len(settled)} rows, found {found}")
    ledger_amounts, line_amounts = _amounts(by_ledger), _amounts(by_lines)
    problems += [
        f"{what}: {ledger_amounts.get(what)} by the report from the ledger, "
        f"{line_amounts.get(what)} from the lines"
        for what in sorted(ledger_amounts.keys() | line_amounts.keys())
        if ledger_amounts.get(what) != line_amounts.get(what)
    ]
    shown = Fraction(str(by_ledger["total"]["idle_usd"]))
    if shown != _idle_usd(settled):
        problems.append(f"the report has {shown} USD, the rows {float(_idle_usd(settled)):.9f}")
    return problems


def _amounts(report: Mapping[str, Any]) -> dict[str, Any]:
    """What is idle, in all and of each owner."""
    named = [("all", report["total"])]
    named += [(f"{row['owner']} of {row['cluster']}", row) for row in report["rows"]]
    return {
        f"{name} of {whose}": row[name]
        for whose, row in named
        for name in row
        if (name.endswith("_usd") and name != "held_usd") or "idle_core" in name
    }


def _report(scene: Scene, stack: Stack, hours: range, *, from_lines: bool) -> dict[str, Any]:
    """
    What `neuron-emf report` prints, by the rules of the stack.

    Raises:
        AcceptError: If it prints none.
    """
    by_lines = ["--from-lines", "--idle-after", str(IDLE_AFTER_MINUTES)]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "neuron_emf", "report", "--json"),
            *("--since", _start(hours.start), "--until", _start(hours.stop)),
            *("--stack-name", stack.name, "--region", scene.place.region),
            *("--log-group", scene.group(stack.name)),
            *(by_lines if from_lines else ()),
        ],
        capture_output=True, check=False, text=True, timeout=_REPORT_TIMEOUT_S,
    )  # fmt: skip
    if done.returncode:
        msg = f"neuron-emf report ended with {done.returncode}: {done.stderr[-300:]}"
        raise AcceptError(msg)
    found: dict[str, Any] = json.loads(done.stdout, parse_float=Decimal)
    return found


def _digest(scene: Scene, stack: Stack, hours: range, settled: Sequence[LedgerRow]) -> list[str]:
    """It says the amount of the rows, and arrives where messages about alarms do."""
    sent = invoke(scene, stack.outputs["DigestFunctionName"], Until=_start(hours.stop))
    text, amount = str(sent.get("Text", sent)), usd(float(_idle_usd(settled)))
    if f"Idle cores cost {amount}," not in text:
        return [f"the digest was expected to say {amount}, found {text[:300]!r}"]
    queue = scene.stacks[scene.frame].outputs["TextsQueueUrl"]
    sqs = scene.place.client("sqs")

    def missing() -> list[str]:
        answer = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=1)
        texts = [message["Body"] for message in answer.get("Messages", ())]
        return [] if text in texts else ["the digest did not arrive at the alarm topic"]

    return scene.settle(missing, TEXT_MINUTES)


def _idle_usd(settled: Iterable[LedgerRow]) -> Fraction:
    return Fraction(sum(row.idle_cost or 0 for row in settled), _NANO)


def _start(hour: int) -> str:
    return iso_minute(hour * HOUR_MINUTES)
