"""The emitter's loop: minutes close on time, numbers have no gap, a restart loses nothing."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_emitter.instance.instance_facts import InstanceFacts
from neuron_emitter.lines import LineWriter
from neuron_emitter.logs import Event, EventQueue
from neuron_emitter.run import signals
from neuron_emitter.run.identification import GUESS_AFTER_S
from neuron_emitter.run.loop import REPORT_READ_TIMEOUT_S
from neuron_emitter.spool import Spool
from neuron_wire import WireFormatError, parse
from neuron_wire.extraction import violations
from neuron_wire.names import MINUTE_MS
from proof.factories.records import AN_INSTANCE
from tests.neuron_emitter.loop_rig import (
    LOOP_START_MS,
    FakeClock,
    FakeOutlet,
    Timetable,
    busy,
    chunk,
    emitter_of,
    records,
    run,
)
from tests.neuron_emitter.neuron_reports import (
    REPORTS_START_S,
    counters,
    hardware,
    hardware_counters,
    host_memory,
    instance,
    report,
    runtime,
)


def test_minutes_close_on_time_without_reports():
    """If neuron-monitor hangs, minutes close on time, with unknown cores."""
    lines, outlet = run([(1, chunk(busy()))], 299.5)
    minutes = [parse(line) for line in lines]
    assert ["baaa", "????", "????", "????", "????"] == [minute.core_state for minute in minutes]
    assert [LOOP_START_MS + place * MINUTE_MS for place in range(5)] == [
        minute.minute_ms for minute in minutes
    ]
    assert [0, 0, 0, 0] == [minute.reports for minute in minutes[1:]]
    ends_s = [REPORTS_START_S + 60 * (place + 1) for place in range(4)]
    late_s = [sent_s - end_s for (sent_s, _), end_s in zip(outlet.sent, ends_s, strict=False)]
    assert all(0 <= late <= REPORT_READ_TIMEOUT_S for late in late_s)
    assert [AN_INSTANCE] * len(outlet.sent) == [instance_id for _, instance_id in outlet.sent]


def test_the_end_of_the_input_is_a_planned_stop():
    """At the end of its input, the emitter reads the last unfinished line and sends all records."""
    document = chunk(busy()).rstrip(b"\n")
    lines, outlet = run([(1, document), (2, None)], ended=True)
    (record,) = [parse(line) for line in lines]
    assert 1 == record.reports
    assert record.is_clean_shutdown is True
    assert f"finish {AN_INSTANCE}" == outlet.ended


class Stream(Timetable):
    """A timetable of a pipe, which asks at its end if a stop is in progress."""

    is_stream = True


def test_the_first_line_on_standard_output_is_announced(caplog):
    """
    The emitter logs when the first line is due, only for a stream on standard output.

    Lines of a file are immediate, and `--output logs` prints no lines.
    """
    caplog.set_level("INFO")
    due = "The first line is due at 2027-01-15T08:01Z, in 60 s, then one each minute."
    for source, output, expected in (
        (Stream, "stdout", [due]),
        (Timetable, "stdout", []),
        (Stream, "logs", []),
    ):
        run(until_s=30, source=source, output=output)
        assert expected == caplog.messages
        caplog.clear()


@pytest.mark.parametrize("asked_after_s", [0.3, None])
def test_the_end_of_a_stream_may_be_part_of_a_stop(asked_after_s, monkeypatch):
    """At the end of a stream, the loop waits a second for a signal: Ctrl-C ends both programs."""
    waited_s = []
    played = SimpleNamespace(monotonic=lambda: sum(waited_s), sleep=waited_s.append)
    monkeypatch.setattr(signals, "time", played)
    clock = FakeClock()
    with Spool(None, clock=clock, max_age_s=1e12) as spool:
        source = Stream(clock, [(1, chunk(busy())), (2, None)])
        emitter = emitter_of(source, spool, clock=clock)
        stops_at_s = asked_after_s or 60
        assert (asked_after_s is None) == emitter.read_until(lambda: sum(waited_s) > stops_at_s)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 900), st.sampled_from([1, 4, 128])), max_size=20),
    st.integers(0, 1000),
)
def test_numbers_have_no_gap_and_minutes_no_hole(arrivals, until_s):
    """Seq counts all lines from 1 without a gap, and each minute has one line."""
    chunks = [
        (
            at_s,
            chunk(
                report(runtime(counters([50.0] * cores)), neuron_hardware_info=hardware(1, cores))
            ),
        )
        for at_s, cores in arrivals
    ]
    lines, _ = run(chunks, until_s, instance_id="i-told")
    documents = [json.loads(line) for line in lines]
    assert [*range(1, len(documents) + 1)] == [line["Seq"] for line in documents]
    assert 1 == len({line["Boot"] for line in documents})
    minutes: list[Any] = [parse(line) for line in lines if '"Kind":"minute"' in line]
    first_ms = minutes[0].minute_ms
    assert [first_ms + place * MINUTE_MS for place in range(len(minutes))] == [
        minute.minute_ms for minute in minutes
    ]
    assert len(arrivals) == sum(minute.reports for minute in minutes)


def test_nothing_is_recorded_before_the_instance_is_known():
    """No record is written before the instance is known, so that no wrong instance appears."""
    assert [] == records(until_s=GUESS_AFTER_S - 1)
    minutes = records([(250, chunk(busy()))], 299)
    assert [AN_INSTANCE] == [minute.instance_id for minute in minutes]
    assert [(4 * MINUTE_MS + LOOP_START_MS, 1)] == [
        (minute.minute_ms, minute.seq) for minute in minutes
    ]


def test_an_instance_is_guessed_after_five_minutes():
    """After five minutes without an instance ID, records have a guessed ID, marked as guessed."""
    assert 300.0 == GUESS_AFTER_S
    minutes = records(until_s=600)
    assert minutes[0].minute_ms == LOOP_START_MS + 5 * MINUTE_MS
    assert all(
        minute.identity_guessed and minute.instance_id.startswith("host-") for minute in minutes
    )
    assert {""} == {minute.core_state for minute in minutes}


def test_reports_that_name_no_instance_are_recorded_under_a_guess():
    """If reports have no instance ID, records are written at once under a guessed ID."""
    nameless = busy(instance_info=instance(instance_id=""))
    minutes = records([(1, chunk(nameless)), (61, chunk(busy()))], 119)
    assert [True, False] == [minute.identity_guessed for minute in minutes]
    assert ["baaa", "baaa"] == [minute.core_state for minute in minutes]
    assert AN_INSTANCE == minutes[1].instance_id


def test_state_goes_from_boot_to_boot(tmp_path):
    """Idle minutes, ECC values and the instance's ID survive restarts."""

    def reported(percent, corrected):
        return busy(
            percent,
            system_data={
                "neuron_hw_counters": hardware_counters({"mem_ecc_corrected": corrected}),
                "memory_info": host_memory(),
            },
        )

    clock = FakeClock()
    reports = [(5 * place + 1, chunk(reported(0.0, 5))) for place in range(24)]
    with Spool(tmp_path, clock=clock, max_age_s=1e12) as spool:
        first = records(reports, 119, spool=spool, clock=clock)
    later = [(120 + 5 * place + 1, chunk(reported(0.0, 8))) for place in range(12)]
    with Spool(tmp_path, clock=clock, max_age_s=1e12) as spool:
        second = records(later, 181, spool=spool, clock=clock)
    with Spool(tmp_path, clock=clock, max_age_s=1e12) as spool:
        third = records(until_s=241, spool=spool, clock=clock)
    assert [(1, 1, 1, 1), (2, 2, 2, 2)] == [minute.idle_minutes for minute in first]
    # The rest of the second minute, which is partial and changes no count, then the third.
    assert [(2, 2, 2, 2), (3, 3, 3, 3)] == [minute.idle_minutes for minute in second[:2]]
    assert [0, 0, 3] == [minute.ecc_corrected_rise for minute in (*first, second[1])]
    assert first[0].boot < second[0].boot < third[0].boot
    assert [1, 1, 1] == [boot_records[0].seq for boot_records in (first, second, third)]
    # The instance is known without a report in this boot.
    assert AN_INSTANCE == third[0].instance_id
    assert third[0].identity_guessed is False
    assert "????" == third[0].core_state


