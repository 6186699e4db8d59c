"""
A message as one log line of Kind `message`: what people were told, for whoever looks later.

It is printed, never logged: a logger would wrap it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuron_wire.emf import sendable_line
from neuron_wire.names import MESSAGE, VERSION

if TYPE_CHECKING:
    from aggregator.explain.explanation import Explanation
    from aggregator.explain.message import Message


def message_line(explanation: Explanation, message: Message, now_s: float) -> str:
    """The line of *message*, sent at *now_s*; what is not known has no member."""
    members: dict[str, object] = {
        "Timestamp": int(now_s * 1000),
        "Schema": VERSION,
        "Kind": MESSAGE,
        "AlarmName": explanation.transition.alarm,
        "ClusterName": explanation.transition.cluster,
        "Metrics": list(explanation.told_metrics or filter(None, [explanation.metric])),
        "State": explanation.transition.word,
        "Subject": message.subject,
        "Text": message.text,
        "Runbook": explanation.runbook,
        "DashboardAddress": explanation.dashboard_address,
    }
    return sendable_line({name: value for name, value in members.items() if value})
