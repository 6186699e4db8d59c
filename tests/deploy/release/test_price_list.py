"""What the script of the price list takes for a price, and what it writes."""

from __future__ import annotations

import json

import boto3
import pytest
from botocore.stub import Stubber

from neuron_wire.prices import FILE
from tests.deploy.release.release_scripts import price_list


def product(usd, *, market="OnDemand", unit="Hrs", currency="USD"):
    """One product as AWS writes it: JSON in a text."""
    dimension = {"unit": unit, "pricePerUnit": {currency: usd}}
    terms = {"OnDemand": {"SKU.TERM": {"priceDimensions": {"SKU.TERM.RATE": dimension}}}}
    return json.dumps({"product": {"attributes": {"marketoption": market}}, "terms": terms})


@pytest.mark.parametrize(
    ("products", "price"),
    [
        ([], None),
        ([product("19.4719000000")], 19.4719),
        ([product("0.0000000000", market="CapacityBlock"), product("0.0000000000")], None),
        ([product("9.5", market="CapacityBlock"), product("21.5")], 21.5),
        ([product("5", unit="Quantity")], None),
        ([product("42", currency="CNY")], None),
        ([product("1.5"), product("2")], None),
    ],
)
def test_a_price_is_the_one_of_an_hour_on_demand(products, price):
    """Not 0, which a Capacity Block shows; not another currency; of two prices neither."""
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    client = boto3.client("pricing", region_name="us-east-1", **keys)
    with Stubber(client) as stubber:
        stubber.add_response("get_products", {"PriceList": products})
        assert price == price_list.on_demand_price(client, "ap-northeast-1", "trn2.48xlarge")
    client.close()


def test_the_list_is_written_as_it_is_read():
    """The file of this release is of the form that the script writes; other regions stay."""
    text = FILE.read_text("utf-8")
    assert text == price_list.text_of(json.loads(text))
    found = price_list.list_with(json.loads(text), "us-east-1", {"trn1.2xlarge": 2.0}, "2027-01-02")
    kept = [row for row in json.loads(text)["prices"] if row["region"] != "us-east-1"]
    assert kept == [row for row in found["prices"] if row["region"] != "us-east-1"]
    assert {row["source"] for row in found["prices"]} == found["sources"].keys()
