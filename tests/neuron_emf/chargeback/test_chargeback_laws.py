"""Whatever a fleet did and whatever was billed: what goes in comes out, to the last digit."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.chargeback.charges import Charge, ChargeStore
from neuron_emf.chargeback.decimals import decimal_of, plain, split, split_text
from neuron_emf.chargeback.fees import hour_fees
from neuron_emf.chargeback.focus_columns import EFFECTIVE, SUMMABLE
from neuron_emf.chargeback.month import Month
from tests.neuron_emf.chargeback.worlds import (
    BLOCK,
    HOURS,
    MONTH,
    expected_costs,
    is_usage,
    read,
    reckoned,
    worlds,
)

NUMBERS = st.decimals(-10_000, 10_000, allow_nan=False, places=14) | st.decimals(
    allow_nan=False, allow_infinity=False
).filter(lambda number: number.adjusted() < 20 and number.as_tuple().exponent > -40)
WEIGHTS = st.lists(st.integers(0, 10**12), min_size=1, max_size=9).filter(any)


def summed(texts):
    """The exact sum of decimal texts, as a fraction; what is empty adds nothing."""
    return sum((Fraction(text) for text in texts if text), Fraction())


@given(NUMBERS, WEIGHTS)
def test_a_split_adds_up_and_no_part_is_a_last_digit_away(number, weights):
    """Of any number by any weights, negative ones and those with more than ten places too."""
    parts = split(number, weights)
    assert Fraction(number) == sum(map(Fraction, parts))
    step = Fraction(10) ** min(-10, number.as_tuple().exponent)
    for part, weight in zip(parts, weights, strict=True):
        assert abs(Fraction(part) - Fraction(number) * weight / sum(weights)) < step
    assert [plain(part) for part in parts] == list(split_text(str(number), tuple(weights)))


@given(NUMBERS)
def test_a_number_reads_back_as_it_was(number):
    """Written without an exponent, as FOCUS wants it, and with all its digits."""
    text = plain(number)
    assert decimal_of(text) == number
    assert "E" not in text.upper()


@given(worlds())
def test_a_bill_is_conserved_to_the_last_digit(world):
    """Each metric that can be summed: usage rows as they are, and this month's part of fees."""
    result, rows = reckoned(world)
    usage = [row for row in world.bill if is_usage(row)]
    whole = [row for row in rows if row.charge.of("ChargeCategory") == "Purchase"]
    on_bill = [row for row in rows if _is_on_bill(row) and row not in whole]
    for place, column in enumerate(SUMMABLE):
        into = summed(row[column] for row in usage)
        if column in ("EffectiveCost", "PricingCurrencyEffectiveCost"):
            continue
        assert into == summed(row.charge.amounts[place] for row in on_bill), column
    cost_in = summed(row["EffectiveCost"] for row in usage)
    cost_in += Fraction(result.fee_in) + summed(row.charge.amounts[EFFECTIVE] for row in whole)
    assert cost_in == Fraction(result.cost_in)
    assert result.cost_in == result.totals.cost
    assert cost_in == summed(row.charge.amounts[EFFECTIVE] for row in rows)


def _is_on_bill(row):
    return row.basis != "not billed" and "Part of the" not in row.charge.of("ChargeDescription")


@given(worlds())
def test_every_owner_pays_what_fractions_say(world):
    """Owner by owner and hour by hour, within the last digits of a split."""
    _, rows = reckoned(world)
    expected = expected_costs(world)
    paid_by_fee = {row.hour for row in rows if "upfront fee" in row.basis}
    found = defaultdict(Fraction)
    for row in rows:
        if row.charge.of("ChargeCategory") == "Usage" and row.basis == "AWS bill":
            found[row.hour, row.owner] += Fraction(row.charge.amounts[EFFECTIVE])
    for (hour, owner), cost in expected.items():
        if hour not in paid_by_fee:
            assert abs(found.pop((hour, owner), Fraction()) - cost) < Fraction(1, 10**8)
    assert {} == {key: cost for key, cost in found.items() if cost and key[0] not in paid_by_fee}


@given(worlds())
def test_the_ratios_of_each_charge_are_one_whole(world):
    """FOCUS: over all allocated charges of an origin charge they sum to 1."""
    ratios = defaultdict(Fraction)
    _, rows = reckoned(world)
    for row in rows:
        if row.ratio:
            ratios[row.hour, row.charge.frame] += Fraction(row.ratio)
    assert {1, 2} >= set(ratios.values())  # two charges of an hour may be alike in all dimensions


@given(worlds())
def test_core_hours_stand_once_on_an_instance_hour(world):
    """However many charges it has: used and idle hours are those of the ledger."""
    _, rows = reckoned(world)
    used = defaultdict(Fraction)
    for row in rows:
        used[row.hour] += Fraction(row.core_hours[1] or 0)
    for hour, instances in world.ledger.items():
        billed_away = [one for one in instances.values() if not any(row.held for row in one)]
        exact = sum(row.used or 0 for one in instances.values() for row in one)
        if not billed_away:
            assert abs(used[hour] - Fraction(exact, 60 * 10**6)) < Fraction(1, 10**8)


@given(worlds(), st.randoms())
def test_the_order_of_a_bill_does_not_count(world, chance):
    """Rows of an export come in any order; what an owner pays does not follow it."""
    paid = reckoned(world)[0].totals.by_payer
    chance.shuffle(world.bill)
    again = reckoned(world)[0].totals.by_payer
    assert paid.keys() == again.keys()
    for payer, one in paid.items():
        assert abs(one.cost - again[payer].cost) < Decimal("1e-6")


@given(worlds())
def test_all_months_together_have_the_whole_fee(world):
    """Each month takes its part of one split: none is lost at a month's end, none is twice."""
    block = world.reservations.get(BLOCK)
    if block is None:
        return
    bill_fees = [row for row in world.bill if row["ChargeCategory"] == "Purchase"]
    fees = read(world).fees
    assert len(bill_fees) == len(fees)
    parts = [
        fee.cost
        for month in (Month(2026, 9), MONTH, Month(2026, 11))
        for of_hour in hour_fees(fees, world.reservations, month.hours).values()
        for fee in of_hour
    ]
    assert sum(map(Fraction, parts)) == summed(row["BilledCost"] for row in bill_fees)


@given(st.lists(st.tuples(st.sampled_from(HOURS), st.integers(0, 3), st.integers(0, 3))))
def test_a_store_gives_back_what_it_was_given(entries):
    """Every charge once, under its hour, in order of time."""
    store, given_by_hour = ChargeStore(), defaultdict(Counter)
    for hour, frame, amounts in entries:
        charge = Charge((str(frame),), (str(amounts),))
        store.add(hour, charge)
        given_by_hour[hour][charge] += 1
    hours = [(hour, Counter(charges)) for hour, charges in store.hours()]
    assert sorted(given_by_hour.items()) == hours
