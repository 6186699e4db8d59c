"""What `neuron-emf prices` asks AWS, and what it takes for a price."""

from __future__ import annotations

import json
from decimal import Decimal

import boto3
import pytest
from botocore.stub import Stubber
from click.testing import CliRunner

from emitter.errors import SourceError
from neuron_emf.account import Account
from neuron_emf.price_list import command, list_with, on_demand_price, text_of
from neuron_wire.instance_types import INSTANCE_TYPES
from neuron_wire.prices import FILE, USD_PER_HOUR, price_overrides


def product(usd, *, market="OnDemand", unit="Hrs", currency="USD"):
    """One product as AWS writes it: JSON in a text."""
    dimension = {"unit": unit, "pricePerUnit": {currency: usd}}
    terms = {"OnDemand": {"SKU.TERM": {"priceDimensions": {"SKU.TERM.RATE": dimension}}}}
    return json.dumps({"product": {"attributes": {"marketoption": market}}, "terms": terms})


def asked(instance_type, region="ap-northeast-1"):
    """The question that botocore's model of the API accepts."""
    terms = {
        "regionCode": region, "instanceType": instance_type, "operatingSystem": "Linux",
        "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used",
    }  # fmt: skip
    filters = [{"Type": "TERM_MATCH", "Field": name, "Value": terms[name]} for name in terms]
    return {"ServiceCode": "AmazonEC2", "Filters": filters}


@pytest.fixture
def pricing():
    """A client whose questions and answers botocore holds against its model of the API."""
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    client = boto3.client("pricing", region_name="us-east-1", **keys)
    with Stubber(client) as stubber:
        yield client, stubber
        stubber.assert_no_pending_responses()


@pytest.mark.parametrize(
    ("products", "price"),
    [
        ([], None),
        ([product("19.4719000000")], Decimal("19.4719")),
        ([product("0.0000000000", market="CapacityBlock"), product("0.0000000000")], None),
        ([product("9.5", market="CapacityBlock"), product("21.5")], Decimal("21.5")),
        ([product("5", unit="Quantity")], None),
        ([product("42", currency="CNY")], None),
    ],
)
def test_a_price_is_that_of_an_hour_on_demand(pricing, products, price):
    """Not 0, which a Capacity Block shows; not another currency; none is none."""
    client, stubber = pricing
    stubber.add_response("get_products", {"PriceList": products}, asked("trn2.48xlarge"))
    assert price == on_demand_price(client, "ap-northeast-1", "trn2.48xlarge")


def test_two_prices_are_no_price(pricing):
    """On whichever pages they stand: nobody guesses which is right."""
    client, stubber = pricing
    first = {"PriceList": [product("1.5")], "NextToken": "next"}
    stubber.add_response("get_products", first, asked("inf2.xlarge"))
    second = {**asked("inf2.xlarge"), "NextToken": "next"}
    stubber.add_response("get_products", {"PriceList": [product("2")]}, second)
    with pytest.raises(SourceError, match=r"gave 2 prices of inf2.xlarge in .*: 1.5, 2"):
        on_demand_price(client, "ap-northeast-1", "inf2.xlarge")


def test_what_is_printed_is_what_the_parameter_takes(pricing, monkeypatch, tmp_path, repository):
    """Types without a price are named beside it; the file has them instead of the old ones."""
    client, stubber = pricing
    prices = USD_PER_HOUR["ap-northeast-1"]
    for factor in (1, 2):
        for name in INSTANCE_TYPES:
            found = [product(f"{factor * prices[name]:.10f}")] if name in prices else []
            stubber.add_response("get_products", {"PriceList": found}, asked(name))
    monkeypatch.setattr(Account, "client", lambda _self, _service: client)
    printed = CliRunner().invoke(command, ["--region", "ap-northeast-1"])
    taken = price_overrides(printed.stdout.strip())
    assert {f"ap-northeast-1/{name}": usd for name, usd in prices.items()} == taken
    shown = f"$ neuron-emf prices --region ap-northeast-1\n{printed.stderr}{printed.stdout}```\n"
    assert shown in (repository / "docs" / "reference" / "commands.md").read_text("utf-8")
    file = tmp_path / "list.json"
    assert 0 == CliRunner().invoke(command, ["-r", "ap-northeast-1", "--output", file]).exit_code
    document = json.loads(file.read_text("utf-8"))
    rows = [row for row in document["prices"] if row["region"] == "ap-northeast-1"]
    assert [2 * usd for usd in prices.values()] == [row["usd_per_hour"] for row in rows]
    assert {f"aws ap-northeast-1 {document['as_of']}"} == {row["source"] for row in rows}
    assert {row["source"] for row in document["prices"]} == document["sources"].keys()


def test_the_list_is_written_as_it_is_read():
    """The file of this release is of the form that the command writes; other regions stay."""
    text = FILE.read_text("utf-8")
    assert text == text_of(json.loads(text))
    others = list_with(json.loads(text), "us-east-1", {"trn1.2xlarge": Decimal(2)}, "2027-01-02")
    kept = [row for row in json.loads(text)["prices"] if row["region"] != "us-east-1"]
    assert kept == [row for row in others["prices"] if row["region"] != "us-east-1"]


def test_an_answer_of_another_form_is_a_sentence(pricing):
    """Nothing that AWS does not document becomes a price."""
    client, stubber = pricing
    stubber.add_response("get_products", {"PriceList": ["{}"]}, asked("inf2.xlarge"))
    with pytest.raises(SourceError, match="pricing:GetProducts"):
        on_demand_price(client, "ap-northeast-1", "inf2.xlarge")
