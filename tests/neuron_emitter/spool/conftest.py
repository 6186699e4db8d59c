"""Fixtures: a spool on disk and a clock at a fixed time."""

from __future__ import annotations

import pytest

from neuron_emitter.spool import Spool
from tests.neuron_emitter.spool_parts import SpoolClock


@pytest.fixture
def clock():
    """Return a clock at a fixed time."""
    return SpoolClock()


@pytest.fixture
def spool(tmp_path, clock):
    """Yield a spool on disk."""
    with Spool(tmp_path / "spool", clock=clock) as opened:
        yield opened


@pytest.fixture
def events():
    """Return the list of the spool's events."""
    return []
