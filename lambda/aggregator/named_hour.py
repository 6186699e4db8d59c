"""The hour that an event names, where somebody invokes a function for one."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_HOUR_S: Final = 3_600


class NoHourError(ValueError):
    """The event names an hour that is none; whoever invoked the function must correct it."""


def hour_of(event: Mapping[str, object], member: str = "Hour") -> int | None:
    """
    The hour that *event* names in *member*, whole hours since the epoch; None when it names none.

    Raises:
        NoHourError: If it names something else.
    """
    text = event.get(member)
    if text is None:
        return None
    try:
        moment = datetime.strptime(str(text), "%Y-%m-%dT%H:00Z").replace(tzinfo=timezone.utc)
    except ValueError as error:
        msg = (
            f"{member} is {str(text)[:40]!r}; write the start of an hour such as 2026-11-22T08:00Z"
        )
        raise NoHourError(msg) from error
    return int(moment.timestamp()) // _HOUR_S
