"""
Real Chromium on the page of the recorded hour.

The browser is the machine's own: nothing is downloaded. Every page that a test
opens is watched: an error on its console, a request to another host, or a
violation of its Content-Security-Policy fails the test.
"""

from __future__ import annotations

import urllib.parse
from contextlib import ExitStack
from functools import partial

import pytest
from tests.local.page.recording import view_of

from local.page import PageServer

PATIENCE_MS = 30_000


@pytest.fixture(scope="module")
def served(hour, repository):
    """The address of the page of the hour, which does not change."""
    with PageServer(("127.0.0.1", 0), view_of(hour, repository, fresh_s=1e9)) as server:
        yield server.url


@pytest.fixture
def watched():
    """What pages that are open said and asked for; a test empties what it expects."""
    seen = []
    yield seen
    assert [] == seen


@pytest.fixture
def open_page(chromium, watched):
    """Open an address in a browser of its own and wait until its figures are there."""
    with ExitStack() as contexts:
        yield partial(_opened, chromium, contexts, watched)


@pytest.fixture(scope="module")
def shown(chromium, served):
    """The page of the hour, open for all tests that only read it."""
    seen = []
    with ExitStack() as contexts:
        yield _opened(chromium, contexts, seen, served)
    assert [] == seen


def _opened(
    chromium, contexts, seen, url, *, width=1440, height=1000, ready=True, clock=False, **options
):
    context = chromium.new_context(
        viewport={"width": width, "height": height}, timezone_id="Asia/Tokyo", **options
    )
    contexts.callback(context.close)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.on("console", lambda one: one.type == "log" or seen.append(one.text))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("request", lambda asked: _watch(asked.url, seen))
    if clock:
        page.clock.install()
    page.goto(url)
    if ready:
        page.wait_for_selector("html[data-ready]")
    return page


def _watch(url, seen):
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
        seen.append(f"asked for {url}")
