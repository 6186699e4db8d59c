"""Charts, the heat map and the panel of an instance in a browser, by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from neuron_wire.names import MINUTE_MS
from tests.neuron_emf.page.browser.conftest import changing
from tests.neuron_emf.page.page_account import PAGE_NOW_S

pytestmark = [pytest.mark.slow]
NOW_MS = round(PAGE_NOW_S * 1000)
NEWEST_MS = NOW_MS // MINUTE_MS * MINUTE_MS - 2 * MINUTE_MS
INSTANCE = "i-0c2ae2bc98a5be28a"  # two allocated cores that are not busy


def test_keys_lead_through_a_chart_and_its_table_has_all_values(open_page, address):
    """The cursor is in all charts, digits switch series, plus zooms, and a gap stays a gap."""
    rows = []

    def cut(answer):
        rows[:] = [series["values"] for series in answer["charts"][0]["series"]]
        rows[0][answer["x"].index(NEWEST_MS - 10 * MINUTE_MS)] = None

    page = open_page(address, routes=[("**/charts.json*", changing(cut))])
    first = page.get_by_role("region", name="Idle cores, cores")
    second = page.get_by_role("region", name="Cost of idle cores, USD/h")
    first.get_by_role("application").focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    expect(first.locator("[aria-live]")).to_have_text("08:50 UTC: research no data, serving 8")
    expect(second.locator(".chart-when")).to_have_text("08:50 UTC")
    page.keyboard.press("2")
    expect(first.get_by_role("button", name="serving")).to_have_attribute("aria-pressed", "false")
    expect(second.get_by_role("button", name="serving")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("+")
    expect(page.get_by_role("button", name="Whole range")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Whole range")).to_have_count(0)
    first.get_by_role("button", name="Table of Idle cores").press("Enter")
    cells = [row.split("\t") for row in first.locator("tbody tr").all_inner_texts()]
    expected = [
        ["no data" if value is None else f"{value:g}" for value in row]
        for row in zip(*rows, strict=True)
    ]
    assert expected[::-1] == [row[1:] for row in cells]


def test_a_drag_zooms_all_charts(open_page, address):
    """The pointer chooses a part of the range; a button shows the whole range again."""
    page = open_page(address)
    plot = page.locator(".u-over").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + 40, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 40, steps=5)
    page.mouse.up()
    page.get_by_role("button", name="Whole range").press("Enter")
    expect(page.get_by_role("button", name="Whole range")).to_have_count(0)


def test_keys_lead_from_a_core_to_its_instance_and_back(open_page, address):
    """The map reads the selected core aloud, Enter opens its instance, and Escape leads back."""
    page = open_page(address)
    heat_map = page.get_by_role("application", name="Cores of cluster research")
    heat_map.focus()
    page.keyboard.press("ArrowRight")
    words = page.locator(".cores-group").first.locator("[aria-live]")
    expect(words).to_contain_text(", core 1, idle, allocated, 0 % utilization")
    name = words.inner_text().split(",")[0]
    page.keyboard.press("Enter")
    panel = page.get_by_role("dialog", name=name)
    expect(panel).to_be_visible()
    assert name == page.evaluate("document.activeElement.textContent")
    assert f"instance={name}" in page.url
    expect(heat_map).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(heat_map).to_be_focused()
    page.go_back()
    expect(panel).to_be_visible()


def test_an_opened_hour_goes_on_and_does_not_stay_current(open_page, address):
    """An open hour gets new minutes; if no line comes for ten minutes, it is marked as stale."""
    newest_ms = [NEWEST_MS]
    now_ms = [NOW_MS]

    def move_minutes(answer):
        late_ms = newest_ms[0] - answer["minutes"][-1]
        answer["minutes"] = [minute_ms + late_ms for minute_ms in answer["minutes"]]

    page = open_page(
        f"{address}&cluster=research&instance={INSTANCE}",
        routes=[
            ("**/now.json*", changing(lambda answer: answer.update(now_ms=now_ms[0]))),
            ("**/instance.json*", changing(move_minutes)),
        ],
    )
    panel = page.get_by_role("dialog", name=INSTANCE)
    expect(panel).to_contain_text("09:00: 2 allocated, not busy")
    newest_ms[0] += 12 * MINUTE_MS
    now_ms[0] += 12 * MINUTE_MS
    page.clock.run_for(12 * MINUTE_MS)
    expect(panel).to_contain_text("09:12: 2 allocated, not busy")
    stale = panel.get_by_text("What the cores do now is unknown")
    expect(stale).to_have_count(0)
    now_ms[0] += 12 * MINUTE_MS
    page.clock.run_for(12 * MINUTE_MS)
    expect(stale).to_be_visible()


@pytest.mark.parametrize(
    ("filter_of", "shown"),
    [
        ("team=nlp", 2),
        ("owner=slurm:4711 ml-user", 1),
        ("owner=[unallocated]", 2),
    ],
)
def test_cores_are_those_of_the_filter(open_page, address, filter_of, shown):
    """A team's busy instances are shown too, and instances outside of the filter are counted."""
    page = open_page(address.replace("#", f"#{filter_of}&"))
    expect(page.locator(".cores-when")).to_contain_text(f"{shown} of 10 instances")
