"""
Decimal numbers as a CSV file writes them, split so that what goes in comes out.

A number is split in ten decimal places, or in as many as it has itself, by
largest remainder: the parts add up to it to the last digit. No binary fraction
is between.
"""

from __future__ import annotations

from decimal import Context, Decimal, Inexact, InvalidOperation
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Final

from neuron_wire.ledger import decimal_text
from neuron_wire.money import rounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PLACES: Final = 10
_LONGEST: Final = 40  # places before and after the point: more is no amount of money
_EXACT: Final = Context(prec=200, traps=[Inexact, InvalidOperation])
_REMEMBERED: Final = 1 << 16


class NotDecimalError(ValueError):
    """A text is no decimal number, or one that no bill has."""


@lru_cache(maxsize=_REMEMBERED)
def decimal_of(text: str) -> Decimal:
    """
    The number that *text* writes; empty text is 0.

    Raises:
        NotDecimalError: If it writes none, or one beyond all amounts.
    """
    if not text:
        return Decimal()
    try:
        number = _EXACT.create_decimal(text)
    except (InvalidOperation, Inexact) as error:
        raise NotDecimalError(text[:40]) from error
    if not number.is_finite() or abs(number.adjusted()) > _LONGEST or _places(number) > _LONGEST:
        raise NotDecimalError(text[:40])
    return number


def plus(one: Decimal, other: Decimal) -> Decimal:
    """Both together, to the last digit."""
    return _EXACT.add(one, other)


def total(numbers: Iterable[Decimal]) -> Decimal:
    """Their sum, to the last digit."""
    return reduce(_EXACT.add, numbers, Decimal())


def plain(number: Decimal) -> str:
    """*number* without an exponent and without zeros at its end."""
    places = max(0, _places(number))
    return decimal_text(whole_of(number, places), places) if places else f"{number:f}"


def whole_of(number: Decimal, places: int) -> int:
    """*number* in units of that many *places*; digits beyond are cut off."""
    return int(_EXACT.scaleb(number, places))


def split(number: Decimal, weights: Sequence[int]) -> list[Decimal]:
    """
    Parts of *number* in proportion to *weights*, which add up to it to the last digit.

    Weights are at least 0, and one is more.
    """
    places = max(PLACES, _places(number))
    parts = _whole_parts(whole_of(number, places), weights)
    return [_EXACT.scaleb(Decimal(part), -places) for part in parts]


@lru_cache(maxsize=_REMEMBERED)
def split_text(text: str, weights: tuple[int, ...]) -> tuple[str, ...]:
    """
    As `split`, from text to texts; a text that is empty says nothing, and so do its parts.

    Raises:
        NotDecimalError: If *text* is no number.
    """
    if not text:
        return ("",) * len(weights)
    number = decimal_of(text)
    places = max(PLACES, _places(number))
    parts = _whole_parts(whole_of(number, places), weights)
    return tuple(decimal_text(part, places) for part in parts)


def _whole_parts(whole: int, weights: Sequence[int]) -> list[int]:
    unit = sum(weights)
    return rounded([whole * weight for weight in weights], unit)


def _places(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0
