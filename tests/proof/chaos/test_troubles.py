"""The plan of the chaos."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.chaos.troubles import (
    CLOCK_BACK,
    CLOCK_FORWARD,
    DISK_FULL,
    FEWEST_EMITTERS,
    FEWEST_MINUTES,
    KINDS,
    MINUTES,
    MOST_OFF_S,
    NETWORK_BACK,
    NETWORK_LOST,
    plan,
)

SEEDS = st.integers(0, 10**6)
SIZES = st.sampled_from([(FEWEST_EMITTERS, FEWEST_MINUTES), (7, 11.0), (20, 30.0)])


@given(seed=SEEDS, size=SIZES)
def test_every_kind_of_trouble_is_in_every_plan(seed, size):
    """Whatever the seed, and however short the run."""
    found = plan(seed, *size)
    assert set() == set(KINDS) - found.kinds()
    assert size[0] == len(found.hosts)
    assert all(0 <= one.at_minute <= found.minutes for each in found.hosts for one in each)


@given(seed=SEEDS, size=SIZES)
def test_a_host_has_one_trouble_at_a_time(seed, size):
    """So none is killed while its disk is full; only a lost network lasts beside others."""
    for host in plan(seed, *size).hosts:
        own = [one for one in host if one.kind in MINUTES]
        for one, after in pairwise(own):
            assert one.at_minute + MINUTES[one.kind] <= after.at_minute + 1e-9
        assert 1 >= sum(one.kind == DISK_FULL for one in host)


@given(seed=SEEDS, size=SIZES)
def test_a_network_comes_back(seed, size):
    """Each that is lost, in time; in a long run one is lost for more than ten minutes."""
    found = plan(seed, *size)
    for host in found.hosts:
        ways = [one for one in host if one.kind in {NETWORK_LOST, NETWORK_BACK}]
        assert [NETWORK_LOST, NETWORK_BACK][: len(ways)] == [one.kind for one in ways]
        if ways and found.minutes == 30.0:
            assert 10.0 < ways[1].at_minute - ways[0].at_minute


@given(seed=SEEDS, size=SIZES)
def test_a_clock_that_is_moved_by_minutes_stays_within_what_a_signature_allows(seed, size):
    """Five minutes, with what clocks are off by themselves."""
    for host in plan(seed, *size).hosts:
        off_s = 0.0
        for one in host:
            if one.kind in {CLOCK_FORWARD, CLOCK_BACK}:
                assert (one.amount > 0) == (one.kind == CLOCK_FORWARD)
                off_s += one.amount
                assert -MOST_OFF_S <= off_s <= MOST_OFF_S


def test_the_seed_is_the_plan():
    """The same one in another process, and another one for another seed."""
    told = []
    for seed, salt in ((5, 1), (5, 2), (6, 1)):
        command = [sys.executable, "-m", "proof.chaos", "--plan", "--seed", str(seed)]
        variables = {"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": str(salt)}
        told.append(subprocess.check_output(command, env=variables, text=True))
    assert told[0] == told[1] != told[2]
    assert "\n".join(plan(5, 20, 30.0).lines()) + "\n" == told[0]


@pytest.mark.parametrize("size", [(FEWEST_EMITTERS - 1, 30.0), (20, FEWEST_MINUTES - 0.1)])
def test_a_run_without_room_is_refused(size):
    """In one sentence that says what to ask for."""
    with pytest.raises(ValueError, match="expected at least 4 emitters and 6 minutes"):
        plan(1, *size)
