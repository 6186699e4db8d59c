"""Owners of idle cores: summed over all instances before the list is cut, without a loss."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.rollups.rollup import RollupInProgress
from neuron_accounts import cluster_idle, owner_minutes
from neuron_accounts.cluster_idle import MAX_OWNER_ROWS, ClusterIdle
from neuron_accounts.core_time import CostRules
from neuron_accounts.now import cluster_now
from neuron_accounts.teams import team_rules
from neuron_wire.core_members import core_indexes, core_ranges
from neuron_wire.holders import Holder
from neuron_wire.merging import merge_records
from neuron_wire.names import (
    MICRO,
    NOT_REPORTED_OWNER,
    OTHER_OWNERS,
    PLACEHOLDER_OWNERS,
    UNALLOCATED_OWNER,
)
from neuron_wire.owners import Owner
from tests.aggregator.rollups.rollup_texts import cores, idle_owners, published, rollup_of

OWNER_TYPES = ["trn1.2xlarge", "inf2.48xlarge", "trn2.48xlarge", None]
UNPRICED_TYPES = OWNER_TYPES[2:]
PAID = [None, "committed", "avoidable"]


def held(instance_id, *owners, **changes):
    """
    Return an instance whose *owners*, (name, number) pairs, hold that number of idle cores each.
    """
    count = sum(number for _, number in owners)
    listed = []
    first = 0
    for name, number in owners:
        listed.append(Owner(core_ranges(range(first, first + number)), name))
        first += number
    changes = {"idle": (60,) * count, "owners": tuple(listed), **changes}
    return cores("a" * count, instance_id=instance_id, **changes)


@st.composite
def fleets(draw):
    """
    Draw up to 40 instances whose cores up to 60 owners hold or reserve, some cores shared or idle.
    """
    fleet = []
    for number in range(draw(st.integers(1, 40))):
        state = draw(st.text("bau?", min_size=1, max_size=5))
        some = st.sets(st.integers(0, len(state) - 1), min_size=1).map(core_ranges)
        named = draw(st.dictionaries(st.integers(0, 59), st.tuples(some, some), max_size=5))
        fleet.append(
            cores(
                state,
                instance_id=f"i-{number}",
                idle=tuple(draw(st.sampled_from([0, 14, 15, 900])) for _ in state),
                instance_type=draw(st.sampled_from(OWNER_TYPES)),
                paid=draw(st.sampled_from(PAID)),
                reservations=draw(st.sampled_from([None, "none", "known", "unknown"])),
                owners=tuple(
                    Owner(held, f"ml/{name}", reserved=reserved)
                    for name, (held, reserved) in named.items()
                ),
            )
        )
    return fleet


def total(rows, name):
    """Return the exact decimal sum of a member over *rows*."""
    return sum(Fraction(str(row.get(name, 0))) for row in rows)


@given(fleets(), st.sampled_from([6, cluster_idle.MAX_OWNERS_IN_CLUSTER_ROWS]))
def test_the_rows_add_up(fleet, bound):
    """
    The rows add up to the idle cores, to the cores without a price and to their cost, exactly.

    Owners above the bound are counted and in the row of others. Below it, no owner is left out.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_idle, "MAX_OWNERS_IN_CLUSTER_ROWS", bound)
        line = published(rollup_of(*fleet))
    rows = line.get("TopIdleOwners", [])
    names = {owner.owner for owner in idle_owners(rollup_of(*fleet))} - {OTHER_OWNERS}
    if "IdleOwnersLeftOut" in line:
        assert len(names) >= bound
        assert OTHER_OWNERS in [row["Owner"] for row in rows]
    assert len(rows) <= MAX_OWNER_ROWS
    assert line.get("IdleCores", 0) == total(rows, "Cores")
    assert Fraction(str(line.get("IdleCostPerHour", 0))) == total(rows, "UsdPerHour")
    unpriced = rollup_of(*(record for record in fleet if record.instance_type in UNPRICED_TYPES))
    assert unpriced.gauges.get("IdleCores", 0) == total(rows, "UnpricedCores")
    parts = [line.get(f"{part}CostPerHour", 0) for part in ("Avoidable", "Shared", "Committed")]
    assert Fraction(str(line.get("IdleCostPerHour", 0))) == sum(Fraction(str(p)) for p in parts)


