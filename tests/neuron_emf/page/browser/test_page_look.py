"""The page can be read and used by everyone: axe, widths, sizes, keys, foreign names, trouble."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

DATA_ROUTE = "**/*.json*"
pytestmark = [pytest.mark.slow]

OPEN = "document.querySelectorAll('details').forEach((part) => { part.open = true; })"
ROW = "open=row:research/unit:jupyter-ada"
INSTANCE = "i-0fb9f00b0d1b3be5e"
LOADED = ".skeleton"
CONTROLS = "a, button, input, select, summary, [role=option]"
SMALL_TARGETS = """
(controls) => [...document.querySelectorAll(controls)]
  .filter((target) => target.checkVisibility() && !target.closest("p"))
  .map((target) => target.closest("label") ?? target)
  .map((target) => [target.getBoundingClientRect(), target.outerHTML.slice(0, 120)])
  .filter(([box]) => box.width < 24 || box.height < 24)
  .map(([box, text]) => `${box.width.toFixed(1)} x ${box.height.toFixed(1)}: ${text}`)
"""
FOCUS = """
() => {
  const element = document.activeElement;
  const shown = element.matches(".choice input") ? element.nextElementSibling : element;
  element.dataset.stop ??= String(document.querySelectorAll("[data-stop]").length);
  const isShown = getComputedStyle(shown).outlineStyle !== "none";
  return { stop: element.dataset.stop, isShown, text: element.outerHTML.slice(0, 160) };
}
"""


def axe_violations(page):
    """Return the violations that axe finds, and their places."""
    answer = Axe().run(page).response
    return [
        f"{violation['impact']} {violation['id']}: {node['html'][:120]} {node['failureSummary']}"
        for violation in answer["violations"]
        for node in violation["nodes"]
    ]


def loaded(page):
    """Wait until no part is loading."""
    expect(page.locator(LOADED)).to_have_count(0)
    return page


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_with_everything_open(open_page, address, scheme, width):
    """axe finds no violation, also of contrast, with a row, an alarm and an instance open."""
    fragment = f"#{ROW}&instance={INSTANCE}&range=7d&"
    page = loaded(open_page(address.replace("#", fragment), width=width, color_scheme=scheme))
    page.evaluate(OPEN)
    assert [] == axe_violations(page)
    page.locator(".alarms-head").first.press("Enter")
    page.evaluate(OPEN)
    assert [] == axe_violations(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_before_anything_is_known(open_page, address, held, scheme):
    """Before data arrives, placeholders show no number and nothing green."""
    routes = [(DATA_ROUTE, held.append)]
    page = open_page(address, ready=False, routes=routes, color_scheme=scheme)
    expect(page.locator(LOADED).first).to_be_visible()
    assert [] == axe_violations(page)
    assert 0 == page.locator(".is-good").count()
    assert not re.search(r"\d", page.locator(".cards").inner_text())


@pytest.mark.parametrize("kind", ["token", "denied"])
def test_axe_finds_nothing_in_trouble(open_page, address, watched, kind):
    """The page has no axe violation if it or any part shows an error."""
    refusal = {"error": "It was refused.", "kind": kind, "action": "logs:FilterLogEvents"}
    routes = [(DATA_ROUTE, lambda route: route.fulfill(status=503, json=refusal))]
    page = loaded(open_page(address, routes=routes))
    assert [] == axe_violations(page)
    watched[:] = [text for text in watched if "503" not in text]


@pytest.mark.parametrize("width", [390, 800, 1440])
def test_nothing_is_outside_the_screen(open_page, address, width):
    """At any width the page scrolls only vertically, also with every part open."""
    fragment = f"#{ROW}&instance={INSTANCE}&"
    page = loaded(open_page(address.replace("#", fragment), width=width))
    page.evaluate(OPEN)
    assert width >= page.evaluate("document.documentElement.scrollWidth")
    widths = "({ scrollWidth, clientWidth }) => scrollWidth - clientWidth"
    assert 0 == page.locator(".breakdown .table-wrap").evaluate(widths)


def test_a_phone_shows_the_first_alarm_at_once_and_targets_are_large(open_page, address):
    """390 by 844 pixels show the first alarm; each target is at least 24 pixels high and wide."""
    fragment = f"#{ROW}&instance={INSTANCE}&"
    page = loaded(open_page(address.replace("#", fragment), width=390, height=844))
    box = page.locator(".alarms-line").first.bounding_box()
    assert box["y"] + box["height"] <= 844
    page.evaluate(OPEN)
    assert [] == page.evaluate(SMALL_TARGETS, CONTROLS)


def test_keys_alone_reach_everything_and_show_where_they_are(open_page, address):
    """Tab passes alarms, rows, cores and charts, each with a frame; Enter opens what it is on."""
    page = loaded(open_page(address))
    texts = {}
    while True:
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        if focus["stop"] in texts or focus["text"].startswith("<body"):
            break
        assert focus["isShown"], focus["text"]
        texts[focus["stop"]] = focus["text"]
    passed = " ".join(texts.values())
    for name in ("search-button", "alarms-head", "breakdown-name", "breakdown-sort", "term"):
        assert f'class="{name}' in passed, name
    for target in (".alarms-head", ".breakdown-name"):
        page.locator(target).first.press("Enter")
        expect(page.locator(target).first).to_have_attribute("aria-expanded", "true")


EVIL_MARKUP = "<img src=x onerror=owned=1><b>[x](https://evil.example)**b**`c`"
HIDDEN_LETTERS = "\u202e<script>owned=1</script>\x1b[31m\u200b"
SHOWN_LETTERS = "\\u{202e}<script>owned=1</script>\\u{1b}[31m\\u{200b}"
FOREIGN = {
    "owner",
    "team",
    "cluster",
    "instance",
    "name",
    "label",
    "Name",
    "Tag",
    "text",
    "purpose",
    "subject",
    "description",
    "instance_type",
    "reason",
    "cannot_wait",
    "uses",
    "owners",
    "teams",
    "marks",
    "Marks",
}


def renamed(name):
    """Return answers with *name* in the place of every foreign text."""

    def change(value, *, is_foreign=False):
        if isinstance(value, list):
            return [change(member, is_foreign=is_foreign) for member in value]
        if isinstance(value, dict):
            return {key: change(member, is_foreign=key in FOREIGN) for key, member in value.items()}
        return name if is_foreign and isinstance(value, str) and value else value

    def fulfill(route):
        answer = route.fetch()
        route.fulfill(response=answer, json=change(answer.json()))

    return fulfill


@pytest.mark.parametrize(
    ("name", "shown"), [(EVIL_MARKUP, EVIL_MARKUP), (HIDDEN_LETTERS, SHOWN_LETTERS)]
)
def test_names_are_text_wherever_they_are_shown(open_page, address, watched, name, shown):
    """
    No part of a name becomes an element or runs; characters that reverse the direction, clear a
    terminal or have no width are escaped.
    """
    routes = [(DATA_ROUTE, renamed(name))]
    page = open_page(address.replace("#", f"#instance={INSTANCE}&"), routes=routes)
    loaded(page)
    for target in (".alarms-sentence", ".breakdown-name", ".alarms-subject"):
        expect(page.locator(target).first).to_contain_text(shown)
    page.locator(".alarms-head").first.press("Enter")
    page.locator(".breakdown-name").first.press("Enter")
    loaded(page)
    text = page.locator("main").inner_text()
    assert name in (shown, EVIL_MARKUP) or name not in text
    assert 0 == page.locator("main img, main script, main b").count()
    assert page.evaluate("typeof owned") == "undefined"
    watched[:] = [text for text in watched if "404" not in text]  # a row of that name
