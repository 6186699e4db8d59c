"""Rows of an instance-hour have exact sums and can be read back."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_accounts import ledger
from neuron_accounts.core_time import CostRules
from neuron_accounts.instance_hours import Ec2Instance, InstanceHour, OwnerWork
from neuron_accounts.prices import Prices
from neuron_emf.reading.ledger_bucket import rows as read_rows
from neuron_wire.names import MICRO
from neuron_wire.owners import Owner
from proof.factories.records import record as make_record

ACCOUNTED_HOUR = 490_000
FIRST_ACCOUNTED = ACCOUNTED_HOUR * 60
HOUR_PRICES = Prices({"inf2.xlarge": 0.07})
HOUR_RULES = CostRules(HOUR_PRICES)
HOUR_TYPES = ["inf2.xlarge", "trn1.2xlarge", "x", None]
DEAREST = max(Fraction(HOUR_PRICES.usd_per_core_hour(name, 1, None) or 0) for name in HOUR_TYPES)
NO_EXECUTIONS = {"executions": 0, "execution_errors": 0}
HOUR_OWNERS = ["ml/a", "ml/b", "slurm:7 ann", "[unnamed]"]


def minute(state, *owners, idle=None, **changes):
    """Return a record of cores in *state*; *owners* are tuples of cores, name and other fields."""
    idle = tuple(idle) if idle else tuple(0 if letter == "b" else 60 for letter in state)
    percent = tuple(None if letter == "?" else 50.0 * (letter == "b") for letter in state)
    changes = {"minute": FIRST_ACCOUNTED, "utilization_percent": percent, **changes}
    held_by = tuple(
        Owner(cores, name, None, *more) if more else Owner(cores, name, None, "", 0, 60)
        for cores, name, *more in owners
    )
    return make_record(core_state=state, idle_minutes=idle, owners=held_by, **changes)


def rows_of(*records, rules=HOUR_RULES, ec2=None, unknown=()):
    """Return the rows of an hour, by owner."""
    hour = InstanceHour(ACCOUNTED_HOUR, rules, ec2)
    work = OwnerWork()
    for record in records:
        hour.fold_minute(record, work)
    for missed in unknown:
        hour.fold_unknown_minute(missed)
    return {row.owner: row for row in hour.rows(work)}


@st.composite
def hours(draw):
    """Generate the records of an hour, and records that stand for silent minutes."""
    records = []
    for _ in range(draw(st.integers(1, 6))):
        state = draw(st.text("bau?", min_size=1, max_size=6))
        cores = st.sampled_from([*map(str, range(len(state))), f"0-{len(state) - 1}"])
        had = st.tuples(cores, cores | st.just(""), st.none() | st.integers(0, 9))
        named = draw(st.dictionaries(st.sampled_from(HOUR_OWNERS), had, max_size=4))
        percent = st.integers(0, 10_000).map(lambda hundredths: hundredths / 100)
        records.append(
            minute(
                state,
                *(
                    (held, name, reserved, executions, None if executions else 60)
                    for name, (held, reserved, executions) in named.items()
                ),
                reservations=draw(st.sampled_from([None, "known", "unknown"])),
                idle=[draw(st.sampled_from([0, 14, 15, 900])) for _ in state],
                utilization_percent=tuple(
                    None if letter == "?" else draw(percent) for letter in state
                ),
                covered_seconds=draw(st.sampled_from([0.01, 33.33, 60.0])),
                instance_type=draw(st.sampled_from(HOUR_TYPES)),
                lifecycle=draw(st.sampled_from([None, "spot", "capacity-block"])),
                paid=draw(st.sampled_from([None, "committed", "avoidable"])),
            )
        )
    return records, draw(st.lists(st.sampled_from(records), max_size=3))


def expected_hour(records, unknown):
    """
    Compute an hour with fractions, core by core: core-minutes and USD by owner.

    Each owner has allocated, used and idle core-minutes, list cost and idle cost.
    """
    sums = defaultdict(lambda: [Fraction(0)] * 5)
    for part, is_known in [
        *((record, True) for record in records),
        *((part, False) for part in unknown),
    ]:
        price = HOUR_PRICES.usd_per_core_hour(part.instance_type, len(part.core_state), None)
        idle = [
            is_known and letter in "au" and minutes >= 15
            for letter, minutes in zip(part.core_state, part.idle_minutes, strict=True)
        ]
        for core, letter in enumerate(part.core_state):
            had = [
                (owner.name, owner.reserved if letter == "u" else owner.cores)
                for owner in part.owners
            ]
            names = [name for name, cores in had if cores and core in _cores(cores)]
            if not is_known or letter == "?":
                names = ["[unknown]"]
            elif letter == "u" and not names:
                names = [
                    "[unallocated]" if part.reservations in {"none", "known"} else "[not reported]"
                ]
            usd = Fraction(price or 0) / 60 / len(names or [0])
            for name in names or ["[not reported]"]:
                share = Fraction(1, len(names or [0]))
                used = Fraction(part.utilization_percent[core] or 0) / 100 * is_known
                amounts = share, share * used, share * idle[core], usd, usd * idle[core]
                sums[name] = [a + b for a, b in zip(sums[name], amounts, strict=True)]
    return sums


def _cores(ranges):
    first, _, last = ranges.partition("-")
    return range(int(first), int(last or first) + 1)


@given(hours())
def test_an_hour_adds_up(hour):
    """
    Core-minutes add up to cores times minutes. Busy, used and idle never exceed allocated.

    Known and unknown time each add up to the cost of the instance-hour, rounded once.
    """
    records, unknown = hour
    rows = rows_of(*records, unknown=unknown).values()
    assert sum(row.allocated for row in rows) == MICRO * sum(
        len(part.core_state) for part in [*records, *unknown]
    )
    used = sum(round(100 * (p or 0)) * 100 for r in records for p in r.utilization_percent)
    assert sum(row.used or 0 for row in rows) == used
    for row in rows:
        if row.owner == "[unknown]":
            assert {None} == {row.busy, row.used, row.idle, row.idle_cost}
            continue
        assert max(row.busy, row.used, row.idle, row.unpriced) <= row.allocated
        assert row.busy + row.idle <= row.allocated
        assert row.avoidable + row.committed <= row.idle
        if row.list_cost is not None:
            assert row.avoidable_cost + row.committed_cost <= row.idle_cost <= row.list_cost
            assert bool(row.committed_cost) <= bool(row.committed)
        assert (row.list_cost is None) == (row.unpriced == row.allocated) == (row.basis is None)
    exact = {True: Fraction(0), False: Fraction(0)}
    for part, was_there in [
        *((record, True) for record in records),
        *((part, False) for part in unknown),
    ]:
        price = HOUR_PRICES.usd_per_core_hour(part.instance_type, len(part.core_state), None)
        for letter in part.core_state:
            usd = Fraction(round((price or 0) * 10**15), 10**15) / 60
            exact[was_there and letter != "?"] += usd
    for is_known, usd in exact.items():
        costs = [row.list_cost or 0 for row in rows if (row.owner != "[unknown]") == is_known]
        assert sum(costs) == round(usd * 10**9)


@given(hours())
def test_every_row_agrees_with_exact_fractions(hour):
    """Each row equals the exact fractions, up to the remainders of split cores and one rounding."""
    records, unknown = hour
    rows = rows_of(*records, unknown=unknown)
    expected = expected_hour(records, unknown)
    assert expected.keys() == {owner for owner, row in rows.items() if row.allocated}
    for owner, (held, used, idle, usd, idle_usd) in expected.items():
        row = rows[owner]
        cores = 6 * len(records)
        for fraction, whole in ((held, row.allocated), (used, row.used), (idle, row.idle)):
            assert abs(fraction * MICRO - (whole or 0)) <= cores
        # A share of a core is off by at most a millionth of a minute, and its price by that share.
        nano_usd_of_a_share = 10**9 * DEAREST / 60 / MICRO
        for fraction, nano_usd in ((usd, row.list_cost), (idle_usd, row.idle_cost)):
            assert abs(fraction * 10**9 - (nano_usd or 0)) <= cores * (1 + nano_usd_of_a_share)


@given(hours(), st.randoms())
def test_executions_do_not_depend_on_the_order_of_minutes(hour, chance):
    """An owner's executions count in every minute with a core of the owner, in any order."""
    records, _ = hour
    rows = rows_of(*records)
    shuffled = records[:]
    chance.shuffle(shuffled)
    assert {owner: row.executions for owner, row in rows.items()} == {
        owner: row.executions for owner, row in rows_of(*shuffled).items()
    }
    executed = defaultdict(int)
    for record in records:
        for owner in record.owners:
            executed[owner.name] += (owner.executions or 0) * _has_a_core(record, owner)
    assert {name: count for name, count in executed.items() if count} == {
        owner: row.executions for owner, row in rows.items() if row.executions
    }