@given(fleets())
def test_no_number_depends_on_the_cut_of_the_rows(fleet):
    """The numbers of cores without an owner are those of the records, whatever rows are cut."""
    crowd = [held(f"i-c{number}", (f"ml/c{number}", 9)) for number in range(MAX_OWNER_ROWS)]
    line = published(rollup_of(*fleet, *crowd))
    free = Counter(dict.fromkeys([UNALLOCATED_OWNER, NOT_REPORTED_OWNER], 0))
    for record in fleet:
        row = UNALLOCATED_OWNER if record.reservations in {"none", "known"} else NOT_REPORTED_OWNER
        reserved = {core for owner in record.owners for core in core_indexes(owner.reserved)}
        for core in {*range(len(record.core_state))} - reserved:
            free[row] += record.core_state[core] == "u" and record.idle_minutes[core] >= 15
    now = cluster_now(line)
    assert free == Counter(
        {UNALLOCATED_OWNER: now.unallocated, NOT_REPORTED_OWNER: now.unknown_allocation}
    )
    rows = line.get("TopIdleOwners", [])
    assert {name for name, cores in free.items() if cores} <= {row["Owner"] for row in rows}
    cut = cluster_now({**line, "TopIdleOwners": rows[:1]})
    assert replace(now, owners=()) == replace(cut, owners=())


@given(fleets(), st.booleans())
def test_an_owner_that_works_elsewhere_is_listed_with_its_allocated_cores(fleet, halved):
    """
    An owner with idle cores is listed with its allocated and busy cores on all instances, folded in
    any parts. A named owner without busy cores is only listed so if every busy core has a named
    owner. FullyIdleMinutes needs a known last execution.
    """
    held: Any = Counter()
    busy: Any = Counter()
    is_hidden = False
    for record in fleet:
        for core, letter in enumerate(record.core_state):
            named = [
                owner.name
                for owner in record.owners
                if core in core_indexes(owner.reserved if letter == "u" else owner.cores)
            ]
            is_hidden |= letter == "b" and not named
            for name in named if letter != "?" else ():
                held[name] += Fraction(1, len(named))
                busy[name] += Fraction(letter == "b", len(named))
    parts = [RollupInProgress("training", CostRules()) for _ in range(2)]
    for place, record in enumerate(fleet):
        parts[place % 2 if halved else 0].fold_instance(merge_records([record]))
    parts[0].merge_sums(parts[1])
    for row in published(parts[0].finish([])).get("TopIdleOwners", ()):
        name = row["Owner"]
        if name == NOT_REPORTED_OWNER:
            continue  # its AllocatedCores are held idle cores, not all that it has
        is_reported = name not in PLACEHOLDER_OWNERS and not (is_hidden and not busy[name])
        expected = (held[name], busy[name]) if is_reported else (None, None)
        assert expected == pytest.approx(
            (row.get("AllocatedCores"), row.get("BusyCores")), abs=1e-3
        )
        assert "FullyIdleMinutes" not in row


@pytest.mark.parametrize("name", sorted(PLACEHOLDER_OWNERS))
def test_no_line_names_an_owner_like_a_row_of_ours(name):
    """An owner whose name is that of a placeholder row is unnamed, in Owners and in Holders."""
    new = cores("aau", idle=(60,) * 3, owners=(Owner("0", name, "ml"),), owners_more="1")
    old = cores("a", instance_id="i-2", idle=(60,), holders=(Holder("0", name),))
    assert {"[unnamed]": 2, "[others]": 1, "[unallocated]": 1} == {
        owner.owner: owner.idle // MICRO for owner in idle_owners(rollup_of(new, old))
    }


def test_the_team_is_from_the_first_rule_otherwise_as_reported():
    """
    The team of an owner and of a holder is that of the first matching rule, else the reported one,
    else unknown if reports differ.
    """
    reported = [
        Owner("0", "ml/a", "ml"),
        Owner("1", "ml/b", "ml"),
        Owner("2", "ml/c"),
        Owner("3", "prod/d", "ml"),
    ]
    fleet = [
        cores(
            "aaaa",
            instance_id="i-1",
            idle=(60,) * 4,
            owners=tuple(reported),
            holders=tuple(Holder(owner.cores, owner.name, team=owner.team) for owner in reported),
        ),
        cores("a", instance_id="i-2", idle=(60,), owners=(Owner("0", "ml/b", "other"),)),
        cores("u", instance_id="i-3", idle=(60,)),
    ]
    teams = team_rules("other|*=wrong,training|prod/*=serving,*|prod/*=late")
    in_progress = RollupInProgress("training", CostRules(teams=teams))
    for record in fleet:
        in_progress.fold_instance(merge_records([record]))
    line = published(in_progress.finish([]))
    rows = line["TopIdleOwners"]
    assert {"ml/a": "ml", "prod/d": "serving"} == {
        row["Owner"]: row["Team"] for row in rows if "Team" in row
    }
    assert {"ml/b", "ml/c", UNALLOCATED_OWNER} == {
        row["Owner"] for row in rows if "Team" not in row
    }
    holders = line["TopIdleInstances"][0]["Holders"]
    assert {"ml/a": "ml", "ml/b": "ml", "ml/c": None, "prod/d": "serving"} == {
        holder["Name"]: holder.get("Team") for holder in holders
    }


