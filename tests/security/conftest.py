"""The stack that forged lines are written to."""

from __future__ import annotations

import pytest

from tests.security.forged import AttackedStack


@pytest.fixture
def attacked(monkeypatch, capsys):
    """One with room for three clusters."""
    return AttackedStack(monkeypatch, capsys, max_clusters=3)
