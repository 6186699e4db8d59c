"""An hour of a bill and of the ledger, case by case, with the amounts written out."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from neuron_emf.chargeback.allocation import by_bill, cores_of
from neuron_emf.chargeback.charges import Charge
from neuron_emf.chargeback.decimals import decimal_of, split_text, whole_of
from neuron_emf.chargeback.focus_columns import CONSUMED, EFFECTIVE, FRAME, LIST, SUMMABLE
from neuron_emf.chargeback.month import Month
from neuron_emf.chargeback.reservations import Reservation
from neuron_emf.chargeback.run import Chargeback, rows_at_list_cost
from neuron_wire.instance_hours import Ec2Instance, InstanceHour, LedgerRules
from neuron_wire.owners import Owner
from neuron_wire.prices import Prices
from proof.factories.bills import fee_row, ledger_row, usage_row
from proof.factories.records import record
from tests.neuron_emf.chargeback.worlds import BEFORE, BLOCK, FIRST, MONTH, World, reckoned
from tests.settled_hour import HOUR, settled_rows

ONE = "i-00000001"
TWO = "i-00000002"
LAST_ROW = usage_row(MONTH, MONTH.hours.stop - 1, "vol-1", "x", "0", SkuMeter="Last")


def paid(bill, ledger=(), reservations=None):
    """What each owner pays, as the file writes it: rows of an owner side by side."""
    by_hour: dict = {}
    for row in ledger:
        by_hour.setdefault(row.hour, {}).setdefault(row.instance_id, []).append(row)
    result, rows = reckoned(World([*bill, LAST_ROW], by_hour, reservations or {}))
    assert result.cost_in == result.totals.cost
    costs: dict[str, list[str]] = {}
    for row in rows:
        costs.setdefault(row.owner, []).append(row.charge.amounts[EFFECTIVE])
    return costs


def minutes_of(*states, owners=(), instance_id=ONE, **changes):
    """The ledger's rows of an hour with a record for each of *states*, and none for the rest."""
    hour = InstanceHour(FIRST, LedgerRules(Prices()), changes.pop("ec2", None))
    held_by = tuple(Owner(cores, name) for cores, name in owners)
    for number, state in enumerate(states):
        one = record(
            core_state=state,
            idle_minutes=(0,) * len(state),
            utilization_percent=tuple(None if letter == "?" else 50.0 for letter in state),
            owners=held_by,
            minute=FIRST * 60 + number,
            instance_id=instance_id,
            instance_type="trn1.2xlarge",
            **changes,
        )
        hour.add(one)
    return hour, one


def test_december_ends_with_its_year():
    """Its hours are those until January's first."""
    december = Month(2026, 12)
    assert (Month(2027, 1), 744) == (december.following, len(december.hours))


def test_three_owners_of_one_core_pay_a_third_each():
    """Of that core, in millionths of each minute; the other one is the first owner's alone."""
    hour, _ = minutes_of(*["bb"] * 60, owners=[("0-1", "a"), ("1", "b"), ("1", "c")])
    costs = paid([usage_row(MONTH, FIRST, ONE, cost="1")], hour.rows())
    assert {"a": ["0.666667"], "b": ["0.1666665"], "c": ["0.1666665"]} == costs


def test_minutes_that_a_restarted_emitter_missed_are_unknown():
    """20 minutes of a whole billed hour: a third of its cost is nobody's."""
    hour, last = minutes_of(*["bb"] * 40, owners=[("0-1", "ml/a")])
    for _ in range(20):
        hour.add_unknown(last)
    costs = paid([usage_row(MONTH, FIRST, ONE, cost="1.5")], hour.rows())
    assert {"ml/a": ["1"], "[unknown]": ["0.5"]} == costs


def test_what_no_emitter_saw_of_a_billed_hour_is_unknown():
    """The emitter came 45 minutes late, and nothing in the ledger says so."""
    hour, _ = minutes_of(*["bb"] * 15, owners=[("0-1", "ml/a")])
    costs = paid([usage_row(MONTH, FIRST, ONE, cost="2")], hour.rows())
    assert {"ml/a": ["0.5"], "[unknown]": ["1.5"]} == costs


def test_an_instance_that_stops_and_starts_again_pays_what_was_billed():
    """Two charges of 0.25 h: the 30 minutes that were seen are all that there is."""
    hour, _ = minutes_of(*["bb"] * 30, owners=[("0", "ml/a"), ("1", "ml/b")])
    bill = [usage_row(MONTH, FIRST, ONE, cost="0.3", hours="0.25")] * 2
    costs = paid(bill, hour.rows())
    assert {"ml/a": ["0.15", "0.15"], "ml/b": ["0.15", "0.15"]} == costs


