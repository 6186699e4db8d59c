"""Cores, graphs and queries in a browser, by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from neuron_accounts.ledger import PARTS_OF_HOUR, part_key
from neuron_emf.reading.ledger_bucket import rows
from tests.neuron_emf.fake_account import OWN_QUERY
from tests.neuron_emf.page.page_account import PAGE_START_MS

pytestmark = [pytest.mark.slow]
PAGE_HOUR = PAGE_START_MS // 3_600_000


def test_the_values_of_a_graph_are_the_lines(open_page, address):
    """In the table behind it, the newest minute first."""
    page = open_page(address)
    graph = page.get_by_role("region", name="Idle cores", exact=True).filter(
        has=page.locator("svg.drawing")
    )
    graph.locator("summary").press("Enter")
    expect(graph.locator("tbody tr").first).to_have_text("08:59528")
    label = graph.locator("svg.drawing").get_attribute("aria-label")
    assert "Idle cores. Last: research 52, serving 8." == label


def test_a_press_reads_the_instances_hour(open_page, address):
    """Not before; another press closes it. Its cells are those of its lines, in words."""
    page = open_page(address)
    row = page.locator(".rows .instance").first
    name = row.locator("bdi").inner_text()
    assert 0 == page.get_by_role("grid").count()
    with page.expect_request("**/instance.json*"):
        row.press("Enter")
    assert "true" == row.get_attribute("aria-expanded")
    grid = page.get_by_role("grid", name=f"{name}: cores by minutes")
    newest = grid.locator("[role=gridcell]").last
    expect(newest).to_have_attribute(
        "aria-label",
        "core 0, 08:59 UTC: allocated, not busy, 0 % utilization, not busy for 1 h, "
        "held by slurm:4711 ml-user (pid 21195, tag 21195)",
    )
    row.press("Enter")
    expect(grid).to_be_hidden()
    assert "false" == row.get_attribute("aria-expanded")


def test_arrow_keys_go_through_the_hour(open_page, address):
    """
    From cell to cell, to the corners, never out of it; one cell is in the order of Tab.
    """
    page = open_page(address)
    page.locator(".rows .instance").first.press("Enter")
    grid = page.get_by_role("grid")
    grid.locator('[tabindex="0"]').focus()
    for key, where in (
        ("ArrowRight", "core 0, 08:59"),
        ("ArrowLeft", "core 0, 08:58"),
        ("ArrowDown", "core 1, 08:58"),
        ("PageDown", "core 9, 08:58"),
        ("Control+End", "core 31, 08:59"),
        ("ArrowDown", "core 31, 08:59"),
        ("Home", "core 31, 08:02"),
        ("Control+Home", "core 0, 08:02"),
        ("ArrowUp", "core 0, 08:02"),
    ):
        page.keyboard.press(key)
        focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert focused.startswith(f"{where} UTC: "), key
        assert focused == page.locator(".readout").inner_text()
        assert 1 == grid.locator('[tabindex="0"]').count()


def test_an_owner_leads_to_its_cores_alarms_and_graphs(open_page, address):
    """By keyboard: its cluster is chosen, its instances are found, and the address keeps both."""
    page = open_page(address)
    page.get_by_role("button", name="unit:jupyter-ada").press("Enter")
    expect(page.get_by_role("combobox", name="Cluster")).to_have_value("research")
    expect(page.locator(".rows .instance")).to_have_count(1)
    assert "Cores now" == page.evaluate("document.activeElement.textContent").strip()
    page.reload()
    page.wait_for_selector("html[data-ready]")
    expect(page.get_by_role("searchbox")).to_have_value("unit:jupyter-ada")
    expect(page.locator(".rows .instance")).to_have_count(1)


def test_an_instance_has_an_address_with_its_hour_and_what_to_do(open_page, address):
    """Whoever opens it sees the hour, the commands, and where AWS's console shows the instance."""
    name = "i-0fb9f00b0d1b3be5e"
    page = open_page(address.replace("#", f"#{name}&"))
    expect(page.get_by_role("grid", name=f"{name}: cores by minutes")).to_be_visible()
    leads = page.locator(".leads")
    expect(leads.locator("code").first).to_have_text(
        f"neuron-emf findings {name} --region us-west-2"
    )
    (console, lines) = [link.get_attribute("href") for link in leads.get_by_role("link").all()]
    assert console.endswith(f"#InstanceDetails:instanceId={name}")
    assert f"$2522{name}$2522" in lines
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    leads.get_by_role("button").first.press("Enter")
    expect(leads.get_by_role("button").first).to_have_text("Copied")
    assert f"neuron-emf findings {name}" in page.evaluate("navigator.clipboard.readText()")


def test_the_last_seven_days_stand_beside_the_last_hour(open_page, address, hour):
    """A button adds idle cost and price of work from the ledger, and names its own cost before."""
    page = open_page(address)
    expect(page.locator("#week-note")).to_contain_text("under 0.01 USD")
    page.get_by_role("button", name="Add the last 7 days").press("Enter")
    parts = [(PAGE_HOUR, hour.ledger[part_key(PAGE_HOUR, part)]) for part in range(PARTS_OF_HOUR)]
    settled = list(rows(parts))
    idle_usd = sum(row.idle_cost or 0 for row in settled) / 1e9
    expect(page.locator("#week-note")).to_have_text(
        f"Idle cores of the last 7 days: {idle_usd:.2f} USD, of 1 of 168 hours that are settled."
    )
    shown = page.locator(".owners tbody td:nth-last-child(2)").all_inner_texts()
    assert abs(sum(map(float, shown)) - idle_usd) < 0.05
    ada = [row for row in settled if row.owner == "unit:jupyter-ada"]
    usd = sum(row.list_cost for row in ada) / 1e9
    millions = sum(row.executions for row in ada) / 1e6
    ada_row = page.locator(".owners tbody tr", has_text="unit:jupyter-ada")
    expect(ada_row.locator("td").last).to_have_text(f"{usd / millions:.2f}")
    idle_row = page.locator(".owners tbody tr", has_text="slurm:4711 ml-user")
    expect(idle_row.locator("td").last).to_have_text("-")
    page.get_by_role("combobox", name="Cluster").select_option("serving")
    ranker = sum(row.idle_cost for row in settled if row.owner == "search/ranker-0/server") / 1e9
    expect(page.locator(".owners tbody td:nth-last-child(2)").first).to_have_text(f"{ranker:.2f}")


def test_owners_are_sorted_by_any_column(open_page, address):
    """Numbers from the greatest, names from A; a second press turns it round."""
    page = open_page(address)
    first = page.locator(".owners tbody tr").first
    head = page.get_by_role("columnheader", name="Cluster")
    head.get_by_role("button").press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(first).to_contain_text("research")
    head.get_by_role("button").press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(first).to_contain_text("serving")


def test_a_query_has_its_price_and_runs_when_pressed(open_page, address, account_of_the_hour):
    """Opening the part prices them; nothing is started before the button."""
    page = open_page(address)
    page.locator("#queries > summary").press("Enter")
    item = page.locator(".queries li").filter(has_text=OWN_QUERY)
    expect(item).to_contain_text("under 0.0001 USD, 0.")
    assert "StartQuery" not in account_of_the_hour.operations
    item.get_by_role("button").press("Enter")
    # 59 of the hour's 60 minutes of two clusters are in the last hour of the page's clock
    expect(item.locator("tbody tr")).to_have_count(118)
    assert 1 == account_of_the_hour.operations.count("StartQuery")
