"""Every reader of what others wrote, held to its promise: the short form of `make fuzz`."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.fuzz.corpus import folder_of, kept
from proof.fuzz.targets import PLACES, target

pytestmark = pytest.mark.timeout(120)

EXAMPLES = 75  # of each reader; `make fuzz` has no end of them
KEPT = [name for name in PLACES if kept(name)]


@pytest.mark.parametrize("name", [name for name in PLACES if name != "reports"])
def test_what_is_as_it_should_be_keeps_the_promise(name):
    """What the search begins with is read without a finding, or it would search nothing."""
    for seed in target(name).seeds():
        target(name).once(seed)


@pytest.mark.parametrize("name", [name for name in PLACES if name != "reports"])
def test_a_broken_input_keeps_the_promise(name):
    """Inputs changed in their form and byte by byte: no exception but the declared ones."""
    reader = target(name)
    seeds = reader.seeds()

    @settings(max_examples=EXAMPLES)
    @given(st.integers(0, (1 << 32) - 1))
    def holds(chance_seed):
        # Not a chance of Hypothesis': how deep a text may be nested depends on who asks.
        chance = random.Random(chance_seed)
        content = chance.choice(seeds)
        for _ in range(chance.randint(1, 3)):
            content = reader.changed(content, chance)
        reader.once(content)

    holds()


@pytest.mark.parametrize("name", PLACES)
def test_any_bytes_keep_the_promise(name):
    """Also those that no change of a good input leads to."""

    @settings(max_examples=EXAMPLES // 2)
    @given(st.binary(max_size=200))
    def holds(content):
        target(name).once(content)

    holds()


@pytest.mark.parametrize("name", KEPT)
def test_what_broke_a_promise_once_does_not_any_more(name):
    """Each was found by the search, and mended."""
    for path in kept(name):
        target(name).once(path.read_bytes())


def test_inputs_are_kept_for_readers_that_there_are():
    """A target that was renamed must take its inputs along."""
    known = {folder_of(name) for name in PLACES}
    assert len(PLACES) == len(known)
    root = folder_of("x").parent
    assert [] == [folder for folder in root.iterdir() if folder not in known]
