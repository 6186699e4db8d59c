"""
The steps about results for people and programs: ledger and report, alarms, events, messages.

The hours of the lines are settled by name, because none of them is due during an acceptance. The
expected amounts are those of `proof.reference`, which shares no code.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from aggregator.explain.event import EventError, read_transition
from local.alarms.definition import read_alarms
from local.alarms.evaluation import State, evaluate
from local.alarms.history import CloudWatchHistory
from local.alarms.template import Template, load
from neuron_accounts.ledger import PARTS_OF_HOUR, USD_PLACES
from neuron_emf.account import account
from neuron_emf.command_options import AccountSettings
from neuron_emf.reading.ledger_bucket import LedgerBucket, rows
from neuron_wire import CLUSTER_NAMESPACE
from neuron_wire.line_members import iso_minute
from neuron_wire.names import (
    CLUSTER_DIMENSION,
    HOUR_MINUTES,
    MICRO,
    MINUTE_MS,
    OF_A_CONTRIBUTOR,
    OF_AN_ALARM,
)
from neuron_words.quantity_words import usd
from proof.accept.call_recording import AcceptError
from proof.accept.context import ACCEPT_IDLE_AFTER_MINUTES, deploy_parameters, two_clusters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from neuron_accounts.ledger import LedgerRow
    from neuron_emf.deploy.stack import Stack
    from proof.accept.context import AcceptContext
    from proof.logs.rules import Document
    from proof.rollup_differences import Rollups


TEXT_MINUTES: Final = 3.0
_NANO_PER_USD: Final = 10**USD_PLACES
_REPORT_TIMEOUT_S: Final = 300


def ledger(context: AcceptContext) -> list[str]:
    """Settle the hours of the lines: rows, report and digest have the amounts of the lines."""
    stack = context.stacks[context.watched]
    records = context.records(context.watched)
    minutes = [record.minute_ms // MINUTE_MS for record in records]
    hours = range(min(minutes) // HOUR_MINUTES, max(minutes) // HOUR_MINUTES + 1)
    for hour in hours:
        done = invoke(context, stack.outputs["SettleFunctionName"], Hour=_start(hour))
        if done.get("HoursSettled") != 1:
            return [f"settle of {_start(hour)} was expected to settle it, found {done}"]
    settings = AccountSettings(stack_name=stack.name, region=context.place.region)
    bucket = LedgerBucket(
        account(settings), stack.outputs["LedgerBucketName"], context.place.client("s3")
    )
    if (found := bucket.list_settled_hours(hours)) != [*hours]:
        return [
            f"all {PARTS_OF_HOUR} objects of hours {[*hours]} were expected, found those of {found}"
        ]
    damaged: list[Exception] = []
    settled = list(rows(bucket.read_objects(hours), damaged.append))
    reports = [_report(context, stack, hours, from_lines=each) for each in (False, True)]
    return [
        *map(str, damaged),
        *against_lines(settled, context.expected(context.watched)),
        *against_report(settled, *reports),
        *_digest(context, stack, hours, settled),
    ]


def invoke(context: AcceptContext, function: str, **event: object) -> Document:
    """Return the answer of a function to *event*; its error if it fails."""
    answer = context.place.client("lambda").invoke(
        FunctionName=function, Payload=json.dumps(event).encode()
    )
    found: Document = json.loads(answer["Payload"].read())
    return found


def against_lines(settled: Sequence[LedgerRow], expected: Rollups) -> list[str]:
    """Return the differences between *settled* rows and the lines, by hour."""
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
        if abs(cost - _idle_usd(theirs)) > Fraction(
            len(theirs), _NANO_PER_USD
        ):  # each is rounded once
            found = float(_idle_usd(theirs))
            problems.append(f"{_start(hour)}: idle cores cost {float(cost):.9f}, found {found:.9f}")
    return problems


def against_report(
    settled: Sequence[LedgerRow], by_ledger: Mapping[str, Any], by_lines: Mapping[str, Any]
) -> list[str]:
    """Return the differences of the report from the ledger to the lines and to these rows."""
    problems = []
    if (found := by_ledger["reading"]["ledger_rows"]) != len(settled):
        problems.append(f"the report was expected to read {len(settled)} rows, found {found}")
    ledger_amounts = _amounts(by_ledger)
    line_amounts = _amounts(by_lines)
    problems += [
        f"{what}: {ledger_amounts.get(what)} by the report from the ledger, "
        f"{line_amounts.get(what)} from the lines"
        for what in sorted(ledger_amounts.keys() | line_amounts.keys())
        if ledger_amounts.get(what) != line_amounts.get(what)
    ]
    shown = Fraction(str(by_ledger["total"]["idle_cost"]))
    if shown != _idle_usd(settled):
        problems.append(f"the report has {shown} USD, the rows {float(_idle_usd(settled)):.9f}")
    return problems


_IDLE_MEMBERS: Final = frozenset(
    {"idle_core_minutes", "idle_cost", "avoidable_cost", "shared_cost", "committed_cost"}
)


def _amounts(report: Mapping[str, Any]) -> Document:
    """Return the idle amounts, in total and for each owner."""
    named = [("all", report["total"])]
    named += [(f"{row['owner']} of {row['cluster']}", row) for row in report["rows"]]
    return {
        f"{name} of {whose}": row[name]
        for whose, row in named
        for name in row
        if name in _IDLE_MEMBERS
    }


def _report(context: AcceptContext, stack: Stack, hours: range, *, from_lines: bool) -> Document:
    """
    Return the output of `neuron-emf report`, with the stack's rules.

    Raises:
        AcceptError: If it prints none.
    """
    by_lines = ["--from-lines", "--idle-after", str(ACCEPT_IDLE_AFTER_MINUTES)]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "neuron_emf", "report", "--json"),
            *("--since", _start(hours.start), "--until", _start(hours.stop)),
            *("--stack-name", stack.name, "--region", context.place.region),
            *("--log-group", context.group(stack.name)),
            *(by_lines if from_lines else ()),
        ],
        capture_output=True,
        check=False,
        text=True,
        timeout=_REPORT_TIMEOUT_S,
    )
    if done.returncode:
        msg = f"neuron-emf report ended with {done.returncode}: {done.stderr[-300:]}"
        raise AcceptError(msg)
    found: Document = json.loads(done.stdout, parse_float=Decimal)
    return found


def _digest(
    context: AcceptContext, stack: Stack, hours: range, settled: Sequence[LedgerRow]
) -> list[str]:
    """Check that the digest has the amount of the rows, and arrives at the topic of alarms."""
    sent = invoke(context, stack.outputs["DigestFunctionName"], Until=_start(hours.stop))
    text = str(sent.get("Text", sent))
    amount = usd(float(_idle_usd(settled)))
    if f"Idle cores cost {amount}," not in text:
        return [f"the digest was expected to say {amount}, found {text[:300]!r}"]

    def missing() -> list[str]:
        is_there = text in _received(context, "TextsUrl")
        return [] if is_there else ["the digest did not arrive at the alarm topic"]

    return context.wait_until_right(missing, TEXT_MINUTES)


def _received(context: AcceptContext, output: str) -> list[str]:
    """Return the waiting messages in a queue of the frame."""
    queue = context.stacks[context.frame].outputs[output]
    sqs = context.place.client("sqs")
    answer = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=1)
    return [message["Body"] for message in answer.get("Messages", ())]


def _idle_usd(settled: Iterable[LedgerRow]) -> Fraction:
    return Fraction(sum(row.idle_cost or 0 for row in settled), _NANO_PER_USD)


def _start(hour: int) -> str:
    return iso_minute(hour * HOUR_MINUTES)


ALARM_MINUTES: Final = 20.0
EVENT_MINUTES: Final = 5.0
# the step sets its state, which CloudWatch then corrects
PIPELINE_ALARM: Final = "MinutesWaitingAlarm"
AWAITED_S: Final = 30 * 60  # alarms that look further back are not awaited


def alarms(context: AcceptContext) -> list[str]:
    """
    Check that alarms on clusters have the states that the evaluator computes from the metrics.
    """
    given = {**deploy_parameters(context, context.watched), "AWS::StackName": context.watched}
    template = Template(load(context.package.source), given)
    known = [alarm for alarm in read_alarms(template) if alarm.namespace == CLUSTER_NAMESPACE]
    awaited = [alarm for alarm in known if alarm.period_s * alarm.evaluation_periods <= AWAITED_S]
    context.notes += [f"not awaited: {alarm.logical_id}" for alarm in known if alarm not in awaited]
    client = context.place.client("cloudwatch")

    def problems() -> list[str]:
        prefix = f"{context.watched}-"
        pages = client.get_paginator("describe_alarms").paginate(AlarmNamePrefix=prefix)
        states = {  # a name consists of the stack's name, the logical ID and random characters
            row["AlarmName"].removeprefix(prefix).partition("-")[0]: row["StateValue"]
            for page in pages
            for row in page["MetricAlarms"]
        }
        found = []
        wanted = set()
        for alarm in awaited:
            said = {
                state.state for state in evaluate(alarm, CloudWatchHistory(client), time.time())
            }
            expected = State.ALARM if State.ALARM in said else State.OK
            wanted.add(expected)
            actual = states.get(alarm.logical_id)
            if actual != expected.value:
                found.append(f"{alarm.logical_id}: expected {expected.value}, found {actual}")
        return found or ([] if State.ALARM in wanted else ["none is in ALARM, with idle cores"])

    return context.wait_until_right(problems, ALARM_MINUTES)


def events(context: AcceptContext) -> list[str]:
    """Receive the state changes of the alarms, and check that explain can read each."""
    client = context.place.client("cloudwatch")
    (alarm,) = client.describe_alarms(AlarmNamePrefix=f"{context.watched}-{PIPELINE_ALARM}")[
        "MetricAlarms"
    ]
    client.set_alarm_state(
        AlarmName=alarm["AlarmName"],
        StateValue="ALARM",
        StateReason="an acceptance tests the event",
    )
    awaited = {OF_AN_ALARM} if context.place.is_embedded else {OF_AN_ALARM, OF_A_CONTRIBUTOR}
    received: list[Document] = []

    def missing() -> list[str]:
        received.extend(map(json.loads, _received(context, "AlarmEventsUrl")))
        absent = awaited - {event.get("detail-type") for event in received}
        return [f"no event {detail_type!r} was received" for detail_type in sorted(absent)]

    problems = context.wait_until_right(missing, EVENT_MINUTES)
    return problems + [text for event in received if (text := _unreadable(event))]


def _unreadable(event: Mapping[str, Any]) -> str:
    """Return why explain cannot read an event; empty if it can."""
    try:
        read_transition(event)
    except EventError as error:
        return str(error)
    return ""


def finding(context: AcceptContext) -> list[str]:
    """Receive an event about the instance whose cores are all idle."""
    idle = two_clusters(context.watched)[0]
    expected = {
        "Schema": 1,
        "Step": 1,
        "Change": "opened",
        "Kind": "idle-instance",
        "ClusterName": idle.cluster,
        "InstanceId": idle.instance_id,
        "InstanceType": idle.instance_type,
        "IdleCores": 2,
    }
    received: list[Document] = []

    def missing() -> list[str]:
        context.send_newest_minute(context.watched, idle)  # a late minute changes no finding
        context.close_minutes(context.watched)
        received.extend(map(json.loads, _received(context, "FindingEventsUrl")))
        if any(expected.items() <= event["detail"].items() for event in received):
            return []
        context.notes[:] = [str(event["detail"]) for event in received]
        return [f"an event with {expected} was expected, found {len(received)} others"]

    return context.wait_until_right(missing, EVENT_MINUTES)


def subscription(context: AcceptContext) -> list[str]:
    """Receive the messages about one cluster, and through the filter none about another."""
    function = context.stacks[context.watched].outputs["ExplainFunctionName"]
    clusters = sorted({instance.cluster for instance in two_clusters(context.watched)})
    for cluster in reversed(clusters):  # the awaited message is sent last
        sent = invoke(context, function, **_trial(cluster, context.place.region))
        if "Text" not in sent:
            return [f"explain was expected to send a message about {cluster}, found {sent}"]
    received: set[str] = set()

    def differences() -> list[str]:
        messages = map(json.loads, _received(context, "FilteredTextsUrl"))
        received.update(message["ClusterName"] for message in messages if "ClusterName" in message)
        if received == {clusters[0]}:
            return []
        return [f"messages about {clusters[0]} alone were expected, found {sorted(received)}"]

    return context.wait_until_right(differences, TEXT_MINUTES)


def _trial(cluster: str, region: str) -> Document:
    """Return an event of an alarm on *cluster*, as in docs/how-to/notifications.md."""
    query = 'SELECT MAX(HardwareErrors) FROM SCHEMA("Neuron/Cluster", ClusterName)'
    timestamp = time.strftime("%Y-%m-%dT%H:%M:%S.000+0000", time.gmtime())
    detail = {
        "alarmName": "a trial",
        "alarmContributor": {"id": cluster, "attributes": {CLUSTER_DIMENSION: cluster}},
        "state": {"value": "ALARM", "reason": "a trial", "timestamp": timestamp},
        "configuration": {"metrics": [{"expression": f"{query} GROUP BY ClusterName"}]},
    }
    return {"detail-type": OF_A_CONTRIBUTOR, "region": region, "resources": [], "detail": detail}
