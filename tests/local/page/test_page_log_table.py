"""A log widget shows what its query gives on the lines of its log groups."""

from __future__ import annotations

import json
import threading

import pytest

from local.page.log_lines import LogLines
from local.page.log_table import log_table

START_MS, END_MS = 1_800_000_000_000, 1_800_010_800_000
GROUP = "/neuron-emf/records"
QUERY = f"SOURCE '{GROUP}' | filter Kind = 'event' | fields @timestamp, Message, Count"


def lines(*documents, group=GROUP, at_ms=START_MS):
    """*documents* as lines of *group*, a second apart."""
    found = LogLines(24 * 3600)
    found.add(group, [(at_ms + 1000 * n, json.dumps(one)) for n, one in enumerate(documents)])
    return found


def shown(found, query=QUERY):
    """The table of *query* on lines *found*."""
    properties = {"title": "Events", "query": query, "view": "table", "region": "x"}
    return log_table(properties, found, START_MS, END_MS)


def test_rows_are_texts_in_the_order_of_the_columns():
    """
    What a line has no value for is empty, a time is readable, a number has no needless digits.
    """
    table = shown(
        lines(
            {"Kind": "event", "Message": "<b>up</b>", "Count": 2.0},
            {"Kind": "minute", "Message": "no"},
            {"Kind": "event", "Message": "down"},
            {"Kind": "event", "Message": True, "Count": 1 / 3},
        )
    )
    assert ["@timestamp", "Message", "Count"] == table["columns"]
    assert [
        ["2027-01-15 08:00:00.000", "<b>up</b>", "2"],
        ["2027-01-15 08:00:02.000", "down", ""],
        ["2027-01-15 08:00:03.000", "true", "0.3333"],
    ] == table["rows"]
    assert ("Events", QUERY, []) == (table["title"], table["query"], table["missing"])


@pytest.mark.parametrize(
    ("at_ms", "rows"), [(START_MS - 1, 0), (START_MS, 1), (END_MS - 1, 1), (END_MS, 0)]
)
def test_only_lines_of_the_time_range_are_asked(at_ms, rows):
    """From its start on, up to its end."""
    assert rows == len(shown(lines({"Kind": "event"}, at_ms=at_ms))["rows"])


def test_no_row_is_not_missing_but_no_line_at_all_is():
    """An empty table of events is good news; an empty log group is not."""
    assert [] == shown(lines({"Kind": "minute"}))["missing"]
    table = shown(lines({"Kind": "event"}, group="other"))
    assert [f"The log group {GROUP} has no line."] == table["missing"]
    assert (["@timestamp", "Message", "Count"], []) == (table["columns"], table["rows"])


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("filter Kind = 'event'", "names no log group"),
        (f"SOURCE '{GROUP}' | pattern @message", "found pattern"),
        (f"SOURCE '{GROUP}' | filter Kind = 'a' or", "Not run"),
    ],
)
def test_a_query_that_cannot_be_run_says_so(query, named):
    """In the place of its rows."""
    table = shown(lines({"Kind": "event"}), query)
    assert [] == table["rows"]
    assert named in table["missing"][0]


def test_lines_are_read_while_others_come():
    """No line is lost, none comes twice."""
    kept = LogLines(3600)
    seen = []
    done = threading.Event()

    def read():
        while not done.is_set():
            seen.append(len(kept.of("g")))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(200):
        kept.add("g", [(START_MS + number, "x")])
    done.set()
    reader.join()
    assert seen == sorted(seen)
    assert 200 == len(kept.of("g"))
