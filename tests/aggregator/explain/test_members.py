"""A member of a kept rollup is what it should be, or it is not there."""

from __future__ import annotations

import json
import math

import pytest

from aggregator.explain.members import Members, members_of

LONG = "x" * 500


@pytest.mark.parametrize(
    "value", [True, "1", -1, -0.5, math.inf, math.nan, 10**400, 1e300, [], None]
)
def test_what_is_no_amount_is_no_number(value):
    """Nor what is so large that it would fill the message."""
    assert Members({"Cores": value}).number("Cores") is None


@pytest.mark.parametrize("value", [0, 1, 1.5, 10**17])
def test_an_amount_is_a_number(value):
    """0 is one."""
    assert value == Members({"Cores": value}).number("Cores")
    assert Members({}).number("Cores") is None


def test_a_list_holds_what_it_should():
    """What is no object or no text in it is left out, and a text is cut."""
    found = Members({"List": [{"a": 1}, 1, None, "text", "", LONG]})
    assert [{"a": 1}] == [one.given for one in found.entries("List")]
    assert ["text", "x" * 77 + "..."] == found.names("List")
    assert ([], []) == (Members({"List": "text"}).entries("List"), Members({}).names("List"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-21T03:13Z", 1_795_230_780), ("1970-01-01T00:00Z", 0), ("1969-12-31T23:59Z", None),
        ("9999-12-31T23:59-2359", None), ("0001-01-01T00:00+2359", None), ("2026-11-21", None),
        ("", None), (7, None),
    ],
)  # fmt: skip
def test_a_minute_is_one_that_a_calendar_shows(text, expected):
    """Its end is a minute later."""
    found = Members({"Minute": text})
    assert expected == found.minute_s("Minute")
    assert (None if expected is None else expected + 60) == found.minute_end_s()


def test_a_line_is_an_object_or_nothing():
    """Whatever the table holds."""
    assert {"a": 1} == members_of(json.dumps({"a": 1})).given
    assert [None] * 4 == [members_of(one) for one in ("", "[]", "7", "{" * 10_000)]