def test_records_of_the_last_run_are_sent_at_once(tmp_path):
    """Records of the last run are sent at the start, not after the first new minute."""
    clock = FakeClock()
    with Spool(tmp_path, clock=clock, max_age_s=1e12) as spool:
        source = Timetable(clock, [(1, chunk(busy()))])
        emitter = emitter_of(source, spool, clock=clock)
        emitter.read_until(source.is_over)
        emitter.finish(input_ended=False)
    with Spool(tmp_path, clock=clock, max_age_s=1e12) as spool:
        outlet = FakeOutlet()
        emitter_of(Timetable(clock), spool, outlet, clock=clock)
        assert [(None, AN_INSTANCE)] == outlet.sent


def test_a_minute_that_cannot_be_written_is_dropped_alone(monkeypatch, caplog):
    """A minute whose line has a bug is dropped, logged and counted in the next line."""
    error = WireFormatError("not_extractable", "a bug")
    minute_records = LineWriter.minute_records
    failures = [error]

    def failing(self, *minute):
        if failures:
            raise failures.pop()
        return minute_records(self, *minute)

    monkeypatch.setattr(LineWriter, "minute_records", failing)
    lines, _ = run([(1, chunk(busy())), (61, chunk(busy())), (121, chunk(busy()))], 125)
    documents = [json.loads(line) for line in lines]
    assert [1, 2] == [line["Seq"] for line in documents]
    assert [1, 1] == [line["MinutesDropped"] for line in documents]
    assert [LOOP_START_MS + MINUTE_MS, LOOP_START_MS + 2 * MINUTE_MS] == [
        line["_aws"]["Timestamp"] for line in documents
    ]
    (logged,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert "minutes dropped" == logged.getMessage()
    assert 1 == logged.count
    assert str(error) == logged.why


DIED_EVENT = Event(
    "MonitorDied", REPORTS_START_S + 30.25, "neuron-monitor ended with code 1.", {"ExitCode": 1}
)


def kinds(lines):
    """Return the kind of each line, in order."""
    return [json.loads(line)["Kind"] for line in lines]


def of_kind(lines, kind):
    """Return the documents of lines of one kind."""
    return [document for document in map(json.loads, lines) if document["Kind"] == kind]


def test_an_event_is_spooled_at_once():
    """An event is spooled at once with its own time, so that a kill in its minute loses nothing."""
    clock = FakeClock()
    events = EventQueue()
    with Spool(None, clock=clock, max_age_s=1e12) as spool:
        source = Timetable(clock, [(1, chunk(busy())), (31, chunk(busy()))], 40)
        emitter = emitter_of(source, spool, clock=clock, events=events)
        events.add_event(DIED_EVENT)
        assert not emitter.read_until(source.is_over)
        (kept,) = spool.oldest(10, 1 << 20)
        assert round(1000 * DIED_EVENT.at_s) == kept.timestamp_ms
        emitter.finish(input_ended=False)
        assert ["event", "minute"] == kinds(record.line for record in spool.oldest(10, 1 << 20))
    document = json.loads(kept.line)
    expected = {"Event": "MonitorDied", "ExitCode": 1, "InstanceId": AN_INSTANCE, "Seq": 1}
    assert expected == {name: document[name] for name in expected}


def test_every_report_is_a_line_of_one_second_metrics_when_asked():
    """
    With one-second metrics, each report is sent at once as a line with its receipt time.

    Seq counts report lines and minute lines together.
    """
    chunks = [(5 * place + 1, chunk(busy())) for place in range(12)]
    lines, outlet = run(chunks, 60.4, high_resolution_metrics=True)
    at_s = [REPORTS_START_S + 5 * place + 1 for place in range(12)]
    reports = of_kind(lines, "report")
    assert at_s == [report["_aws"]["Timestamp"] / 1000 for report in reports]
    assert at_s == [sent_s for sent_s, _ in outlet.sent[:12]]
    assert [*range(1, len(lines) + 1)] == [json.loads(line)["Seq"] for line in lines]
    assert [] == [broken for line in lines for broken in violations(line)]


@pytest.mark.parametrize(
    ("known_s", "written", "counted"), [(0.2, [1, 2], []), (3.9, [4, 4], []), (9, [4, 5], [2])]
)
def test_a_line_of_a_report_waits_for_its_dimensions(known_s, written, counted):
    """
    A report line waits at most three seconds for its dimensions.

    After that it has no metrics and is counted. Reading continues, and no report is late in the
    fold.
    """
    facts = InstanceFacts(ami_id="ami-1")
    clock = FakeClock()
    nameless = busy(instance_info=instance(ami_id=""))
    lines, outlet = run(
        [(1, chunk(nameless)), (2, chunk(nameless)), (10, chunk(nameless))],
        59,
        clock=clock,
        facts=lambda _: facts if clock.now_s >= REPORTS_START_S + known_s else InstanceFacts(),
        high_resolution_metrics=True,
        metrics="legacy",
        common_dims=("instance_type", "ami_id"),
    )
    assert [*written, 10] == [
        pytest.approx(at_s - REPORTS_START_S, abs=0.5) for at_s, _ in outlet.sent[:3]
    ]
    reports = of_kind(lines, "report")
    assert [LOOP_START_MS + second * 1000 for second in (1, 2, 10)] == [
        report.get("Timestamp") or report["_aws"]["Timestamp"] for report in reports
    ]
    without = sum("_aws" not in report for report in reports)
    (minute,) = of_kind(lines, "minute")
    assert (
        counted
        == [without] * bool(without)
        == [count for count in [minute.get("ReportLinesWithoutMetrics")] if count]
    )


@pytest.mark.parametrize("named", [True, False])
def test_an_input_that_ends_waits_for_the_metadata_service_only_without_a_name(named):
    """At its end, an input waits for the metadata service only if no report names the instance."""
    waits = []

    def facts(timeout_s):
        waits.append(timeout_s)
        return InstanceFacts(instance_id="i-metadata") if timeout_s else InstanceFacts()

    document = busy() if named else busy(instance_info=instance(instance_id=""))
    (line,), _ = run([(1, chunk(document)), (2, None)], ended=True, facts=facts)
    assert named is (not [wait for wait in waits if wait > 0])
    expected = AN_INSTANCE if named else "i-metadata"
    assert expected == json.loads(line)["InstanceId"]


@pytest.mark.parametrize(
    ("reported", "by_facts", "expected"),
    [
        ("inf1.xlarge", "inf2.xlarge", "inf1.xlarge"),
        ("", "inf2.xlarge", "inf2.xlarge"),
        ("", None, "trn1.2xlarge"),
    ],
)
def test_the_instance_type_setting_is_the_last_source(reported, by_facts, expected):
    """The instance type comes from the report, then from the host, then from the setting."""
    document = busy(instance_info=instance(reported))
    facts = InstanceFacts(instance_type=by_facts)
    (minute,) = records(
        [(1, chunk(document))], 59, facts=lambda _: facts, instance_type="trn1.2xlarge"
    )
    assert expected == minute.instance_type
