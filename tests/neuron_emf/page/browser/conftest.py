"""
Run real Chromium on the page of the recorded hour.

The browser is the machine's own: nothing is downloaded. Every page that a test opens is watched: an
error on its console, a request to another host, or a violation of its Content-Security-Policy fails
the test.
"""

from __future__ import annotations

import urllib.parse
from collections import UserList
from contextlib import ExitStack
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.neuron_emf.page.page_account import (
    PAGE_NOW_S,
    double_of,
    filled,
    ledger_of,
    served,
    view_of,
)

PATIENCE_MS = 30_000
COUNT_PRESSES = """
addEventListener("pointerdown", () => { window.presses = (window.presses ?? 0) + 1; }, true);
"""
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def environment():
    """Yield a patch of variables for a module's tests."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def account_of_the_hour(environment, hour):
    """Yield the double with the hour, for tests that only read it."""
    environment.setattr("neuron_emf.page.ranges.stack_ledger", ledger_of(hour))
    with double_of(environment) as double:
        yield filled(double, hour)


@pytest.fixture(scope="module")
def address(account_of_the_hour):  # noqa: ARG001  # the environment leads there
    """Yield the address of its page, token included."""
    with served(view_of()) as server:
        yield server.url


@pytest.fixture
def watched():
    """Yield messages and requests of open pages; a test removes those it expects."""
    seen = []
    yield seen
    assert [] == seen


@pytest.fixture
def held():
    """Return requests that wait until a test releases them, at first none."""
    # the driver sets an attribute on a handler, which a bound method of a list does not permit
    return UserList()


@pytest.fixture
def open_page(chromium, watched):
    """Yield a function that opens an address in its own browser and waits for its numbers."""
    with ExitStack() as contexts:
        yield partial(_opened, chromium, contexts, watched)


def _opened(
    chromium, contexts, seen, url, *, width=1440, height=900, ready=True, routes=(), **options
):
    context = chromium.new_context(
        viewport={"width": width, "height": height}, timezone_id="Asia/Tokyo", **options
    )
    contexts.callback(context.close)
    page = context.new_page()
    # a handler can still run when its test ends; its error belongs to no test
    contexts.callback(page.unroute_all, behavior="ignoreErrors")
    page.set_default_timeout(PATIENCE_MS)
    page.on("console", lambda message: message.type == "log" or seen.append(message.text))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("request", lambda asked: _watch(asked.url, seen))
    page.clock.install(time=PAGE_NOW_S)
    page.add_init_script(COUNT_PRESSES)
    for pattern, handler in routes:
        page.route(pattern, handler)
    page.goto(url)
    if ready:
        page.wait_for_selector("html[data-ready]")
    return page


def _watch(url, seen):
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
        seen.append(f"asked for {url}")
    if "token" in parts.query:
        seen.append(f"the token is in {url}")


def changing(change):
    """Return a handler of requests that lets *change* edit each answer of the server."""

    def fulfill(route):
        response = route.fetch()
        answer = response.json()
        change(answer)
        route.fulfill(response=response, json=answer)

    return fulfill
