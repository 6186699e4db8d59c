"""The chargeback's statement against plain arithmetic in fractions."""

from __future__ import annotations

import tempfile
from decimal import Decimal
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_emf.options import AccountSettings
from neuron_emf.report.chargeback import ChargebackSettings, chargeback, statement
from neuron_wire.instance_types import INSTANCE_TYPES
from tests.neuron_emf.report.bill_worlds import (
    BLOCK,
    bill_text,
    charge,
    fee,
    held,
    ledger_text,
    reckoned,
    rounded,
)

HOURS = ("2026-09-01 00", "2026-09-01 23", "2026-09-17 12")
OWNERS = ("a/x", "b/y", "c/z", "[unallocated]", "[unknown]")


@st.composite
def costs(draw, low=0):
    """A cost as a text of 10 to 30 decimals."""
    places = draw(st.integers(10, 30))
    return f"{Decimal(draw(st.integers(low * 10**places, 40 * 10**places))).scaleb(-places):f}"


@st.composite
def worlds(draw):
    """Rows of a bill and of a ledger: credits, spot, commitments, a block with a fee or without."""
    bill, ledger = [], []
    for number in range(draw(st.integers(1, 3))):
        instance, in_block = f"i-{number:08x}", number == 0
        for hour in HOURS:
            quantity = draw(st.sampled_from(["1.0", "0.5", "0.3333333333", "0.000278"]))
            kind = draw(st.sampled_from(["BoxUsage", "SpotUsage", "missing"]))
            of_type = draw(st.sampled_from(["trn1.2xlarge", "inf2.24xlarge"]))
            others = {"ConsumedQuantity": quantity, "SkuMeter": f"USE2-{kind}:{of_type}"}
            if in_block:
                others["CapacityReservationId"] = f"arn:aws:ec2:x:1:capacity-reservation/{BLOCK}"
                bill.append(charge(hour, instance, "0", **others))
                if draw(st.booleans()):
                    credit = {**others, "ChargeCategory": "Credit"}
                    bill.append(charge(hour, instance, draw(costs(-50)), **credit))
            elif kind != "missing":
                bill.append(charge(hour, instance, draw(costs()), **others))
                if draw(st.booleans()):
                    share = {"ConsumedQuantity": "0", "CommitmentDiscountId": "sp-1"}
                    bill.append(charge(hour, instance, draw(costs()), **{**others, **share}))
                if draw(st.booleans()):
                    credit = {**others, "ChargeCategory": "Credit"}
                    bill.append(charge(hour, instance, draw(costs(-50)), **credit))
            for owner in draw(st.sets(st.sampled_from(OWNERS))):
                minutes = Decimal(draw(st.integers(0, 80 * 10**6))).scaleb(-6)
                team = None if owner.startswith("[") else owner[0]
                ledger.append(held(hour, instance, owner, minutes, Team=team))
    unused = {"CapacityReservationId": BLOCK, "ConsumedQuantity": draw(st.sampled_from("12"))}
    bill.append(charge(HOURS[2], f"arn:x/{BLOCK}", "0", **unused))
    bill.append(fee("2026-08-30 10", draw(costs())))
    return bill, ledger


@settings(max_examples=40)
@given(worlds(), st.sampled_from(["", "spread", "Platform"]))
def test_every_owner_pays_what_fractions_say(world, unassigned):
    """Owner by owner to the last of 18 decimals, and nothing of the bill is lost or made."""
    bill, ledger = world
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bill.csv").write_text(bill_text(bill), "utf-8")
        (folder / "ledger.jsonl").write_text(ledger_text(ledger) + ledger_text(ledger), "utf-8")
        asked = ChargebackSettings(
            account=AccountSettings(),
            month="2026-09",
            bill=[str(folder / "bill.csv")],
            ledger=[str(folder / "ledger.jsonl")],
            unassigned=unassigned,
            incomplete=True,
        )
        found = chargeback(asked).rows
    units = {
        (row.day, row.team, row.owner, row.cluster): int(row.cost.scaleb(18))
        for row in found
        if row.cost
    }
    assert reckoned(bill, ledger, unassigned) == units
    total = sum(rounded(row["EffectiveCost"]) for row in bill)
    total += sum(rounded(row["BilledCost"]) for row in bill if row["ChargeCategory"] == "Purchase")
    assert total == sum(units.values())


def test_the_statement_knows_the_cores_of_every_type():
    """A new type must be in both places."""
    text = statement().partition("type_cores")[2].partition("),\n\n")[0]
    for name, one in INSTANCE_TYPES.items():
        assert f"('{name}', {one.cores})" in text
    assert len(INSTANCE_TYPES) == text.count("', ")
