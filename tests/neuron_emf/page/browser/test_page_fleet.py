"""A thousand instances of 32 cores stay usable: the calls and bytes of the first screen."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.neuron_emf.page.looked_at import double_of, served, view_of
from tests.neuron_emf.page.rollup_lines import MINUTE_MS, START_MS, line

pytestmark = [pytest.mark.slow]

INSTANCES, CLUSTERS, CORES = 1000, 10, 32
NOW_S = START_MS / 1000 + 63 * 60


def records(hour):
    """The newest minute line of every instance, as real ones are; each tenth is wholly idle."""
    lines = [json.loads(text) for text in hour.lines if '"Kind":"minute"' in text]
    large = [one for one in lines if one.get("InstanceType") == "trn1.32xlarge"]
    newest_ms = max(one["_aws"]["Timestamp"] for one in large)
    newest = [one for one in large if one["_aws"]["Timestamp"] == newest_ms]
    idle = next(one for one in newest if one["CoreState"] == "a" * CORES)
    busy = next(one for one in newest if one["CoreState"] == "b" * CORES)
    for number in range(INSTANCES):
        line = dict(idle if number % 10 == 0 else busy)
        line |= {"InstanceId": f"i-{number:017x}", "ClusterName": f"cluster-{number % CLUSTERS}"}
        line["_aws"] = line["_aws"] | {"Timestamp": START_MS + 61 * MINUTE_MS}
        yield json.dumps(line, separators=(",", ":"))


def rollups():
    """An hour of ten clusters, each line with twenty owners."""
    for minute in range(62):
        for number in range(CLUSTERS):
            owners = [
                {"Owner": f"team-{at}/training/pod-{at}", "Cores": 10, "Instances": 1,
                 "IdleMinutes": 60, "UsdPerHour": 6.71875, "UnpricedCores": 0}
                for at in range(20)
            ]  # fmt: skip
            yield line(
                f"cluster-{number}", minute, Instances=100, NeuronCores=3200, UnknownCores=0,
                IdleCores=200, IdleCostPerHour=134.375, TopIdleOwners=owners,
            )  # fmt: skip


@pytest.fixture(scope="module")
def fleet(hour):
    """An account with an hour of rollups and the newest minute of a thousand instances."""
    with pytest.MonkeyPatch.context() as patch, double_of(patch, lambda: NOW_S) as double:
        double.put_lines(double.rollups_group, rollups(), 110_000)
        double.put_lines(double.records_group, records(hour))
        yield double


def test_a_thousand_instances_stay_usable(chromium, fleet):
    """
    The first screen from rollups alone, in ten calls; then cores, of which fifty rows are drawn.
    """
    view = view_of(lambda: NOW_S)
    view.reads["/now.json"]({})
    assert fleet.operations.count("FilterLogEvents") <= 10
    with served(view) as server:
        page = chromium.new_page(viewport={"width": 1440, "height": 900})
        page.clock.install(time=NOW_S)
        sizes = {}
        page.on("response", lambda one: sizes.update({one.url.rpartition("/")[2].partition("?")[0]:
                int(one.headers.get("content-length", 0))}))  # fmt: skip
        page.goto(server.url)
        expect(page.locator("#idle")).to_have_text("2,000 of 32,000 (6 %)", timeout=60_000)
        page.wait_for_selector("html[data-ready]", timeout=60_000)
        assert page.locator(".rows .instance").count() == 50
        assert "1,000 of 1,000 instances" in page.locator(".find").inner_text()
        page.get_by_role("searchbox").fill("0000000003e")
        expect(page.locator(".rows .instance")).to_have_count(9)
        page.close()
    assert sum(sizes.values()) < 1_000_000
