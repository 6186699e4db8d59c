"""
The pictures of the page in docs/images: 10 and 300 instances in Chromium, light and dark.

Run it by `python -m docs.generate.pictures`. The hour, the clock and the window are
fixed, so the same Chromium with the same fonts gives the same bytes.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect, sync_playwright

import proof  # noqa: F401 - it adds the folders of the functions
from local import REPOSITORY
from tests import hour
from tests.hour import rollups_of, timestamp_ms
from tests.neuron_emf.page.page_account import (
    PAGE_NOW_S,
    double_of,
    filled,
    ledger_of,
    served,
    view_of,
)

IMAGES = REPOSITORY / "docs" / "images"
PICTURE_SIZES = {"page": (1440, 900), "page-phone": (390, 1_400)}  # pixels of the window
FLEETS = {"": 10, "-300": 300}  # instances, by the end of the picture's name
MOST_BYTES = 250_000
CLUSTERS_OF_COPIES = (("research", "serving"), ("training-eu", "batch"), ("nlp-prod", "vision"))
TEAMS_OF_COPIES = 4


def main() -> None:
    """Take every picture."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        sys.exit("no Chromium is installed; on Debian: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        recorded = hour.make(Path(folder))
        browser = driver.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--force-color-profile=srgb"]
        )
        for ending, instances in FLEETS.items():
            with page_of(recorded, instances) as url:
                for scheme in ("light", "dark"):
                    for scene, size in PICTURE_SIZES.items():
                        path = IMAGES / f"{scene}{ending}-{scheme}.png"
                        take(browser, url, (size, scheme), path)
        browser.close()
    too_large = [path.name for path in IMAGES.glob("page*.png") if path.stat().st_size > MOST_BYTES]
    if too_large:
        sys.exit(f"over {MOST_BYTES:,} bytes: {', '.join(too_large)}")


def fleet_of(recorded, instances):
    """Return the recorded hour with that many instances; the further ones are renamed copies."""
    lines_of = defaultdict(list)
    for text in recorded.lines:
        lines_of[json.loads(text)["InstanceId"]].append(text)
    names = sorted(lines_of)
    lines = []
    for number in range(instances):
        copy, place = divmod(number, len(names))
        lines += [copy_of(text, copy) for text in lines_of[names[place]]]
    lines.sort(key=timestamp_ms)
    return SimpleNamespace(lines=lines, rollups=rollups_of(lines))


def copy_of(text, copy):
    """Return the line of another instance: its cluster, owners and team have other names."""
    if copy == 0:
        return text
    clusters = CLUSTERS_OF_COPIES[copy % len(CLUSTERS_OF_COPIES)]
    for name, other in zip(CLUSTERS_OF_COPIES[0], clusters, strict=True):
        text = text.replace(f'"ClusterName":"{name}"', f'"ClusterName":"{other}"')
    text = re.sub(r'"InstanceId":"i-0...', f'"InstanceId":"i-{copy:04x}', text)
    text = re.sub(r'"Boot":"....', f'"Boot":"{copy:04x}', text)
    text = re.sub(r'"Team":"(\w+)"', rf'"Team":"\1-{copy % TEAMS_OF_COPIES}"', text)
    return re.sub(r'"(Name|Owner|AssignedTo)":"([^"]+)"', rf'"\1":"\2-{copy}"', text)


@contextmanager
def page_of(recorded, instances):
    """Serve the page of that many instances, with the ledger of the recorded hour."""
    with pytest.MonkeyPatch.context() as patch, double_of(patch) as double:
        patch.setattr("neuron_emf.page.ranges.stack_ledger", ledger_of(recorded))
        filled(double, fleet_of(recorded, instances))
        with served(view_of()) as server:
            yield server.url


def take(browser, url, look, path):
    """One picture of the first screen."""
    (width, height), scheme = look
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme=scheme, timezone_id="UTC"
    )
    page.clock.set_fixed_time(PAGE_NOW_S * 1000)
    page.goto(url)
    page.wait_for_selector("html[data-ready]")
    expect(page.locator(".skeleton")).to_have_count(0)
    page.wait_for_timeout(500)  # the browser draws what was asked for
    page.screenshot(path=path, animations="disabled")
    page.close()


if __name__ == "__main__":
    main()
