"""
What a program would be told: the events of findings, by a rule of one's own and a queue.

As anybody would receive them; the rule and the queue are the rehearsal's, the events close's.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from neuron_wire.findings import DETAIL_TYPE, EVENT_SOURCE

if TYPE_CHECKING:
    from local.embedded_aws import EmbeddedAws

_NAME: Final = "neuron-emf-rehearsal-findings"
_MOST: Final = 10  # messages of one call


class EventQueue:
    """
    The queue of one rehearsal.

    Attributes:
        details: Of all events so far, in the order in which they came.
    """

    def __init__(self, aws: EmbeddedAws) -> None:
        """Make the queue, and the rule that fills it."""
        events = aws.client("events")
        self._sqs = aws.client("sqs")
        self._url: str = self._sqs.create_queue(QueueName=_NAME)["QueueUrl"]
        answer = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])
        pattern = {"source": [EVENT_SOURCE], "detail-type": [DETAIL_TYPE]}
        events.put_rule(Name=_NAME, EventPattern=json.dumps(pattern))
        target = {"Id": "queue", "Arn": answer["Attributes"]["QueueArn"]}
        events.put_targets(Rule=_NAME, Targets=[target])
        self.details: list[dict[str, Any]] = []

    def read(self) -> list[dict[str, Any]]:
        """All events so far."""
        while messages := self._sqs.receive_message(
            QueueUrl=self._url, MaxNumberOfMessages=_MOST
        ).get("Messages"):
            for message in messages:
                self.details.append(json.loads(message["Body"])["detail"])
                self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
        return self.details


def idle_instances(details: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first event of each instance that was found idle."""
    found: dict[str, dict[str, Any]] = {}
    for detail in details:
        if detail["Kind"] == "idle-instance":
            found.setdefault(detail["InstanceId"], detail)
    return list(found.values())


def summary(details: list[dict[str, Any]]) -> str:
    """How many events of findings came, and about which idle instances."""
    names = ", ".join(str(one["InstanceId"]) for one in idle_instances(details))
    idle = f"; idle instances: {names}" if names else ""
    return f"Events of findings so far: {len(details)}{idle}."
