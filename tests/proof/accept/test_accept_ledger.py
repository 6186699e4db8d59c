"""What the acceptance holds of the ledger: nothing where it is right, every planted fault."""

from __future__ import annotations

from collections import defaultdict

import pytest

from aggregator.settle.hour import BucketHour
from neuron_emf.report.collection import then_by_days
from neuron_wire import parse
from neuron_wire.instance_hours import LedgerRules
from neuron_wire.names import MINUTE_MS, UNKNOWN_OWNER
from neuron_wire.prices import Prices
from neuron_wire.teams import TeamRules
from proof import reference
from proof.accept.checks import against_lines, against_report
from proof.accept.context import IDLE_AFTER_MINUTES, MINUTES, two_clusters
from proof.factories.records import message
from proof.rollup_differences import LIST_PRICES
from tests.neuron_emf.report.reports import document_of, report_of, then_of_lines

HOUR = 500_000
START_MINUTE = HOUR * 60 - 5  # so that the lines are of two hours


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """The lines of an acceptance."""
    folder = tmp_path_factory.mktemp("lines")
    return [
        parse(one.line)
        for instance in two_clusters("run")
        for one in instance.records(folder, START_MINUTE * 60, MINUTES)
    ]


@pytest.fixture(scope="module")
def settled(records):
    """Their rows."""
    minutes = defaultdict(lambda: defaultdict(list))
    for one in records:
        minutes[one.minute_ms // MINUTE_MS][one.cluster, one.instance_id].append(one)
    rules = LedgerRules(Prices(), IDLE_AFTER_MINUTES)
    found = []
    for hour in (HOUR - 1, HOUR):
        reckoning = BucketHour(hour, rules, {}, {})
        works = {}
        read = ((at, minutes.get(at, {})) for at in reckoning.minutes())
        for cluster, one in reckoning.instance_hours(read, works):
            found += one.rows(works[cluster])
    return found


@pytest.fixture(scope="module")
def expected(records):
    """What the reference makes of the lines."""
    return reference.rollups(records, IDLE_AFTER_MINUTES, LIST_PRICES)


def report(then, ledger_rows=0):
    """As a program gets it."""
    return document_of(report_of(then, ledger_rows=ledger_rows))


def by_lines(records):
    """Of the lines."""
    rules = LedgerRules(Prices(), IDLE_AFTER_MINUTES)
    return report(then_of_lines(map(message, records), rules))


def by_ledger(rows):
    """Of rows of a ledger."""
    return report(*then_by_days(rows, TeamRules()))


def test_a_ledger_that_is_right_has_no_problem(records, settled, expected):
    """Lines of two hours, in the middle of which instances fall silent; a restart within."""
    assert {HOUR - 1, HOUR} == {row.hour for row in settled}
    assert any(row.owner == UNKNOWN_OWNER for row in settled)
    assert [] == against_lines(settled, expected)
    assert [] == against_report(settled, by_ledger(settled), by_lines(records))


def first_idle(settled):
    """A row with a cost of idle cores."""
    return next(row for row in settled if row.idle_cost)


def changed(**by):
    """That row with more of some numbers."""

    def rows(settled):
        row = first_idle(settled)
        more = row._replace(**{name: getattr(row, name) + more for name, more in by.items()})
        return [more if one is row else one for one in settled]

    return rows


@pytest.mark.parametrize(
    "planted",
    [
        lambda settled: [row for row in settled if row is not first_idle(settled)],
        lambda settled: [*settled, first_idle(settled)],
        changed(held=-1, idle=-1),
        changed(idle_cost=1_000_000),
    ],
    ids=["lost", "twice", "idle", "cost"],
)
def test_a_planted_fault_is_found(records, settled, expected, planted):
    """A row lost or doubled, and a micro-core-minute or a thousandth of a USD."""
    faulty = planted(settled)
    assert against_lines(faulty, expected)
    assert against_report(faulty, by_ledger(faulty), by_lines(records))


def test_rows_that_the_report_did_not_read_are_found(settled, records):
    """Of an object, say, that the reader of the report never asked for."""
    assert against_report(settled, by_ledger(settled[:-1]), by_lines(records))
    assert against_report(settled, by_ledger([*settled, settled[-1]]), by_lines(records))
