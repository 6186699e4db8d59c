"""What the proofs share: a wall clock that a test sets."""

from __future__ import annotations

import pytest

from proof.wall_clock import WallClock


@pytest.fixture
def clock(tmp_path):
    """A wall clock that the test sets, for this process and for those it starts."""
    with WallClock(tmp_path / "clock") as made:
        yield made
