"""Journeys on the page: three of at most three clicks, and ways back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from neuron_accounts.ledger import PARTS_OF_HOUR, part_key
from neuron_emf.reading.ledger_bucket import rows
from tests.neuron_emf.page.browser.conftest import changing
from tests.neuron_emf.page.page_account import PAGE_START_MS

pytestmark = [pytest.mark.slow]

PAGE_HOUR = PAGE_START_MS // 3_600_000
MAX_CLICKS = 3
ALARMS = ".alarms-line"
ROWS = ".breakdown-row"


def row_of(page, name):
    """Return the row of the breakdown with *name*."""
    return page.locator(ROWS, has=page.get_by_role("button", name=name, exact=True))


def choose(page, label, words):
    """Click one of a few connected buttons."""
    page.get_by_role("group", name=label).get_by_role("radio", name=words, exact=True).click()


def clicks(page):
    """Return the number of pointer presses."""
    return page.evaluate("window.presses")


def copied(page):
    """Return the text that the last button copied."""
    return page.evaluate("navigator.clipboard.readText()")


@pytest.fixture
def page(open_page, address):
    """Return the page of all clusters, with permission to copy."""
    opened = open_page(address)
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    return opened


def test_on_call_gets_from_an_alarm_to_its_command(page):
    """Two clicks: the most urgent alarm, the button that copies its first command."""
    first = page.locator(ALARMS).first
    first.get_by_role("button").first.click()
    first.get_by_role("button", name="Copy the command").first.click()
    expect(first.get_by_text("Copied")).to_be_attached()
    assert "kubectl describe pod ranker-1 -n search" == copied(page)
    assert clicks(page) <= MAX_CLICKS


def test_a_payer_gets_from_a_team_to_the_dollars_of_seven_days(page, hour):
    """Two choices; the amounts are those of the ledger, and hours that are missing are named."""
    choose(page, "Group by", "Team")
    choose(page, "Time range", "7d")
    parts = [(PAGE_HOUR, hour.ledger[part_key(PAGE_HOUR, part)]) for part in range(PARTS_OF_HOUR)]
    settled = list(rows(parts))
    for team in ("ml", "search"):
        usd = sum(row.idle_cost or 0 for row in settled if row.team == team) / 1e9
        expect(row_of(page, team).locator("td").last).to_have_text(f"{usd:.2f}")
    expect(page.locator(".breakdown-gaps")).to_contain_text("1 of 168 hours")
    assert clicks(page) <= MAX_CLICKS


def test_an_engineer_gets_from_an_idle_owner_to_a_command(page):
    """Three clicks: the owner, its instance, the button that copies the instance's command."""
    row_of(page, "unit:jupyter-ada").get_by_role("button").click()
    page.locator(".breakdown-opened").get_by_role(
        "button", name="i-0fb9f00b0d1b3be5e", exact=True
    ).click()
    panel = page.get_by_role("dialog", name="i-0fb9f00b0d1b3be5e")
    panel.get_by_role("button", name="Copy the command").first.click()
    expect(panel.get_by_text("Copied")).to_be_attached()
    assert "i-0fb9f00b0d1b3be5e" in copied(page)
    assert clicks(page) <= MAX_CLICKS


def test_no_alarm_here_is_not_green_while_others_fire(open_page, address):
    """If only alarms of other clusters fire, the status is not green."""

    def of_research(answer):
        for alarm in answer["alarms"]:
            alarm["contributors"] = [
                row for row in alarm["contributors"] if row["name"] == "research"
            ]
            alarm["state"] = "ALARM" if alarm["contributors"] else "OK"

    routes = [("**/alarms.json*", changing(of_research))]
    page = open_page(address.replace("#", "#cluster=serving&"), routes=routes)
    expect(page.locator(".alarms-none")).to_contain_text("No alarm fires for serving, 1 elsewhere.")
    expect(page.locator(".is-good")).to_have_count(0)


def choose_cluster(page, name):
    """Choose a cluster in the list with search, by keyboard."""
    page.get_by_role("button", name=re.compile("^Cluster: ")).press("Enter")
    page.get_by_role("combobox", name="Search cluster").fill(name)
    page.keyboard.press("Enter")


STEPS = [
    lambda page: choose_cluster(page, "research"),
    lambda page: row_of(page, "unit:jupyter-ada").get_by_role("button").press("Enter"),
    lambda page: choose(page, "Group by", "Cluster"),
    lambda page: choose(page, "Time range", "3h"),
    lambda page: page.locator(ALARMS).first.get_by_role("button").first.press("Enter"),
]


def test_back_undoes_every_kind_of_choice(page):
    """Back undoes a cluster, an opened row, a group, a range and an opened alarm, last first."""
    addresses = [page.url]
    for step in STEPS:
        step(page)
        assert page.url not in addresses
        addresses.append(page.url)
    for expected in reversed(addresses[:-1]):
        page.go_back()
        assert expected == page.url
    expect(page.locator(ROWS)).to_have_count(6)


def test_the_breakdown_is_sorted_and_searched(page):
    """The first click sorts numbers from the greatest, the second reverses; unknown is last."""
    first = page.locator(ROWS).first
    head = page.get_by_role("columnheader", name="USD/h")
    for direction, name in (
        ("descending", "slurm:4711 ml-user"),
        ("ascending", "ml/trainer-0/main"),
    ):
        head.get_by_role("button").press("Enter")
        expect(head).to_have_attribute("aria-sort", direction)
        expect(first).to_contain_text(name)
    shares = page.get_by_role("columnheader", name="Share").get_by_role("button")
    for _ in range(2):
        shares.press("Enter")
        expect(page.locator(ROWS).last).to_contain_text("Unallocated")


def test_a_row_that_cannot_wait_is_first_and_says_why(page):
    """Cores of a gone pod that another pod waits for come before more expensive cores."""
    row = page.locator(ROWS).first
    expect(row).to_contain_text("search/ranker-0/server")
    expect(row).to_contain_text("cannot wait")
    row.get_by_role("button").click()
    expect(page.locator(".breakdown-opened")).to_contain_text("search/ranker-1")
