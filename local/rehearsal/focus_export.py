"""
An invented hourly FOCUS 1.2 export of the rehearsal's past days, as AWS's Data Exports writes.

Its costs are not list prices: a Savings Plan covers two instances, one has a credit, and one runs
in a capacity block whose fee is paid in advance. It has the columns that the split of a bill reads:
https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-focus-1-2-aws.html
"""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Final

from local.embedded_aws.clients import EMBEDDED_REGION
from local.rehearsal.live_fleet import REHEARSED_FLEET
from neuron_accounts.ledger import gzip_lines
from neuron_accounts.prices import LIST_USD_PER_HOUR
from neuron_emf.command_output import csv_text
from neuron_emf.report.chargeback import BILL_COLUMNS, REHEARSED_EXPORT
from neuron_emf.report.cost_table import USD_UNIT_PLACES
from neuron_emf.report.month_ledger import month_hours
from neuron_wire.line_members import iso_minute
from neuron_wire.names import DAY_HOURS, HOUR_MINUTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from local.rehearsal.live_fleet import FleetInstance
    from neuron_emf.report.chargeback_rows import Chargeback

Charge = dict[str, str]
"""A row of the export, by column; a column without a value is absent."""

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
    Return the hours of *days* before *stop_hour* that are in the export of one month.

    If they span two months, it is the part in the month with more hours. The last hour of a month
    is omitted, because a capacity block in it may continue in the next month.
    """
    start_hour = stop_hour - days * DAY_HOURS
    month = month_hours(_iso((start_hour + stop_hour) // 2)[:7])
    return range(max(start_hour, month.start), min(stop_hour, month.stop - 1))


def charges_of(hours: range) -> list[Charge]:
    """Return the rows of *hours*; the fee of the capacity block is the last."""
    charges: list[Charge] = []
    for member in REHEARSED_FLEET:
        for hour in hours:
            charges += _charges_of_hour(member, hour)
    fee = _charge(
        hours.start,
        "CapacityBlock:trn2.3xlarge",
        CAPACITY_BLOCK,
        Decimal(0),
        BLOCK_USD_PER_HOUR * len(hours),
        ChargeCategory="Purchase",
        CapacityReservationId=CAPACITY_BLOCK,
    )
    return [*charges, fee]


def export_objects(charges: Sequence[Charge]) -> dict[str, bytes]:
    """Return the export of *charges*, by its key in the bucket of the ledger."""
    rows = [[charge.get(column, "") for column in BILL_COLUMNS] for charge in charges]
    text = csv_text([BILL_COLUMNS, *rows])
    month = charges[0]["BillingPeriodStart"][:7]
    key = f"{REHEARSED_EXPORT}BILLING_PERIOD={month}/rehearsal-00001.csv.gz"
    return {key: gzip_lines(text.splitlines())}


def billed_usd(charges: Sequence[Charge], split: Chargeback) -> dict[str, str]:
    """Return the sum of *charges*, and the owners' cost by the *split*: the sum and its parts."""
    costs = {
        "the export": [
            Decimal(charge["EffectiveCost"]) or Decimal(charge["BilledCost"]) for charge in charges
        ],
        "its owners": [row.amount for row in split.rows],
        "the parts of their time": [
            Decimal(row.cost.amount("cost") or 0).scaleb(-USD_UNIT_PLACES) for row in split.rows
        ],
    }
    return {face: f"{sum(parts, Decimal(0)).normalize():f}" for face, parts in costs.items()}


def _charges_of_hour(member: FleetInstance, hour: int) -> list[Charge]:
    """Return the rows of *member* in *hour*: its usage, and a credit."""
    arn = f"arn:aws:ec2:{EMBEDDED_REGION}:000000000000:instance/{member.instance_id}"
    charge = partial(_charge, hour, f"BoxUsage:{member.instance_type}", arn)
    price = Decimal(str(LIST_USD_PER_HOUR[EMBEDDED_REGION].get(member.instance_type, 0)))
    if not price:
        return [charge(price, price, CapacityReservationId=CAPACITY_BLOCK)]
    if member.seed in SAVINGS_PLAN_SEEDS:
        return [charge(price * SAVINGS_PLAN_SHARE, Decimal(0), CommitmentDiscountId=SAVINGS_PLAN)]
    charges = [charge(price, price)]
    if member.seed == CREDITED_SEED:
        credit = price * CREDIT_SHARE
        charges.append(charge(credit, credit, ChargeCategory="Credit", ConsumedQuantity=""))
    return charges


def _charge(
    hour: int, meter: str, resource: str, effective: Decimal, billed: Decimal, **columns: str
) -> Charge:
    """Return a row of usage in *hour*, with the values in *columns*."""
    return {
        "BillingCurrency": "USD",
        "BillingPeriodStart": f"{_iso(hour)[:7]}-01T00:00:00.000Z",
        "ChargePeriodStart": f"{_iso(hour)}:00:00.000Z",
        "ChargePeriodEnd": f"{_iso(hour + 1)}:00:00.000Z",
        "ChargeCategory": "Usage",
        "ChargeDescription": f"{meter}, Linux/UNIX",
        "ResourceId": resource,
        "SkuMeter": f"USW2-{meter}",
        "x_ServiceCode": "AmazonEC2",
        "x_Operation": "RunInstances",
        "ConsumedQuantity": "1.0",
        "EffectiveCost": str(effective),
        "BilledCost": str(billed),
        **columns,
    }


def _iso(hour: int) -> str:
    """Return *hour* such as `2026-11-25T20`."""
    return iso_minute(hour * HOUR_MINUTES)[:13]