def _has_a_core(record, owner):
    """Return True if *owner* holds a core of *record*, even an unknown one, or has one reserved."""
    free = {core for core, letter in enumerate(record.core_state) if letter == "u"}
    reserved = _cores(owner.reserved) if owner.reserved else ()
    return not free.issuperset(_cores(owner.cores)) or not free.isdisjoint(reserved)


@pytest.mark.parametrize(
    ("ec2", "changes", "avoidable"),
    [
        (None, {}, True),
        (None, {"instance_type": "trn2.48xlarge"}, False),
        (Ec2Instance("spot"), {"lifecycle": "capacity-block"}, True),
        (Ec2Instance("capacity-block", "cr-1"), {"lifecycle": "spot"}, False),
        (Ec2Instance("on-demand", "cr-1"), {}, False),
        (Ec2Instance("on-demand", "cr-1"), {"paid": "avoidable"}, True),
        (Ec2Instance("on-demand", None, "trn2.48xlarge"), {}, False),
        (None, {"core_state": "ab", "idle_minutes": (60, 0)}, False),
        (None, {"core_state": "a?", "idle_minutes": (60, 60)}, False),
    ],
)
def test_ec2_takes_precedence_over_the_instances_report(ec2, changes, avoidable):
    """
    EC2's answer takes precedence over the instance's report, also its type: spot is avoidable.

    A reservation is committed unless `--paid` is avoidable.
    """
    rules = CostRules(Prices({"trn2.48xlarge": 40}))
    state = changes.pop("core_state", "aa")
    row = rows_of(
        minute(
            state,
            ("0-1", "ml/a"),
            idle=changes.pop("idle_minutes", (60, 60)),
            executions=0,
            execution_errors=0,
            **changes,
        ),
        rules=rules,
        ec2=ec2,
    )["ml/a"]
    assert row.avoidable_cost == (row.idle_cost if avoidable else 0)
    assert row.avoidable == (row.idle if avoidable else 0)
    assert row.committed_cost == (0 if avoidable or state != "aa" else row.idle_cost)
    assert row.committed == (row.idle if row.committed_cost else 0)
    assert row.idle_cost > 0
    assert row.lifecycle == (ec2.lifecycle if ec2 else None)


