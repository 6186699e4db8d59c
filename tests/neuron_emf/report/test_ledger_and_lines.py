"""The ledger that settle writes and the lines that it was made of give the same report."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from neuron_emf.payment import Saving
from neuron_emf.reading.periods import Period
from neuron_emf.report import amounts, counting
from neuron_emf.report.comparison import PublishedRollups, compare
from neuron_emf.report.counting import Counting
from neuron_emf.report.exports import document
from neuron_emf.report.idle_report import Provenance, idle_report
from neuron_wire.instance_hours import InstanceHour
from tests.aggregator.settle.test_settle import (
    FIRST,
    HOUR,
    Bucket,
    fleets,
    ledger_of,
    minute_of,
    settle,
    world_of,
)
from tests.aggregator.world import PRICES

OF_HOUR = Period(HOUR * 3_600_000, (HOUR + 1) * 3_600_000)
EXAMPLES = 40
ONLY_OF_ONE = {
    *("instance_minutes", "missing_instance_minutes", "coverage_percent", "avoidable_minutes"),
    "flops_percent_of_bf16_peak",
    *("duplicate_emitter_minutes", "minutes_with_data", "is_whole", "executions"),
    # minutes in which an instance was missed, and the type that its line before the hour told
    *("unknown_core_minutes", "instance_type"),
}
"""What rows do not say, or lines of the hour."""


def told(filled):
    """What a program is told of each row, but for what only one of the two knows."""
    found = idle_report(
        filled,
        compare(filled, PublishedRollups(OF_HOUR), 0),
        Provenance("a test"),
        asked=OF_HOUR,
        made_ms=0,
        worst_cores=1,
    )
    shown = document(found)
    lists = {
        name: shown[name]
        for name in ("total", "clusters", "owners", "teams", "instances", "days", "weeks", "months")
    }
    return _without(lists, ONLY_OF_ONE)


def _without(value, names):
    if isinstance(value, dict):
        return {name: _without(one, names) for name, one in value.items() if name not in names}
    return [_without(one, names) for one in value] if isinstance(value, list) else value


def by_lines(fleet):
    """A report's counting of the hour's own records."""
    filled = Counting(OF_HOUR, 15, PRICES)
    for record in {(one.instance_id, one.boot, one.seq): one for one in fleet}.values():
        filled.add(record)
    filled.close()
    filled.finish()
    return filled


def by_ledger(fleet):
    """Of what settle puts of them."""
    bucket = Bucket()
    settle(world_of(fleet), bucket)
    filled = Counting(OF_HOUR, 15, PRICES)
    filled.settle([HOUR], ledger_of(bucket))
    filled.finish()
    return filled


def same(fleet):
    """Whether the two agree: exactly, in every part, and in what is shown."""
    lines, ledger = by_lines(fleet), by_ledger(fleet)
    for one in (lines, ledger):  # an instance that was only missed has no line
        for key in [key for key, known in one.instances.items() if not known.cores.known]:
            del one.instances[key]
    assert lines.instances.keys() == ledger.instances.keys()
    for key, instance in lines.instances.items():
        other = ledger.instances[key]
        for saving in Saving:
            assert instance.idle.micros_of(saving) == other.idle.micros_of(saving)
            assert instance.idle.exact_usd_of(saving) == other.idle.exact_usd_of(saving)
    if lines.minutes:  # of an hour without a line the ledger knows that nothing was there
        assert told(lines) == told(ledger)


@given(fleets())
@settings(max_examples=EXAMPLES)
def test_ledger_and_lines_agree_to_the_last_digit(fleet):
    """
    Every amount of every cluster, owner, team, instance and day, over the records that the
    stack accepted, with restarts, copies, doubles and instances that fall silent.
    """
    same(fleet)


def _without_first(rows):
    return list(rows)[1:]


@pytest.mark.parametrize(
    ("place", "name", "planted"),
    [
        (counting, "idle_parts", lambda row: amounts.idle_parts(row)[:1]),
        (counting, "idle_parts", lambda row: amounts.idle_parts(row._replace(avoidable=0))),
        (InstanceHour, "rows", lambda hour: _without_first(ROWS(hour))),
    ],
)
def test_a_planted_fault_is_found(monkeypatch, place, name, planted):
    """In the sums of one of the two; the fleet has all savings, held and unheld."""
    fleet = [
        minute_of("i-1", FIRST + at, core_state=state, idle_minutes=(60,) * 2, executions=0,
                  execution_errors=0)
        for at, state in enumerate(["ab", "aa", "uu", "ua"])
    ]  # fmt: skip
    ledger = by_ledger(fleet)
    monkeypatch.setattr(place, name, planted)
    lines = by_lines(fleet)
    monkeypatch.undo()
    assert told(lines) != told(ledger)


ROWS = InstanceHour.rows
