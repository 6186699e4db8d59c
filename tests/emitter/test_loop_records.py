"""What is written beside the minute lines: events, runtime lines, one-second reports."""

from __future__ import annotations

import json
from operator import itemgetter

import pytest
from loop_rig import (
    MINUTE_MS,
    START_MS,
    Clock,
    Timetable,
    busy,
    chunk,
    emitter_of,
    fold_settings_of,
    run,
    settings_of,
)
from neuron_reports import INSTANCE_ID, START_S, instance

from emitter.events import Event, EventQueue
from emitter.instance.facts import InstanceFacts
from emitter.run.identification import PATIENCE_S as IDENTITY_PATIENCE_S
from emitter.spool import Spool
from neuron_wire.extraction import violations

DIED = Event("MonitorDied", START_S + 30.25, "neuron-monitor ended with code 1.", {"ExitCode": 1})


def kinds(lines):
    """The kind of each line, in order."""
    return [json.loads(line)["Kind"] for line in lines]


def of_kind(lines, kind):
    """The members of the lines of one kind."""
    return [found for line in lines if (found := json.loads(line))["Kind"] == kind]


def test_a_runtime_line_follows_the_minute_it_belongs_to():
    """Same timestamp, the next number, kept with the minute in one transaction."""
    chunks = [(1, chunk(busy())), (61, chunk(busy()))]
    lines, _ = run(chunks, 125, runtime_lines="changes")
    assert ["minute", "runtime", "minute", "minute"] == kinds(lines)
    assert [1, 2, 3, 4] == [json.loads(line)["Seq"] for line in lines]
    first = json.loads(lines[1])
    names = "Timestamp", "InstanceId", "ClusterName"
    assert (START_MS, INSTANCE_ID, "blue") == itemgetter(*names)(first)


def test_an_event_is_kept_when_it_happens_not_when_the_minute_ends():
    """With the moment itself for a timestamp: a kill in between would lose it."""
    clock, events = Clock(), EventQueue()
    with Spool.open(None, clock=clock, max_age_s=None) as spool:
        source = Timetable(clock, [(1, chunk(busy())), (31, chunk(busy()))], 40)
        emitter = emitter_of(source, spool, clock=clock, events=events)
        events.add(DIED)
        assert not emitter.read_until(source.is_over)
        (kept,) = spool.oldest(10, 1 << 20)
        assert round(1000 * DIED.at_s) == kept.timestamp_ms
        emitter.finish(input_ended=False)
        assert ["event", "minute"] == kinds(one.line for one in spool.oldest(10, 1 << 20))
    found = json.loads(kept.line)
    expected = {"Event": "MonitorDied", "ExitCode": 1, "InstanceId": INSTANCE_ID, "Seq": 1}
    assert expected == {name: found[name] for name in expected}


def test_events_wait_until_the_instance_has_a_name():
    """A monitor that never starts is told of after the same patience that a minute has."""
    events = EventQueue()
    clock = Clock()
    with Spool.open(None, clock=clock, max_age_s=None) as spool:
        source = Timetable(clock, [], IDENTITY_PATIENCE_S - 5)
        emitter = emitter_of(source, spool, clock=clock, events=events)
        events.add(DIED)
        emitter.read_until(source.is_over)
        assert [] == spool.oldest(10, 1 << 20)
        source.until_s = IDENTITY_PATIENCE_S + 5
        emitter.read_until(source.is_over)
        found = [json.loads(one.line) for one in spool.oldest(10, 1 << 20)]
    assert [("event", True)] == [(one["Kind"], one["IdentityGuessed"]) for one in found]


def test_events_that_were_too_many_are_counted_in_the_minute():
    """What is lost is said where everything else is said."""
    events = EventQueue()
    for _ in range(103):
        events.add(DIED)
    lines, _ = run([(1, chunk(busy()))], events=events)
    assert 100 == kinds(lines).count("event")
    assert [3] == [one["EventsDropped"] for one in of_kind(lines, "minute")]


