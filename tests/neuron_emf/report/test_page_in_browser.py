"""
The page of an idle report in a real Chromium: for everybody, in the light, in the dark, on paper.
"""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from neuron_emf.report import page
from tests.neuron_emf.report.minutes import minute
from tests.neuron_emf.report.reports import evil_report, full_report, report_of

pytestmark = [pytest.mark.slow]

A4_INSIDE_MARGINS = 680  # CSS pixels: 210 mm less twice 15, at 96 to the inch


@pytest.fixture
def shown(chromium, tmp_path):
    """Show an idle report; whatever the page asks for or complains of is an error."""
    opened, said = [], []

    def show(found, *, width=1100, scheme="light", media="screen"):
        path = tmp_path / "idle.html"
        path.write_text(page.text(found), "utf-8")
        one = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        one.on("console", lambda message: said.append(message.text))
        one.on("pageerror", lambda error: said.append(str(error)))
        one.on("dialog", lambda dialog: said.append(dialog.message))
        one.on("request", lambda request: said.append(request.url))
        one.emulate_media(media=media, color_scheme=scheme)
        one.goto(path.as_uri())
        assert [path.as_uri()] == said
        opened.append(one)
        return one

    yield show
    for one in opened:
        one.close()
    assert 1 >= len(said)


@pytest.mark.parametrize(("width", "scheme"), [(1100, "light"), (360, "dark")])
def test_nobody_is_kept_out(shown, width, scheme):
    """axe-core finds nothing, contrasts included, wide and narrow, light and dark."""
    found = Axe().run(shown(full_report(), width=width, scheme=scheme))
    assert [] == [(one["id"], one["nodes"][0]["html"]) for one in found.response["violations"]]


@pytest.mark.parametrize(("width", "media"), [(360, "screen"), (A4_INSIDE_MARGINS, "print")])
def test_the_page_fits(shown, width, media):
    """
    Nothing of it is beside the screen or the paper; wide tables scroll by themselves on a screen.
    """
    long = [
        minute(0, "a", instance=f"i-{n:017x}", cluster=f"a-cluster-with-a-long-name-{n}")
        for n in range(3)
    ]
    one = shown(report_of(*long), width=width, media=media)
    assert width >= one.evaluate("document.documentElement.scrollWidth")
    if media == "print":
        widths = one.evaluate("[...document.querySelectorAll('table')].map(t => t.offsetWidth)")
        assert width >= max(widths)


def test_paper_is_white_whatever_the_screen_is(shown):
    """A dark desktop prints dark ink."""
    one = shown(full_report(), scheme="dark", media="print")
    colors = "getComputedStyle(document.body)"
    assert "rgb(255, 255, 255)" == one.evaluate(f"{colors}.backgroundColor")
    assert "rgb(0, 0, 0)" == one.evaluate(f"{colors}.color")


def test_a_dark_screen_gets_a_dark_page(shown):
    """The page follows the reader's choice."""
    one = shown(full_report(), scheme="dark")
    assert "rgb(20, 23, 26)" == one.evaluate("getComputedStyle(document.body).backgroundColor")


def test_wide_tables_are_reached_by_the_keyboard(shown):
    """What scrolls can be focused, and says what it is."""
    one = shown(full_report(), width=360)
    labels = []
    for _ in range(5):
        one.keyboard.press("Tab")
        labels.append(one.evaluate("document.activeElement.getAttribute('aria-label')"))
    assert "Clusters, the most expensive idle time first" == labels[0]
    assert 5 == len(set(labels))


def test_a_foreign_name_is_shown_and_does_nothing(shown):
    """An image that is none loads nothing and runs nothing; see `shown`."""
    one = shown(evil_report())
    assert '<img src=x onerror="alert(1)">' in one.inner_text("main")
    assert 0 == one.evaluate("document.images.length + document.scripts.length")
