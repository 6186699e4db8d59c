"""Durations, money, times and names as messages, commands and pages show them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neuron_accounts.now import IdleOwner
from neuron_wire.names import MICRO
from neuron_words import name_words, now_words, quantity_words


@given(st.text(), st.integers(min_value=3, max_value=300))
def test_a_name_is_printable_and_of_bounded_length(text, longest):
    """A shown name is printable and at most *longest* characters; a short name is unchanged."""
    shown = name_words.printable(text, longest)
    assert shown.isprintable()
    assert len(shown) <= longest
    assert text == shown or not text.isprintable() or len(text) > longest


@pytest.mark.parametrize("letter", ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_a_spreadsheet_sees_no_formula(letter):
    """A cell that begins with a formula sign, also after blanks, gets an apostrophe."""
    assert f"'{letter}1" == name_words.cell(f"{letter}1")
    assert f"'\t{letter}1" == name_words.cell(f"\t{letter}1")
    assert f"a{letter}1" == name_words.cell(f"a{letter}1")


@pytest.mark.parametrize(
    ("expected", "value"),
    [("0.00 USD", 0), ("under 0.01 USD", 0.0049), ("0.01 USD", 0.005), ("1,234.50 USD", 1234.5)],
)
def test_less_than_a_cent_is_not_shown_as_0(expected, value):
    """An amount under a cent is `under 0.01 USD`; only zero is `0.00 USD`."""
    assert expected == quantity_words.usd(value)


@given(st.integers(0, 10**9), st.integers(1, 10**9))
@example(89, 111)
def test_a_share_is_the_nearest_percent_and_coverage_the_whole_percent_below(some, more):
    """
    A share is rounded to the nearest percent, half up, coverage down; 0 % and 100 % are exact.

    Other shares near 0 and 100 are `<1 %` and `>99 %`.
    """
    of = some + more
    exact = Fraction(100 * some, of)
    nearest = (exact + Fraction(1, 2)) // 1
    rounded = {0: "<1 %" if some else "0 %", 100: ">99 %"}.get(nearest, f"{nearest} %")
    below = "<1 %" if 0 < exact < 1 else f"{exact // 1} %"
    assert rounded == quantity_words.share_words(100 * some / of)
    assert below == quantity_words.coverage_words(100 * some / of)
    assert "100 %" == quantity_words.share_words(100.0) == quantity_words.coverage_words(100.0)


@pytest.mark.parametrize(
    ("expected", "minutes"),
    [
        ("0 min", 0.9), ("59 min", 59.99), ("1 h", 60), ("1 h 1 min", 61), ("3 h", 180),
        ("23 h 59 min", 1439), ("1 d", 1440), ("1 d", 1499), ("4 d 6 h", 4 * 1440 + 6 * 60 + 59),
        ("1,000 d", 1000 * 1440),
    ],
)  # fmt: skip
def test_a_duration_has_its_two_greatest_units(expected, minutes):
    """A duration has at most two units, and is rounded down so that it is never overstated."""
    assert expected == quantity_words.duration(minutes)


FIRST_MINUTE_OF_DAY = 20_779 * 1440  # minutes from the Unix epoch to 2026-11-22


@pytest.mark.parametrize(
    ("last", "minute", "marks"),
    [
        (FIRST_MINUTE_OF_DAY + 130, FIRST_MINUTE_OF_DAY + 540, ["no execution since 02:10 UTC"]),
        (
            FIRST_MINUTE_OF_DAY - 1310,
            FIRST_MINUTE_OF_DAY + 540,
            ["no execution since 2026-11-21 02:10 UTC"],
        ),
        (FIRST_MINUTE_OF_DAY - 1310, None, ["last execution 2026-11-21 02:10 UTC"]),
        (FIRST_MINUTE_OF_DAY + 538, FIRST_MINUTE_OF_DAY + 540, ["no execution since 08:58 UTC"]),
        (FIRST_MINUTE_OF_DAY + 539, FIRST_MINUTE_OF_DAY + 540, ["executing, last at 08:59 UTC"]),
        (FIRST_MINUTE_OF_DAY + 540, FIRST_MINUTE_OF_DAY + 540, ["executing, last at 09:00 UTC"]),
        (FIRST_MINUTE_OF_DAY - 1, FIRST_MINUTE_OF_DAY, ["executing, last at 2026-11-21 23:59 UTC"]),
        (None, FIRST_MINUTE_OF_DAY, []),
    ],
)
def test_marks_of_a_holder(last, minute, marks):
    """
    A holder that executed in this minute or the minute before is executing.

    The date is shown if it is another day or the day is unknown.
    """
    assert marks == now_words.holder_marks("ml/a/b", last, minute, is_gone=False)
    gone = now_words.holder_marks("ml/a/b", last, minute, is_gone=True)
    assert [*marks, "its pod is gone"] == gone
    given = now_words.holder_marks("ml/a", None, minute, is_gone=True, assigned_to="ml/b")
    assert ["its pod is gone", "assigned to ml/b"] == given
    assert "its job is gone" in now_words.holder_marks("slurm:7 ada", last, minute, is_gone=True)


HOLDS = {"idle": 2 * MICRO, "allocated": 64 * MICRO, "busy": 0, "executions": 0}


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        ("uses 16 of 64", {"busy": 16 * MICRO, "executions": 9, "siblings": 3, "idle_siblings": 2}),
        ("uses 0.5 of 1", {"allocated": MICRO, "busy": MICRO // 2}),
        ("low activity (80 executions)", {"executions": 80, "reserved": MICRO}),
        ("63 of 64 without a busy core", {"siblings": 64, "idle_siblings": 63}),
        ("", {"siblings": 64, "idle_siblings": 64}),
        ("reserved, not opened", {"reserved": 2 * MICRO}),
        ("1 reserved, not opened", {"reserved": MICRO}),
        ("allocation unknown", {"owner": "[not reported]", "allocated": 0}),
        ("1 allocation unknown", {"owner": "[not reported]", "allocated": MICRO}),
        ("", {"allocated": None, "busy": None, "executions": None}),
        ("", {}),
    ],
)
def test_an_owners_activity_in_a_few_words(expected, changes):
    """An owner's work comes first. The text is empty if there is nothing notable or known."""
    assert expected == now_words.owner_words(IdleOwner(**{"owner": "ml/a-0", **HOLDS, **changes}))
