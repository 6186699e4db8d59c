"""Rollup lines are read once and the newest again; copies and restatements count once."""

from __future__ import annotations

import json

import pytest

from neuron_emf.account import account
from neuron_emf.options import AccountSettings
from neuron_emf.page.rollup_window import FIRST_MINUTES, KEPT_MINUTES, RollupWindow
from tests.neuron_emf.page.looked_at import double_of
from tests.neuron_emf.page.rollup_lines import MINUTE_MS, START_MS, line

LATE_MS = 110_000


class Clock:
    """Minutes and seconds after the start."""

    def __init__(self, minute=20):
        self.s = START_MS / 1000 + minute * 60

    def __call__(self):
        return self.s


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def double(monkeypatch, clock):
    with double_of(monkeypatch, clock) as made:
        yield made


@pytest.fixture
def window(double, clock):  # noqa: ARG001  # the environment leads there
    found = account(AccountSettings())
    return RollupWindow(found, found.client("logs"), lambda: round(clock.s * 1000))


def minutes_of(window, start_ms=0):
    """Minutes after the start, of every rollup."""
    return [(one.minute_ms - START_MS) // MINUTE_MS for one in window.rollups(start_ms)]


def test_the_first_reading_has_fifteen_minutes_and_later_ones_five(double, window, clock):
    """Not before a minute is over; after a pause, all since the last reading and five before."""
    double.put_lines(double.rollups_group, [line(minute=at) for at in range(60)], LATE_MS)
    window.refresh()
    # printed 110 s after the start of their minute; read to 2 minutes ahead, as clocks differ
    assert list(range(4, 21)) == minutes_of(window)
    asked = double.operations.count("FilterLogEvents")
    clock.s += 59
    window.refresh()
    assert asked == double.operations.count("FilterLogEvents")
    read = window.traffic[1]
    clock.s += 61
    window.refresh()
    assert list(range(4, 23)) == minutes_of(window)
    assert FIRST_MINUTES > (window.traffic[1] - read) / len(line())
    clock.s += 1800
    window.refresh()
    assert list(range(4, 53)) == minutes_of(window)


def test_of_one_minute_the_last_publication_counts(double, window):
    """Whatever the order, however often a line came; of one RollupId the line that came last."""
    texts = [
        line(minute=10, publication=2, BusyCores=2), line(minute=10, publication=1, BusyCores=1),
        line(minute=10, publication=2, BusyCores=3), line(minute=10, publication=1, BusyCores=1),
    ]  # fmt: skip
    double.put_lines(double.rollups_group, texts, LATE_MS)
    window.refresh()
    (rollup,) = window.rollups(0)
    assert (2, 3) == (rollup.publication, rollup.gauges["BusyCores"])
    assert 3 == window.newest()["research"]["BusyCores"]


def test_a_cluster_that_is_published_no_longer_is_gone(double, window):
    """More than five minutes behind the newest of all; its minutes stay in the graphs."""
    texts = [line("a", minute=10), line("b", minute=15), line("c", minute=9)]
    double.put_lines(double.rollups_group, texts, LATE_MS)
    window.refresh()
    assert ["a", "b"] == list(window.newest())
    assert 3 == len(window.rollups(0))


def test_other_lines_are_passed_over(double, window):
    """Types, what Lambda prints, a newer schema, what lacks what makes a rollup, broken ones."""
    texts = [
        line(minute=10, Kind="type"), line(minute=10, Schema=2), line(minute=10, Minute="soon"),
        line(minute=10, Publication=None), line(minute=10, ClusterName=7),
    ]  # fmt: skip
    double.put_lines(double.rollups_group, texts, LATE_MS)
    broken = [json.dumps({"_aws": one, "MinutesClosed": 1}) for one in ("x", 7, [], {})]
    others = [(START_MS + 600_000, one) for one in ("START", "{", "[]", *broken)]
    double.put(double.rollups_group, "x", others)
    window.refresh()
    assert ([], None) == (window.rollups(0), window.close_report())


def test_older_minutes_are_read_when_somebody_looks_back(double, window, clock):
    """Once, and no further than is kept."""
    double.put_lines(double.rollups_group, [line(minute=at) for at in range(-30, 20)], LATE_MS)
    window.refresh()
    wanted_ms = START_MS - 10 * MINUTE_MS
    assert wanted_ms == window.extend(wanted_ms)
    assert -11 == minutes_of(window)[0]
    asked = double.operations.count("FilterLogEvents")
    window.extend(wanted_ms)
    assert asked == double.operations.count("FilterLogEvents")
    assert round(clock.s * 1000) - KEPT_MINUTES * MINUTE_MS == window.extend(0)


def test_what_close_says_of_itself_is_its_newest_report(double, window):
    """By Powertools, which writes each number in a list."""
    for minute, closed in ((10, 1), (11, 2)):
        at_ms = START_MS + minute * MINUTE_MS
        line = {"_aws": {"Timestamp": at_ms}, "StackName": "neuron-emf", "MinutesClosed": [closed]}
        double.put(double.rollups_group, "close", [(at_ms, json.dumps(line))])
    window.refresh()
    assert (START_MS + 11 * MINUTE_MS, 2.0) == (
        window.close_report()[0], window.close_report()[1]["MinutesClosed"])  # fmt: skip
