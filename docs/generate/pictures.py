"""
The pictures of the page in docs/images: the recorded hour in Chromium, light and dark.

Run it by `python -m docs.generate.pictures`. The hour, the clock and the window are
fixed, so the same Chromium with the same fonts gives the same bytes.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

import proof  # noqa: F401 - it adds the folders of the functions
from local import REPOSITORY
from tests import hour
from tests.neuron_emf.page.page_account import (
    PAGE_NOW_S,
    double_of,
    filled,
    served,
    view_of,
)

IMAGES = REPOSITORY / "docs" / "images"
PICTURE_SCENES = {
    "page": (1440, 900),
    "page-phone": (390, 1_400),
}  # each with the size of its window
MOST_BYTES = 250_000


def main() -> None:
    """Take every picture."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        sys.exit("no Chromium is installed; on Debian: apt-get install chromium")
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        double_of(patch) as double,
        sync_playwright() as driver,
    ):
        filled(double, hour.make(Path(folder)))
        browser = driver.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--force-color-profile=srgb"]
        )
        with served(view_of()) as server:
            for scheme in ("light", "dark"):
                for scene in PICTURE_SCENES:
                    path = IMAGES / f"{scene}-{scheme}.png"
                    take(browser, server.url, (scene, scheme), path)
        browser.close()
    too_large = [path.name for path in IMAGES.glob("page*.png") if path.stat().st_size > MOST_BYTES]
    if too_large:
        sys.exit(f"over {MOST_BYTES:,} bytes: {', '.join(too_large)}")


def take(browser, url, what, path):
    """One picture of the first screen."""
    scene, scheme = what
    page = browser.new_page(
        viewport=dict(zip(("width", "height"), PICTURE_SCENES[scene], strict=True)),
        color_scheme=scheme,
        timezone_id="UTC",
    )
    page.clock.set_fixed_time(PAGE_NOW_S * 1000)
    page.goto(url)
    page.wait_for_selector("html[data-ready]")
    page.wait_for_timeout(500)  # the browser draws what was asked for
    page.screenshot(path=path, animations="disabled")
    page.close()


if __name__ == "__main__":
    main()
