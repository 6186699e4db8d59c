"""Moments and periods as a person types them."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import Final

from emitter.errors import SettingsError

_PERIOD: Final = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS_MS: Final = {
    "s": 1_000,
    "m": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
    "w": 7 * 86_400_000,
}


def period_ms(text: str, flag: str) -> int:
    """
    `90s`, `5m`, `2h`, `7d` or `1w` in milliseconds.

    Raises:
        SettingsError: If *text*, which *flag* was given, is none of these.
    """
    found = _PERIOD.fullmatch(text.strip())
    if found is None or not int(found[1]):
        msg = f"{flag} was expected to be a period such as 5m, 2h or 7d and is {text[:40]!r}"
        raise SettingsError(msg)
    return int(found[1]) * _UNITS_MS[found[2]]


def moment_ms(text: str, flag: str, now_ms: int) -> int:
    """
    A moment in milliseconds: so long ago as a period says, or one of the calendar.

    A moment of the calendar is as ISO 8601 has it; without a zone it is UTC.

    Raises:
        SettingsError: If *text*, which *flag* was given, is neither.
    """
    given = text.strip()
    if _PERIOD.fullmatch(given):
        return max(0, now_ms - period_ms(given, flag))
    try:
        # Python 3.10 reads no Z.
        moment = datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", given))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return max(0, round(moment.timestamp() * 1000))
    except (ValueError, OverflowError) as error:
        msg = (
            f"{flag} was expected to be a period such as 7d or a moment such as "
            f"2026-11-20T08:00:00Z and is {text[:40]!r}"
        )
        raise SettingsError(msg) from error
