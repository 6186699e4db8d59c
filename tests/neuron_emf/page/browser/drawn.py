"""What a page shows, read from its elements."""

from __future__ import annotations

from playwright.sync_api import expect

TABLES = """
() => Object.fromEntries([...document.querySelectorAll('.widget.metric')].map((widget) => {
  const heads = [...widget.querySelectorAll('.behind thead th')].slice(1);
  const rows = [...widget.querySelectorAll('.behind tbody tr')].map((row) => [
    row.cells[0].textContent,
    [...row.cells].slice(1).map((cell) => cell.querySelector('data')?.value ?? null),
  ]);
  const title = widget.querySelector('h3').textContent;
  return [title, { heads: heads.map((one) => one.textContent), rows }];
}))
"""
TRACES = """
() => Object.fromEntries([...document.querySelectorAll('.widget.metric')].map((widget) => [
  widget.querySelector('h3').textContent,
  (widget.querySelector('.drawing').data ?? []).map((one) => [[...one.x], [...one.y]]),
]))
"""
LEGENDS = """
() => Object.fromEntries([...document.querySelectorAll('.widget.metric')].map((widget) => [
  widget.querySelector('h3').textContent,
  [...widget.querySelectorAll('.legend li')].map((one) => [
    one.querySelector('.label').textContent, one.querySelector('.value').textContent]),
]))
"""


def widget(page, title):
    """The widget of this title."""
    return page.locator(".widget").filter(has=page.get_by_role("heading", name=title, exact=True))


def tables(page):
    """By widget, the heads and the rows of the table behind its chart, every one opened."""
    page.evaluate("document.querySelectorAll('.behind').forEach((one) => { one.open = true; })")
    expect(page.locator(".behind:not([hidden]):not(:has(tbody))")).to_have_count(0)
    return page.evaluate(TABLES)


def traces(page):
    """By widget, what Plotly was given, after every chart has been in sight."""
    tall = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": 1440, "height": tall})
    expect(page.locator(".stage:not([hidden]):not(:has(.main-svg))")).to_have_count(0)
    return page.evaluate(TRACES)


def legends(page):
    """By widget, the label and the value of each series."""
    return page.evaluate(LEGENDS)


def cell(page, instance_id):
    """The one cell of an instance's grid that is in the order of Tab."""
    grid = page.get_by_role("grid", name=f"{instance_id}: cores by minutes")
    return grid.locator('[role="gridcell"][tabindex="0"]')
