"""The first screen in a browser: the lines' numbers, grey before, and never another cluster's."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

DATA_ROUTE = "**/*.json*"
pytestmark = [pytest.mark.slow]

OWNER_TABLE_ROWS = ".owners tbody tr"
NUMBER_CELLS = ("#idle", "#cost", "#avoidable")
GREY = "(element) => getComputedStyle(element).color"


def test_what_is_asked_first_is_answered_without_scrolling(open_page, address):
    """Which cluster, how many, who, since when, how much; at 1440 px above the edge."""
    page = open_page(address)
    numbers = [page.locator(what).inner_text() for what in NUMBER_CELLS]
    assert ["60 of 134 (45 %)", "38.94 USD/h", "23.60 USD/h"] == numbers
    cells = page.locator(OWNER_TABLE_ROWS).first.locator("th, td").all_inner_texts()
    assert ["research", "32", "1 h", "08:00", "21.50"] == cells[1:]
    for what in (*NUMBER_CELLS, "#status-alarms", OWNER_TABLE_ROWS, ".alarm >> nth=1"):
        box = page.locator(what).first.bounding_box()
        assert box["y"] + box["height"] <= 900, what


def test_a_cost_is_amber_if_idle_cores_have_no_price_and_not_for_busy_ones(open_page, address):
    """The recorded hour has busy cores without a price; idle ones are planted in its answer."""

    def planted(route):
        document = route.fetch().json()
        document["cost"]["is_incomplete"] = True
        route.fulfill(json=document)

    for routes, kind in (([("**/now.json*", planted)], "card unpriced"), ([], "card")):
        page = open_page(address, routes=routes)
        expect(page.locator(".card", has=page.locator("#cost"))).to_have_class(kind)
        is_amber = "rgb(133, 80, 0)" == page.locator("#cost").evaluate(GREY)  # #855000
        assert is_amber == bool(routes)


def low_utilization(route):
    """Plant the alarm on two clusters: research, whose message has its metric, and serving."""
    answer = route.fetch().json()
    (alarm,) = [alarm for alarm in answer["alarms"] if alarm["title"] == "Low utilization"]
    alarm["state"] = "ALARM"
    alarm["contributors"] = [
        {"name": name, "reason": "60 out of 60", "since_ms": None, "urgency": "can wait"}
        for name in ("research", "serving")
    ]
    route.fulfill(json=answer)


def test_an_alarm_is_the_first_sentence_of_its_message(open_page, address):
    """
    The whole message is one press away; without a message it is the alarm's description.

    A message is found by cluster and metric: one of another cluster or metric is not the alarm's.
    """
    page = open_page(address, routes=[("**/alarms.json*", low_utilization)])
    rows = page.locator(".alarm").all()
    lines = [row.locator("summary").inner_text().removeprefix("▲ ") for row in rows]
    job = "Slurm job 4711 (ml-user, team ml) has used none"
    starts = {
        "now: Idle cores, serving: 6 cores assigned to pod search/ranker-1",
        "today: Execution errors, serving: 10 failed executions",
        f"can wait: Idle cores, research: {job}",
        f"can wait: Low utilization, research: {job}",
        "can wait: Low utilization, serving: The mean utilization",
    }
    assert starts == {start for line in lines for start in starts if line.startswith(start)}
    assert len(starts) == len(lines)
    for start, text in (
        ("can wait: Idle cores, research", "1. State and time left:  scontrol show job 4711"),
        ("can wait: Low utilization, serving", "CloudWatch: 60 out of 60"),
    ):
        (row,) = [row for row, line in zip(rows, lines, strict=True) if line.startswith(start)]
        row.locator("summary").press("Enter")
        expect(row.locator("pre")).to_contain_text(text)


def test_what_is_not_known_yet_is_grey(open_page, address, held):
    """Never green, and no number; what takes longer than a second says that it works."""
    page = open_page(address, ready=False, routes=[(DATA_ROUTE, held.append)])
    assert "" == page.locator("#busy").inner_text()  # the page's clock goes on meanwhile
    muted = page.evaluate("getComputedStyle(document.querySelector('#place')).color")
    for what in (
        *NUMBER_CELLS,
        "#status-alarms",
        "#status-data",
        "#status-coverage",
        "#status-silent",
    ):
        target = page.locator(what)
        assert "not known yet" in target.inner_text().lower(), what
        assert muted == target.evaluate(GREY), what
    assert "Not known yet" == page.locator("#owners").inner_text()
    assert "Not known yet" == page.locator("#alarms").inner_text()
    assert not any(letter.isdigit() for letter in page.locator(".cards").inner_text())
    page.clock.run_for(3000)
    expect(page.locator("#busy")).to_have_text(
        re.compile(r"Reading the rollups of the last 15 minutes, ([3-9]|\d\d) s")
    )
    for route in held:
        route.continue_()
    expect(page.locator("#idle")).to_have_text("60 of 134 (45 %)")
    expect(page.locator("#busy")).to_have_text("")


def test_alarms_that_cannot_be_read_are_grey(open_page, address, watched):
    """No alarm firing would be a claim about what nobody looked at."""

    def refuse(route):
        route.fulfill(status=503, json={"error": "cloudwatch:DescribeAlarms was refused."})

    page = open_page(address, routes=[("**/alarms.json*", refuse)])
    expect(page.locator("#status-alarms")).to_have_class("unknown")
    expect(page.locator("#alarms")).to_have_text(
        "Not known: cloudwatch:DescribeAlarms was refused.")  # fmt: skip
    assert 0 == page.locator(".status .good").count()
    watched[:] = [text for text in watched if "503" not in text]


def test_a_changed_cluster_never_shows_old_data(open_page, address, held):
    """Everything is emptied at once; a slow answer about the one before changes nothing."""
    page = open_page(address)
    before = page.locator("main").inner_text()
    assert "38.94" in before
    page.route(DATA_ROUTE, held.append)
    choose = page.get_by_role("combobox", name="Cluster")
    choose.select_option("serving")
    for what in NUMBER_CELLS:
        expect(page.locator(what)).to_have_text("Not known yet")
    main = page.locator("main").inner_text()
    assert not [old for old in ("38.94", "26.88", "research", "i-06f58c76ba1c4c2e7") if old in main]
    choose.select_option("research")
    expect(page.locator("#idle")).to_have_text("Not known yet")
    while len(asked := [route for route in held if "now.json" in route.request.url]) < 2:
        page.wait_for_timeout(20)  # the browser tells of a request when it has made it
    late, now = asked
    assert ("serving" in late.request.url, "research" in now.request.url) == (True, True)
    now.continue_()
    expected = "52 of 100 (52 %)"
    expect(page.locator("#idle")).to_have_text(expected)
    with page.expect_response("**/now.json*"):
        late.continue_()
    page.wait_for_timeout(300)
    expect(page.locator("#idle")).to_have_text(expected)
    assert "serving" not in page.locator("#owners").inner_text()
    page.unroute_all(behavior="ignoreErrors")


def test_the_address_keeps_what_is_chosen(open_page, address):
    """Cluster and time, also when the page is loaded again; the token stays in the fragment."""
    page = open_page(address)
    page.get_by_role("combobox", name="Cluster").select_option("serving")
    page.get_by_role("combobox", name="Time").select_option("Last 15 min")
    path, _, fragment = page.url.partition("#")
    assert path.endswith("/?cluster=serving&minutes=15")
    assert f"token={address.partition('#token=')[2]}" == fragment
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert "serving" == page.get_by_role("combobox", name="Cluster").input_value()
    assert "15" == page.get_by_role("combobox", name="Time").input_value()
    expect(page.locator(OWNER_TABLE_ROWS)).to_have_count(2)


def test_pause_says_resume(open_page, address):
    """What moves by itself can be stopped; going on reads at once."""
    page = open_page(address)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("button", name="Pause").press("Enter")
    page.clock.run_for(60_000)
    assert [] == asked
    assert "Data to 09:00 UTC, 3 min old" == page.locator("#status-data").inner_text()
    with page.expect_response("**/now.json*"):
        page.get_by_role("button", name="Resume").press("Enter")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_old_data_are_grey_with_their_time(open_page, address):
    """Dead data must not look cheap."""

    def old(route):
        answer = route.fetch()
        document = answer.json() | {"is_old": True, "age_minutes": 25}
        document["now_ms"] += 23 * 60_000
        route.fulfill(response=answer, json=document)

    page = open_page(address, routes=[("**/now.json*", old)])
    expect(page.locator("#status-data")).to_have_class("bad")
    expect(page.locator("#status-data")).to_have_text("Data to 09:00 UTC, 25 min old")
    for what in NUMBER_CELLS:
        expect(page.locator(what)).to_have_class("number unknown")
    assert "of 09:00 UTC, not of now" == page.locator("#cost-notes li").first.inner_text()
