"""Fixtures of the page's tests: an account with the recorded hour."""

from __future__ import annotations

import pytest

from tests.neuron_emf.page.page_account import filled, view_of


@pytest.fixture
def looked_at(double, hour):
    """Yield the account with the hour."""
    return filled(double, hour)


@pytest.fixture
def view(looked_at):  # noqa: ARG001  # the environment leads there
    """Return the page's view of the account."""
    return view_of()
