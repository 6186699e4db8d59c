"""The first screen adds up what rollup lines tell, and is silent where one does not tell."""

from __future__ import annotations

import pytest

from neuron_emf.page.first_screen import OLD_MINUTES, first_screen
from tests.neuron_emf.page.rollup_lines import MINUTE_MS, START_MS, line, newest

NOW_MS = START_MS + 3 * MINUTE_MS
OWNERS = [
    {"Owner": "slurm:7", "Team": "vision", "Cores": 30, "Instances": 2, "IdleMinutes": 45,
     "UsdPerHour": 15.5, "UnpricedCores": 0},
    {"Owner": "[unallocated]", "Cores": 10, "Instances": 1, "IdleMinutes": 20, "UsdPerHour": 5.0,
     "UnpricedCores": 0},
]  # fmt: skip
MONEY = {
    "AvoidableCostPerHour": 12.5, "AvoidableHeldCostPerHour": 10.0, "SharedCostPerHour": 6.0,
    "SunkCostPerHour": 2.0, "WhollyIdleInstances": 1,
}  # fmt: skip


def screen(*texts, now_ms=NOW_MS):
    """What is shown of these newest lines."""
    return first_screen(newest(*texts), now_ms)


def test_clusters_are_added_up():
    """Counts and amounts; a share is of all known cores, coverage by instances."""
    shown = screen(
        line(TopIdleOwners=OWNERS, **MONEY),
        line("serving", Instances=12, SilentInstances=4, CoveragePercent=50.0, IdleCores=0,
             IdleCostPerHour=0, **MONEY),
    )  # fmt: skip
    assert (40, 200, 20.0) == tuple(
        shown["idle"][name] for name in ("cores", "known_cores", "percent")
    )
    assert (30, 10) == (shown["idle"]["held_cores"], shown["idle"]["unheld_cores"])
    assert 20.5 == shown["cost"]["usd_per_hour"]
    assert (12.0, 4.0) == tuple(
        shown["cost"][f"{name}_usd_per_hour"] for name in ("shared", "sunk")
    )
    expected = {"usd_per_hour": 25.0, "held_usd_per_hour": 20.0, "unheld_usd_per_hour": 5.0,
                "instances": 2}  # fmt: skip
    assert expected == shown["avoidable"]
    assert (16, 4) == (shown["instances"], shown["silent"])
    assert (4 * 100 + 16 * 50) / 20 == shown["coverage_percent"]
    assert shown["owners_told"]


@pytest.mark.parametrize("member", [*MONEY, "IdleCores", "IdleCostPerHour", "TopIdleOwners"])
def test_what_one_cluster_does_not_tell_is_not_told(member):
    """An older stack's line among newer ones: a sum without it would be too small."""
    without = line("old", **{**MONEY, "TopIdleOwners": OWNERS, member: None})
    shown = screen(line(TopIdleOwners=OWNERS, **MONEY), without)
    places = {
        "AvoidableCostPerHour": shown["avoidable"]["usd_per_hour"],
        "AvoidableHeldCostPerHour": shown["avoidable"]["held_usd_per_hour"],
        "WhollyIdleInstances": shown["avoidable"]["instances"],
        "SharedCostPerHour": shown["cost"]["shared_usd_per_hour"],
        "SunkCostPerHour": shown["cost"]["sunk_usd_per_hour"],
        "IdleCores": shown["idle"]["cores"],
        "IdleCostPerHour": shown["cost"]["usd_per_hour"],
        "TopIdleOwners": shown["idle"]["held_cores"],
    }
    assert [member] == [name for name, value in places.items() if value is None and (
        name != "TopIdleOwners" or member == "TopIdleOwners")]  # fmt: skip
    assert shown["owners_told"] is (member != "TopIdleOwners")


def test_owners_stand_by_cost_with_their_cluster_and_since_when():
    """Idle for so many minutes at the end of its minute; nothing of them is made up."""
    serving = line("serving", TopIdleOwners=OWNERS[1:], IdleCores=10, IdleCostPerHour=5)
    rows = screen(line(TopIdleOwners=OWNERS), serving)["owners"]
    assert [("slurm:7", "research", 30), ("[unallocated]", "research", 10),
            ("[unallocated]", "serving", 10)] == [
        (row["owner"], row["cluster"], row["cores"]) for row in rows]  # fmt: skip
    assert START_MS + MINUTE_MS - 45 * MINUTE_MS == rows[0]["since_ms"]
    assert ("vision", None) == (rows[0]["team"], rows[1]["team"])


def test_rows_that_a_cut_line_lost_are_a_row():
    """The rows of a cluster always add up to its idle cores and their cost."""
    rows = screen(line(TopIdleOwners=OWNERS[:1]))["owners"]
    assert [("slurm:7", 30, 15.5), ("[not told]", 10, 5.0)] == [
        (row["owner"], row["cores"], row["usd_per_hour"]) for row in rows
    ]


def test_nothing_idle_needs_no_owners():
    """A line without idle cores has no such list, and that tells all."""
    shown = screen(line(IdleCores=0, IdleCostPerHour=0))
    assert (shown["owners_told"], []) == (True, shown["owners"])
    assert (0, 0) == (shown["idle"]["held_cores"], shown["idle"]["unheld_cores"])


@pytest.mark.parametrize(("minutes", "is_old"), [(OLD_MINUTES, False), (OLD_MINUTES + 1, True)])
def test_old_data_say_so(minutes, is_old):
    """Counted from the end of the newest minute: dead data must not look cheap."""
    shown = screen(line(), now_ms=START_MS + (1 + minutes) * MINUTE_MS)
    assert (minutes, is_old) == (shown["age_minutes"], shown["is_old"])


def test_without_a_line_nothing_is_known():
    """No number is 0 because nobody told one."""
    shown = first_screen({}, NOW_MS)
    known = {name: value for name, value in shown.items() if value not in (None, False, [])}
    assert {"idle", "cost", "avoidable", "owners_told"} == known.keys()
    assert {None} == {*shown["idle"].values(), *shown["avoidable"].values()}
    assert shown["cost"]["usd_per_hour"] is None


@pytest.mark.parametrize("value", ["12", True, float("inf"), [1], {}])
def test_what_is_no_number_is_not_told(value):
    """A line is other people's text once somebody may write to the log group."""
    shown = screen(line(IdleCores=1).replace('"IdleCores": 1', f'"IdleCores": {value!r}'
                   .replace("'", '"').replace("True", "true").replace("inf", "1e999")))  # fmt: skip
    assert shown["idle"]["cores"] is None
