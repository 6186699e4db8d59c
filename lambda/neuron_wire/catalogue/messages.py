"""What the line of a message says: what people were told of an alarm."""

from __future__ import annotations

from typing import Final

from neuron_wire.catalogue.member import Member
from neuron_wire.names import MESSAGE


def _label(name: str, source: str, meaning: str, *, is_rare: bool = False) -> Member:
    folds = "once per message"
    return Member(name, "", "label", source, folds, meaning, (MESSAGE,), is_rare=is_rare)


MESSAGES: Final = (
    _label("AlarmName", "CloudWatch", "The alarm that changed its state."),
    _label("Metrics", "stack", "Every metric whose alarms on the cluster it tells.", is_rare=True),
    _label("State", "CloudWatch", "What it is now: ALARM, OK or NO DATA."),
    _label("Subject", "stack", "The subject as it was sent."),
    _label("Text", "stack", "The text as it was sent."),
    _label("Runbook", "Runbook", "Where the alarm is described.", is_rare=True),
    _label("DashboardAddress", "stack", "The dashboard in the console.", is_rare=True),
)
