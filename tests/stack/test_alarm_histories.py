"""The alarms over synthetic histories and over lines: when each fires, and above all when not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aggregator.close.run import CloseRun
from aggregator.environment import Rules
from aggregator.explain import event as explained
from aggregator.ingest.intake import take_in
from aggregator.minutes import SILENT_FORGET_MINUTES
from local.pump import extract
from proof.factories.records import lines, record
from proof.memory_table import MemoryTable
from tests.stack.metric_points import CLUSTER, LATE_S, START, ArrivedMinutes, put_pattern, ringing
from tests.stack.stack_template import ALARMS, SUBJECTS, TEMPLATE, description_of, each

ON_ROLLUPS = {name: alarm for name, alarm in ALARMS.items() if alarm.namespace == "Neuron/Cluster"}
AT_ONCE = {name: alarm for name, alarm in ON_ROLLUPS.items() if alarm.datapoints_to_alarm == 1}
MOST_LATE_S = 240.0


def rung(alarm, pattern, **how):
    """At the end of which minutes the alarm is in ALARM."""
    history = ArrivedMinutes()
    put_pattern(history, alarm, pattern, **how)
    return ringing(alarm, history, len(pattern), CLUSTER)


# --- the six on clusters: what rings ---


@each(ON_ROLLUPS)
@pytest.mark.parametrize("late_s", [0.0, LATE_S, MOST_LATE_S])
def test_what_lasts_rings_although_the_newest_minutes_are_always_missing(alarm, late_s):
    """It fires when the M-th point has arrived, four minutes late too, until it is over."""
    bad_minutes = alarm.evaluation_periods + 10
    needed = alarm.datapoints_to_alarm
    pattern = "g" * 70 + "b" * bad_minutes + "g" * 90
    found = rung(alarm, pattern, late_s=late_s)
    assert 70 + needed - 1 + late_s // 60 == found[0]
    assert list(range(found[0], found[-1] + 1)) == found  # one ring, not several
    assert 70 + bad_minutes - 1 <= found[-1] < 70 + bad_minutes + alarm.evaluation_periods + 10


@each(AT_ONCE)
@pytest.mark.parametrize("late_s", [LATE_S, 45 * 60.0])
def test_one_memory_error_rings_even_if_its_line_comes_late(alarm, late_s):
    """A host that restarted sends the lines of the last half hour."""
    assert rung(alarm, "g" * 10 + "b" + "g" * 70, late_s=late_s)


# --- the six on clusters: what does not ring ---


@each(ON_ROLLUPS)
@settings(max_examples=25)
@example(drawn="-" * 120, late_s=LATE_S)
@example(drawn="g" * 70 + "-" * 90, late_s=LATE_S)
@example(drawn="-" * 70 + "b" + "-" * 70, late_s=LATE_S)
@given(
    drawn=st.text("gggb--", min_size=20, max_size=100),
    late_s=st.sampled_from([0.0, LATE_S, MOST_LATE_S]),
)
def test_fewer_than_m_bad_minutes_never_ring(alarm, drawn, late_s):
    """Wherever they lie, however late, with any gaps: missing data is not bad data."""
    pattern, in_window = "", alarm.evaluation_periods + 2
    for mark in drawn:
        enough = pattern[-in_window:].count("b") == alarm.datapoints_to_alarm - 1
        pattern += "g" if mark == "b" and enough else mark
    assert [] == rung(alarm, pattern, late_s=late_s)


# --- the pipeline ---


RULES = Rules()
LONGEST = TEMPLATE["Parameters"]["SilentAfterMinutes"]["MaxValue"]
SENT_AFTER_S = 20
CLOSED_AFTER_S = 50
EXTRACTED_AFTER_S = 60

BUSY = record(core_state="bb", utilization_percent=(80.0, 60.0), idle_minutes=(0, 0))
HELD_BY_NOBODY = record(core_state="uu", utilization_percent=(0.0, 0.0), execution_errors=0)
UNKNOWN = record(
    core_state="??", utilization_percent=(), idle_minutes=(0, 0), covered_seconds=0.0, reports=0
)


class Fleet:
    """
    One instance on the real ingest and close, minute by minute, and the metrics of their lines.
    """

    def __init__(self):
        self.history = ArrivedMinutes()
        self._table = MemoryTable()
        self._now_s = 0.0
        self._idle_minutes = 0
        self._seq = 0

    def minute(self, offset, like):
        """The minute at *offset* passes; the instance reports as *like*, or says nothing."""
        end_s = (START + offset + 1) * 60
        if like is not None:
            self._deliver(end_s + SENT_AFTER_S, self._record(offset, like))
        self._close(end_s + CLOSED_AFTER_S)

    def _record(self, offset, like):
        self._seq += 1
        idle = set(like.core_state) == {"u"}
        self._idle_minutes = self._idle_minutes + 1 if idle else 0
        return replace(
            like,
            seq=self._seq,
            minute_ms=(START + offset) * 60_000,
            idle_minutes=(self._idle_minutes,) * len(like.core_state),
        )

    def _deliver(self, at_s, made):
        self._now_s = at_s
        take_in(lines(made), self._table, RULES.late_minutes, lambda: self._now_s)

    def _close(self, at_s):
        self._now_s = at_s
        CloseRun(
            table=self._table,
            rules=RULES,
            emit=self._extract,
            now_s=lambda: self._now_s,
            remaining_s=lambda: 50.0,
        ).run()

    def _extract(self, line):
        found = extract(line, int(self._now_s * 1000))
        assert not found.refused
        for datum in found.data:
            ((value, _),) = datum.counts.items()
            minute = datum.timestamp_ms // 60_000
            late_s = self._now_s + EXTRACTED_AFTER_S - (minute + 1) * 60
            metric = (datum.namespace, datum.name, dict(datum.dimensions))
            self.history.put_value(metric, minute - START, value, late_s)


def rings(*acts):
    """
    At the end of which minutes each alarm rings while *acts* play: pairs of minutes and a record.
    """
    fleet = Fleet()
    played = [like for number, like in acts for _ in range(number)]
    for offset, like in enumerate(played):
        fleet.minute(offset, like)
    found = {}
    for subject in SUBJECTS:
        if minutes := ringing(ALARMS[f"{subject}Alarm"], fleet.history, len(played), "training"):
            found[subject] = minutes
    return found


@pytest.mark.parametrize(
    "acts",
    [
        ((40, BUSY), (RULES.idle_after_minutes, HELD_BY_NOBODY), (60, BUSY)),
        ((20, BUSY), (20, HELD_BY_NOBODY), (80, UNKNOWN)),
        ((100, UNKNOWN),),
    ],
    ids=["a pause between two jobs", "idle, then unknown", "unknown"],
)
def test_what_is_short_or_unknown_rings_nothing(acts):
    """A short pause, and unknown cores, are neither idle nor slow nor silent."""
    assert {} == rings(*acts)


def test_sustained_idleness_rings():
    """Once, 27 minutes after the last work; at 1.34 USD an hour only with low utilization."""
    found = rings((30, BUSY), (60, HELD_BY_NOBODY), (30, BUSY))
    assert {"IdleCores", "LowUtilization"} == found.keys()
    first, last = found["IdleCores"][0], found["IdleCores"][-1]
    assert 54 <= first <= 57
    assert list(range(first, last + 1)) == found["IdleCores"]
    assert 90 <= last <= 100


def test_a_busy_cluster_that_falls_silent_rings_silence_only():
    """12 minutes after its last line, until it is forgotten; it is never called idle."""
    found = rings((30, BUSY), (90, None))
    assert {"SilentInstances"} == found.keys()
    first, last = found["SilentInstances"][0], found["SilentInstances"][-1]
    assert 40 <= first <= 43
    assert list(range(first, last + 1)) == found["SilentInstances"]
    assert 30 + SILENT_FORGET_MINUTES <= last <= 30 + SILENT_FORGET_MINUTES + 10


@pytest.mark.parametrize(("silent_after", "is_rung"), [(LONGEST + 1, False), (LONGEST, True)])
def test_silence_must_be_remembered_for_five_points(monkeypatch, silent_after, is_rung):
    """Instances are forgotten after an hour, so SilentAfterMinutes ends 5 minutes before."""
    rules = replace(RULES, silent_after_minutes=silent_after)
    monkeypatch.setattr(f"{__name__}.RULES", rules)
    assert is_rung == ("SilentInstances" in rings((20, BUSY), (80, None)))


def test_explain_knows_every_alarm_and_its_page():
    """It finds them by metric, and its anchor is that of the alarm's description."""
    found = {}
    for subject in SUBJECTS:
        name = f"{subject}Alarm"
        text = description_of(TEMPLATE["Resources"][name]["Properties"])
        found[ALARMS[name].source.metric] = text.rpartition("#")[2]
    assert found == {metric: subject.anchor for metric, subject in explained.SUBJECTS.items()}
