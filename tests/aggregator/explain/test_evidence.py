"""
Evidence that a message reads from the table; damaged evidence is missing, and the message is sent.
"""

from __future__ import annotations

import json

import pytest

from aggregator.explain.event import (
    EXECUTION_ERRORS,
    SILENCE,
)
from aggregator.explain.evidence import (
    OLD_AFTER_S,
    Evidence,
    RecentErrors,
    gather_evidence,
)
from aggregator.explain.failures import find_failure
from aggregator.storage.values import Publication
from neuron_wire.catalogue import ALARMS, ClusterAlarm
from proof.memory_table import MemoryTable
from tests.aggregator.explain.alarm_events import (
    ALARM_MINUTE,
    FIRED_S,
    MIDNIGHT,
    rollup,
    table_with,
)


def evidence_of(subject, table, now_s=FIRED_S):
    """Return the evidence in *table* about a subject in the cluster."""
    return gather_evidence(Evidence(subject, "us-east-1", 15), "training", table, now_s)


def published(table, minute, cluster="training", **tallies):
    """Store a publication of a minute in the table."""
    before = table.read_publications(minute).get(cluster)
    number = before.number + 1 if before else 1
    assert table.write_publication(minute, cluster, Publication(number, tallies, "x", 1), 0)


def test_the_cost_of_today_is_that_of_each_minute_since_midnight():
    """
    The cost of today is the sum of the last publications of the cluster's minutes since midnight.
    """
    table = MemoryTable()
    published(table, MIDNIGHT - 1, IdleCost=1000.0)
    for restated in (7.0, 1.0):
        published(table, MIDNIGHT, IdleCost=restated)
    published(table, MIDNIGHT + 1, Executions=5)
    published(table, ALARM_MINUTE, cluster="serving", IdleCost=1000.0)
    published(table, int(FIRED_S) // 60, IdleCost=0.25)
    published(table, int(FIRED_S) // 60 + 1, IdleCost=1000.0)
    assert (1.25, 2) == evidence_of(ALARMS["IdleCores"], table).cost_today
    priceless = MemoryTable()
    published(priceless, ALARM_MINUTE, Executions=5)
    assert evidence_of(ALARMS["IdleCores"], priceless).cost_today is None  # unknown, not 0


def test_errors_are_counted_by_what_was_published():
    """Errors are counted from publications, because a restated rollup has only the new ones."""
    line = rollup(ExecutionErrors=2)
    table = table_with(line, about="errors")
    for minute, errors in ((ALARM_MINUTE, 40), (ALARM_MINUTE - 30, 5), (ALARM_MINUTE - 70, 1000)):
        published(table, minute, ExecutionErrors=errors)
    assert RecentErrors(40, 45, minutes=2) == evidence_of(EXECUTION_ERRORS, table).published
    table = MemoryTable()  # close keeps the line before it stores the publication
    table.write_last_rollup(
        "errors", "training", ALARM_MINUTE, json.dumps(rollup(ExecutionErrors=9))
    )
    assert RecentErrors(9, 9) == evidence_of(EXECUTION_ERRORS, table).published


@pytest.mark.parametrize(("past_s", "expected"), [(0, False), (1, True)])
def test_a_rollup_is_old_after_ten_minutes(past_s, expected):
    """A rollup is old 10 minutes after the end of its minute."""
    now_s = (ALARM_MINUTE + 1) * 60 + OLD_AFTER_S + past_s
    evidence = evidence_of(SILENCE, table_with(rollup()), now_s)
    assert expected == evidence.is_old
    assert OLD_AFTER_S + past_s == evidence.age_s


@pytest.mark.parametrize(
    ("members", "shown"), [({"CoveragePercent": 50}, "50"), ({"CoveragePercent": None}, "unknown")]
)
def test_a_new_alarm_is_described_by_its_number(members, shown):
    """
    An alarm without a finder of its own is described by its catalogue entry: title, metric,
    meaning, urgency.
    """
    alarm = ClusterAlarm("LowCoverage", "CoveragePercent", "low coverage", "today")
    summary = find_failure(evidence_of(alarm, table_with(rollup(**members))))
    assert f"low coverage: CoveragePercent is {shown}" == summary.headline
    assert ("Share of the minute that telemetry covers.",) == summary.facts
    assert "today" == summary.urgency
