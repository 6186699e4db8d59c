"""A spool on disk with a clock at a fixed moment."""

from __future__ import annotations

import pytest

from neuron_emitter.spool import Spool
from tests.neuron_emitter.spool_parts import SpoolClock


@pytest.fixture
def clock():
    """A clock at a fixed moment."""
    return SpoolClock()


@pytest.fixture
def spool(tmp_path, clock):
    """A spool on disk."""
    with Spool(tmp_path / "spool", clock=clock) as opened:
        yield opened


@pytest.fixture
def events():
    """What the spool said."""
    return []