def test_every_report_is_a_line_of_one_second_metrics_when_asked():
    """With the moment of receipt, sent at once; the minute then defines no metric of theirs."""
    chunks = [(5 * place + 1, chunk(busy())) for place in range(12)]
    lines, outlet = run(chunks, 60.4, high_resolution_metrics=True)
    reports = of_kind(lines, "report")
    assert 12 == len(reports)
    assert [START_MS + 1000 * (5 * place + 1) for place in range(12)] == [
        one["_aws"]["Timestamp"] for one in reports
    ]
    directives = [one["_aws"]["CloudWatchMetrics"][0]["Metrics"] for one in reports]
    assert {1} == {metric["StorageResolution"] for one in directives for metric in one}
    told_s = [told_s for told_s, _ in outlet.told]
    assert [START_S + 5 * place + 1 for place in range(12)] == told_s[:12]
    minute = of_kind(lines, "minute")[0]
    names = {one["Name"] for one in minute["_aws"]["CloudWatchMetrics"][0]["Metrics"]}
    assert set() == names & {metric["Name"] for one in directives for metric in one}
    assert [*range(1, len(lines) + 1)] == [json.loads(line)["Seq"] for line in lines]
    assert [] == [broken for line in lines for broken in violations(line)]


@pytest.mark.parametrize(
    ("told_s", "written", "counted"), [(0.2, [1, 2], []), (3.9, [4, 4], []), (9, [4, 5], [2])]
)
def test_a_line_of_a_report_waits_for_its_dimensions(told_s, written, counted):
    """
    For three seconds and no longer: then it goes without these metrics, and is counted. The
    reading does not wait: reports come each second, and none is late in the fold.
    """
    facts = InstanceFacts(ami_id="ami-1")
    clock = Clock()
    nameless = busy(instance_info=instance(ami_id=""))
    lines, outlet = run(
        [(1, chunk(nameless)), (2, chunk(nameless)), (10, chunk(nameless))], 59, clock=clock,
        facts=lambda _: facts if clock.now_s >= START_S + told_s else InstanceFacts(),
        high_resolution_metrics=True, metrics="legacy", common_dims=("instance_type", "ami_id"),
    )  # fmt: skip
    assert [*written, 10] == [pytest.approx(at_s - START_S, abs=0.5) for at_s, _ in outlet.told[:3]]
    reports = of_kind(lines, "report")
    assert [START_MS + second * 1000 for second in (1, 2, 10)] == [
        one.get("Timestamp") or one["_aws"]["Timestamp"] for one in reports
    ]
    without = sum("_aws" not in one for one in reports)
    (minute,) = of_kind(lines, "minute")
    assert (
        counted
        == [without] * bool(without)
        == [one for one in [minute.get("ReportLinesWithoutMetrics")] if one]
    )


@pytest.mark.parametrize("paid", [None, "sunk", "avoidable"])
def test_the_operator_says_how_the_instance_is_paid(paid):
    """In every minute; where nobody says it there is no member."""
    (line,), _ = run([(1, chunk(busy()))], 59, paid=paid)
    assert paid == json.loads(line).get("Paid")


@pytest.mark.parametrize("named", [True, False])
def test_an_input_that_ends_waits_for_the_metadata_service_only_without_a_name(named):
    """A report that names the instance needs nobody else."""
    waits = []

    def facts(timeout_s):
        waits.append(timeout_s)
        return InstanceFacts(instance_id="i-metadata") if timeout_s else InstanceFacts()

    document = busy() if named else busy(instance_info=instance(instance_id=""))
    (line,), _ = run([(1, chunk(document)), (2, None)], ended=True, facts=facts)
    assert named is (not [one for one in waits if one > 0])
    expected = INSTANCE_ID if named else "i-metadata"
    assert expected == json.loads(line)["InstanceId"]


def test_settings_change_between_two_minutes():
    """What was read before counts under the old ones, what comes after under the new."""
    clock = Clock()
    with Spool.open(None, clock=clock, max_age_s=None) as spool:
        source = Timetable(clock, [(1, chunk(busy(20.0))), (61, chunk(busy(20.0)))], 119)
        emitter = emitter_of(source, spool, clock=clock)

        def change():
            chosen = settings_of(cluster="green", idle_below_percent=30.0, metrics="none")
            emitter.configure(chosen, fold_settings_of(chosen))

        emitter.read_until(source.is_over, change)
        emitter.finish(input_ended=False)
        first, second = [json.loads(one.line) for one in spool.oldest(10, 1 << 20)]
    assert ("blue", "baaa", True) == (first["ClusterName"], first["CoreState"], "_aws" in first)
    assert ("green", "aaaa", False) == (
        second["ClusterName"],
        second["CoreState"],
        "_aws" in second,
    )
    assert START_MS + MINUTE_MS == second["Timestamp"]
