"""Bombs on the host: each reader keeps its promise, in bounded memory."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from proof.fuzz.host_bombs import BOMBS, MIB, MOST_MIB
from proof.fuzz.target import MAX_BYTES
from proof.fuzz.targets import PLACES, target

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("name", [*BOMBS][::2])
def test_a_bomb_on_the_host_takes_little_memory(name):
    """A mebibyte of anything is read or left out: no exception, and no many times its size."""
    reader, make = BOMBS[name]
    one, content = target(reader), make()
    for seed in one.seeds()[:1]:
        one.once(seed)  # what is made once is no part of it
    gc.collect()
    tracemalloc.start()
    try:
        one.once(content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MOST_MIB * MIB


def test_a_bomb_is_none_that_the_search_makes():
    """Most are longer than any input of the search, and each is for a reader that there is."""
    assert {reader for reader, _ in BOMBS.values()} <= PLACES.keys()
    longer = [name for name, (_, make) in BOMBS.items() if len(make()) > 2 * MAX_BYTES]
    assert len(longer) > len(BOMBS) / 2