def test_twenty_rows_are_all_and_what_is_free_stays_one_of_them():
    """19 owners and the unallocated cores fit; with 20, the two smallest become others."""

    def rows_of(number):
        unpriced = {"instance_type": None}
        fleet = [held(f"i-{n:02}", (f"ml/{n:02}", 2 + n), **unpriced) for n in range(number)]
        free = cores("u", instance_id="i-free", idle=(60,), **unpriced)
        return [owner.owner for owner in idle_owners(rollup_of(*fleet, free))]

    assert [f"ml/{n:02}" for n in reversed(range(19))] + [UNALLOCATED_OWNER] == rows_of(19)
    named = {f"ml/{n:02}" for n in range(2, 20)}
    assert {OTHER_OWNERS, UNALLOCATED_OWNER, *named} == set(rows_of(20))


def test_no_row_is_cut_from_a_long_line():
    """A line with the longest names, teams and lists has all rows and fits."""
    wide = "\U0001f600" * 128
    fleet = [
        cores(
            "a",
            instance_id=f"i-{number:0126}",
            idle=(60,),
            instance_type=None,
            owners=(Owner("0", f"{number:03}{wide}"[:128], f"{number:03}{wide}"[:63]),),
            ecc_uncorrected_rise=1,
            execution_errors=1,
            readings={"HardwareFaults": 1},
            holders=(Holder("0", wide, 1, wide),),
        )
        for number in range(60)
    ]
    assert 60 == total(published(rollup_of(*fleet))["TopIdleOwners"], "Cores")


def test_the_owner_with_most_survives_the_bound(monkeypatch):
    """
    The owner with most idle cost stays below the bound, even if the other owners come later. Each
    owner is listed or counted as left out.
    """
    monkeypatch.setattr(cluster_idle, "MAX_OWNERS_IN_CLUSTER_ROWS", 6)
    fleet = [held("i-big", ("slurm:7 u", 32), instance_type="trn1.32xlarge")]
    fleet += [held(f"i-{number}", (f"ml/{number}", 1)) for number in range(99)]
    bounded = rollup_of(*fleet)
    first, second, *rest = idle_owners(bounded)
    assert OTHER_OWNERS == first.owner
    assert "slurm:7 u" == second.owner
    assert 32 * MICRO == second.idle
    assert 21_500_000 == second.cost
    assert len(fleet) == bounded.properties["IdleOwnersLeftOut"] + len([second, *rest])


def test_too_many_owners_are_not_reported_in_part(monkeypatch):
    """
    Above the bound no owner is known, so that no owner seems to hold fewer cores or to be gone.
    """
    monkeypatch.setattr(owner_minutes, "MAX_OWNERS_COUNTED", 3)
    sums = ClusterIdle(CostRules())
    rest = ClusterIdle(CostRules())
    for number in range(4):
        part = sums if number < 2 else rest
        part.fold_record(held(f"i-{number}", (f"ml/{number}", 1)))
    assert {"ml/0", "ml/1"} == sums.owners.sums().keys()
    sums.fold_sums(rest)
    assert sums.owners.sums() is None
    assert sums.owners.minutes.row_of("ml/0").allocated is None


def test_a_row_has_reserved_cores_and_minutes_without_work():
    """
    A row has the number of reserved cores and the shortest quiet time over all instances. While an
    owner executes on one of its instances, none of its job is fully idle.
    """
    waits = Owner("0", "ml/a-1", executions=0, quiet_minutes=30)
    none = {"execution_errors": 0}
    fleet = [
        cores(
            "auu",
            instance_id="i-1",
            idle=(60, 50, 40),
            executions=0,
            **none,
            owners=(Owner("", "ml/b", None, "1", None, 60), waits),
        ),
        cores(
            "uu",
            instance_id="i-2",
            idle=(20, 70),
            executions=0,
            **none,
            owners=(Owner("", "ml/b", None, "0-1", None, 90),),
        ),
    ]
    members = ("Owner", "Cores", "ReservedCores", "FullyIdleMinutes")

    def reported(*records):
        rows = published(rollup_of(*records))["TopIdleOwners"]
        return {tuple(row.get(member) for member in members) for row in rows}

    free = (UNALLOCATED_OWNER, 1, None, None)
    assert {("ml/b", 3, 3, 20), ("ml/a-1", 1, None, 30), free} == reported(*fleet)
    siblings = [
        cores(
            "a",
            instance_id=f"i-a{executions}",
            owners=(Owner("0", "ml/a-0", executions=executions),),
            executions=executions,
            **none,
        )
        for executions in (0, 9)
    ]
    assert ("ml/a-1", 1, None, None) in reported(*fleet, *siblings)
