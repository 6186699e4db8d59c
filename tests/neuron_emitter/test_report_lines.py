"""Raw report lines: which reports are written, how, and what exceeds a log event."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neuron_emitter.fold import LineIdentity, ReportSample
from neuron_emitter.lines import LineWriter
from neuron_emitter.logs import Event
from neuron_emitter.replay import replay
from neuron_emitter.settings import MinuteSettings, ReplaySettings
from neuron_wire.catalogue import members_of
from neuron_wire.extraction import MAX_EXTRACTED_BYTES
from tests.neuron_emitter.loop_rig import busy, chunk, run
from tests.neuron_wire.emf_documents import undocumented

REPORT_SENDER = LineIdentity(
    "blue", "i-0123456789abcdef0", identity_guessed=True, boot="01a1fd4e75ef2470b16e"
)


def of_kind(kind, lines):
    """Return the documents of *lines* of one kind."""
    return [document for document in map(json.loads, lines) if kind == document["Kind"]]


def sized(size):
    """Return a report whose raw line has *size* bytes, and the line, or None if it is too long."""
    line_writer = LineWriter(MinuteSettings())
    bare = line_writer.raw_record(b'{"neuron_runtime_data":[],"a":""}', 1000, REPORT_SENDER, 1).line
    whole = b'{"neuron_runtime_data":[],"a":"%b"}' % (b"x" * (size - len(bare)))
    record = line_writer.raw_record(whole, 1000, REPORT_SENDER, 1)
    return whole, record and record.line


@pytest.mark.parametrize(("every", "minutes"), [(1, [0, 1, 2, 3, 4]), (2, [0, 2, 4]), (9, [0])])
def test_the_last_report_of_every_nth_minute_is_written(tmp_path, every, minutes):
    """
    The last report of every Nth minute is written from the first minute on.

    Its line has the time of receipt, and the minute lines do not change.
    """
    documents = [busy(number) for number in range(10)]
    path = tmp_path / "reports.jsonl"
    path.write_bytes(chunk(*documents))
    settings: dict[str, Any] = {
        "cluster": "blue",
        "interval": 30.0,
        "start": "2026-01-01T00:00:00Z",
    }
    lines = list(replay([path], ReplaySettings(**settings, raw_reports=every)))
    raw = of_kind("raw", lines)
    expected = [1_767_225_600_000 + 60_000 * minute + 30_000 for minute in minutes]
    assert expected == [document["Timestamp"] for document in raw]
    assert [documents[2 * minute + 1] for minute in minutes] == [
        document["Report"] for document in raw
    ]
    assert list(range(1, len(lines) + 1)) == [json.loads(line)["Seq"] for line in lines]
    without = list(replay([path], ReplaySettings(**settings)))
    assert [] == of_kind("raw", without)
    assert [document["CoreState"] for document in of_kind("minute", without)] == [
        document["CoreState"] for document in of_kind("minute", lines)
    ]


def test_a_report_keeps_its_words_and_numbers_on_one_line():
    """
    A raw report keeps the order, the numbers as written and unknown or repeated members.

    Characters that do not print are escaped.
    """
    text = (
        '{ "neuron_runtime_data" : [],\n "b": 1.50e-05, "b": 12345678901234567890,\n'
        ' "é\u009b": "_aws"}'
    )
    line = (
        LineWriter(MinuteSettings(tag=("team=a",)))
        .raw_record(text.encode(), 7, REPORT_SENDER, 3)
        .line
    )
    expected = (
        '"Report":{"neuron_runtime_data":[],"b":1.50e-05,"b":12345678901234567890,'
        '"é\\u009b":"_aws"}}'
    )
    assert line.endswith(expected)
    document = json.loads(line)
    members = {
        "Timestamp": 7_000,
        "Kind": "raw",
        "Seq": 3,
        "team": "a",
    }
    assert members.items() <= document.items()
    assert [] == undocumented(document, ["team"])
    assert members_of("raw").keys() == document.keys() - {"team"}


def test_the_longest_line_is_one_log_event():
    """A raw line of 1,048,550 bytes is written, and a longer line is refused."""
    assert 1_048_550 == MAX_EXTRACTED_BYTES == len(sized(MAX_EXTRACTED_BYTES)[1])
    assert sized(MAX_EXTRACTED_BYTES + 1)[1] is None


def test_an_oversized_report_is_counted_and_logged_once(caplog):
    """A raw report that exceeds a log event is counted in the next minute line, and logged once."""
    long = chunk({**busy(), "note": "x" * MAX_EXTRACTED_BYTES})
    with caplog.at_level(logging.WARNING):
        lines, _ = run([(1 + 60 * minute, long) for minute in range(3)], 185, raw_reports=1)
    assert [] == of_kind("raw", lines)
    counts = [document.get("RawReportsTooLarge") for document in of_kind("minute", lines)]
    assert [None, 1, 2] == counts[:3]
    warnings = [
        record.getMessage() for record in caplog.records if "--raw-reports" in record.getMessage()
    ]
    assert 1 == len(warnings)
    assert "1048550" in warnings[0]


@given(st.floats(0, 4e9))
@example(1_800_000_000.0006)
def test_a_record_has_the_time_of_its_line(at_s):
    """A record has the timestamp of its line, to the millisecond."""
    writer = LineWriter(MinuteSettings(metrics="none"))
    sample = ReportSample(at_s, 5.0, (50.0,))
    for record in (
        *writer.event_records(
            [Event("MonitorDied", at_s, "neuron-monitor ended.")], REPORT_SENDER, 1
        ),
        *writer.report_records(sample, REPORT_SENDER, 2),
    ):
        assert json.loads(record.line)["Timestamp"] == record.timestamp_ms
