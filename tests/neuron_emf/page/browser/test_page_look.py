"""The page is read by everybody: axe finds nothing, light and dark, wide and narrow."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from tests.local.page.browser.drawn import cell, tables, traces

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

GROUND = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(243, 245, 247)", "rgb(14, 18, 22)"


def found(page):
    """What axe says is wrong, and where."""
    answer = Axe().run(page).response
    return [
        f"{one['impact']} {one['id']}: {node['html'][:120]} {node['failureSummary']}"
        for one in answer["violations"]
        for node in one["nodes"]
    ]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 360)])
def test_axe_finds_nothing(open_page, served, scheme, width):
    """With every table open, a cell focused and every chart drawn; contrast is among its rules."""
    page = open_page(served, width=width, color_scheme=scheme)
    assert {"light": LIGHT, "dark": DARK}[scheme] == page.evaluate(GROUND)
    page.get_by_role("combobox", name="Time").select_option("15")  # axe asks each cell of a table
    tables(page)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    cell(page, page.get_by_role("grid").first.get_attribute("aria-label").split(":")[0]).focus()
    assert [] == found(page)


def test_the_theme_is_chosen_and_kept(open_page, served):
    """Dark on a light system, also after the page is loaded again; charts are drawn anew."""
    page = open_page(served, color_scheme="light")
    ink = "document.querySelector('.drawing .xtick text').style.fill"
    before = page.evaluate(ink)
    page.get_by_role("combobox", name="Theme").select_option("dark")
    assert DARK == page.evaluate(GROUND)
    assert before != page.evaluate(ink)
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert DARK == page.evaluate(GROUND)
    assert "dark" == page.get_by_role("combobox", name="Theme").input_value()
    page.get_by_role("combobox", name="Theme").select_option("")
    assert LIGHT == page.evaluate(GROUND)


@pytest.mark.parametrize("width", [360, 800, 1440])
def test_nothing_is_cut_off(open_page, served, width):
    """
    At any width the page scrolls down only, and charts and heat maps keep within their frames.
    """
    page = open_page(served, width=width)
    assert width >= page.evaluate("document.documentElement.scrollWidth")
    outside = page.evaluate("""() => {
      const right = (one) => one.getBoundingClientRect().right;
      return [...document.querySelectorAll('.stage:not([hidden]), .map canvas, .widget')]
        .filter((one) => right(one) > right(one.closest('section')) + 1).length;
    }""")
    assert 0 == outside


def test_nothing_moves(open_page, served):
    """No animation, no transition, no smooth scrolling, for nobody."""
    page = open_page(served)
    traces(page)
    page.locator("#jumps a").last.click()
    assert 0 == page.evaluate("document.getAnimations().length")
    moving = page.evaluate("""() => [...document.querySelectorAll('*')].map(getComputedStyle)
      .filter((one) => one.scrollBehavior === 'smooth' || one.animationName !== 'none'
        || one.transitionDuration !== '0s').length""")
    assert 0 == moving


def test_series_differ_without_colour(open_page, served):
    """Two series of one chart never share both a dash and a mark, nor a hatching."""
    page = open_page(served)
    traces(page)
    looks = page.evaluate("""() => [...document.querySelectorAll('.drawing')]
      .filter((one) => one.data)
      .map((one) => one.data.map((trace) => trace.type === 'bar'
        ? trace.marker.pattern.shape : `${trace.line.dash} ${trace.marker.symbol}`))""")
    assert 15 < len(looks)
    for one in looks:
        assert len(one) == len(set(one))
