"""Fixtures of the report: an account without faults, an hour after the rehearsal's hour."""

from __future__ import annotations

import pytest

from neuron_emf.reading import periods
from proof.account.account_double import AccountDouble
from tests.hour import HOUR_END_S

REPORT_NOW_S = HOUR_END_S + 3600.0


@pytest.fixture
def made(monkeypatch):
    """Return an account without faults an hour after the hour, with a clock that agrees."""
    with AccountDouble(lambda: REPORT_NOW_S) as found:
        for name, value in found.variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(periods, "now_ms", lambda: round(REPORT_NOW_S * 1000))
        yield found


@pytest.fixture
def full(made, hour):
    """Return the account with the hour in it."""
    made.put_lines(made.records_group, hour.lines)
    return made
