"""Bar, status and cards: the address is the view, and what is unknown is not good news."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.neuron_emf.page.browser.conftest import changing
from tests.neuron_emf.page.page_account import PAGE_NOW_S

DATA_ROUTE = "**/*.json*"
IS_GONE = 404
FIRING = "Alarms: 1 now, 1 today, 1 can wait"


def with_state(address, fragment):
    """Return the address with *fragment* before its token."""
    return address.replace("#", f"#{fragment}&")


def status(page, words):
    """Return the item of the status strip that has *words*."""
    return page.locator(".status-item", has_text=words)


def card(page, name):
    """Return the number of a card."""
    return page.locator(f".card-{name} .card-number")


def choose(page, label, words):
    """Type *words* into the list of *label* and take the first match, by keys alone."""
    page.get_by_role("button", name=re.compile(f"^{label}:")).press("Enter")
    page.get_by_role("combobox").press_sequentially(words)
    page.get_by_role("combobox").press("Enter")


def answered(status_code, **document):
    """Return a handler that answers each request with *document*."""
    return lambda route: route.fulfill(status=status_code, json=document)


@pytest.mark.parametrize("member", ["cluster", "team", "owner"])
def test_a_name_that_is_gone_shows_a_notice_and_every_alarm(open_page, address, watched, member):
    """A bookmark with an old name falls back to all names, and never to "No alarm firing"."""
    page = open_page(with_state(address, f"{member}=renamed"))
    expect(page.locator(".notice")).to_contain_text(f'{member} "renamed". All are shown.')
    expect(status(page, FIRING)).to_be_visible()
    expect(card(page, "idle")).to_have_text("60")
    assert f"{member}=" not in page.evaluate("location.hash")
    page.get_by_role("button", name="Close the notice").click()
    expect(page.locator(".notice")).to_have_count(0)
    watched[:] = [text for text in watched if f"{IS_GONE}" not in text]


def test_cards_and_charts_never_show_another_number_for_that_of_a_team(open_page, address, held):
    """Cards are of the chosen team; a card that is known by cluster alone has no number."""
    page = open_page(with_state(address, "team=search"), routes=[("**/cores.json*", held.append)])
    expect(page.locator(".card-utilization")).to_contain_text("unknownReading cores")
    held.pop().continue_()
    page.unroute("**/cores.json*")
    expect(card(page, "utilization")).to_have_text("0 %")
    expect(card(page, "idle")).to_have_text("6")
    expect(card(page, "cost")).to_have_text("3.25 USD/h")
    expect(page.locator(".card-utilization .card-line")).to_contain_text("known cores held")
    expect(page.locator(".card-avoidable")).to_contain_text("not for one team")
    expect(page.locator(".card .spark")).to_have_count(0)
    expect(page.locator(".cards-block .scope")).to_contain_text("known for whole clusters only")
    expect(page.locator("#charts .scope")).to_contain_text("Of all clusters, not of team search")
    choose(page, "Cluster", "research")
    expect(page.locator(".card-idle")).to_contain_text("More in serving")
    expect(page.locator(".breakdown")).to_contain_text("in this cluster, but in serving")


def test_alarms_outside_of_a_filter_are_counted(open_page, address):
    """Alarms outside of a filter are counted, and one button removes the filter."""
    page = open_page(with_state(address, "cluster=research"))
    expect(status(page, "Alarms: 1 here, 2 elsewhere (1 now, 1 today)")).to_be_visible()
    page.get_by_role("button", name="Show all clusters").click()
    expect(status(page, FIRING)).to_be_visible()


def test_back_forward_reload_and_a_shared_address_restore_the_view(open_page, address):
    """Every selection is a history entry, and the address alone is the view."""
    page = open_page(address)
    choose(page, "Cluster", "resea")
    page.get_by_role("radio", name="3h").check()
    shared = page.url
    page.go_back()
    page.go_back()
    expect(card(page, "idle")).to_have_text("60")
    page.go_forward()
    page.go_forward()
    page.reload()
    for opened in (page, open_page(shared)):
        expect(opened.get_by_role("radio", name="3h")).to_be_checked()
        expect(card(opened, "idle")).to_have_text("52")


def test_an_owner_replaces_the_instance_of_another_owner(open_page, address):
    """An open panel never belongs to an owner that is no longer selected; Back opens it again."""
    page = open_page(with_state(address, "cluster=research&instance=i-06f58c76ba1c4c2e7"))
    expect(page.locator(".instance")).to_contain_text("i-06f58c76ba1c4c2e7")
    choose(page, "Owner", "jupyter")
    expect(page.locator(".instance")).to_have_count(0)
    assert "instance" not in page.evaluate("location.hash")
    page.go_back()
    expect(page.locator(".instance")).to_contain_text("i-06f58c76ba1c4c2e7")


def test_data_turn_gray_after_ten_minutes(open_page, address, watched):
    """A page without its server shows an error, and its numbers in gray with their age."""
    page = open_page(with_state(address, "instance=i-06f58c76ba1c4c2e7"))
    expect(card(page, "idle")).to_have_text("60")
    expect(page.locator(".instance .live").first).to_be_visible()
    page.route(DATA_ROUTE, lambda route: route.abort("connectionrefused"))
    page.clock.run_for(13 * 60_000)
    expect(page.get_by_role("alert")).to_contain_text("The server is gone")
    expect(status(page, "Data to 09:00 UTC, 15 min old")).to_have_class(re.compile("is-bad"))
    expect(page.locator("html")).to_have_attribute("data-stale", "")
    expect(card(page, "idle")).to_have_text("60")
    for measured in (card(page, "idle"), page.locator(".instance .live").first):
        expect(measured).to_have_css("filter", "grayscale(1)")
    expect(page.locator(".status-item.is-good")).to_have_count(0)
    page.unroute(DATA_ROUTE)
    page.clock.run_for(11_000)
    expect(page.get_by_role("alert")).to_have_count(0)
    watched[:] = [text for text in watched if "ERR_CONNECTION_REFUSED" not in text]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("token", "The token is wrong"),
        ("stack", "No stack"),
        ("credentials", "Sign in"),
        ("busy", "AWS does not answer"),
    ],
)
def test_an_error_state_shows_the_next_step(open_page, address, watched, kind, words):
    """Each kind of trouble has its next step at the top, and nothing is shown as known."""
    refused = answered(503, error="This failed.", kind=kind, action="the action")
    page = open_page(address, routes=[(DATA_ROUTE, refused)])
    expect(page.get_by_role("alert").first).to_contain_text(words)
    expect(status(page, "Alarms unknown")).to_be_visible()
    expect(page.locator(".card-number").first).to_have_text("unknown")
    expect(page.locator(".status-item.is-good")).to_have_count(0)
    watched[:] = [text for text in watched if "503" not in text]


def test_one_notice_lists_every_action_that_is_missing(open_page, address, watched):
    """If AWS refuses every part, one notice names each action once, and each part is one line."""
    actions = {"alarms": "cloudwatch:DescribeAlarms", "now": "logs:FilterLogEvents"}

    def refused(route):
        name = re.search(r"/(\w+)\.json", route.request.url)[1]
        action = actions.get(name, actions["now"])
        route.fulfill(status=503, json={"error": "No.", "kind": "denied", "action": action})

    page = open_page(address, routes=[(DATA_ROUTE, refused)])
    expect(page.locator(".trouble-short").first).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(1)
    assert sorted(actions.values()) == page.locator(".notice code").all_inner_texts()
    watched[:] = [text for text in watched if "503" not in text]


def test_a_stack_without_lines_names_the_next_command(open_page, address):
    """Before the first rollup the page shows alarms, the command to type next, and no zeros."""
    problem = {"kind": "lines", "error": "No line yet.", "action": "neuron-emf check"}
    nothing = {"problem": problem, "minute_ms": None, "data_to_ms": None}
    routes = [("**/now.json*", changing(lambda answer: answer.update(nothing)))]
    page = open_page(address, routes=routes)
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("No emitter has written yet")
    expect(notice.locator("code")).to_have_text("neuron-emf check")
    expect(page.locator(".cards")).to_have_count(0)
    expect(page.locator(".alarms-line")).to_have_count(3)


def test_the_whole_bar_works_by_keys(open_page, address):
    """Lists open, move, select and close by keys; a term shows its definition on focus."""
    page = open_page(address)
    button = page.get_by_role("button", name=re.compile("^Cluster:"))
    button.press("Enter")
    page.get_by_role("combobox").press("ArrowDown")
    page.get_by_role("combobox").press("Escape")
    expect(button).to_be_focused()
    page.get_by_role("button", name="Avoidable", exact=True).focus()
    expect(page.locator(".tip")).to_contain_text("upper bound")
    page.keyboard.press("Escape")
    expect(page.locator(".tip")).to_have_count(0)


def test_times_switch_between_utc_and_local(open_page, address):
    """The browser of the tests is in Tokyo; the choice survives a reload."""
    page = open_page(address)
    page.get_by_role("button", name=re.compile("^Times in UTC")).click()
    expect(status(page, "Data to 18:00 GMT+9, 2 min old")).to_be_visible()
    page.reload()
    expect(status(page, "Data to 18:00 GMT+9, 2 min old")).to_be_visible()


def test_numbers_of_an_old_run_of_close_are_not_shown(open_page, address):
    """A run of close that is too old is shown with its time and without numbers."""
    close = {"at_ms": int(PAGE_NOW_S * 1000) - 900_000, "MinutesClosed": 1}
    routes = [("**/now.json*", changing(lambda answer: answer.update(close=close)))]
    page = open_page(address, routes=routes)
    expect(page.locator(".facts")).to_contain_text("too old for its numbers")
    expect(page.locator(".facts")).not_to_contain_text("Minutes closed")
