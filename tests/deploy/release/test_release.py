"""
Published files of a release: one version everywhere, reproducible bytes, and a list of prices.
"""

from __future__ import annotations

import json
import shutil

import artefacts
import boto3
import price_list
import pytest
import versions
from botocore.stub import Stubber

from local import REPOSITORY
from neuron_accounts.prices import PRICE_FILE


def test_a_release_is_cut_by_one_command_and_its_tag_is_held_against_it(tmp_path):
    """
    One command sets the version everywhere and dates the changelog; a tag with another version is
    refused.
    """
    assert [] == versions.faults(REPOSITORY)
    repeated = {path for path, _ in versions.repeated(REPOSITORY)}
    assert {"Chart.yaml", "daemon.json", "container.md", "cluster.yaml"} <= {
        path.name for path in repeated
    }
    for path in repeated | {REPOSITORY / versions.VERSION_FILE, REPOSITORY / versions.CHANGELOG}:
        target = tmp_path / path.relative_to(REPOSITORY)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    versions.set_version(tmp_path, "7.8.9")
    assert "7.8.9" == versions.version(tmp_path)
    assert [] == versions.faults(tmp_path, "v7.8.9")
    assert versions.notes(tmp_path, "7.8.9").startswith("### Added")
    assert "## Unreleased\n\n## 7.8.9 (" in (tmp_path / versions.CHANGELOG).read_text("utf-8")
    (wrong,) = versions.faults(tmp_path, "v7.9.0")
    assert "The tag is v7.9.0, expected v7.8.9." in wrong
    chart = tmp_path / "deploy/eks/chart/Chart.yaml"
    chart.write_text(chart.read_text("utf-8").replace("version: 7.8.9", "version: 7.8.8"), "utf-8")
    (wrong,) = versions.faults(tmp_path)
    assert wrong.startswith("deploy/eks/chart/Chart.yaml has version 7.8.8, expected 7.8.9.")


@pytest.mark.skipif(not (REPOSITORY / ".venv-tools/bin").exists(), reason="needs make venvs")
@pytest.mark.bench  # takes minutes: before a release
def test_wheel_sdist_chart_and_materials_are_the_same_bytes_twice(tmp_path):
    """
    Wheel, sdist, chart and materials are the same bytes twice, and the sdist builds the same wheel.
    """
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
        artefacts.distributions(folder)
        artefacts.chart(folder)
        artefacts.bill_of_materials(folder)
    sums = artefacts.sums(folders[0])
    assert sums == artefacts.sums(folders[1])
    version = versions.version()
    name = f"neuron-emf-{version}"
    assert {
        f"{name}-functions.zip",
        f"{name}-template.yaml",
        f"{name}-emitters.yaml",
        f"{name}.cdx.json",
        f"neuron-emf-chart-{version}.tgz",
        f"neuron_emf-{version}-py3-none-any.whl",
        f"neuron_emf-{version}.tar.gz",
    } == {line.split("  ")[1] for line in sums.splitlines()}
    materials = json.loads((folders[0] / f"{name}.cdx.json").read_text("utf-8"))
    pinned = (REPOSITORY / "requirements/emitter.txt").read_text("utf-8")
    assert {component["name"] for component in materials["components"]} == {
        line.split("==")[0].split("[")[0] for line in pinned.splitlines() if line[:1].isalpha()
    }


def product(usd, *, market="OnDemand", unit="Hrs", currency="USD"):
    """Return a product in AWS's form: JSON in a text."""
    dimension = {"unit": unit, "pricePerUnit": {currency: usd}}
    terms = {"OnDemand": {"SKU.TERM": {"priceDimensions": {"SKU.TERM.RATE": dimension}}}}
    return json.dumps({"product": {"attributes": {"marketoption": market}}, "terms": terms})


@pytest.mark.parametrize(
    ("products", "price"),
    [
        ([], None), ([product("19.4719000000")], 19.4719), ([product("1.5"), product("2")], None),
        ([product("0.0000000000", market="CapacityBlock"), product("0.0000000000")], None),
        ([product("9.5", market="CapacityBlock"), product("21.5")], 21.5),
        ([product("5", unit="Quantity")], None), ([product("42", currency="CNY")], None),
    ],
)  # fmt: skip
def test_a_price_is_that_of_an_hour_on_demand(products, price):
    """
    The price is one hour on demand: not the 0 of a Capacity Block, not another currency, and none
    of two prices.
    """
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    client = boto3.client("pricing", region_name="us-east-1", **keys)
    with Stubber(client) as stubber:
        stubber.add_response("get_products", {"PriceList": products})
        assert price == price_list.on_demand_price(client, "ap-northeast-1", "trn2.48xlarge")
    client.close()


def test_the_list_of_prices_is_written_as_it_is_read():
    """The script writes the list of prices in its committed form, and keeps other regions."""
    text = PRICE_FILE.read_text("utf-8")
    assert text == price_list.text_of(json.loads(text))
    written = price_list.list_with(
        json.loads(text), "us-east-1", {"trn1.2xlarge": 2.0}, "2027-01-02"
    )
    kept = [row for row in json.loads(text)["prices"] if row["region"] != "us-east-1"]
    assert kept == [row for row in written["prices"] if row["region"] != "us-east-1"]
    assert {row["source"] for row in written["prices"]} == written["sources"].keys()
