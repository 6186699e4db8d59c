"""Names are foreign text, the machine's own address is the only one, and trouble is said."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow]

EVIL = "<img src=x onerror=owned=1><b>[x](https://evil.example)**b**`c`"
HIDDEN = "\u202e<script>owned=1</script>\x1b[31m\u200b"
SHOWN = "\\u{202e}<script>owned=1</script>\\u{1b}[31m\\u{200b}"


def renamed(name):
    """Answers with *name* wherever somebody else's text stands."""

    def change(value):
        if isinstance(value, list):
            return [change(one) for one in value]
        if isinstance(value, dict):
            return {key: name if key in {
                "owner", "team", "cluster", "instance", "name", "label", "Name", "Tag", "text",
                "first_sentence", "subject", "description"} and one else change(one)
                for key, one in value.items()}  # fmt: skip
        return value

    def fulfill(route):
        answer = route.fetch()
        document = change(answer.json())
        if "clusters" in document:
            document |= {"cluster": ""}
        route.fulfill(response=answer, json=document)

    return fulfill


@pytest.mark.parametrize(("name", "shown"), [(EVIL, EVIL), (HIDDEN, SHOWN)])
def test_names_are_text_wherever_they_are_shown(open_page, address, name, shown):
    """
    Nothing of them becomes an element or runs; characters that turn the direction, clear a
    terminal or have no width are escapes.
    """
    page = open_page(address, routes=[("**/*.json*", renamed(name))])
    expect(page.locator(".owners tbody th").first).to_have_text(f"{shown} ({shown})"
        if page.locator(".team").count() else shown)  # fmt: skip
    expect(page.locator(".rows .instance bdi").first).to_have_text(shown)
    expect(page.locator(".legend bdi").first).to_have_text(shown)
    assert shown in page.locator(".alarm summary").first.inner_text()
    assert shown in page.locator("#cluster").inner_text()
    page.locator(".rows .instance").first.press("Enter")
    expect(page.locator(".hour h3 bdi")).to_have_text(shown)
    assert 0 == page.locator("main img, main script, main b, main a").count()
    assert page.evaluate("typeof owned") == "undefined"


def test_nothing_is_asked_of_another_host(open_page, address, watched):
    """Neither script nor style nor font; and the page may not, whatever is written into it."""
    page = open_page(address)  # which watches whom it asks
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


def test_a_command_that_is_gone_is_said_and_its_figures_stay(open_page, address, watched):
    """What is shown stays, with its time, and goes on when there is an answer again."""
    page = open_page(address)
    page.route("**/*.json*", lambda asked: asked.abort("connectionrefused"))
    page.clock.run_for(11_000)
    trouble = page.get_by_role("alert")
    expect(trouble).to_contain_text("does not answer. Is it still running?")
    expect(trouble).to_contain_text("What is shown is of 09:02:30 UTC.")
    expect(page.locator("#idle")).to_have_text("60 of 134 (44 %)")
    expect(page.locator("#status-alarms")).to_have_class("unknown")
    page.unroute("**/*.json*")
    page.clock.run_for(11_000)
    expect(trouble).to_be_hidden()
    expect(page.locator("#status-alarms")).to_have_class("bad")
    watched[:] = [one for one in watched if "ERR_CONNECTION_REFUSED" not in one]
