"""Who is in the fleet at a moment, and what of them counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.top.fleet import fleet_of
from neuron_emf.top.order import clusters_in, instances_in
from neuron_emf.top.window import Window
from tests.neuron_emf.reading.lines import START_MS, record

MINUTE_MS = 60_000


def at(minute, **changes):
    """A record of the minute-th minute."""
    changes.setdefault("seq", minute + 1)
    return record(minute_ms=START_MS + minute * MINUTE_MS, **changes)


def window_of(*records, cluster=""):
    window = Window(cluster)
    window.add(records)
    return window


def counts(fleet, *names):
    return tuple(getattr(fleet.figures, name) for name in names)


def statuses(fleet):
    return {
        one.instance_id: (one.status, one.behind_minutes)
        for cluster in fleet.clusters
        for one in cluster.instances
    }


@given(st.permutations([at(minute, instance_id=f"i-{n}") for minute in range(4) for n in range(2)]))
def test_records_in_any_order_give_the_same_fleet(records):
    """And the newest minute of each instance is what it shows."""
    fleet = fleet_of(window_of(*records), 15)
    assert START_MS + 4 * MINUTE_MS == fleet.as_of_ms
    assert {START_MS + 3 * MINUTE_MS} == {
        one.record.minute_ms for one in fleet.clusters[0].instances
    }
    assert (2, 8, 4) == (fleet.figures.instances, fleet.figures.cores, fleet.figures.busy)


@pytest.mark.parametrize(
    ("behind", "status"), [(0, "reporting"), (4, "reporting"), (5, "silent"), (59, "silent")]
)
def test_an_instance_is_silent_after_five_minutes_and_then_counts_nowhere(behind, status):
    """Nobody knows what it does: it is in coverage, in no other figure."""
    fleet = fleet_of(window_of(at(0), at(behind, instance_id="i-1")), 15)
    assert status == statuses(fleet)["i-0"][0]
    expected = (1, 1, 50.0, 4) if status == "silent" else (2, 0, 100.0, 8)
    assert expected == counts(fleet, "instances", "silent", "coverage_percent", "cores")


def test_who_said_goodbye_is_neither_silent_nor_counted():
    """It was stopped, and has no cores any more."""
    fleet = fleet_of(window_of(at(0, bye=True), at(9, instance_id="i-1")), 15)
    assert ("stopped", 9) == statuses(fleet)["i-0"]
    assert (1, 0, 1, 4) == counts(fleet, "instances", "silent", "stopped", "cores")
    again = fleet_of(window_of(at(0, bye=True), at(1, boot="b2")), 15)
    assert ("reporting", 0) == statuses(again)["i-0"]


def test_by_the_clock_a_minute_has_ninety_seconds_to_arrive():
    """Sends are spread over thirty seconds: nobody is called late for that."""
    window = window_of(at(0))
    end_ms = START_MS + MINUTE_MS
    for age_s, behind in ((0, 0), (90, 0), (149, 0), (150, 1), (390, 5)):
        fleet = fleet_of(window, 15, now_ms=end_ms + age_s * 1000)
        assert behind == statuses(fleet)["i-0"][1], age_s


def test_a_clock_that_is_ahead_makes_nobody_else_silent():
    """What one instance calls the future does not move what is now."""
    window = window_of(at(0), at(90, instance_id="i-1"))
    fleet = fleet_of(window, 15, now_ms=START_MS + 2 * MINUTE_MS)
    assert {"i-0": ("reporting", 0), "i-1": ("reporting", 0)} == statuses(fleet)


def test_two_emitters_or_a_restart_within_the_minute_are_one_instance():
    """Cores count once, and it is said; also when the second part comes in a later reading."""
    asked = "instances", "duplicates", "cores", "coverage_percent"
    for seconds, expected in ((50.0, (1, 1, 4, 100.0)), (40.0, (1, 0, 4, 100.0))):
        window = window_of(at(0, covered_seconds=60.0 if seconds > 40 else 20.0))
        window.add([at(0, boot="b2", covered_seconds=seconds)])
        assert expected == counts(fleet_of(window, 15), *asked)


def test_only_the_cluster_that_is_asked_for():
    """A pattern lets lines through that have its name elsewhere."""
    window = window_of(at(0), at(0, cluster="other", instance_id="i-1"), cluster="other")
    assert ["other"] == [one.name for one in fleet_of(window, 15).clusters]


def test_an_instance_is_forgotten_and_little_is_kept_of_each():
    """However long somebody looks."""
    window = window_of(*(at(minute) for minute in range(500)), at(0, instance_id="i-1"))
    assert 2 == len(window._instances["research", "i-0"].minutes)
    window.forget(START_MS + 440 * MINUTE_MS)
    assert [("research", "i-0")] == sorted(window._instances)


def test_each_order_puts_first_what_it_is_named_for():
    """Equal ones by name; without telemetry last; those that do not report behind all others."""
    names = {
        "i-dear": {"instance_type": "trn1n.32xlarge", "idle_minutes": (0, 0, 15, 15)},
        "i-idle": {"idle_minutes": (0, 0, 90, 90)},
        "i-low": {"utilization_percent": (1.0, 1.0, 0.0, 0.0), "idle_minutes": (0, 0, 0, 0)},
        "i-unpriced": {"instance_type": None, "idle_minutes": (0, 0, 16, 16)},
        "i-dark": {"core_state": "????", "utilization_percent": (None,) * 4},
    }
    records = [at(9, instance_id=name, **changes) for name, changes in names.items()]
    cluster = fleet_of(window_of(*records, at(0, instance_id="i-0")), 15).clusters[0]
    expected = {
        "idle": ["i-idle", "i-unpriced", "i-dear", "i-dark", "i-low", "i-0"],
        "cost": ["i-dear", "i-idle", "i-dark", "i-unpriced", "i-low", "i-0"],
        "name": ["i-0", "i-dark", "i-dear", "i-idle", "i-low", "i-unpriced"],
        "utilization": ["i-low", "i-dear", "i-idle", "i-unpriced", "i-dark", "i-0"],
    }
    for order, names_in_order in expected.items():
        assert names_in_order == [
            one.instance_id for one in instances_in(order, cluster.instances)
        ], order


def test_clusters_have_the_same_orders():
    """By what they come to."""
    quiet = {"idle_minutes": (0, 0, 0, 0)}
    fleet = fleet_of(window_of(at(0, cluster="a", **quiet), at(0, cluster="b", seq=2)), 15)
    assert ["b", "a"] == [one.name for one in clusters_in("idle", fleet.clusters)]
    assert ["a", "b"] == [one.name for one in clusters_in("name", fleet.clusters)]
