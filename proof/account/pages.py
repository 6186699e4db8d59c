"""Answers in pages: what a token stands for, how long, and for which request."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proof.logs.forms import INVALID, ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DAY_S = 24 * 3600.0
PAGE = ("nextToken", "limit")


@dataclass(frozen=True)
class _Place:
    request: tuple[Any, ...]
    at: Any
    until_s: float


@dataclass
class Tokens:
    """
    The tokens that were given away; each is for one request, and expires.

    Attributes:
        clock: The service's, seconds since the epoch.

        lifetime_s: How long one is good.
    """

    clock: Callable[[], float]
    lifetime_s: float = DAY_S
    _places: dict[str, _Place] = field(default_factory=dict)

    def give(self, operation: str, document: dict[str, Any], at: Any) -> str:
        """A token for what comes after the place *at* of the answer to a request."""
        token = uuid.uuid4().hex
        until_s = self.clock() + self.lifetime_s
        self._places[token] = _Place(_request(operation, document), at, until_s)
        return token

    def take(self, operation: str, document: dict[str, Any]) -> Any:
        """
        The place that a request's token stands for; None where it has none.

        Raises:
            ServiceError: If it is not one of ours, is for another request or has expired.
        """
        token = document.get("nextToken")
        if token is None:
            return None
        place = self._places.get(token)
        is_good = (
            place is not None
            and place.request == _request(operation, document)
            and self.clock() <= place.until_s
        )
        if not is_good:
            raise ServiceError(INVALID, "The specified nextToken is invalid.")
        return place.at if place else None

    def page(
        self, operation: str, document: dict[str, Any], found: Sequence[Any], size: int
    ) -> tuple[list[Any], dict[str, str]]:
        """At most *size* of what was *found*, from the token on, and the token of the rest."""
        start = self.take(operation, document) or 0
        end = start + size
        more = {"nextToken": self.give(operation, document, end)} if end < len(found) else {}
        return list(found[start:end]), more


def _request(operation: str, document: dict[str, Any]) -> tuple[Any, ...]:
    """What must be the same from page to page."""
    asked = sorted((name, repr(value)) for name, value in document.items() if name not in PAGE)
    return operation, *asked
