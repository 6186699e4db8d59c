"""
Due events: sent to EventBridge oldest first, and removed once the bus has accepted them.

This is the last step of a run, so that a bus never delays a rollup. A rejected event stays due, and
the next run sends it again; a crash before its removal makes a copy with the same ID and step.
Limits are EventBridge's own:
https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from aggregator import aws
from aggregator.storage.values import FindingsItem
from neuron_accounts.findings import EVENT_SOURCE, FINDING_DETAIL_TYPE, FindingsState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aggregator.storage.table import Table
    from neuron_accounts.findings import Detail


MAX_EVENTS_IN_CALL: Final = 10  # in one PutEvents


@dataclass(frozen=True, slots=True)
class StackLogGroups:
    """
    The log groups that evidence queries read.

    Attributes:
        records: The log group of the emitters.

        rollups: The log group of close.
    """

    records: str
    rollups: str


@dataclass(frozen=True, slots=True)
class EventBus:
    """
    One event bus.

    Attributes:
        name: The bus's name, in this account and Region.

        client: The EventBridge client.
    """

    name: str
    client: Any

    def put(self, details: Sequence[Detail]) -> list[bool]:
        """Put *details*, at most MAX_EVENTS_IN_CALL. Return True for each accepted one."""
        entries = [
            {
                "EventBusName": self.name,
                "Source": EVENT_SOURCE,
                "DetailType": FINDING_DETAIL_TYPE,
                "Detail": json.dumps(detail, separators=(",", ":")),
            }
            for detail in details
        ]
        try:
            answer = aws.call(self.client.put_events, Entries=entries)
        except aws.AwsError:
            return [False] * len(entries)
        taken = ["EventId" in entry for entry in answer.get("Entries", [])]
        return (taken + [False] * len(entries))[: len(entries)]


MAX_SENT: Final = 200
"""The most events of one run."""

Place = str  # the key of an item in the partition of findings


@dataclass(frozen=True, slots=True)
class FindingsOutlet:
    """
    The destination of finding events.

    Attributes:
        put: Puts some events on the bus; returns True for each accepted one.

        groups: The log groups of the evidence.
    """

    put: Callable[[Sequence[Detail]], list[bool]]
    groups: StackLogGroups


def send_due(
    outlet: FindingsOutlet,
    table: Table,
    items: Mapping[Place, FindingsItem],
    expires_s: int,
    has_time: Callable[[], bool],
) -> int:
    """
    Send due events in *items*, the items in *table*, at most `MAX_SENT`.

    It begins a call while it *has_time*. Return the number of events that the bus did not accept.
    """
    states = {
        place: FindingsState.unpacked(item.payload) for place, item in items.items() if item.due
    }
    due = []
    for place, state in states.items():
        minutes = accumulate((detail["Minute"] for detail in state.due), max)
        due += [(minute, place, number) for number, minute in enumerate(minutes)]
    # Events of one item stay in the order of their steps: a late minute comes after newer ones.
    due.sort(key=itemgetter(0))
    taken: dict[Place, set[int]] = {}
    failed = 0
    del due[MAX_SENT:]
    while due and has_time():
        batch = due[:MAX_EVENTS_IN_CALL]
        due = due[MAX_EVENTS_IN_CALL:]
        answers = outlet.put([states[place].due[number] for _, place, number in batch])
        for (_, place, number), is_taken in zip(batch, answers, strict=True):
            if is_taken:
                taken.setdefault(place, set()).add(number)
        failed += len(answers) - sum(answers)
        if not any(answers):
            break  # the bus does not answer
    for place, numbers in taken.items():
        state = states[place]
        item = items[place]
        state.due = [step for number, step in enumerate(state.due) if number not in numbers]
        after = FindingsItem(item.version + 1, len(state.due), state.packed())
        # If another run has written since, it sends the same events once more.
        table.write_findings(place, after, expires_s)
    return failed
