"""
The command `neuron-emf prices`: what AWS charges for Neuron instances in a region, on demand.

Asked of the AWS Price List API with the credentials of whoever types. A Capacity
Block is a product there too, at 0.00 an hour because its fee is paid before: no
on-demand price, as no price of 0 is one.
https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from emitter.command_line import CONTEXT
from emitter.errors import SettingsError, SourceError
from emitter.settings.declaration import setting
from emitter.settings.options import options

if TYPE_CHECKING:
    from collections.abc import Mapping

PRICING_REGION: Final = "us-east-1"  # of three that answer, about every region
_ACTION: Final = "pricing:GetProducts"
_ONE_PRODUCT: Final = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
}
_EPILOG: Final = (
    "Exit codes: 0 success, 2 usage error, 3 AWS rejected the request or did not answer."
)


@dataclass(frozen=True, kw_only=True)
class PriceListSettings:
    """Which region, and where to."""

    region: str = setting("", "Region of the instances; required.", metavar="NAME", short="-r")
    output: str = setting(
        "",
        "Update the region's prices in this price list instead of printing the value for "
        "PriceOverrides.",
        metavar="FILE",
    )


@click.command(name="prices", context_settings=CONTEXT, epilog=_EPILOG)
@options(PriceListSettings)
def command(**values: object) -> int:
    """
    Print the on-demand prices of a region, as the stack's PriceOverrides takes them.

    Asks the AWS Price List API (pricing:GetProducts) with your credentials.
    """
    from neuron_emf.account import AccountSettings, account  # noqa: PLC0415 - --help needs none
    from neuron_emf.printing import progress  # noqa: PLC0415 - as above
    from neuron_wire.instance_types import INSTANCE_TYPES  # noqa: PLC0415 - as above

    settings = PriceListSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    if not settings.region:
        msg = "No region is set. Use --region us-east-1."
        raise SettingsError(msg)
    client = account(AccountSettings(region=PRICING_REGION)).client("pricing")
    prices: dict[str, Decimal] = {}
    with progress("Reading prices") as advance:
        for number, instance_type in enumerate(INSTANCE_TYPES):
            advance(number, len(INSTANCE_TYPES))
            price = on_demand_price(client, settings.region, instance_type)
            if price is not None:
                prices[instance_type] = price
    if sys.stderr is not None:
        without = ", ".join(one for one in INSTANCE_TYPES if one not in prices)
        sys.stderr.write(f"No on-demand price in {settings.region}: {without or 'none'}.\n")
    if not prices:
        msg = f"AWS lists no price of a Neuron instance in {settings.region}. Correct --region."
        raise SourceError(msg)
    if settings.output:
        today = datetime.now(tz=timezone.utc).date().isoformat()
        _write(Path(settings.output), settings.region, prices, today)
    else:
        click.echo(overrides_of(settings.region, prices))
    return 0


def on_demand_price(client: Any, region: str, instance_type: str) -> Decimal | None:  # noqa: ANN401  # boto3 publishes no types
    """
    USD per hour; None when there is no such product, or only one without an hourly price.

    Raises:
        SourceError: If AWS refuses, answers otherwise than documented, or with two prices.
    """
    from neuron_emf.account import documented  # noqa: PLC0415 - as above

    terms = {"regionCode": region, "instanceType": instance_type, **_ONE_PRODUCT}
    filters = [{"Type": "TERM_MATCH", "Field": name, "Value": terms[name]} for name in terms]
    with documented(_ACTION):
        pages = client.get_paginator("get_products").paginate(
            ServiceCode="AmazonEC2", Filters=filters
        )
        prices = {
            price
            for page in pages
            for product in page["PriceList"]
            for price in _hourly_prices(json.loads(product))
        }
    if len(prices) > 1:
        said = ", ".join(map(str, sorted(prices)))
        msg = (
            f"{_ACTION} gave {len(prices)} prices of {instance_type} in {region}: {said}. "
            "Give the right one by PriceOverrides."
        )
        raise SourceError(msg)
    return next(iter(prices), None)


def _hourly_prices(product: Mapping[str, Any]) -> list[Decimal]:
    if product["product"]["attributes"].get("marketoption", "OnDemand") != "OnDemand":
        return []
    prices = [
        Decimal(dimension["pricePerUnit"].get("USD", "0"))
        for term in product["terms"].get("OnDemand", {}).values()
        for dimension in term["priceDimensions"].values()
        if dimension["unit"] == "Hrs"
    ]
    return [price for price in prices if price > 0]


def overrides_of(region: str, prices: Mapping[str, Decimal]) -> str:
    """*prices* as the value of PriceOverrides: `eu-north-1/inf2.xlarge=0.83402`."""
    return ",".join(f"{region}/{name}={_short(usd)}" for name, usd in prices.items())


def list_with(
    document: Mapping[str, Any], region: str, prices: Mapping[str, Decimal], today: str
) -> dict[str, Any]:
    """The list *document* with the *prices* of *region* instead of its rows of it."""
    source = f"aws {region} {today}"
    others = [row for row in document["prices"] if row["region"] != region]
    own = [
        {"region": region, "type": name, "usd_per_hour": float(_short(usd)), "source": source}
        for name, usd in prices.items()
    ]
    sources = {**document["sources"], source: f"AWS Price List API, {_ACTION}"}
    used = {row["source"] for row in (*others, *own)}
    return {
        **document,
        "as_of": today,
        "sources": {name: sources[name] for name in sources if name in used},
        "prices": sorted((*others, *own), key=lambda row: row["region"]),
    }


def text_of(document: Mapping[str, Any]) -> str:
    """The list as its file has it: a row a line."""
    rows = ",\n".join(f"  {json.dumps(row)}" for row in document["prices"])
    head = json.dumps({**document, "prices": []}, indent=1)
    return head.replace('"prices": []', f'"prices": [\n{rows}\n ]') + "\n"


def _short(usd: Decimal) -> str:
    return f"{usd:.6f}".rstrip("0").rstrip(".")


def _write(path: Path, region: str, prices: Mapping[str, Decimal], today: str) -> None:
    from neuron_wire.prices import FILE  # noqa: PLC0415 - as above

    beside = path.with_name(f"{path.name}.new")
    try:
        document = json.loads((path if path.exists() else FILE).read_text("utf-8"))
        beside.write_text(text_of(list_with(document, region, prices, today)), "utf-8")
        beside.replace(path)
    except OSError as error:
        msg = f"Cannot write {path}: {error.strerror}. Correct --output."
        raise SettingsError(msg) from error
    except (LookupError, TypeError, ValueError) as error:
        msg = f"{path} is not a price list. Name another file with --output."
        raise SettingsError(msg) from error
