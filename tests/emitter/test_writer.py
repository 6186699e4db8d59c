"""Minutes, events and reports as records."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from emitter.events import Event
from emitter.fold import ReportSample
from emitter.lines import LineIdentity, LineSettings, LineWriter

SENDER = LineIdentity("blue", "i-1", identity_guessed=False, boot="1")


@given(st.floats(0, 4e9))
@example(1_800_000_000.0006)
def test_a_record_has_the_time_of_its_line(at_s):
    """By which CloudWatch Logs orders it, and which its reader sees: not one millisecond apart."""
    writer = LineWriter(LineSettings(tier="none"))
    sample = ReportSample(at_s, 5.0, (50.0,))
    for record in (
        *writer.event_records([Event("MonitorDied", at_s, "neuron-monitor ended.")], SENDER, 1),
        *writer.report_records(sample, SENDER, 2),
    ):
        assert json.loads(record.line)["Timestamp"] == record.timestamp_ms
