"""A spool on disk with a clock at a fixed moment."""

from __future__ import annotations

import pytest
from spool_parts import Clock

from neuron_emitter.spool import Spool


@pytest.fixture
def clock():
    """A clock at a fixed moment."""
    return Clock()


@pytest.fixture
def spool(tmp_path, clock):
    """A spool on disk."""
    with Spool(tmp_path / "spool", clock=clock) as opened:
        yield opened


@pytest.fixture
def events():
    """What the spool said."""
    return []
