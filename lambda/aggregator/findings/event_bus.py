"""
EventBridge, as far as findings need it.

Limits are EventBridge's own:
https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from aggregator import aws
from neuron_wire.findings import DETAIL_TYPE, EVENT_SOURCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_wire.findings import Detail

MAX_ENTRIES: Final = 10  # of one PutEvents


@dataclass(frozen=True, slots=True)
class EventBus:
    """
    One event bus.

    Attributes:
        name: Of the bus, in this account and region.

        client: Of EventBridge.
    """

    name: str
    client: Any

    @classmethod
    def connect(cls, name: str) -> EventBus:
        """
        The bus *name*, with the credentials and the region of the environment.

        Without a network to it one attempt is enough: the next run has another.
        """
        return cls(name, aws.client("events", attempts=2))

    def put(self, details: Sequence[Detail]) -> list[bool]:
        """Which of *details*, at most `MAX_ENTRIES`, the bus took; none if it did not answer."""
        entries = [
            {
                "EventBusName": self.name,
                "Source": EVENT_SOURCE,
                "DetailType": DETAIL_TYPE,
                "Detail": json.dumps(detail, separators=(",", ":")),
            }
            for detail in details
        ]
        try:
            answer = aws.call(self.client.put_events, Entries=entries)
        except aws.AwsError:
            return [False] * len(entries)
        taken = ["EventId" in one for one in answer.get("Entries", [])]
        return (taken + [False] * len(entries))[: len(entries)]
