"""A calendar month in UTC, as `--month` names it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Final

from emitter.errors import SettingsError

HOUR_S: Final = 3_600
_MONTH: Final = re.compile(r"([0-9]{4})-([0-9]{2})")


@dataclass(frozen=True, slots=True)
class Month:
    """
    One month.

    Attributes:
        year: Such as 2026.

        number: 1 to 12.
    """

    year: int
    number: int

    def __str__(self) -> str:
        return f"{self.year:04d}-{self.number:02d}"

    @property
    def following(self) -> Month:
        """The month after it."""
        return Month(self.year + self.number // 12, self.number % 12 + 1)

    @property
    def first_hour(self) -> int:
        """Whole hours between the Unix epoch and its start."""
        start = datetime(self.year, self.number, 1, tzinfo=timezone.utc)
        return int(start.timestamp()) // HOUR_S

    @property
    def hours(self) -> range:
        """All its hours, as whole hours since the epoch."""
        return range(self.first_hour, self.following.first_hour)


def month_of(text: str, now_s: float, *, is_incomplete: bool) -> Month:
    """
    The month that *text* names, such as `2026-10`.

    Raises:
        SettingsError: If it names none, or one that is not over and need not be incomplete.
    """
    match = _MONTH.fullmatch(text.strip())
    if match is None or not (1 <= int(match[2]) <= 12 and 1970 <= int(match[1]) < 9999):
        found = f"{text[:40]!r}" if text else "missing"
        msg = f"--month is {found}. Write a month such as 2026-10."
        raise SettingsError(msg)
    month = Month(int(match[1]), int(match[2]))
    if now_s < month.hours.start * HOUR_S:
        msg = f"--month {month} has not begun. Name one that is over."
        raise SettingsError(msg)
    if not is_incomplete and now_s < month.hours.stop * HOUR_S:
        msg = f"{month} is not over. Name a month that is, or use --incomplete."
        raise SettingsError(msg)
    return month
