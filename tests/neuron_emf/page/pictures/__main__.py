"""
The pictures of the page in docs/images: the recorded hour in Chromium, light and dark.

`make screenshots` runs it. The hour, the clock and the window are fixed, so the
same Chromium with the same fonts gives the same bytes.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

REPOSITORY = Path(__file__).resolve().parents[4]
if str(REPOSITORY / "lambda") not in sys.path:
    sys.path.insert(0, str(REPOSITORY / "lambda"))  # where the functions live

from tests.local.page.recording import NOW_S, view_of  # noqa: E402

from local.page import PageServer  # noqa: E402  # once the path is known
from tests import hour  # noqa: E402

IMAGES = REPOSITORY / "docs" / "images"
WIDTH, HEIGHT = 1280, 900
SCENES = {"page": "body", "page-cores": "#cores"}  # what stands at the top of a picture
MOST_BYTES = 250_000


def main() -> int:
    """Take every picture; the exit code."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        print("no Chromium is installed; on Debian: apt-get install chromium", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        view = view_of(hour.make(Path(folder)), REPOSITORY, fresh_s=1e9)
        browser = driver.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--force-color-profile=srgb"]
        )
        with PageServer(("127.0.0.1", 0), view) as server:
            for scheme in ("light", "dark"):
                for name, at in SCENES.items():
                    path = IMAGES / f"{name}-{scheme}.png"
                    take(browser, server.url, scheme, at, path)
                    print(f"{path.relative_to(REPOSITORY)}: {path.stat().st_size:,} bytes")
        browser.close()
    too_large = [one.name for one in IMAGES.glob("page*.png") if one.stat().st_size > MOST_BYTES]
    if too_large:
        print(f"over {MOST_BYTES:,} bytes: {', '.join(too_large)}", file=sys.stderr)
    return int(bool(too_large))


def take(browser, url, scheme, at, path):
    """One picture of what stands below *at*."""
    page = browser.new_page(
        viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme, timezone_id="UTC"
    )
    page.clock.set_fixed_time(NOW_S * 1000)
    page.goto(url)
    page.wait_for_selector("html[data-ready]")
    page.locator(at).evaluate("(one) => one.scrollIntoView()")
    page.locator(".stage .main-svg").first.wait_for(state="attached")
    page.wait_for_timeout(500)  # the browser draws what was asked for
    page.screenshot(path=path, animations="disabled")
    page.close()


if __name__ == "__main__":
    sys.exit(main())
