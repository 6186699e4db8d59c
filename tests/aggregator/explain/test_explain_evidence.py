"""What is read from the table for a message, and what becomes of it when the table fails."""

from __future__ import annotations

import json

import pytest

from aggregator.explain.event import ERRORS, HARDWARE, IDLE_CORES, SILENCE
from aggregator.explain.evidence import OLD_AFTER_S, ClusterEvidence, gather_evidence
from aggregator.storage.values import Publication
from proof.memory_table import MemoryTable
from tests.aggregator.explain.alarm_events import MIDNIGHT, MINUTE, RANG_S, rollup, table_with


def published(table, minute, cluster="training", **tallies):
    """Put what has been published of a minute into the table."""
    before = table.read_publications(minute).get(cluster)
    number = before.number + 1 if before else 1
    assert table.write_publication(minute, cluster, Publication(number, tallies, "x", 1), 0)


def test_the_cost_of_today_is_that_of_each_minute_since_midnight():
    """Not yesterday, nor another cluster; each as published last; without a price it is none."""
    table = MemoryTable()
    published(table, MIDNIGHT - 1, IdleCost=1000.0)
    for restated in (7.0, 1.0):
        published(table, MIDNIGHT, IdleCost=restated)
    published(table, MIDNIGHT + 1, Executions=5)
    published(table, MINUTE, cluster="serving", IdleCost=1000.0)
    published(table, int(RANG_S) // 60, IdleCost=0.25)
    published(table, int(RANG_S) // 60 + 1, IdleCost=1000.0)
    found = gather_evidence(IDLE_CORES, "training", table, RANG_S)
    assert (1.25, 2) == (found.cost_today.usd, found.cost_today.minutes)


def test_no_price_is_no_cost():
    """Not 0: nobody knows what it costs."""
    table = MemoryTable()
    published(table, MINUTE, Executions=5)
    assert gather_evidence(IDLE_CORES, "training", table, RANG_S).cost_today is None


def test_cost_is_read_only_where_it_is_told():
    """A day of minutes is 14 reads."""
    assert gather_evidence(SILENCE, "training", table_with(rollup()), RANG_S).cost_today is None


@pytest.mark.parametrize("subject", [HARDWARE, ERRORS])
def test_errors_are_those_of_their_last_minute_with_errors(subject):
    """The last minute may show none: another rollup is kept for them."""
    told = rollup(minute=MINUTE - 3, **{subject.metric: 7})
    table = table_with(rollup())
    table.write_last_rollup(subject.about, "training", MINUTE - 3, json.dumps(told))
    found = gather_evidence(subject, "training", table, RANG_S)
    assert 7 == found.rollup.number(subject.metric)


def test_a_restated_rollup_has_only_what_was_lacking():
    """
    How many errors there were is what has been published of the minute, not what its line says.
    """
    line = rollup(ExecutionErrors=2)
    table = table_with(line, about="errors")
    for minute, errors in ((MINUTE, 40), (MINUTE - 30, 5), (MINUTE - 70, 1000)):
        published(table, minute, ExecutionErrors=errors)
    found = gather_evidence(ERRORS, "training", table, RANG_S).published
    assert (40, 45) == (found.in_minute, found.in_hour)


def test_a_rollup_that_is_not_remembered_yet_counts():
    """Its line is kept before its publication is."""
    table = MemoryTable()
    table.write_last_rollup("errors", "training", MINUTE, json.dumps(rollup(ExecutionErrors=9)))
    found = gather_evidence(ERRORS, "training", table, RANG_S).published
    assert (9, 9) == (found.in_minute, found.in_hour)


@pytest.mark.parametrize(("past_s", "expected"), [(0, False), (1, True)])
def test_a_rollup_is_old_after_ten_minutes(past_s, expected):
    """Counted from the end of its minute."""
    now_s = (MINUTE + 1) * 60 + OLD_AFTER_S + past_s
    found = gather_evidence(SILENCE, "training", table_with(rollup()), now_s)
    assert (expected, OLD_AFTER_S + past_s) == (found.is_old, found.rollup_age_s)


def test_no_rollup_is_no_trouble():
    """A cluster that never reported has none."""
    assert ClusterEvidence() == gather_evidence(IDLE_CORES, "training", MemoryTable(), RANG_S)
