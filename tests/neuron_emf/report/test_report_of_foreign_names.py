"""Names that mean something to a terminal, a browser or a spreadsheet do nothing on any face."""

from __future__ import annotations

import json

import pytest
from axe_playwright_python.sync_playwright import Axe

from neuron_emf.report import exports
from neuron_wire.owners import Owner
from proof.factories.records import message, record
from tests.neuron_emf.report.reports import (
    EVIL,
    Page,
    evil_report,
    full_report,
    printed,
    report_of,
    spreadsheet_of,
    then_of_lines,
)

A4_INSIDE_MARGINS = 680  # CSS pixels: 210 mm less twice 15, at 96 to the inch


def test_a_name_commands_nothing():
    """No terminal, no spreadsheet, no element of the page; programs get it as it is."""
    text = printed(evil_report())
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold red]x[/]" in text
    for by in ("owner", "cluster", "instance"):
        for row in spreadsheet_of(evil_report(by)):
            assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in row.values())
    page = Page(exports.html(evil_report()))
    assert {"script", "img", "a"}.isdisjoint(page.tags)
    assert not {name for name, _ in page.attributes if name.startswith("on")}
    text = exports.json_text(evil_report())
    assert text.isascii()
    assert {*EVIL} == {row["owner"] for row in json.loads(text)["rows"]}


@pytest.fixture
def shown(chromium, tmp_path):
    """Show an idle report; whatever the page asks for or complains of is an error."""
    opened, said = [], []

    def show(report, *, width=1100, scheme="light", media="screen"):
        path = tmp_path / "idle.html"
        path.write_text(exports.html(report), "utf-8")
        one = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        for event in ("console", "pageerror", "dialog"):
            one.on(event, lambda message: said.append(str(message)))
        one.on("request", lambda request: said.append(request.url))
        one.emulate_media(media=media, color_scheme=scheme)
        one.goto(path.as_uri())
        assert [path.as_uri()] == said
        opened.append(one)
        return one

    yield show
    for one in opened:
        one.close()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1100, "light"), (360, "dark")])
@pytest.mark.parametrize("report", [full_report, evil_report])
def test_the_page_keeps_nobody_out(shown, report, width, scheme):
    """axe-core finds nothing, contrasts included; a foreign name loads and runs nothing."""
    page = shown(report(), width=width, scheme=scheme)
    violations = Axe().run(page).response["violations"]
    assert [] == [(one["id"], one["nodes"][0]["html"]) for one in violations]
    assert 0 == page.evaluate("document.images.length + document.scripts.length")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "media"), [(360, "screen"), (A4_INSIDE_MARGINS, "print")])
def test_the_page_fits(shown, width, media):
    """Nothing is beside the screen or the paper; wide tables scroll by themselves on a screen."""
    long = [
        message(
            record(
                instance_id=f"i-{n:017x}", cluster=f"a-cluster-with-a-long-name-{n}",
                owners=(Owner("0-1", "search/ranker-0/server", executions=10**10),),
            )
        )
        for n in range(3)
    ]  # fmt: skip
    page = shown(report_of(then_of_lines(long)), width=width, media=media)
    assert width >= page.evaluate("document.documentElement.scrollWidth")
    if media == "print":
        widths = page.evaluate("[...document.querySelectorAll('table')].map(t => t.offsetWidth)")
        assert width >= max(widths)
