"""
Let the tests of this folder import what stands beside this file, and the process runner.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "emitter")]

from wall_clock import WallClock  # noqa: E402 - found from here on


@pytest.fixture
def clock(tmp_path):
    """
    A wall clock that the test sets, for this process and for those it starts.
    """
    with WallClock(tmp_path / "clock") as made:
        yield made
