"""Amounts, moments and names as a message writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.explain import formats


@given(st.text(), st.integers(min_value=3, max_value=300))
def test_a_name_stays_on_its_line(text, longest):
    """Whatever is in it, and a name that is short and printable stays what it is."""
    shown = formats.printable(text, longest)
    assert shown.isprintable()
    assert len(shown) <= longest
    assert text == shown or not text.isprintable() or len(text) > longest
    plain = formats.ascii_only(text, longest)
    assert plain.isascii()
    assert plain.isprintable()
    assert len(plain) <= longest


@pytest.mark.parametrize(
    ("expected", "value"),
    [("0", 0), ("7", 7), ("1,204", 1204), ("0.5", 0.5), ("12.35", 12.346), ("100", 100.0)],
)
def test_an_amount_has_no_zeros_that_say_nothing(expected, value):
    """Two decimals at most, thousands apart."""
    assert expected == formats.amount(value)


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("0.00 USD", 0),
        ("under 0.01 USD", 0.0049),
        ("0.01 USD", 0.005),
        ("1,234.50 USD", 1234.5),
    ],
)
def test_less_than_a_cent_is_not_nothing(expected, value):
    """An idle core of an hour may cost less."""
    assert expected == formats.usd(value)


@pytest.mark.parametrize(
    ("expected", "minutes"),
    [
        ("0 min", 0.9),
        ("59 min", 59.99),
        ("1 h 0 min", 60),
        ("23 h 59 min", 1439),
        ("1 d 0 h", 1440),
        ("4 d 6 h", 4 * 1440 + 6 * 60 + 59),
    ],
)
def test_a_duration_has_two_units(expected, minutes):
    """Rounded down: nothing is called longer than it was."""
    assert expected == formats.duration(minutes)


def test_one_thing_is_one():
    """And none are several."""
    assert ("1 core", "2 cores", "0 cores", "1,200 cores") == tuple(
        formats.counted(one, "core") for one in (1, 2, 0, 1200)
    )


def test_a_list_says_what_it_leaves_out():
    """Nothing, when it is whole."""
    assert "a, b" == formats.joined(["a", "b"])
    assert "a; b and 1,200 more" == formats.joined(["a", "b"], 1200, "; ")