@pytest.mark.parametrize(
    ("worker", "state", "avoidable"),
    [
        (None, "", 2),
        ("ml/a-0", "a", 1),
        ("ml/a-1", "a", 1),
        ("ml/b-1", "a", 2),
        ("ml/a-0", "?", 1),
    ],
)
def test_a_minute_is_avoidable_where_its_owner_is_fully_idle_in_the_cluster(
    worker, state, avoidable
):
    """A minute is avoidable if its owner is fully idle in the cluster and no sibling works."""
    work = OwnerWork()
    hour = InstanceHour(ACCOUNTED_HOUR, HOUR_RULES)
    for number in range(2):
        hour.fold_minute(
            minute("aa", ("0-1", "ml/a-0"), minute=FIRST_ACCOUNTED + number, **NO_EXECUTIONS), work
        )
    if worker:
        seen = OwnerWork()  # the work that another process read
        done = 3 if state == "a" else 0
        counts = {"executions": done, "execution_errors": 0}
        owner = ("0", worker, "", done, None if done else 60)
        other = minute(state, owner, minute=FIRST_ACCOUNTED + 1, **counts)
        InstanceHour(ACCOUNTED_HOUR, HOUR_RULES).fold_minute(other, seen)
        work.fold_work(seen)
    (row,) = hour.rows(work)
    assert 2 * MICRO * avoidable == row.avoidable
    assert 4 * MICRO == row.idle


def test_hidden_or_unknown_cores_are_not_avoidable():
    """
    A reserved core is avoidable after 15 quiet minutes, unless the instance executes.

    If a core is unknown or its owner is omitted, no core of the instance is avoidable.
    """
    pod = ("", "ml/a", "0-1", None)
    assert 2 * MICRO == rows_of(minute("uu", (*pod, 15), **NO_EXECUTIONS))["ml/a"].avoidable
    assert 0 == rows_of(minute("uu", (*pod, 14), **NO_EXECUTIONS))["ml/a"].avoidable
    assert 0 == rows_of(minute("uu", (*pod, 15), executions=1))["ml/a"].avoidable
    hidden = minute("uu", ("", "ml/a", "0", None, 15), owners_more="1", **NO_EXECUTIONS)
    assert 0 == rows_of(hidden)["ml/a"].avoidable
    for status in (None, "unknown"):
        unowned = rows_of(minute("uu", reservations=status, **NO_EXECUTIONS))
        assert ["[not reported]"] == [*unowned]
        assert 0 == unowned["[not reported]"].avoidable


@given(hours(), st.randoms())
def test_the_same_rows_are_the_same_bytes(hour, chance):
    """Rows in any order are packed to the same bytes, without a time in the gzip header."""
    rows = list(rows_of(*hour[0]).values())
    payload = ledger.pack_rows(rows)
    chance.shuffle(rows)
    assert payload == ledger.pack_rows(rows)
    assert b"\0\0\0\0" == payload[4:8]
    assert sorted(rows, key=lambda row: row.owner) == list(read_rows([(ACCOUNTED_HOUR, payload)]))
