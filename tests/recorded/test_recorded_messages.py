"""A message's subject begins as CloudWatch's own do, and the page reads what those have."""

from __future__ import annotations

import pytest

from aggregator.explain.event import read_transition
from aggregator.explain.notification import notify
from proof.memory_table import MemoryTable
from tests.aggregator.explain.alarm_events import ENVIRONMENT, RANG_S, of_a_contributor, of_an_alarm
from tests.recorded.recording import each


@each("messages_of_alarms")
@pytest.mark.parametrize("event", [of_an_alarm(), of_a_contributor()], ids=["alarm", "contributor"])
def test_a_subject_begins_as_the_recorded_one(row, event):
    """With the state; and CloudWatch's own message has what docs/how-to/webhook.md reads of it."""
    message = notify(
        read_transition(event), MemoryTable(), ENVIRONMENT, lambda *_: None, RANG_S,
        printer=lambda _: None,
    ).message  # fmt: skip
    assert row["subject"].partition(" ")[0] == message.subject.partition(" ")[0] == "ALARM:"
    assert {"AlarmName", "NewStateValue", "NewStateReason"} <= set(row["members"])
