"""What people type for a moment or a period."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.errors import SettingsError
from neuron_emf.reading import moment_ms, period_ms

NOW_MS = 1_763_625_600_000  # 2025-11-20T08:00:00Z
UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


@given(st.integers(1, 999_999), st.sampled_from(sorted(UNITS_S)))
def test_a_period_is_a_number_and_a_unit(number, unit):
    """A moment of that name is so long ago, and never before 1970."""
    expected = number * UNITS_S[unit] * 1000
    assert expected == period_ms(f"{number}{unit}", "--since")
    assert max(0, NOW_MS - expected) == moment_ms(f" {number}{unit} ", "--since", NOW_MS)


@pytest.mark.parametrize(
    "text",
    [
        "2025-11-20T08:00:00Z", "2025-11-20T08:00:00z", "2025-11-20T08:00", "2025-11-20 08:00:00",
        "2025-11-20T09:00:00+01:00",
    ],
)  # fmt: skip
def test_a_moment_of_the_calendar_is_utc_unless_it_says_otherwise(text):
    """Log lines are in UTC, too."""
    assert NOW_MS == moment_ms(text, "--since", 0)


@pytest.mark.parametrize("text", ["", "5", "m", "0m", "-5m", "5 m", "1.5h", "5M", "yesterday"])
def test_what_is_neither_is_refused(text):
    """With the name of the flag, and what would do."""
    with pytest.raises(SettingsError, match=r"--since .* for example"):
        moment_ms(text, "--since", NOW_MS)
    with pytest.raises(SettingsError, match=r"--since .* for example"):
        period_ms(text, "--since")


def test_before_1970_is_1970():
    """No line is older, and CloudWatch Logs takes no moment before."""
    assert 0 == moment_ms("0001-01-01T00:00:00+14:00", "--until", NOW_MS)
