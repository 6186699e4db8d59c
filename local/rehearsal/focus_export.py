"""
A made-up FOCUS 1.2 export of the rehearsal's past days, hourly, as AWS's Data Exports writes it.

Its costs are not list prices: a Savings Plan covers two instances, a credit is of one, and one runs
in a capacity block whose fee is paid up front. It has the columns that the split of a bill reads:
https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-focus-1-2-aws.html
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from local.embedded_aws.clients import EMBEDDED_REGION
from local.rehearsal.live_fleet import REHEARSED_FLEET
from neuron_accounts.ledger import gzip_lines
from neuron_accounts.prices import LIST_USD_PER_HOUR
from neuron_emf.command_output import csv_text
from neuron_emf.report.chargeback import BILL_COLUMNS, REHEARSED_EXPORT
from neuron_wire.line_members import iso_minute
from neuron_wire.names import DAY_HOURS, HOUR_MINUTES
from neuron_words.quantity_words import counted, usd

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from local.rehearsal.live_fleet import FleetInstance
    from neuron_emf.report.chargeback import Chargeback

Charge = dict[str, str]
"""A row of the export, by column; a column without a value is missing."""

SAVINGS_PLAN: Final = "arn:aws:savingsplans::000000000000:savingsplan/5d1f3c0a-rehearsal"
SAVINGS_PLAN_SEEDS: Final = frozenset({1, 2})  # its commitment is for two trn1.32xlarge
SAVINGS_PLAN_SHARE: Final = Decimal("0.62")
CREDITED_SEED: Final = 5
CREDIT_SHARE: Final = Decimal("-0.1")
CAPACITY_BLOCK: Final = (
    f"arn:aws:ec2:{EMBEDDED_REGION}:000000000000:capacity-reservation/cr-0d5adc04cff6e9df9"
)
BLOCK_USD_PER_HOUR: Final = Decimal("2.235")


def past_days(stop_hour: int, days: int) -> range:
    """
    Return the hours of *days* before *stop_hour* that an export of one month has.

    Around the edge of a month they are the larger part, without the last hour of the month: a
    capacity block in it may go on in the next one.
    """
    hours = range(stop_hour - days * DAY_HOURS, stop_hour)
    month = {_iso(hours[len(hours) // 2])[:7]}
    billed = [hour for hour in hours if {_iso(hour)[:7], _iso(hour + 1)[:7]} == month]
    return range(billed[0], billed[-1] + 1)


def charges_of(hours: range) -> list[Charge]:
    """Return the rows of *hours*."""
    charges: list[Charge] = []
    for member in REHEARSED_FLEET:
        for hour in hours:
            charges += _charges_of_hour(member, hour)
    blocks = sum("CapacityReservationId" in charge for charge in charges)
    fee = _charge(hours.start, "CapacityBlock:trn2.3xlarge", CAPACITY_BLOCK)
    fee |= {"ChargeCategory": "Purchase", "CapacityReservationId": CAPACITY_BLOCK}
    return [*charges, fee | _cost(Decimal(0), BLOCK_USD_PER_HOUR * blocks)]


def export_objects(charges: Sequence[Charge]) -> dict[str, bytes]:
    """Return the export of *charges*, by its key in the bucket of the ledger."""
    rows = [[charge.get(column, "") for column in BILL_COLUMNS] for charge in charges]
    text = csv_text([BILL_COLUMNS, *rows])
    month = charges[0]["BillingPeriodStart"][:7]
    key = f"{REHEARSED_EXPORT}BILLING_PERIOD={month}/rehearsal-00001.csv.gz"
    return {key: gzip_lines(text.splitlines())}


def problems_of_bill(charges: Sequence[Charge], split: Chargeback) -> list[str]:
    """Return a sentence if the *split* of *charges* is refused, or has another sum."""
    total = _total(charges)
    billed = sum((row.cost for row in split.rows), Decimal(0))
    if split.is_refused:
        reasons = ", ".join(str(row.problem) for row in split.rows)
        return [f"the made-up bill of the past days is refused: {reasons}"]
    if billed != total:
        return [f"the made-up bill of the past days has {total} USD, its owners pay {billed} USD"]
    return []


def bill_sentence(charges: Sequence[Charge], split: Chargeback) -> str:
    """Return the sentence that the bill is split, with its amount."""
    amount = f"{counted(len(split.hours), 'hour')}, {usd(float(_total(charges)))},"
    return f"The made-up bill of {amount} is split to the last digit."


def _total(charges: Sequence[Charge]) -> Decimal:
    """Return what *charges* cost: fees are billed, all others are effective."""
    amounts: Iterator[str] = (
        charge["BilledCost" if charge["ChargeCategory"] == "Purchase" else "EffectiveCost"]
        for charge in charges
    )
    return sum(map(Decimal, amounts), Decimal(0))


def _charges_of_hour(member: FleetInstance, hour: int) -> Iterator[Charge]:
    """Yield the rows of *member* in *hour*: its usage, and a credit."""
    arn = f"arn:aws:ec2:{EMBEDDED_REGION}:000000000000:instance/{member.instance_id}"
    usage = _charge(hour, f"BoxUsage:{member.instance_type}", arn)
    usage |= {"ChargeCategory": "Usage", "ConsumedQuantity": "1.0"}
    listed = LIST_USD_PER_HOUR[EMBEDDED_REGION].get(member.instance_type)
    if listed is None:
        yield usage | {"CapacityReservationId": CAPACITY_BLOCK} | _cost(Decimal(0), Decimal(0))
        return
    price = Decimal(str(listed))
    if member.seed in SAVINGS_PLAN_SEEDS:
        covered = _cost(price * SAVINGS_PLAN_SHARE, Decimal(0))
        yield usage | {"CommitmentDiscountId": SAVINGS_PLAN} | covered
    else:
        yield usage | _cost(price, price)
    if member.seed == CREDITED_SEED:
        credit = price * CREDIT_SHARE
        yield usage | {"ChargeCategory": "Credit", "ConsumedQuantity": ""} | _cost(credit, credit)


def _charge(hour: int, meter: str, resource: str) -> Charge:
    return {
        "BillingCurrency": "USD",
        "BillingPeriodStart": f"{_iso(hour)[:7]}-01T00:00:00.000Z",
        "ChargePeriodStart": f"{_iso(hour)}:00:00.000Z",
        "ChargePeriodEnd": f"{_iso(hour + 1)}:00:00.000Z",
        "ChargeDescription": f"{meter}, Linux/UNIX",
        "ResourceId": resource,
        "SkuMeter": f"USW2-{meter}",
        "x_ServiceCode": "AmazonEC2",
        "x_Operation": "RunInstances",
    }


def _cost(effective: Decimal, billed: Decimal) -> Charge:
    return {"EffectiveCost": str(effective), "BilledCost": str(billed)}


def _iso(hour: int) -> str:
    """Return *hour* such as `2026-11-25T20`."""
    return iso_minute(hour * HOUR_MINUTES)[:13]
