"""
A month's bill out of the files of its export.

A file is read once, row by row: what is no hour of a Neuron instance is counted and
forgotten.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from emitter.errors import SettingsError, SourceError
from neuron_emf.chargeback.bill_file import (
    TABLE,
    BillFile,
    columns_of,
    hour_of,
    is_parquet,
    moment_s,
    other_table,
)
from neuron_emf.chargeback.charges import Charge, ChargeStore
from neuron_emf.chargeback.decimals import plus
from neuron_emf.chargeback.fees import Fee, reservation_of
from neuron_emf.chargeback.focus_columns import (
    BILLED,
    EFFECTIVE,
)
from neuron_emf.chargeback.meters import (
    EC2,
    PURCHASE,
    RUN_INSTANCES,
    USAGE,
    instance_type_of,
    is_neuron,
)
from neuron_emf.chargeback.month import HOUR_S, Month
from neuron_emf.reading.files import opened
from neuron_wire.phrases import iso_minute

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from neuron_emf.chargeback.charges import Amounts
    from neuron_emf.printing import Advance

_HOURS_IN_DAY: Final = 24


@dataclass(slots=True)
class Bill:
    """
    What was read of a month's bill.

    Attributes:
        charges: Hours of Neuron instances and reservations.

        unsplittable: Charges of Neuron instances outside the month, with the hour they name:
            corrections of months before.

        fees: Upfront fees of reservations, of all months that were given.

        blank: A charge of the month; what all of its charges have is taken from it.

        currency: Of all amounts.

        effective_cost: Of *charges* and *unsplittable*.

        other_rows: Of the month, that are neither.

        other_cost: Their EffectiveCost.

        last_hour: Of the month's rows, whole hours since the epoch.
    """

    charges: ChargeStore = field(default_factory=ChargeStore)
    unsplittable: list[tuple[int, Charge]] = field(default_factory=list)
    fees: list[Fee] = field(default_factory=list)
    blank: Charge | None = None
    currency: str | None = None
    effective_cost: Decimal = Decimal()
    other_rows: int = 0
    other_cost: Decimal = Decimal()
    last_hour: int | None = None

    def leave_out(self, cost: Decimal) -> None:
        """Count one more of the other rows."""
        self.other_rows += 1
        self.other_cost = plus(self.other_cost, cost)


class BillReader:
    """Reads the files of one month's bill, and those of other months for fees of reservations."""

    def __init__(self, month: Month) -> None:
        self.bill = Bill()
        self._month = month
        self._hours = month.hours
        self._known_amounts: dict[Amounts, tuple[Decimal, ...]] = {}

    def read(self, path: Path, advance: Advance | None = None) -> None:
        """
        Add the rows of one file.

        Raises:
            SettingsError: If it is no such export, or one of another month without a fee.
            SourceError: If it cannot be read, or a row of it is none.
        """
        fees, months = len(self.bill.fees), Counter[str]()
        with opened(path) as (raw, unpacked):
            if is_parquet(raw):
                raise other_table(path, "it is Parquet.")
            text = io.TextIOWrapper(unpacked, "utf-8-sig", errors="replace", newline="")
            reader = csv.reader(text)
            try:
                columns = columns_of(path, next(reader, []))
                self._read_rows(BillFile(path, columns), reader, months)
                if advance is not None:
                    advance(raw.tell())
            except csv.Error as error:
                msg = f"{path} line {reader.line_num} is not CSV: {error}. Download it again."
                raise SourceError(msg) from error
            finally:
                text.detach()
        if not months:
            msg = f"{path} has no rows. Name the files of the export of {self._month}."
            raise SettingsError(msg)
        if str(self._month) not in months and fees == len(self.bill.fees):
            found = ", ".join(sorted(months)[:3])
            msg = (
                f"{path} is of {found}, not of {self._month}, and has no upfront fee of a "
                "reservation. Omit it, or correct --month."
            )
            raise SettingsError(msg)

    def _read_rows(self, file: BillFile, rows: Iterator[list[str]], months: Counter[str]) -> None:
        month = str(self._month)
        bill = self.bill
        for number, row in enumerate(rows, 2):
            if len(row) != file.width:
                found = f"{len(row)} columns of {file.width}"
                msg = f"{file.path} row {number} has {found}. Download it again."
                raise SourceError(msg)
            billed_in = row[file.billed_from][:7]
            months[billed_in] += 1
            meter_type = instance_type_of(row[file.meter])
            of_neuron = meter_type is not None and is_neuron(meter_type)
            is_fee = row[file.category] == PURCHASE and row[file.reservation] != ""
            if is_fee and (of_neuron or meter_type is None):
                self._add_fee(file, row, number, is_of_month=billed_in == month)
            elif billed_in != month:
                continue
            elif (
                of_neuron
                and row[file.category] == USAGE
                and row[file.service] == EC2
                and row[file.operation].startswith(RUN_INSTANCES)
            ):
                self._add_usage(file, row, number)
            else:
                bill.leave_out(file.decimal(row[file.effective], number))
            if billed_in == month:
                hour = hour_of(row[file.start])
                if hour is not None and (bill.last_hour is None or hour > bill.last_hour):
                    bill.last_hour = hour

    def _add_usage(self, file: BillFile, row: list[str], number: int) -> None:
        charge, amounts = self._charge(file, row, number)
        start, end = hour_of(row[file.start]), moment_s(row[file.end])
        if start is None or end is None:
            msg = f"{file.path} row {number} has a charge period that is none. Download it again."
            raise SourceError(msg)
        if end - start * HOUR_S > HOUR_S:
            msg = f"{file.path} is not hourly. Export {TABLE} with TIME_GRANULARITY HOURLY."
            raise SettingsError(msg)
        bill = self.bill
        if bill.blank is None:
            bill.blank = charge
        self._check_currency(file, charge)
        bill.effective_cost = plus(bill.effective_cost, amounts[EFFECTIVE])
        if start in self._hours:
            bill.charges.add(start, charge)
        else:
            bill.unsplittable.append((start, charge))

    def _add_fee(self, file: BillFile, row: list[str], number: int, *, is_of_month: bool) -> None:
        charge, amounts = self._charge(file, row, number)
        self._check_currency(file, charge)
        cost = amounts[EFFECTIVE] or amounts[BILLED]
        hour = hour_of(row[file.start])
        if hour is None:
            msg = f"{file.path} row {number} has a charge period that is none. Download it again."
            raise SourceError(msg)
        self.bill.fees.append(Fee(reservation_of(charge), charge, cost, hour, is_of_month))

    def _charge(
        self, file: BillFile, row: list[str], number: int
    ) -> tuple[Charge, tuple[Decimal, ...]]:
        amounts = file.amounts_of(row)
        numbers = self._known_amounts.get(amounts)
        if numbers is None:
            numbers = tuple(file.decimal(text, number) for text in amounts)
            if not amounts[EFFECTIVE]:
                msg = f"{file.path} row {number} has no EffectiveCost. Download it again."
                raise SourceError(msg)
            self._known_amounts[amounts] = numbers
        return Charge(file.frame_of(row), amounts), numbers

    def _check_currency(self, file: BillFile, charge: Charge) -> None:
        currency = charge.of("BillingCurrency")
        if self.bill.currency not in (None, currency):
            msg = (
                f"{file.path} has charges in {currency} beside {self.bill.currency}. "
                "Run once for the files of each currency."
            )
            raise SettingsError(msg)
        self.bill.currency = currency


def require_whole(bill: Bill, month: Month) -> None:
    """
    Refuse a bill that ends before the last day of *month*.

    Raises:
        SettingsError: If it does, or has no row of the month.
    """
    if bill.last_hour is None:
        msg = f"No file of the bill is of {month}. Name those of its export with --bill."
        raise SettingsError(msg)
    if bill.last_hour < month.hours.stop - _HOURS_IN_DAY:
        last = iso_minute(bill.last_hour * 60)
        msg = (
            f"The bill of {month} ends at {last}. Name all its files with --bill, or use "
            "--incomplete."
        )
        raise SettingsError(msg)
