"""Rollup lines are read once and the newest again; without a stack, minute lines are read."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from neuron_emf.account import account
from neuron_emf.command_options import AccountSettings
from neuron_emf.reading.now_reader import FOLDED, KEPT_MINUTES, NowReader
from neuron_emitter.errors import SourceError
from neuron_wire.names import MINUTE_MS
from tests.neuron_emf.page.page_account import (
    LATE_MS,
    PAGE_NOW_S,
    PAGE_START_MS,
    double_of,
    filled,
    line,
    view_of,
)


@pytest.fixture
def clock():
    """Return the time in seconds, at first 20 minutes after the start."""
    return SimpleNamespace(s=PAGE_START_MS / 1000 + 20 * 60)


@pytest.fixture
def double(monkeypatch, clock):
    with double_of(monkeypatch, lambda: clock.s) as made:
        yield made


@pytest.fixture
def reader(double, clock):  # noqa: ARG001  # the environment leads there
    rehearsed = account(AccountSettings())
    return NowReader(rehearsed, rehearsed.client("logs"), lambda: round(clock.s * 1000))


def minutes_of(reader):
    """Return the minutes of all rollups, from the start."""
    return [(rollup.minute_ms - PAGE_START_MS) // MINUTE_MS for rollup in reader.lines.rollups(0)]


def test_fifteen_minutes_are_read_then_five_and_older_ones_on_request(double, reader, clock):
    """The first reading covers fifteen minutes, each later one five; looking back reads more."""
    double.put_lines(double.rollups_group, [line(minute=at) for at in range(-30, 60)], LATE_MS)
    reader.refresh()
    # printed 110 s after the start of their minute; read 2 minutes ahead, because clocks differ
    assert list(range(4, 21)) == minutes_of(reader)
    asked = double.operations.count("FilterLogEvents")
    clock.s += 59
    reader.refresh()
    assert asked == double.operations.count("FilterLogEvents")
    clock.s += 1861
    reader.refresh()
    assert list(range(4, 53)) == minutes_of(reader)
    wanted_ms = PAGE_START_MS - 10 * MINUTE_MS
    assert wanted_ms == reader.extend(wanted_ms)
    assert list(range(-11, 53)) == minutes_of(reader)
    asked = double.operations.count("FilterLogEvents")
    reader.extend(wanted_ms)
    assert asked == double.operations.count("FilterLogEvents")
    assert round(clock.s * 1000) - KEPT_MINUTES * MINUTE_MS == reader.extend(0)


def test_of_one_minute_the_last_publication_counts_and_a_cluster_left_behind_is_gone(
    double, reader
):
    """The last publication of a minute counts; a cluster more than five minutes behind is gone."""
    texts = [
        line(minute=10, publication=2, IdleCores=2),
        line(minute=10, publication=1, IdleCores=1),
        line(minute=10, publication=2, IdleCores=3),
        line(minute=10, publication=1, IdleCores=1),
        line("a", minute=10),
        line("b", minute=15),
        line("c", minute=9),
    ]
    double.put_lines(double.rollups_group, texts, LATE_MS)
    reader.refresh()
    now = reader.now()
    assert ["a", "b", "research"] == [cluster.cluster for cluster in now.clusters]
    assert 3 == now.of_cluster("research").total.idle
    assert 4 == len(minutes_of(reader))


@pytest.fixture
def at_the_end(clock, monkeypatch):
    """Set the time to the end of the hour, after its newest minute was closed."""
    clock.s = PAGE_NOW_S
    monkeypatch.setattr("neuron_emf.reading.periods.now_ms", lambda: round(PAGE_NOW_S * 1000))


@pytest.mark.usefixtures("at_the_end")
def test_without_a_stack_now_comes_from_minute_lines(double, hour, typed):
    """Without a stack, minute lines give the same figures, and the answer names their source."""
    filled(double, hour)
    expected = view_of().now({})
    double.rules.groups.pop(double.rollups_group)
    answer = view_of().now({})
    assert "minutes" == answer["source"]
    assert [FOLDED] == answer["notes"]
    for name in ("idle", "cost", "avoidable", "owners", "data_to_ms", "instances"):
        assert expected[name] == answer[name]
    assert answer["silent"] is None
    assert answer["coverage_percent"] is None
    out = typed("top", "--once")[1]
    assert "60 of 134 known cores (45 %)" in out
    assert FOLDED in " ".join(out.split())
    double.denied.add("logs:FilterLogEvents")
    with pytest.raises(SourceError):
        view_of().now({})


@pytest.mark.usefixtures("at_the_end")
def test_every_answer_matches_the_schema(double, hour, typed, follows_schema):
    """Every answer of page, top and files follows the schema, with and without data."""
    answers = [view_of().now({})]
    filled(double, hour)
    answers += [view_of().now({}), view_of().now({"cluster": "serving"})]
    answers += [json.loads(typed("top", *more, "--json")[1]) for more in ((), (hour.records_file,))]
    follows_schema("now", *answers)
