"""
One file of AWS's FOCUS 1.2 export: whether it is one, and where its columns are.

The table is `FOCUS_1_2_AWS`, as gzip CSV:
https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-focus-1-2-aws-columns.html
"""

from __future__ import annotations

import re
from datetime import datetime, timezone
from functools import lru_cache
from operator import itemgetter
from typing import IO, TYPE_CHECKING, Final

from emitter.errors import SettingsError, SourceError
from neuron_emf.chargeback.decimals import NotDecimalError, decimal_of
from neuron_emf.chargeback.focus_columns import FOCUS_1_2, FRAME, NEW_IN_1_3, SUMMABLE
from neuron_emf.chargeback.month import HOUR_S

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal
    from pathlib import Path

    from neuron_emf.chargeback.charges import Frame

TABLE: Final = "FOCUS_1_2_AWS"
_NEEDED: Final = (*sorted(FOCUS_1_2), "x_Operation", "x_ServiceCode")
_PARQUET: Final = b"PAR1"
_MOMENT: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.\d+)?(?: ?(?:Z|UTC|\+00:00))?"
)


class BillFile:
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


def columns_of(path: Path, columns: Sequence[str]) -> Sequence[str]:
    """
    *columns* of a header.

    Raises:
        SettingsError: If they are not those of the export.
    """
    names = set(columns)
    missing = [name for name in _NEEDED if name not in names]
    if not missing and not names & set(NEW_IN_1_3):
        return columns
    raise other_table(path, _likeness(columns, missing))


def other_table(path: Path, what: str) -> SettingsError:
    """The error of a file that is another one: *what* it is, and what to export."""
    return SettingsError(f"{path} is not {TABLE}: {what} Export {TABLE} as gzip CSV.")


def is_parquet(file: IO[bytes]) -> bool:
    """Whether a file begins as Parquet does, the other format of Data Exports."""
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
def moment_s(text: str) -> int | None:
    """Seconds since the Unix epoch of a moment of the bill; None when it is none."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    try:
        moment = datetime.fromisoformat(f"{match[1]}T{match[2]}+00:00")
    except ValueError:
        return None
    return int(moment.timestamp())


def hour_of(text: str) -> int | None:
    """The hour in which a moment of the bill is, whole hours since the epoch."""
    start_s = moment_s(text)
    return None if start_s is None else start_s // HOUR_S


def iso_moment(text: str) -> str:
    """A moment of the bill as FOCUS has moments: `2026-10-01T00:00:00Z`."""
    start_s = moment_s(text)
    if start_s is None:
        return text
    return datetime.fromtimestamp(start_s, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
