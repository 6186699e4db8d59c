"""
What people would be told of an alarm: the deployed explain function, asked.

CloudWatch would send the event by EventBridge when the alarm changes its state;
here nothing watches alarms but the evaluator, so the events are made from what it
found, with the members that recorded ones have (`tests/recorded`).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from local.alarms import State
from local.embedded_aws import EmbeddedAwsError
from local.embedded_aws.clients import REGION
from local.rehearsal.alarm_board import deployed_name
from neuron_wire.names import OF_A_CONTRIBUTOR, OF_AN_ALARM

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from local.alarms import AlarmState
    from local.alarms.history import Dimensions

ACCOUNT: Final = "000000000000"
FIRST: Final = "IdleCores"
"""Of several alarms that ring for a cluster, the one whose name begins so is explained."""


@dataclass(frozen=True, slots=True)
class Notice:
    """
    One message to people.

    Attributes:
        subject: Its subject line.

        text: What an e-mail would hold.
    """

    subject: str
    text: str


def ringing(states: Iterable[AlarmState]) -> list[AlarmState]:
    """One alarm for each contributor that has any in ALARM, that on idle cores before others."""
    chosen: dict[object, AlarmState] = {}
    for state in states:
        if state.state is not State.ALARM:
            continue
        kept = chosen.get(state.contributor)
        if kept is None or state.alarm.logical_id.startswith(FIRST):
            chosen[state.contributor] = state
    return list(chosen.values())


def events_of(
    found: AlarmState, states: Iterable[AlarmState], properties: Mapping[str, Any], at_s: float
) -> list[dict[str, object]]:
    """
    The events of *found* going to ALARM at *at_s*; *properties* are its resource's.

    An alarm on a query has one of its own and one of the contributor; *states*
    are all there are, of which the first counts those of its alarm.
    """
    if "Metrics" not in properties:
        metric = {
            "namespace": properties["Namespace"],
            "name": properties["MetricName"],
            "dimensions": dict(found.contributor),
        }
        stat = {"metric": metric, "period": 60, "stat": properties["Statistic"]}
        queries: list[dict[str, Any]] = [{"id": "m1", "metricStat": stat, "returnData": True}]
        return [_event(OF_AN_ALARM, found, found.reason, properties, queries, at_s)]
    queries = [
        {
            "id": one["Id"], "expression": one["Expression"],
            "returnData": True, "period": one.get("Period", 60),
        }
        for one in properties["Metrics"]
    ]  # fmt: skip
    own = [one.state for one in states if one.alarm == found.alarm and one.contributor]
    reason = f"{own.count(State.ALARM)} out of {len(own)} time series evaluated to ALARM"
    return [
        _event(OF_AN_ALARM, found, reason, properties, queries, at_s),
        _event(OF_A_CONTRIBUTOR, found, found.reason, properties, queries, at_s),
    ]


def is_chosen(event: Mapping[str, object], rules: Iterable[Mapping[str, Any]]) -> bool:
    """Whether one of *rules*, as the template has them, passes *event* on, by its kind."""
    return any(event["detail-type"] in rule["EventPattern"]["detail-type"] for rule in rules)


def contributor_id(contributor: Dimensions) -> str:
    """Sixteen hex digits of its attributes alone, as CloudWatch's are; which is not known."""
    text = json.dumps(sorted(contributor)).encode()
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def _event(  # noqa: PLR0917  # what an event has
    kind: str,
    found: AlarmState,
    reason: str,
    properties: Mapping[str, Any],
    queries: list[dict[str, Any]],
    at_s: float,
) -> dict[str, object]:
    name = deployed_name(found.alarm.logical_id)
    at = datetime.fromtimestamp(at_s, timezone.utc)
    moment = at.strftime("%Y-%m-%dT%H:%M:%S.000+0000")
    state = {"value": found.state.value, "reason": reason, "timestamp": moment}
    detail: dict[str, object] = {
        "alarmName": name,
        "state": state,
        "configuration": {
            "metrics": queries,
            "description": str(properties.get("AlarmDescription", "")),
        },
    }
    if kind == OF_A_CONTRIBUTOR:
        attributes = dict(found.contributor)
        detail["alarmContributor"] = {
            "id": contributor_id(found.contributor),
            "attributes": attributes,
        }
    else:
        state["reasonData"] = json.dumps({"version": "1.0", "queryDate": moment})
        before = {"value": State.OK.value, "reason": "", "timestamp": moment}
        detail["previousState"] = before
    return {
        "version": "0",
        "detail-type": kind,
        "source": "aws.cloudwatch",
        "account": ACCOUNT,
        "time": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": REGION,
        "resources": [f"arn:aws:cloudwatch:{REGION}:{ACCOUNT}:alarm:{name}"],
        "detail": detail,
    }


def ask(functions: Any, name: str, event: Mapping[str, object]) -> Notice:  # noqa: ANN401  # a boto3 client
    """
    What the function *name* says to *event*.

    Raises:
        EmbeddedAwsError: If it fails or says nothing.
    """
    answer = functions.invoke(FunctionName=name, Payload=json.dumps(event).encode())
    answered = json.loads(answer["Payload"].read() or b"null")
    if answer.get("FunctionError") or not isinstance(answered, dict) or "Text" not in answered:
        msg = f"{name} failed for an alarm: {json.dumps(answered)[:500]}"
        raise EmbeddedAwsError(msg)
    return Notice(str(answered["Subject"]), str(answered["Text"]))
