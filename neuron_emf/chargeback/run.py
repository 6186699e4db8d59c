"""A month's chargeback from its sources to the file, hour by hour: one hour is in memory."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from emitter.errors import SettingsError, SourceError
from neuron_emf.account import account, documented
from neuron_emf.chargeback.allocation import NOT_SPLITTABLE, Allocation, at_list_cost, by_bill
from neuron_emf.chargeback.bill_reader import Bill, BillReader, require_whole
from neuron_emf.chargeback.charges import Charge
from neuron_emf.chargeback.decimals import plain, total
from neuron_emf.chargeback.fees import hour_fees
from neuron_emf.chargeback.focus_columns import EFFECTIVE, FRAME, SUMMABLE
from neuron_emf.chargeback.focus_file import focus_file
from neuron_emf.chargeback.ledger_hours import LedgerFolder, ledger_hours
from neuron_emf.chargeback.meters import USAGE, is_neuron
from neuron_emf.chargeback.month import HOUR_S, Month, month_of
from neuron_emf.chargeback.reservations import reservations_of_ec2, reservations_of_file
from neuron_emf.chargeback.totals import Totals
from neuron_emf.ledger import LedgerBucket
from neuron_emf.printing import progress
from neuron_wire.phrases import counted, iso, iso_minute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from neuron_emf.account import Account
    from neuron_emf.chargeback.fees import Fee
    from neuron_emf.chargeback.ledger_hours import LedgerObjects
    from neuron_emf.chargeback.reservations import Reservation
    from neuron_emf.chargeback.settings import ChargebackSettings
    from neuron_wire.ledger import LedgerRow

BUCKET_OUTPUT: Final = "LedgerBucketName"
LIST_CURRENCY: Final = "USD"
_SAME_IN_ALL: Final = (
    "BillingAccountId", "BillingAccountName", "BillingAccountType", "BillingCurrency",
    "BillingPeriodEnd", "BillingPeriodStart", "InvoiceIssuerName", "ProviderName",
    "PublisherName", "ServiceCategory", "ServiceName", "ServiceSubcategory",
)  # fmt: skip
"""What a row has of the bill that is not on it."""


@dataclass(slots=True)
class Chargeback:
    """
    What a month came to.

    Attributes:
        month: Which.

        is_by_bill: It was split by a bill; else list cost.

        currency: Of all amounts.

        cost_in: What the ledger or the bill has, with the month's part of upfront fees.

        fee_in: That part.

        totals: What went out.

        missing_hours: Hours of the month that the ledger lacks.

        bill: What else was read of it; None without.

        unknown_fees: Reservations whose fee stays whole, because nobody says their dates.
    """

    month: Month
    is_by_bill: bool
    currency: str = LIST_CURRENCY
    cost_in: Decimal = Decimal()
    fee_in: Decimal = Decimal()
    totals: Totals = field(default_factory=Totals)
    missing_hours: int = 0
    bill: Bill | None = None
    unknown_fees: list[str] = field(default_factory=list)


def chargeback(settings: ChargebackSettings, bills: Sequence[Path]) -> Chargeback:
    """
    Read, split and write.

    Raises:
        SettingsError: If the month, the ledger's folder or a file is another than meant.
        SourceError: If ledger, bill or reservations cannot be read.
        DeliveryError: If the file cannot be written.
    """
    month = month_of(settings.month, time.time(), is_incomplete=settings.incomplete)
    bill = _read_bill(bills, month, is_incomplete=settings.incomplete) if bills else None
    where = account(settings)
    objects = _ledger(settings, where)
    hours = objects.settled_hours(month.hours)
    result = Chargeback(month, bill is not None, bill=bill)
    result.missing_hours = len(month.hours) - len(hours)
    if not settings.incomplete:
        _require_hours(month, hours)
    with ExitStack() as stack:
        write = stack.enter_context(focus_file(settings.output)) if settings.output else None
        advance = stack.enter_context(progress("Splitting"))
        ledger = ledger_hours(objects, hours)
        if bill is None:
            rows = rows_at_list_cost(result, ledger)
        else:
            rows = rows_by_bill(result, bill, ledger, _reservations(settings, where, bill))
        last_hour, count = None, len(month.hours)
        for row in rows:
            result.totals.add(row)
            if write is not None:
                write(row)
            if row.hour != last_hour:
                last_hour = row.hour
                advance(row.hour - month.first_hour, count)
    return result


def _read_bill(paths: Sequence[Path], month: Month, *, is_incomplete: bool) -> Bill:
    seen: set[Path] = set()
    reader = BillReader(month)
    with progress("Reading the bill") as advance:
        for number, path in enumerate(paths):
            if path.resolve() in seen:
                msg = f"{path} is given twice. Name each file of the bill once."
                raise SettingsError(msg)
            seen.add(path.resolve())
            advance(number, len(paths))
            reader.read(path)
    if not is_incomplete or reader.bill.last_hour is None:
        require_whole(reader.bill, month)
    return reader.bill


def _ledger(settings: ChargebackSettings, where: Account) -> LedgerObjects:
    if settings.ledger is not None:
        return LedgerFolder(settings.ledger)
    with documented("cloudformation:DescribeStacks"):
        answer = where.client("cloudformation").describe_stacks(StackName=where.stack_name)
        stack = answer["Stacks"][0]
        outputs = {one["OutputKey"]: one["OutputValue"] for one in stack.get("Outputs", [])}
    if BUCKET_OUTPUT not in outputs:
        msg = f"The stack {where.stack_name} has no ledger. Deploy it with Ledger=true."
        raise SettingsError(msg)
    return LedgerBucket(where, outputs[BUCKET_OUTPUT])


def _require_hours(month: Month, hours: Sequence[int]) -> None:
    settled = set(hours)
    missing = [hour for hour in month.hours if hour not in settled]
    if missing:
        msg = (
            f"The ledger lacks {counted(len(missing), 'hour')} of {len(month.hours)} of {month}, "
            f"the first {iso_minute(missing[0] * 60)}. Settle them, or use --incomplete."
        )
        raise SourceError(msg)


def _reservations(
    settings: ChargebackSettings, where: Account, bill: Bill
) -> Mapping[str, Reservation]:
    """Those of the bill's fees, as far as anybody says when they are."""
    if settings.reservations is not None:
        return reservations_of_file(settings.reservations)
    wanted: dict[str, set[str]] = {}
    for fee in bill.fees:
        wanted.setdefault(fee.charge.of("RegionId"), set()).add(fee.reservation_id)
    if settings.ledger is not None or not wanted:
        return {}
    return reservations_of_ec2(where, wanted)


