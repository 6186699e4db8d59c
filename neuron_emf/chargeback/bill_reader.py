"""
Rows of AWS's FOCUS 1.2 export: gzip CSV of the table `FOCUS_1_2_AWS`, hour by hour.

A file is read once, row by row: what is no hour of a Neuron instance is counted and
forgotten. Columns: https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-focus-1-2-aws-columns.html
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timezone
from decimal import Decimal
from functools import lru_cache
from operator import itemgetter
from typing import IO, TYPE_CHECKING, Final

from emitter.errors import SettingsError, SourceError
from neuron_emf.chargeback.charges import Charge, ChargeStore
from neuron_emf.chargeback.decimals import NotDecimalError, decimal_of, plus
from neuron_emf.chargeback.fees import Fee, reservation_of
from neuron_emf.chargeback.focus_columns import (
    BILLED,
    EFFECTIVE,
    FOCUS_1_2,
    FRAME,
    NEW_IN_1_3,
    SUMMABLE,
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
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from neuron_emf.chargeback.charges import Amounts, Frame
    from neuron_emf.printing import Advance

TABLE: Final = "FOCUS_1_2_AWS"
_NEEDED: Final = (*sorted(FOCUS_1_2), "x_Operation", "x_ServiceCode")
_PARQUET: Final = b"PAR1"
_MOMENT: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.\d+)?(?: ?(?:Z|UTC|\+00:00))?"
)
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
            if _is_parquet(raw):
                raise _other_table(path, "it is Parquet.")
            text = io.TextIOWrapper(unpacked, "utf-8-sig", errors="replace", newline="")
            reader = csv.reader(text)
            try:
                columns = _columns(path, next(reader, []))
                self._read_rows(_File(path, columns), reader, months)
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

    def _read_rows(self, file: _File, rows: Iterator[list[str]], months: Counter[str]) -> None:
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
                hour = _hour(row[file.start])
                if hour is not None and (bill.last_hour is None or hour > bill.last_hour):
                    bill.last_hour = hour

    def _add_usage(self, file: _File, row: list[str], number: int) -> None:
        charge, amounts = self._charge(file, row, number)
        start, end = _hour(row[file.start]), _moment_s(row[file.end])
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

    def _add_fee(self, file: _File, row: list[str], number: int, *, is_of_month: bool) -> None:
        charge, amounts = self._charge(file, row, number)
        self._check_currency(file, charge)
        cost = amounts[EFFECTIVE] or amounts[BILLED]
        hour = _hour(row[file.start])
        if hour is None:
            msg = f"{file.path} row {number} has a charge period that is none. Download it again."
            raise SourceError(msg)
        self.bill.fees.append(Fee(reservation_of(charge), charge, cost, hour, is_of_month))

    def _charge(
        self, file: _File, row: list[str], number: int
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

    def _check_currency(self, file: _File, charge: Charge) -> None:
        currency = charge.of("BillingCurrency")
        if self.bill.currency not in (None, currency):
            msg = (
                f"{file.path} has charges in {currency} beside {self.bill.currency}. "
                "Run once for the files of each currency."
            )
            raise SettingsError(msg)
        self.bill.currency = currency


class _File:
    """Where the columns of one file are."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        place = {name: index for index, name in enumerate(columns)}
        self.path = path
        self.width = len(columns)
        self.billed_from = place["BillingPeriodStart"]
        self.start = place["ChargePeriodStart"]
        self.end = place["ChargePeriodEnd"]
        self.category = place["ChargeCategory"]
        self.meter = place["SkuMeter"]
        self.reservation = place["CapacityReservationId"]
        self.service = place["x_ServiceCode"]
        self.operation = place["x_Operation"]
        self.effective = place["EffectiveCost"]
        self.amounts_of = itemgetter(*(place[name] for name in SUMMABLE))
        self._frame_of = itemgetter(*(place[name] for name in FRAME if name in place))
        self._lacks_discounts = "x_Discounts" not in place

    def frame_of(self, row: list[str]) -> Frame:
        """The dimensions of *row*; what the file does not have is empty."""
        frame: Frame = self._frame_of(row)
        if self._lacks_discounts:
            index = FRAME.index("x_Discounts")
            return (*frame[:index], "", *frame[index:])
        return frame

    def decimal(self, text: str, number: int) -> Decimal:
        """
        The number that a cell writes.

        Raises:
            SourceError: If it writes none.
        """
        try:
            return decimal_of(text)
        except NotDecimalError as error:
            msg = f"{self.path} row {number} has {text[:40]!r} for a number. Download it again."
            raise SourceError(msg) from error


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


def _columns(path: Path, columns: Sequence[str]) -> Sequence[str]:
    """*columns* of a header, if they are those of the export."""
    names = set(columns)
    missing = [name for name in _NEEDED if name not in names]
    if not missing and not names & set(NEW_IN_1_3):
        return columns
    raise _other_table(path, _likeness(columns, missing))


def _other_table(path: Path, what: str) -> SettingsError:
    return SettingsError(f"{path} is not {TABLE}: {what} Export {TABLE} as gzip CSV.")


def _is_parquet(file: IO[bytes]) -> bool:
    peek = getattr(file, "peek", None)
    return peek is not None and peek(len(_PARQUET))[: len(_PARQUET)] == _PARQUET


def _likeness(columns: Sequence[str], missing: Sequence[str]) -> str:
    names = set(columns)
    if "line_item_usage_start_date" in names or "lineItem/UsageStartDate" in names:
        return "it is a Cost and Usage Report."
    if "AllocatedMethodId" in names:
        return "it is FOCUS 1.3, with charges that are split already."
    if "EffectiveCost" in names and "SkuMeter" not in names:
        return "it is an older FOCUS, without SkuMeter."
    if "EffectiveCost" in names:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        return f"it lacks the column {missing[0]}{more}."
    return "it has none of its columns." if columns else "it is empty."


@lru_cache(maxsize=4096)
def _moment_s(text: str) -> int | None:
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    try:
        moment = datetime.fromisoformat(f"{match[1]}T{match[2]}+00:00")
    except ValueError:
        return None
    return int(moment.timestamp())


def _hour(text: str) -> int | None:
    """The hour in which a moment of the bill is, whole hours since the epoch."""
    moment_s = _moment_s(text)
    return None if moment_s is None else moment_s // HOUR_S


def iso_moment(text: str) -> str:
    """A moment of the bill as FOCUS has moments: `2026-10-01T00:00:00Z`."""
    moment_s = _moment_s(text)
    if moment_s is None:
        return text
    return datetime.fromtimestamp(moment_s, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