def test_more_seen_than_billed_scales_down():
    """A whole hour was seen, a tenth of it billed: owners share that, and nobody is unknown."""
    hour, _ = minutes_of(*["bu"] * 60, owners=[("0", "ml/a")])
    costs = paid([usage_row(MONTH, FIRST, ONE, cost="0.134375", hours="0.1")], hour.rows())
    assert {"ml/a": ["0.0671875"], "[unallocated]": ["0.0671875"]} == costs


def test_a_billed_hour_without_telemetry_is_named():
    """It is neither unknown nor free."""
    bill = [usage_row(MONTH, FIRST, ONE, cost="1.34375")]
    assert {"[no telemetry]": ["1.34375"]} == paid(bill)


def test_hours_that_are_not_on_the_bill_are_listed_at_nothing():
    """The bill lacks an hour that the ledger has: its owners are there, at 0."""
    rows = [ledger_row(FIRST, ONE, "ml/a", 90), ledger_row(FIRST + 1, ONE, "ml/a", 120)]
    bill = [usage_row(MONTH, FIRST, ONE, cost="1")]
    assert {"ml/a": ["0.75", "0"], "[unknown]": ["0.25"]} == paid(bill, rows)


@pytest.mark.parametrize(
    "changes",
    [
        {"SkuMeter": "USE2-DataTransfer-Out-Bytes"},
        {"ChargeCategory": "Tax"},
        {"ChargeCategory": "Credit"},
        {"ChargeCategory": "Adjustment"},
        {"x_ServiceCode": "ElasticMapReduce"},
        {"x_ServiceCode": "AmazonSageMaker"},
        {"x_Operation": "Hourly"},
        {"SkuMeter": "USE2-BoxUsage:p5.48xlarge"},
        {"SkuMeter": "USE2-EBS:VolumeUsage.gp3"},
    ],
)
def test_what_is_no_hour_of_a_neuron_instance_is_in_no_row(changes):
    """Transfer, tax and credits of the same instance are not split, and counted."""
    bill = [usage_row(MONTH, FIRST, ONE, cost="7", **changes), LAST_ROW]
    result, rows = reckoned(World(bill, {}, {}))
    assert [] == rows
    assert (2, Decimal(7)) == (result.bill.other_rows, result.bill.other_cost)


def test_a_correction_of_a_month_before_is_not_splittable():
    """The ledger of that month is not read: it stays whole, and in the total."""
    period = {
        "ChargePeriodStart": "2026-09-30T23:00:00.000Z",
        "ChargePeriodEnd": "2026-10-01T00:00:00.000Z",
    }
    bill = [usage_row(MONTH, FIRST, ONE, cost="-3.5", ChargeClass="Correction", **period)]
    assert {"[not splittable]": ["-3.5"]} == paid(bill)


def test_an_unused_reservation_on_demand_pays_for_itself():
    """AWS bills what is reserved and unused: a charge of the reservation, not of an instance."""
    bill = [
        usage_row(
            MONTH,
            FIRST,
            "arn:aws:ec2:us-east-2:1:capacity-reservation/cr-9",
            cost="1.34375",
            SkuMeter="USE2-UnusedBox:trn1.2xlarge",
            CapacityReservationId="cr-9",
            CapacityReservationStatus="Unused",
        )
    ]
    assert {"[reserved, unused]": ["1.34375"]} == paid(bill)


BLOCK_DATES = Reservation(BLOCK, "trn1.2xlarge", 2, FIRST * 60, FIRST * 60 + 120)
"""Two instances for two hours."""


def in_block(hour, instance_id, status="Used"):
    """A capacity block's row of usage, at 0."""
    return usage_row(
        MONTH,
        hour,
        instance_id,
        cost="0",
        CapacityReservationId=BLOCK,
        CapacityReservationStatus=status,
    )


