"""Lines about an instance in log streams other than its own, and the limit of reading them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuron_emf.reading.log_group import MAX_CALLS
from neuron_emf.verdict.instance_verdict import VERDICT_RELEASE
from proof.factories.records import AN_INSTANCE
from tests.neuron_emf.verdict.histories import CLEAN, LINE_HISTORIES, OTHER_INSTANCE, SHARED_STREAM
from tests.neuron_emf.verdict.instance_world import InstanceWorld

HARMLESS_LINES: dict[str, dict[str, Any]] = {
    "another instance": {"InstanceId": OTHER_INSTANCE, "CoreState": "b"},
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
IDLE_HOUR_LINES = "a whole idle hour"
STREAMS = st.sampled_from([AN_INSTANCE, SHARED_STREAM])


def _lines(*kinds: str, names: tuple[str, ...] = ()) -> Any:
    streams = st.sampled_from([SHARED_STREAM, "forged", f"check/{AN_INSTANCE}", *names])
    return st.tuples(streams, st.integers(0, 59), st.sampled_from(kinds))


def _play(seed: int, stream: str, spoil: Any, lines: list[tuple[str, int, str]]) -> InstanceWorld:
    """Return a world with *lines* in log streams; a copy is of its own line of that minute."""
    world = InstanceWorld(seed)
    spoil(world)
    world.stream = stream
    for number, (name, at, what) in enumerate(lines):
        if what == "copy":
            own = world.lines[at : at + 1]  # empty in a history without that minute
            world.elsewhere += [(name, *line) for line in own]
            continue
        members = {**HARMLESS_LINES, **AGAINST, IDLE_HOUR_LINES: {}}[what]
        state = members.get("CoreState", "u") * world.cores
        for minute in range(60) if what == IDLE_HOUR_LINES else [at]:
            other = {"Boot": f"b{number + 5}", "Seq": minute, **members, "CoreState": state}
            world.say_in(name, minute, **other)
    return world


STREAM_LAW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


@STREAM_LAW
@given(
    seed=st.integers(0, 99),
    stream=STREAMS,
    name=st.sampled_from([*CLEAN]),
    lines=st.tuples(
        st.lists(_lines(*HARMLESS_LINES, "copy"), max_size=3),
        st.lists(_lines(*AGAINST, IDLE_HOUR_LINES, names=(AN_INSTANCE,)), max_size=1),
    ),
)
def test_a_line_in_any_log_stream_counts(answered, seed, stream, name, lines):
    """A clean history is released unless a line in any log stream speaks against it."""
    harmless, against = lines
    code, out, err = answered(_play(seed, stream, CLEAN[name], [*harmless, *against]))
    assert "" == err
    assert (3 if against else 0) == code
    assert (not against) == (json.loads(out)["answer"] == VERDICT_RELEASE)


@STREAM_LAW
@given(
    seed=st.integers(0, 99),
    stream=STREAMS,
    name=st.sampled_from([*LINE_HISTORIES]),
    lines=st.lists(
        _lines(*HARMLESS_LINES, *AGAINST, IDLE_HOUR_LINES, "copy", names=(AN_INSTANCE,)), max_size=3
    ),
)
def test_no_line_elsewhere_causes_a_release(answered, seed, stream, name, lines):
    """Lines of other log streams cause no release, not even with a whole idle hour."""
    code, out, err = answered(_play(seed, stream, LINE_HISTORIES[name].spoil, lines))
    assert "" == err
    assert 3 == code
    assert VERDICT_RELEASE != json.loads(out)["answer"]


def _refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code}}, "FilterLogEvents")


@pytest.mark.parametrize("stream", [AN_INSTANCE, SHARED_STREAM])
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
    """A call that fails or has half an answer releases nothing: exit code 4."""
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
        assert 4 == code
        assert "" == out
        assert err.startswith("neuron-emf: ")


def test_a_group_that_does_not_end_is_left_after_300_calls(answered, logs):
    """The reading of an endless group stops after 300 calls, and the message has a remedy."""
    answer = {"events": []}
    logs.answer = lambda request: (
        None if "logStreamNames" in request else {**answer, "nextToken": str(len(logs.asked))}
    )
    code, out, err = answered(InstanceWorld(0))
    assert 4 == code
    assert "" == out
    assert MAX_CALLS == len(logs.asked)
    assert "stopped after 300 calls" in err
    assert "use a log group for each cluster" in err


def test_a_line_that_keeps_it_or_names_an_owner_ends_the_search(answered, logs):
    """A line that keeps the instance or names an owner ends the search before the rest is read."""
    for spoil in (LINE_HISTORIES["core busy for a minute"].spoil, InstanceWorld.own):
        world = InstanceWorld(0)
        spoil(world)
        assert 0 != answered(world)[0]
        assert all(
            "logStreamNames" in request or request["logGroupName"].endswith("rollups")
            for request in logs.asked
        )
