"""Bombs on the host: each reader keeps its promise, in bounded memory."""

from __future__ import annotations

import pytest

from proof.fuzz.host_bombs import BOMBS, MOST_MIB, peak_mib

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("name", [*BOMBS][::2])
def test_a_bomb_on_the_host_takes_little_memory(name):
    """A mebibyte of anything is read or left out; `make fuzz` has the other half."""
    assert peak_mib(name) < MOST_MIB