def test_spot_and_a_capacity_block_whose_fee_is_of_the_month_before():
    """Of 8 USD for four instance-hours two are one owner's, one is spread, one ran nobody."""
    bill = [
        fee_row(BEFORE, BEFORE.hours.start, BLOCK, "8"),
        in_block(FIRST, ONE),
        in_block(FIRST, TWO),
        in_block(FIRST + 1, ONE),
        usage_row(MONTH, FIRST, "i-00000003", cost="0.4", SkuMeter="USE2-SpotUsage:trn1.2xlarge"),
    ]
    ledger = [
        ledger_row(FIRST, ONE, "ml/a", 120),
        ledger_row(FIRST, TWO, "ml/b", 60),
        ledger_row(FIRST, TWO, "[unallocated]", 60),
        ledger_row(FIRST + 1, ONE, "ml/a", 120),
        ledger_row(FIRST, "i-00000003", "spot/x", 120),
    ]
    assert {
        "ml/a": ["2", "2"],
        "ml/b": ["1"],
        "[unallocated]": ["1"],
        "spot/x": ["0.4"],
        "[reserved, unused]": ["2"],
    } == paid(bill, ledger, {BLOCK: BLOCK_DATES})


def test_a_block_is_known_by_the_ledger_where_the_bill_does_not_say_it():
    """EC2 told `settle`; an instance that the bill lacks is in the block all the same."""
    ledger = [ledger_row(FIRST, ONE, "ml/a", 120, capacity_reservation_id=BLOCK)]
    bill = [fee_row(MONTH, FIRST, BLOCK, "8", EffectiveCost="0")]
    expected = {"ml/a": ["2"], "[reserved, unused]": ["2", "4"]}
    assert expected == paid(bill, ledger, {BLOCK: BLOCK_DATES})
    bill.append(usage_row(MONTH, FIRST, ONE, cost="0"))
    assert expected == paid(bill, ledger, {BLOCK: BLOCK_DATES})


def test_a_block_that_begins_at_half_past_has_half_of_the_hour():
    """Capacity blocks end at 11:30 UTC: fees go by minutes, not by hours of the clock."""
    block = Reservation(BLOCK, "trn1.2xlarge", 1, FIRST * 60 + 30, FIRST * 60 + 120)
    bill = [fee_row(MONTH, FIRST, BLOCK, "3"), in_block(FIRST + 1, ONE)]
    ledger = [ledger_row(FIRST + 1, ONE, "ml/a", 120)]
    assert {"[reserved, unused]": ["1"], "ml/a": ["2"]} == paid(bill, ledger, {BLOCK: block})


def test_what_aws_lists_as_unused_carries_the_unused_part_of_the_fee():
    """One row with hours, not two: the bill's own row of the unused hours has the cost."""
    bill = [
        fee_row(MONTH, FIRST, BLOCK, "8"),
        in_block(FIRST, BLOCK, "Unused"),
        in_block(FIRST + 1, BLOCK, "Unused"),
    ]
    assert {"[reserved, unused]": ["4", "4"]} == paid(bill, (), {BLOCK: BLOCK_DATES})


def test_a_fee_without_dates_stays_whole():
    """In the month in which it is billed, at what was paid; in others it is nothing."""
    bill = [fee_row(MONTH, FIRST, BLOCK, "8", EffectiveCost="0"), in_block(FIRST, ONE)]
    ledger = [ledger_row(FIRST, ONE, "ml/a", 120)]
    assert {"[not splittable]": ["8"], "ml/a": ["0"]} == paid(bill, ledger)
    bill[0] = fee_row(BEFORE, BEFORE.hours.start, BLOCK, "8")
    assert {"ml/a": ["0"]} == paid(bill, ledger)


def test_a_fee_of_another_kind_of_instance_is_not_ours():
    """A block of GPUs, of which only EC2 says what it is."""
    gpus = Reservation(BLOCK, "p5.48xlarge", 1, FIRST * 60, FIRST * 60 + 60)
    bill = [fee_row(MONTH, FIRST, BLOCK, "8", SkuMeter="USE2-CapacityBlock")]
    assert {} == paid(bill, (), {BLOCK: gpus})
    assert {"[not splittable]": ["8"]} == paid(bill)


def test_two_charges_of_an_hour_share_its_core_hours():
    """A savings plan covered half of it: the owner held one hour of two cores, not two."""
    bill = [
        usage_row(MONTH, FIRST, ONE, cost="0.3", hours="0.5"),
        usage_row(MONTH, FIRST, ONE, cost="0.7", hours="0.5", CommitmentDiscountId="sp-1"),
        LAST_ROW,
    ]
    ledger = {FIRST: {ONE: [ledger_row(FIRST, ONE, "ml/a", 120)]}}
    _, rows = reckoned(World(bill, ledger, {}))
    assert [("0.3", ("1", "0.5", "0")), ("0.7", ("1", "0.5", "0"))] == [
        (row.charge.amounts[EFFECTIVE], row.core_hours) for row in rows
    ]