def rows_at_list_cost(
    result: Chargeback, ledger: Iterable[tuple[int, dict[str, list[LedgerRow]]]]
) -> Iterator[Allocation]:
    """The rows of all hours at the ledger's own amounts; *result* learns what came in."""
    blank = _blank(result.month, None)
    for hour, by_instance in ledger:
        rows = (row.list_cost or 0 for theirs in by_instance.values() for row in theirs)
        result.cost_in = total([result.cost_in, Decimal(sum(rows)).scaleb(-9)])
        yield from at_list_cost(hour, by_instance, blank)


def rows_by_bill(
    result: Chargeback,
    bill: Bill,
    ledger: Iterator[tuple[int, dict[str, list[LedgerRow]]]],
    reservations: Mapping[str, Reservation],
) -> Iterator[Allocation]:
    """The rows of all hours of a bill; *result* learns what came in and what stays whole."""
    month = result.month
    result.currency = bill.currency or LIST_CURRENCY
    dated = [fee for fee in bill.fees if fee.reservation_id in reservations]
    ours = [fee for fee in dated if is_neuron(reservations[fee.reservation_id].instance_type)]
    whole = [fee for fee in bill.fees if fee.is_of_month and fee not in dated]
    for fee in dated:
        if fee.is_of_month and fee not in ours:
            bill.leave_out(fee.cost)
    fees = hour_fees(ours, reservations, month.hours)
    result.unknown_fees = sorted({fee.reservation_id for fee in whole})
    result.fee_in = total([fee.cost for of_hour in fees.values() for fee in of_hour])
    result.cost_in = total(
        [bill.effective_cost, result.fee_in, *(fee.cost for fee in whole)],
    )
    for fee in whole:
        yield Allocation(fee.hour, _with_cost(fee), NOT_SPLITTABLE)
    for hour, charge in bill.unsplittable:
        yield Allocation(hour, charge, NOT_SPLITTABLE)
    blank = _blank(month, bill.blank)
    charges = bill.charges.hours()
    next_rows, next_charges = next(ledger, None), next(charges, None)
    for hour in month.hours:
        rows: dict[str, list[LedgerRow]] = {}
        if next_rows is not None and next_rows[0] == hour:
            rows, next_rows = next_rows[1], next(ledger, None)
        of_hour: list[Charge] = []
        if next_charges is not None and next_charges[0] == hour:
            of_hour, next_charges = next_charges[1], next(charges, None)
        yield from by_bill(hour, rows, of_hour, fees.get(hour, ()), blank)


def _with_cost(fee: Fee) -> Charge:
    return fee.charge.with_amounts({EFFECTIVE: plain(fee.cost)})


def _blank(month: Month, charge: Charge | None) -> Charge:
    """A charge of the month that says nothing of an instance; *charge* is one of the bill."""
    blank = Charge(("",) * len(FRAME), ("",) * len(SUMMABLE))
    same = {
        "BillingCurrency": LIST_CURRENCY,
        "BillingPeriodEnd": iso(month.hours.stop * HOUR_S * 1000),
        "BillingPeriodStart": iso(month.hours.start * HOUR_S * 1000),
        "ProviderName": "AWS",
        "PublisherName": "AWS",
        "ServiceCategory": "Compute",
        "ServiceName": "Amazon Elastic Compute Cloud",
        "ServiceSubcategory": "Virtual Machines",
    }
    if charge is not None:
        same = {column: charge.of(column) for column in _SAME_IN_ALL}
    return blank.with_dimensions(
        {**same, "ChargeCategory": USAGE, "ChargeFrequency": "Usage-Based"}
    )
