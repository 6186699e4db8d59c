"""Bombs on the host: each reader keeps its promise, in bounded memory."""

from __future__ import annotations

import pytest

from proof.fuzz.host_bombs import BOMBS, MOST_MIB, peak_mib
from proof.fuzz.target import MAX_BYTES
from proof.fuzz.targets import PLACES

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("name", [*BOMBS][::2])
def test_a_bomb_on_the_host_takes_little_memory(name):
    """A mebibyte of anything is read or left out; `make fuzz` has the other half."""
    assert peak_mib(name) < MOST_MIB


def test_a_bomb_is_none_that_the_search_makes():
    """Most are longer than any input of the search, and each is for a reader that there is."""
    assert {reader for reader, _ in BOMBS.values()} <= PLACES.keys()
    longer = [name for name, (_, make) in BOMBS.items() if len(make()) > 2 * MAX_BYTES]
    assert len(longer) > len(BOMBS) / 2