def test_a_smaller_logical_core_size_gives_more_cores_than_the_type_has():
    """A whole hour says how many; two clusters that both saw the instance do not add up."""
    rows = [ledger_row(FIRST, ONE, "a", 128 * 59), ledger_row(FIRST, ONE, "[unknown]", 128)]
    assert 128 == cores_of(rows, "trn2.48xlarge")
    assert 64 == cores_of([rows[1]], "trn2.48xlarge")
    twice = [ledger_row(FIRST, ONE, "a", 120), ledger_row(FIRST, ONE, "a", 120, cluster="other")]
    assert 2 == cores_of(twice, "trn1.2xlarge")


def test_a_bill_at_list_price_says_what_the_ledger_says():
    """The amounts of one hour: `settle`'s own, owner by owner, to the ledger's last digit."""
    hour, last = minutes_of(
        *["ba"] * 41, *["u?"] * 9, owners=[("0", "ml/a"), ("0-1", "ml/b"), ("1", "[unnamed]")],
        ec2=Ec2Instance("on-demand"), region="us-east-2",
    )  # fmt: skip
    for _ in range(10):
        hour.add_unknown(last)
    ledger = hour.rows()
    costs = paid([usage_row(MONTH, FIRST, ONE, cost="1.34375")], ledger)
    assert {row.owner for row in ledger} == costs.keys()
    for row in ledger:
        listed = Fraction(row.list_cost, 10**9)
        assert abs(Fraction(costs[row.owner][0]) - listed) < Fraction(1, 10**9)


def test_the_arithmetic_is_that_of_aws():
    """
    AWS's published example of split cost allocation for accelerated instances: each resource is
    split by what pods have of it, and what is unused goes to them in proportion.

    https://docs.aws.amazon.com/cur/latest/userguide/example-accelerated-instances.html
    """
    unit = Fraction(10) / (9 * 8 + Fraction("0.1") * 488 + Fraction("0.9") * 64)
    pools = {
        9 * 8 * unit: (1, 3, 2, 2),  # GPUs
        Fraction("0.9") * 64 * unit: (16, 18, 16, 16),  # vCPUs, more of them than there are
        Fraction("0.1") * 488 * unit: (100, 140, 100, 100),  # GB, 48 of them unused
    }
    costs = [f"{float(cost):.10f}" for cost in pools]
    parts = zip(*map(split_text, costs, pools.values()), strict=True)
    totals = [sum(map(Decimal, pod)) for pod in parts]
    assert ["1.91", "3.26", "2.41", "2.41"] == [f"{one:.2f}" for one in totals]
    assert sum(map(Decimal, costs)) == sum(totals)


def test_a_charge_without_a_quantity_is_split_by_what_was_seen():
    """A credit on usage has none; what owners held decides."""
    charge = Charge(("",) * len(FRAME), ("",) * len(SUMMABLE)).with_dimensions(
        {"ResourceId": ONE, "SkuMeter": "BoxUsage:trn1.2xlarge"}
    )
    charge = charge.with_amounts({EFFECTIVE: "-2", CONSUMED: ""})
    rows = [ledger_row(FIRST, ONE, "a", 30), ledger_row(FIRST, ONE, "b", 10)]
    parts = by_bill(FIRST, {ONE: rows}, [charge], (), charge)
    assert [("a", "-1.5"), ("b", "-0.5")] == [
        (row.owner, row.charge.amounts[EFFECTIVE]) for row in parts
    ]


def test_the_hour_of_the_rehearsal_is_what_its_ledger_says(hour):
    """At list cost, to the last digit, owner by owner, and its core-hours are the ledger's."""
    rows = settled_rows(hour)
    by_instance: dict = {}
    for row in rows:
        by_instance.setdefault(row.instance_id, []).append(row)
    result = Chargeback(MONTH, is_by_bill=False)
    listed = list(rows_at_list_cost(result, [(HOUR, by_instance)]))
    expected = Decimal(sum(row.list_cost or 0 for row in rows)).scaleb(-9)
    costs = {
        (one.charge.of("ResourceId"), one.owner): decimal_of(one.charge.amounts[LIST])
        for one in listed
    }
    assert expected == result.cost_in == sum(costs.values())
    assert expected > 80
    assert {(row.instance_id, row.owner): row.list_cost or 0 for row in rows} == {
        key: whole_of(cost, 9) for key, cost in costs.items()
    }
    held = sum(Decimal(one.core_hours[0]) for one in listed)
    assert round(held * 60, 6) == Decimal(sum(row.held for row in rows)).scaleb(-6)
