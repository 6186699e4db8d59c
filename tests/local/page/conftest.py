"""What the tests of the page share: that of the rehearsal's hour."""

from __future__ import annotations

import pytest

from tests.local.page.recording import view_of


@pytest.fixture(scope="session")
def view(hour, repository):
    """The page of that hour, to be read only."""
    return view_of(hour, repository)
