"""
What people would be told of an alarm: the deployed explain function, asked.

CloudWatch would send the event by EventBridge when the alarm changes its state;
here nothing watches alarms but the evaluator, so the event is made from what it
found, of the form of
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch-and-eventbridge.html
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from local.alarms import State
from local.embedded_aws import EmbeddedAwsError
from local.embedded_aws.clients import REGION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from local.alarms import AlarmState

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


def event_of(found: AlarmState, properties: Mapping[str, Any], at_s: float) -> dict[str, object]:
    """The event of *found* going to ALARM at *at_s*; *properties* are its resource's."""
    name = f"rehearsal-{found.alarm.logical_id}"
    at = datetime.fromtimestamp(at_s, timezone.utc)
    detail: dict[str, object] = {
        "alarmName": name,
        "state": {
            "value": found.state.value,
            "reason": found.reason,
            "timestamp": at.strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
        },
    }
    kind = "CloudWatch Alarm State Change"
    if "Metrics" in properties:
        kind = "CloudWatch Alarm Contributor State Change"
        queries = [
            {"id": one["Id"], "expression": one["Expression"], "period": 60, "returnData": True}
            for one in properties["Metrics"]
        ]
        detail["alarmContributor"] = {
            "id": "-".join(value for _, value in found.contributor),
            "attributes": dict(found.contributor),
        }
    else:
        metric = {
            "namespace": properties["Namespace"],
            "name": properties["MetricName"],
            "dimensions": dict(found.contributor),
        }
        stat = {"metric": metric, "period": 60, "stat": properties["Statistic"]}
        queries = [{"id": "m1", "metricStat": stat, "returnData": True}]
        detail["previousState"] = {"value": State.OK.value}
    return {
        "version": "0",
        "detail-type": kind,
        "source": "aws.cloudwatch",
        "account": ACCOUNT,
        "time": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": REGION,
        "resources": [f"arn:aws:cloudwatch:{REGION}:{ACCOUNT}:alarm:{name}"],
        "detail": {**detail, "configuration": {"metrics": queries}},
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
        msg = f"{name} was asked what an alarm means and failed: {json.dumps(answered)[:500]}"
        raise EmbeddedAwsError(msg)
    return Notice(str(answered["Subject"]), str(answered["Text"]))
