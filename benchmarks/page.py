"""
The page in Chromium: its first screen after the data arrived, and its heap over an hour of polls.

Run `python -m benchmarks.page`. The server is ours on a double of an account; the server's own
time is not in the figures.
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import pytest
from playwright.sync_api import sync_playwright

import proof  # noqa: F401 - it adds the folders of the functions
from benchmarks import fleet_lines
from benchmarks.figures import HEADS, Figure, terminal
from neuron_wire.names import HOUR_MINUTES, MINUTE_MS
from tests import hour
from tests.neuron_emf.page.page_account import PAGE_NOW_S, double_of, filled, served, view_of

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST_SCREEN_LIMITS_MS: Final = {10: 1_000.0, 1_000: 2_000.0}
HEAP_LIMIT_PERCENT: Final = 10.0
PAGE_CLUSTERS: Final = 6
PAGE_MINUTES: Final = 15
PAGE_LOADS: Final = 5  # the fastest counts, as for the functions
POLL_MS: Final = 10_000
POLLS: Final = HOUR_MINUTES * MINUTE_MS // POLL_MS
WARM_POLLS: Final = POLLS // 6
CHROMIUM_ARGUMENTS: Final = ("--no-sandbox", "--js-flags=--expose-gc")

# From the last of the first screen's answers to the frame that shows them.
FIRST_SCREEN: Final = """
() => new Promise((resolve) => {
  const isShown = () => document.documentElement.dataset.ready && !document.querySelector(
    ".cards .skeleton, .page-main .skeleton");
  const look = () => {
    if (!isShown()) { requestAnimationFrame(look); return; }
    requestAnimationFrame(() => setTimeout(() => {
      const answers = performance.getEntriesByType("resource").filter(
        ({ name }) => /(now|alarms|amounts|charts|cores)\\.json/.test(name));
      resolve(performance.now() - Math.max(...answers.map(({ responseEnd }) => responseEnd)));
    }));
  };
  look();
})
"""


def figures() -> list[Figure]:
    """Return the page's figures; empty without a Chromium, which standard error names."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        sys.stderr.write("The page is not measured: no Chromium is installed.\n")
        return []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=[*CHROMIUM_ARGUMENTS])
        rows = []
        for instances, limit_ms in FIRST_SCREEN_LIMITS_MS.items():
            with page_of(instances) as url:
                rows.append(first_screen(browser, url, instances, limit_ms))
                if instances == max(FIRST_SCREEN_LIMITS_MS):
                    rows.append(heap_growth(browser, url))
        browser.close()
    return rows


@contextmanager
def page_of(instances: int) -> Iterator[str]:
    """Serve the page of a fleet of *instances* in its last minutes."""
    records = list(fleet_lines.records(instances, PAGE_CLUSTERS))
    end_ms = round(PAGE_NOW_S * 1000) // MINUTE_MS * MINUTE_MS - 2 * MINUTE_MS
    lines = [
        fleet_lines.line_of(dataclasses.replace(record, minute_ms=minute_ms))
        for minute_ms in range(end_ms - PAGE_MINUTES * MINUTE_MS, end_ms, MINUTE_MS)
        for record in records
    ]
    with pytest.MonkeyPatch.context() as patch, double_of(patch) as double:
        fleet = SimpleNamespace(lines=lines, rollups=hour.rollups_of(lines))
        filled(double, fleet)  # type: ignore[no-untyped-call]  # the double of the tests
        with served(view_of()) as server:  # type: ignore[no-untyped-call]
            yield server.url


def first_screen(browser: Any, url: str, instances: int, limit_ms: float) -> Figure:  # noqa: ANN401  # playwright's browser
    """Measure the fastest of several loads after a first one, which fills the server's memory."""
    times_ms = []
    for _ in range(PAGE_LOADS + 1):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(url)
        times_ms.append(page.evaluate(FIRST_SCREEN))
        page.close()
    measured_ms = times_ms[1:]
    return Figure(
        f"first screen of the page after its data, {instances:,} instances",
        round(min(measured_ms)),
        "ms",
        limit_ms,
        f"at most {max(measured_ms):.0f} ms in {PAGE_LOADS} loads",
    )


def heap_growth(browser: Any, url: str) -> Figure:  # noqa: ANN401  # playwright's browser
    """Measure how much an hour of polls adds to the heap, after its first ten minutes."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.clock.install(time=PAGE_NOW_S)
    page.goto(url)
    page.wait_for_selector("html[data-ready]")
    session = page.context.new_cdp_session(page)
    sizes = []
    for poll in range(WARM_POLLS + POLLS):
        page.clock.run_for(POLL_MS)
        page.wait_for_load_state("networkidle")
        if poll + 1 in (WARM_POLLS, WARM_POLLS + POLLS):
            session.send("HeapProfiler.collectGarbage")
            sizes.append(session.send("Runtime.getHeapUsage")["usedSize"] / 1e6)
    page.close()
    before_mb, after_mb = sizes
    return Figure(
        "heap of the page after an hour of polls, 1,000 instances",
        round(max(0.0, 100 * (after_mb / before_mb - 1)), 1),
        "% more",
        HEAP_LIMIT_PERCENT,
        f"{before_mb:.1f} MB, then {after_mb:.1f} MB",
    )


if __name__ == "__main__":
    print(terminal(HEADS, [figure.row() for figure in figures()]))
