"""Names are foreign text, the machine's own address is the only one, and trouble is said."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect
from tests.local.page.browser.drawn import legends, tables, traces
from tests.local.page.recording import RECORDS, ROLLUPS, history_of, lines_of, view_of

from local.page import LogLines, PageServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

EVIL = "<img src=x onerror=owned=1><b>[x](https://evil.example)**b**`c`"
HIDDEN = "\u202e<script>owned=1</script>\x1b[31m\u200b"
SHOWN = "\\u{202e}<script>owned=1</script>\\u{1b}[31m\\u{200b}"


@pytest.fixture(scope="module")
def evil(hour, repository):
    """The hour with a cluster of the worst name."""
    renamed = LogLines(4 * 3600)
    texts = []
    for group in (RECORDS, ROLLUPS):
        for line in lines_of(hour).of(group):
            text = line.text.replace('"research"', json.dumps(EVIL))
            texts.append(text)
            renamed.add(group, [(line.timestamp_ms, text)])
    view = view_of(hour, repository, history=history_of(texts), lines=renamed, fresh_s=1e9)
    with PageServer(("127.0.0.1", 0), view) as server:
        yield server.url


def test_names_are_text_wherever_they_are_shown(open_page, evil):
    """Nothing of a cluster's name becomes an element, a link or a call."""
    page = open_page(evil)
    page.get_by_role("combobox", name="Cluster").select_option(EVIL)
    expect(page.locator("#cores-title")).to_have_text(f"Cores of {EVIL}, minute by minute")
    assert EVIL in {label for rows in legends(page).values() for label, _ in rows}
    traces(page)
    tables(page)
    assert f"Cluster {EVIL}" == page.locator("h2", has_text="Cluster").first.inner_text()
    assert 0 == page.locator("main img, main script, main b, main a[href^=https]").count()
    assert page.evaluate("typeof owned") == "undefined"
    assert page.title().endswith(f"{EVIL} · neuron-emf-us-east-1")
    assert EVIL in page.get_by_role("table").first.inner_text()


def test_what_would_hide_is_shown(open_page, served):
    """
    Characters that turn the direction, clear a terminal or have no width are escapes on the page.
    """
    page = open_page(served, ready=False, clock=True)
    page.route("**/*.json*", _with_hidden_names)
    page.clock.run_for(6000)
    expect(page.locator(".instance h4 bdi").first).to_have_text(SHOWN)
    assert f"held by {SHOWN}" in page.locator(".holders").first.inner_text()
    assert page.get_by_role("grid").first.get_attribute("aria-label").startswith(SHOWN)
    assert [SHOWN, "50"] == legends(page)["Idle cores by cluster"][0]
    assert SHOWN in page.locator("#now").inner_text()
    assert SHOWN in page.locator(".log td").first.inner_text()
    assert page.evaluate("typeof owned") == "undefined"


def _with_hidden_names(route):
    """The answer with the worst name wherever a name stands."""
    answer = route.fetch()
    document = answer.json()
    for instance in document.get("instances", []):
        instance["instance_id"] = HIDDEN
        for holder in instance["holders"]:
            holder["name"] = HIDDEN
    for one in document.get("widgets", []):
        for series in one.get("series", []):
            series["label"] = HIDDEN
        for alarm in one.get("alarms", []):
            for contributor in alarm["contributors"]:
                contributor["cluster"] = HIDDEN
        for row in one.get("rows", []):
            row[0] = HIDDEN
    route.fulfill(response=answer, json=document)


def test_nothing_is_asked_of_another_host(open_page, served, watched):
    """Neither script nor style nor font; and the page may not, whatever is written into it."""
    page = open_page(served)
    traces(page)
    addresses = page.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
    assert addresses
    assert [] == [one for one in addresses if not one.startswith(f"{served}/")]
    page.evaluate("""() => {
      const image = new Image();
      image.src = 'http://127.0.0.2/x.png';
      const script = document.createElement('script');
      script.textContent = 'window.owned = 1';
      document.body.append(image, script);
    }""")
    expect(page.locator("body > img")).to_have_count(1)
    assert page.evaluate("typeof owned") == "undefined"
    refused = [one for one in watched if "Content Security Policy" in one]
    assert 2 == len(refused)
    watched.clear()


def test_a_rehearsal_that_is_gone_is_said_and_its_figures_stay(open_page, served, watched):
    """What is shown stays, with its time, and goes on when there is an answer again."""
    page = open_page(served, clock=True)
    page.route("**/*.json*", lambda asked: asked.abort("connectionrefused"))
    page.clock.run_for(6000)
    trouble = page.get_by_role("alert")
    expect(trouble).to_contain_text("does not answer: is `make demo` still running?")
    expect(trouble).to_contain_text("What is shown is of 09:02:30 UTC.")
    assert "50" == dict(legends(page)["Idle cores by cluster"])["research"]
    page.clock.run_for(60_000)
    expect(page.locator("#freshness")).to_have_class("freshness stale")
    page.unroute("**/*.json*")
    page.clock.run_for(6000)
    expect(trouble).to_be_hidden()
    expect(page.locator("#freshness")).to_have_class("freshness")
    watched[:] = [one for one in watched if "ERR_CONNECTION_REFUSED" not in one]


def test_a_cluster_that_is_not_there_is_said(open_page, served, watched):
    """An old bookmark shows a sentence, and then the clusters that there are."""
    page = open_page(f"{served}/?cluster=gone", ready=False, clock=True)
    expect(page.get_by_role("alert")).to_contain_text("there is no cluster of that name")
    page.clock.run_for(6000)
    expect(page.locator("#cores-title")).to_have_text("Cores of research, minute by minute")
    watched[:] = [one for one in watched if "404" not in one]
