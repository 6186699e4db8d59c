"""The page is read by everybody: axe finds nothing, names are text, trouble is shown."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

DATA_ROUTE = "**/*.json*"
pytestmark = [pytest.mark.slow]

GROUND = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(243, 245, 247)", "rgb(14, 18, 22)"
OPEN = "document.querySelectorAll('details').forEach((part) => { part.open = true; })"


def axe_violations(page):
    """What axe says is wrong, and where."""
    answer = Axe().run(page).response
    return [
        f"{violation['impact']} {violation['id']}: {node['html'][:120]} {node['failureSummary']}"
        for violation in answer["violations"]
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 1440), ("dark", 390)])
def test_axe_finds_nothing(open_page, address, scheme, width):
    """With every part open and an instance's hour; contrast is among its rules."""
    page = open_page(address, width=width, color_scheme=scheme)
    assert {"light": LIGHT, "dark": DARK}[scheme] == page.evaluate(GROUND)
    page.get_by_role("combobox", name="Time").select_option("Last 15 min")
    page.evaluate(OPEN)
    page.locator(".rows .instance").first.press("Enter")
    page.get_by_role("grid").wait_for(state="attached")
    page.locator(".queries li").first.wait_for()
    page.locator("svg.drawing").first.wait_for()
    assert [] == axe_violations(page)


def test_the_theme_is_chosen_and_kept(open_page, address):
    """Dark on a light system, also after the page is loaded again."""
    page = open_page(address, color_scheme="light")
    page.get_by_role("combobox", name="Theme").select_option("Dark")
    assert DARK == page.evaluate(GROUND)
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert DARK == page.evaluate(GROUND)
    page.get_by_role("combobox", name="Theme").select_option("System")
    assert LIGHT == page.evaluate(GROUND)


def test_a_phone_shows_it_in_under_3000_px(open_page, address):
    """Graphs, cores and pipeline are closed; every amount of money has its unit."""
    page = open_page(address, width=390)
    assert page.evaluate("document.documentElement.scrollHeight") < 3000
    after = "(cell) => getComputedStyle(cell, '::after').content"
    assert '" USD/h"' == page.locator(".owners .money").first.evaluate(after)


def test_axe_finds_nothing_before_anything_is_known(open_page, address, held):
    """What is grey is still read by everybody."""
    page = open_page(address, ready=False, routes=[(DATA_ROUTE, held.append)])
    expect(page.locator("#idle")).to_have_text("Not known yet")
    assert [] == axe_violations(page)
    page.unroute_all(behavior="ignoreErrors")


@pytest.mark.parametrize("width", [390, 800, 1440])
def test_nothing_is_beside_the_screen(open_page, address, width):
    """At any width the page scrolls down only, also with every part open."""
    page = open_page(address, width=width)
    assert width >= page.evaluate("document.documentElement.scrollWidth")
    page.evaluate(OPEN)
    page.locator("svg.drawing").first.wait_for()
    page.locator(".rows .instance").first.press("Enter")
    page.get_by_role("grid").wait_for(state="attached")
    assert width >= page.evaluate("document.documentElement.scrollWidth")


EVIL_MARKUP = "<img src=x onerror=owned=1><b>[x](https://evil.example)**b**`c`"
HIDDEN_LETTERS = "\u202e<script>owned=1</script>\x1b[31m\u200b"
SHOWN_LETTERS = "\\u{202e}<script>owned=1</script>\\u{1b}[31m\\u{200b}"


def renamed(name):
    """Answers with *name* wherever somebody else's text stands."""

    def change(value):
        if isinstance(value, list):
            return [change(member) for member in value]
        if isinstance(value, dict):
            return {key: name if key in {
                "owner", "team", "cluster", "instance", "name", "label", "Name", "Tag", "text",
                "first_sentence", "subject", "description"} and member else change(member)
                for key, member in value.items()}  # fmt: skip
        return value

    def fulfill(route):
        answer = route.fetch()
        document = change(answer.json())
        if "clusters" in document:
            document |= {"cluster": ""}
        route.fulfill(response=answer, json=document)

    return fulfill


@pytest.mark.parametrize(
    ("name", "shown"), [(EVIL_MARKUP, EVIL_MARKUP), (HIDDEN_LETTERS, SHOWN_LETTERS)]
)
def test_names_are_text_wherever_they_are_shown(open_page, address, name, shown):
    """
    Nothing of them becomes an element or runs; characters that turn the direction, clear a
    terminal or have no width are escapes.
    """
    page = open_page(address, routes=[("**/*.json*", renamed(name))])
    expect(page.locator(".owners tbody th").first).to_have_text(f"{shown} ({shown})"
        if page.locator(".team").count() else shown)  # fmt: skip
    expect(page.locator(".rows .instance bdi").first).to_have_text(shown)
    expect(page.locator(".legend bdi").first).to_have_text(shown)
    assert shown in page.locator(".alarm summary").first.inner_text()
    assert shown in page.locator("#cluster").inner_text()
    page.locator(".rows .instance").first.press("Enter")
    expect(page.locator(".hour h3 bdi")).to_have_text(shown)
    assert 0 == page.locator("main img, main script, main b, main a:not(.leads a)").count()
    assert page.evaluate("typeof owned") == "undefined"


def test_a_command_that_is_gone_is_said_and_its_figures_stay(open_page, address, watched):
    """What is shown stays, with its time, and goes on when there is an answer again."""
    page = open_page(address)
    page.route("**/*.json*", lambda asked: asked.abort("connectionrefused"))
    page.clock.run_for(11_000)
    trouble = page.get_by_role("alert")
    expect(trouble).to_contain_text("does not answer. Is it still running?")
    expect(trouble).to_contain_text("What is shown is of 09:02:30 UTC.")
    expect(page.locator("#idle")).to_have_text("60 of 134 (45 %)")
    expect(page.locator("#status-alarms")).to_have_class("unknown")
    page.unroute("**/*.json*")
    page.clock.run_for(11_000)
    expect(trouble).to_be_hidden()
    expect(page.locator("#status-alarms")).to_have_class("bad")
    watched[:] = [text for text in watched if "ERR_CONNECTION_REFUSED" not in text]
