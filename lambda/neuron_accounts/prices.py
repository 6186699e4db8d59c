"""
The price of an instance.

`list_prices.json` has on-demand prices by Region and type, each with its source, and one date: no
customer's discount, reservation or capacity block. An instance that is not in it has no price: its
cores are counted as unpriced and named, never free, and never priced by another Region's price,
which may be 50 % higher. The template's parameter PriceOverrides replaces and adds prices. An idle
core costs its share of the whole instance, among the cores that the instance reported.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from neuron_wire.line_members import Amounts

PRICE_FILE: Final = Path(__file__).with_name("list_prices.json")
_LIST: Final[dict[str, Any]] = json.loads(PRICE_FILE.read_text("utf-8"))
PRICES_AS_OF: Final[str] = _LIST["as_of"]

LIST_USD_PER_HOUR: Final[dict[str, dict[str, float]]] = {}
"""List prices by Region and instance type."""

for _row in _LIST["prices"]:
    LIST_USD_PER_HOUR.setdefault(_row["region"], {})[_row["type"]] = _row["usd_per_hour"]

DEFAULT_REGION: Final = "us-east-1"
"""The Region of lines without one, unless a setting names another."""

MAX_OVERRIDES_CHARS: Final = 512
"""The parameter's MaxLength, which its pattern cannot express."""

UNKNOWN_TYPE_REASON: Final = "unknown type"

OVERRIDE_NAME: Final = re.compile(r"(?:[a-z0-9\-]+/)?[a-z0-9.\-]+")
"""The key of an override: `TYPE` or `REGION/TYPE`."""

_OVERRIDE: Final = re.compile(rf"({OVERRIDE_NAME.pattern})=([0-9]{{1,5}}(?:\.[0-9]{{1,6}})?)")


class ParameterTextError(ValueError):
    """The text of a parameter is not in its grammar. The message shows the grammar."""


def price_overrides(text: str) -> Amounts:
    """
    Return USD per hour by `TYPE` or `REGION/TYPE`, from `trn1.32xlarge=13.5,inf2.xlarge=0.4`.

    For a duplicate key, the last price counts. An empty text has no override.

    >>> price_overrides("trn1.32xlarge=13.5,eu-north-1/inf2.xlarge=0.4")
    {'trn1.32xlarge': 13.5, 'eu-north-1/inf2.xlarge': 0.4}

    Raises:
        ParameterTextError: If *text* is not what the template accepts.
    """
    wrong = (
        "[REGION/]TYPE=USD: write it as trn1.32xlarge=13.5,eu-north-1/inf2.xlarge=0.4, "
        "in small letters and without blanks or exponents"
    )
    matches = setting_entries(text, _OVERRIDE, MAX_OVERRIDES_CHARS, wrong)
    return {match[1]: float(match[2]) for match in matches}


def setting_entries(
    text: str, form: re.Pattern[str], most_chars: int, advice: str
) -> list[re.Match[str]]:
    """
    Return the entries of *text* between commas; *advice* is for an entry that is wrong.

    Raises:
        ParameterTextError: If *text* is too long, or an entry does not have the *form*.
    """
    if len(text) > most_chars:
        msg = f"{len(text)} characters, at most {most_chars} are allowed: omit types"
        raise ParameterTextError(msg)
    matches = []
    for entry in text.split(",") if text else ():
        match = form.fullmatch(entry)
        if match is None:
            msg = f"{entry[:40]!a}, which is not {advice}"
            raise ParameterTextError(msg)
        matches.append(match)
    return matches


@dataclass(frozen=True, slots=True)
class Prices:
    """
    List prices, and the overrides of the stack's operator.

    Attributes:
        overrides: USD per hour by `TYPE`, or by `REGION/TYPE`, which takes precedence.

        region: The Region of instances whose lines have none.
    """

    overrides: Amounts = field(default_factory=dict)
    region: str = DEFAULT_REGION

    def usd_per_core_hour(
        self, instance_type: str | None, cores: int, region: str | None = None
    ) -> float | None:
        """Return the price of one of the *cores* of an instance; None if unknown."""
        if instance_type is None or cores <= 0:
            return None
        where = region or self.region
        override = self.override_of(instance_type, where)
        if override is not None:
            return self.overrides[override] / cores
        usd_per_hour = LIST_USD_PER_HOUR.get(where, {}).get(instance_type)
        return None if usd_per_hour is None else usd_per_hour / cores

    def override_of(self, instance_type: str | None, region: str) -> str | None:
        """Return the override for *instance_type* as written; None if the list price counts."""
        if not self.overrides:
            return None
        names = f"{region}/{instance_type}", instance_type
        return next((name for name in names if name in self.overrides), None)


@dataclass(slots=True)
class PriceBasis:
    """
    The prices behind the amounts of many instances.

    Attributes:
        regions: The Regions of list prices in the amounts.

        overridden: The overrides in the amounts, as they were written.

        unpriced: Cores without a price, in no amount, by `REGION/TYPE`.
    """

    regions: set[str] = field(default_factory=set)
    overridden: set[str] = field(default_factory=set)
    unpriced: Counter[str] = field(default_factory=Counter)

    def usd_per_core_hour(
        self,
        prices: Prices,
        instance_type: str | None,
        cores: int,
        region: str | None,
    ) -> float | None:
        """Return `Prices.usd_per_core_hour`, and note the used price."""
        usd = prices.usd_per_core_hour(instance_type, cores, region)
        where = region or prices.region
        if usd is None:
            if cores:
                self.unpriced[f"{where}/{instance_type or UNKNOWN_TYPE_REASON}"] += cores
        elif override := prices.override_of(instance_type, where):
            self.overridden.add(override)
        else:
            self.regions.add(where)
        return usd

    def fold_basis(self, other: PriceBasis) -> None:
        """Add the prices that *other* used."""
        self.regions |= other.regions
        self.overridden |= other.overridden
        self.unpriced.update(other.unpriced)

    def unpriced_names(self) -> list[str]:
        """Return the types without a price, most cores first."""
        return sorted(self.unpriced, key=lambda name: (-self.unpriced[name], name))


def basis_words(regions: Collection[str], as_of: str | None, overridden: Sequence[str] = ()) -> str:
    """
    Return the basis of an amount: `list price, us-east-1, 2026-11-22`.

    Empty if nothing has a price. Only list prices are called "list price".
    """
    parts = []
    if regions or as_of:
        parts.append(", ".join(["list price", *sorted(regions), *([as_of] if as_of else [])]))
    if overridden:
        parts.append(f"override of {', '.join(overridden)}")
    return "; ".join(parts)
