"""What the tests of the account share: one at a moment, and clients of it."""

from __future__ import annotations

import pytest

from proof.account.account import AccountDouble
from proof.logs.calls import NOW_S


@pytest.fixture
def account():
    """A right account at one moment."""
    with AccountDouble(lambda: NOW_S) as made:
        yield made


@pytest.fixture
def logs(account):
    """A client of its CloudWatch Logs."""
    made = account.client("logs")
    yield made
    made.close()
