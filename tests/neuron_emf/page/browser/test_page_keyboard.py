"""Everything on the page is reached and read without a mouse, and a refresh takes nothing away."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from tests.local.page.browser.drawn import cell, legends, widget
from tests.local.page.recording import NOW_S, history_of, view_of

from local.page import PageServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

FOCUSED = """
() => {
  const one = document.activeElement;
  const look = getComputedStyle(one);
  const box = one.getBoundingClientRect();
  return {
    what: one.id || one.getAttribute('aria-label') || one.textContent.trim().slice(0, 60),
    kind: one.getAttribute('role') ?? one.tagName,
    ring: look.outlineStyle !== 'none' && parseFloat(look.outlineWidth) >= 2,
    seen: box.bottom > 0 && box.top < innerHeight,
    grid: one.closest('[role=grid]')?.getAttribute('aria-label') ?? null,
    body: one === document.body,
  };
}
"""


def walk(page):
    """What Tab reaches, in its order, from the top of the page to its end."""
    stops = []
    while len(stops) < 400:
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop["body"] or (stops and stop["what"] == stops[0]["what"]):
            return stops
        stops.append(stop)
    msg = f"no end after {len(stops)} stops"
    raise AssertionError(msg)


def test_tab_reaches_all_and_shows_where_it_is(open_page, served):
    """Each control, every chart, its table, every table of lines, and one cell of each instance."""
    page = open_page(served)
    stops = walk(page)
    assert [] == [stop for stop in stops if not (stop["ring"] and stop["seen"])]
    reached = [stop["what"] for stop in stops]
    assert "To the content" == reached[0]
    assert ["cluster", "range", "theme", "pause"] == [one for one in reached if one in {
        "cluster", "range", "theme", "pause"}]  # fmt: skip
    charts = page.locator(".stage:visible")
    assert charts.count() == sum("Arrow keys read the values" in one for one in reached)
    assert page.locator(".behind:visible > summary").count() == reached.count("Table")
    grids = [stop["grid"] for stop in stops if stop["grid"]]
    assert page.locator(".instance").count() == len(grids) == len(set(grids))


def test_arrow_keys_read_a_chart(open_page, served, hour):
    """Right and left go from minute to minute, the legend shows the values, a voice hears them."""
    title = "Utilization by cluster, percent"
    page = open_page(served)
    stage = widget(page, title).locator(".stage")
    stage.focus()
    last = legends(page)[title]
    page.keyboard.press("Home")
    expect(widget(page, title).locator(".when")).to_have_text("08:00 UTC")
    first = legends(page)[title]
    history = history_of(hour.rollups)
    found = history.read("Neuron/Cluster", "NeuronCoreUtilization", 60, 0, int(NOW_S))
    for cluster, shown in first:
        values = found[(("ClusterName", cluster),)]
        expected = values[min(values)].value("Average")
        assert expected == pytest.approx(float(shown), abs=0.006)
    spoken = f"08:00 UTC: {', '.join(f'{label} {value}' for label, value in first)}"
    expect(page.locator("#heard")).to_have_text(spoken)
    page.keyboard.press("ArrowRight")
    expect(widget(page, title).locator(".when")).to_have_text("08:01 UTC")
    assert widget(page, title).locator(".cursor").is_visible()
    page.keyboard.press("Escape")
    assert last == legends(page)[title]
    assert widget(page, title).locator(".cursor").is_hidden()


def test_arrow_keys_go_through_the_heat_map(open_page, served):
    """
    From cell to cell, to the corners, never out of it; one cell of a grid is in the order of Tab.
    """
    page = open_page(served)
    grid = page.get_by_role("grid").last
    name = grid.get_attribute("aria-label").removesuffix(": cores by minutes")
    cell(page, name).focus()
    for key, where in (
        ("ArrowRight", "core 0, 08:59"),
        ("ArrowLeft", "core 0, 08:58"),
        ("ArrowDown", "core 1, 08:58"),
        ("PageDown", "core 9, 08:58"),
        ("Home", "core 9, 08:00"),
        ("ArrowLeft", "core 9, 08:00"),
        ("Control+End", "core 31, 08:59"),
        ("ArrowDown", "core 31, 08:59"),
        ("Control+Home", "core 0, 08:00"),
        ("ArrowUp", "core 0, 08:00"),
    ):
        page.keyboard.press(key)
        focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert focused.startswith(f"{where} UTC: "), key
        assert focused == cell(page, name).get_attribute("aria-label")
        readout = grid.locator("xpath=ancestor::article").locator(".readout")
        assert focused == readout.inner_text()
        assert 1 == grid.locator('[tabindex="0"]').count()


def test_a_refresh_moves_neither_focus_nor_scroll(open_page, hour, repository):
    """
    New values arrive under a focused cell, an open table and a scrolled page, and nothing jumps.
    """
    history = history_of(hour.rollups)
    view = view_of(hour, repository, history=history)
    with PageServer(("127.0.0.1", 0), view) as server:
        page = open_page(server.url, clock=True)
        chart = widget(page, "Idle cores by cluster")
        chart.locator(".behind summary").click()
        cell(page, page.get_by_role("grid").first.get_attribute("aria-label").split(":")[0]).focus()
        page.keyboard.press("ArrowLeft")
        before = page.evaluate(FOCUSED), page.evaluate("[scrollX, scrollY]")
        assert before[1][1]
        history.put("Neuron/Cluster", "IdleCores", {"ClusterName": "research"}, NOW_S, [77])
        page.clock.run_for(6000)
        expect(chart.locator(".legend .value").first).to_have_text("77")
        expect(chart.locator("tbody tr").first.locator("td").first).to_have_text("77")
        assert before == (page.evaluate(FOCUSED), page.evaluate("[scrollX, scrollY]"))
        page.keyboard.press("ArrowLeft")
        assert ", 08:57 UTC" in page.evaluate(FOCUSED)["what"]


def test_pause_stops_the_refreshing(open_page, hour, repository):
    """What moves by itself can be stopped, and says that it is."""
    history = history_of(hour.rollups)
    with PageServer(("127.0.0.1", 0), view_of(hour, repository, history=history)) as server:
        page = open_page(server.url, clock=True)
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        pause = page.get_by_role("button", name="Pause")
        pause.press("Enter")
        assert "true" == pause.get_attribute("aria-pressed")
        page.clock.run_for(60_000)
        assert [] == asked
        assert page.locator("#freshness").inner_text().endswith(", paused")
        with page.expect_response("**/page.json*"):
            pause.press("Enter")


def test_the_cluster_is_chosen_by_keyboard_and_kept(open_page, served):
    """All graphs and the heat map are of the chosen one, and the address names it for next time."""
    page = open_page(served)
    page.get_by_role("combobox", name="Cluster").select_option("serving")
    expect(page.locator("#cores-title")).to_have_text("Cores of serving, minute by minute")
    expect(page.get_by_role("heading", name="Cluster serving")).to_be_visible()
    page.reload()
    expect(page.locator("#cores-title")).to_have_text("Cores of serving, minute by minute")
    assert "serving" == page.get_by_role("combobox", name="Cluster").input_value()
    page.locator("#now").get_by_role("link", name="research").press("Enter")
    expect(page.locator("#cores-title")).to_have_text("Cores of research, minute by minute")
