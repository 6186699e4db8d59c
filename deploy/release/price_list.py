"""
Update the price list of a release: `price_list.py REGION...` rewrites `list_prices.json`.

The program asks the AWS Price List API (pricing:GetProducts) with your credentials. The API also
lists Capacity Blocks, at 0.00 an hour because their fee is paid in advance. So a price of 0 is not
an on-demand price.
https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html
"""

from __future__ import annotations

import json
import sys
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

import boto3

from neuron_accounts.instance_types import INSTANCE_TYPES
from neuron_accounts.prices import PRICE_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping

_ONE_PRODUCT: Final = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
}


def on_demand_price(client: Any, region: str, instance_type: str) -> float | None:  # noqa: ANN401  # boto3 publishes no types
    """
    Return the price of *instance_type* on demand in *region*, USD per hour.

    It is None unless the API has exactly one hourly price. Several prices are printed to stderr.
    """
    terms = {"regionCode": region, "instanceType": instance_type, **_ONE_PRODUCT}
    pages = client.get_paginator("get_products").paginate(
        ServiceCode="AmazonEC2",
        Filters=[{"Type": "TERM_MATCH", "Field": name, "Value": terms[name]} for name in terms],
    )
    products = (json.loads(product) for page in pages for product in page["PriceList"])
    prices = {
        float(dimension["pricePerUnit"].get("USD", 0))
        for product in products
        if product["product"]["attributes"].get("marketoption", "OnDemand") == "OnDemand"
        for term in product["terms"].get("OnDemand", {}).values()
        for dimension in term["priceDimensions"].values()
        if dimension["unit"] == "Hrs"
    } - {0.0}
    if len(prices) > 1:
        sys.stderr.write(
            f"{region}: {instance_type} has {len(prices)} prices per hour on demand: {prices}."
            " The list gets none of them.\n"
        )
        return None
    return next(iter(prices), None)


def list_with(
    document: Mapping[str, Any], region: str, prices: Mapping[str, float], today: str
) -> dict[str, Any]:
    """Return the price list *document* with *prices*, USD per hour by type, as rows of *region*."""
    source = f"aws {region} {today}"
    rows = [row for row in document["prices"] if row["region"] != region]
    rows += [
        {"region": region, "type": name, "usd_per_hour": round(usd, 6), "source": source}
        for name, usd in prices.items()
    ]
    sources = {**document["sources"], source: "AWS Price List API, pricing:GetProducts"}
    used = {row["source"] for row in rows}
    return {
        **document,
        "as_of": today,
        "sum": round(sum(row["usd_per_hour"] for row in rows), 5),
        "sources": {name: text for name, text in sources.items() if name in used},
        "prices": sorted(rows, key=lambda row: str(row["region"])),
    }


def text_of(document: Mapping[str, Any]) -> str:
    """Return the price list *document* as the text of its file, with one row per line."""
    rows = ",\n".join(f"  {json.dumps(row)}" for row in document["prices"])
    head = json.dumps({**document, "prices": []}, indent=1)
    return head.replace('"prices": []', f'"prices": [\n{rows}\n ]') + "\n"


def main() -> None:
    """Ask for the prices of each region in the arguments, and write the list."""
    client = boto3.client("pricing", region_name="us-east-1")  # this endpoint has all regions
    today = datetime.now(tz=timezone.utc).date().isoformat()
    document = json.loads(PRICE_FILE.read_text("utf-8"))
    for region in sys.argv[1:]:
        answers = {name: on_demand_price(client, region, name) for name in INSTANCE_TYPES}
        prices = {name: usd for name, usd in answers.items() if usd is not None}
        sys.stdout.write(
            f"{region}: {len(prices)} of {len(answers)} instance types have a price.\n"
        )
        document = list_with(document, region, prices, today)
    PRICE_FILE.write_text(text_of(document), "utf-8")


if __name__ == "__main__":
    main()
