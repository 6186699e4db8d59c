"""Lines about an instance in log streams other than its own, and how far they are read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuron_emf.findings.verdict import GIVE_BACK
from neuron_emf.reading.log_group import MAX_CALLS
from tests.neuron_emf.findings.histories import CLEAN, OF_LINES, OTHER, SHARED
from tests.neuron_emf.findings.world import INSTANCE, World

HARMLESS: dict[str, dict[str, Any]] = {
    "another instance": {"InstanceId": OTHER, "CoreState": "b"},
    "probe": {"Kind": "probe"},
    "a later kind": {"Kind": "of a later release", "CoreState": "b"},
}
AGAINST: dict[str, dict[str, Any]] = {
    "idle": {},
    "busy": {"CoreState": "b"},
    "reserved": {"Reserved": "0"},
    "another cluster": {"ClusterName": "default"},
    "nothing seen": {"CoveredSeconds": 0, "CoreState": "?"},
    "newer schema": {"Schema": 2},
    "no schema": {"Schema": None},
}
LINES = st.tuples(
    st.sampled_from([INSTANCE, SHARED, "forged", "a/b"]),
    st.integers(0, 59),
    st.sampled_from([*HARMLESS, *AGAINST, "copy"]),
)


def _play(seed: int, stream: str, spoil: Any, lines: list[tuple[str, int, str]]) -> World:
    """A world with *lines* in log streams; a copy is of its own line of that minute."""
    world = World(seed)
    spoil(world)
    world.stream = stream
    for number, (name, at, what) in enumerate(lines):
        members = {**HARMLESS, **AGAINST}.get(what)
        if members is None:
            world.elsewhere.append((name, *world.lines[at]))
            continue
        state = members.get("CoreState", "u") * world.cores
        other = {"Boot": "b9", "Seq": number, **members, "CoreState": state}
        world.say_in(name, at, **other)
    return world


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    seed=st.integers(0, 99),
    stream=st.sampled_from([INSTANCE, SHARED]),
    name=st.sampled_from(["clean"] * 9 + list(OF_LINES)),
    lines=st.lists(LINES, max_size=4),
)
def test_a_line_elsewhere_prevents_a_release_and_causes_none(answered, seed, stream, name, lines):
    """A clean history is released unless a line speaks against it; a wrong history never is."""
    spoil = OF_LINES[name].spoil if name in OF_LINES else CLEAN["nothing else"]
    code, out, err = answered(_play(seed, stream, spoil, lines))
    is_released = name == "clean" and not any(what in AGAINST for *_, what in lines)
    assert "" == err
    assert is_released == (json.loads(out)["answer"] == GIVE_BACK)
    assert is_released == (code == 0)


def _refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code}}, "FilterLogEvents")


@pytest.mark.parametrize("stream", [INSTANCE, SHARED])
@pytest.mark.parametrize(
    "failure",
    [
        _refused("ThrottlingException"),
        _refused("AccessDeniedException"),
        _refused("ServiceUnavailableException"),
        EndpointConnectionError(endpoint_url="x"),
        ReadTimeoutError(endpoint_url="x"),
        {"searchedLogStreams": []},
        {"events": [{"message": "no timestamp"}]},
    ],
    ids=repr,
)
def test_a_call_that_fails_releases_nothing(answered, logs, stream, failure):
    """Whichever call of the reading is refused, not answered or half answered: exit code 4."""
    world = _play(1, stream, CLEAN["nothing else"], [])
    assert 0 == answered(world)[0]

    def failing_at(number):
        def answer(_request):
            if len(logs.asked) != number:
                return None
            if isinstance(failure, dict):
                return failure
            raise failure

        return answer

    for number in range(1, len(logs.asked) + 1):
        logs.answer = failing_at(number)
        code, out, err = answered(world)
        assert (4, "") == (code, out)
        assert err.startswith("neuron-emf: ")


def test_a_group_that_does_not_end_is_left_after_300_calls(answered, logs):
    """Every call counts, empty pages too; the message says what to do."""
    answer = {"events": []}
    logs.answer = lambda request: (
        None if "logStreamNames" in request else {**answer, "nextToken": str(len(logs.asked))}
    )
    code, out, err = answered(World(0))
    assert (4, "", MAX_CALLS) == (code, out, len(logs.asked))
    assert "stopped after 300 calls" in err
    assert "use a log group for each cluster" in err


def test_a_line_that_keeps_it_or_names_an_owner_ends_the_search(answered, logs):
    """The rest of the group is read only before a release."""
    for spoil in (OF_LINES["core busy for a minute"].spoil, World.own):
        world = World(0)
        spoil(world)
        assert 0 != answered(world)[0]
        assert all(
            "logStreamNames" in request or request["logGroupName"].endswith("rollups")
            for request in logs.asked
        )
