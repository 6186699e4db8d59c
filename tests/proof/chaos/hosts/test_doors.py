"""What stands between a host and the service."""

from __future__ import annotations

import pytest

from proof.chaos.hosts.doors import IN_A_STORM, REFUSED, USUAL, Door, change
from proof.chaos.troubles import ALL_BACK, ALL_LOST, STORM, STORM_OVER
from proof.logs.faults import FAULTS, RESET, THROTTLED
from proof.logs.rules import LogRules


@pytest.fixture
def door():
    """A door that is open."""
    made = Door(lambda: 0.0, 1, LogRules(lambda: 0.0))
    with made.service:
        yield made


def test_a_door_opens_when_the_last_reason_is_gone(door):
    """A host that lost its network, in a network that all lost, has it back when both are back."""
    door.close()
    change([door], ALL_LOST)
    door.open()
    assert not door.service.is_there
    change([door], ALL_BACK)
    assert door.service.is_there


def test_weather_adds_to_what_is_usual(door):
    """A storm throttles most calls; credentials that are refused are refused in any weather."""
    assert door.service.chances == USUAL
    change([door], STORM)
    assert {**USUAL, **IN_A_STORM} == door.service.chances
    assert 1 > sum(door.service.chances.values())
    door.refuse(everything=True)
    change([door], STORM_OVER)
    assert door.service.chances == REFUSED
    door.refuse(everything=False)
    assert USUAL == door.service.chances
    assert THROTTLED in USUAL.keys() <= set(FAULTS)


def test_after_the_run_nothing_goes_wrong(door):
    """Whatever the reasons were."""
    door.close()
    door.close()
    door.service.next_faults.append(RESET)
    door.calm()
    assert door.service.is_there
    assert ({}, []) == (door.service.chances, door.service.next_faults)
