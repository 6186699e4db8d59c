"""The queries that a message offers name what there is, and look where their subject was."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.explain import commands
from aggregator.explain.members import read_rollup
from aggregator.explain.queries import query_of
from aggregator.explain.subject import IDLE_CORES, IDLE_COST, SILENCE, SUBJECTS
from aggregator.query_text import StackLogGroups
from tests.aggregator.explain.alarm_events import MIDNIGHT, RANG_S, iso, rollup
from tests.stack.query_names import unknown_names

GROUPS = StackLogGroups("/neuron-emf/records", "/neuron-emf/neuron-emf/rollups")


def silent(*instances, ago_s=120):
    """A rollup in which they are silent."""
    seen = iso(int(RANG_S - ago_s) // 60)
    names = [{"InstanceId": one, "LastSeen": seen} for one in instances]
    return read_rollup(json.dumps(rollup(SilentInstanceNames=names)))


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS)
@pytest.mark.parametrize("instances", [(), ("i-0c3f5a7b9d1e2f4a6", "host-1")])
def test_a_query_names_what_lines_have(subject, instances):
    """Logs Insights answers a name that no line has with nothing, and says no word."""
    query = query_of(subject, "training", GROUPS, RANG_S, silent(*instances))
    assert [] == unknown_names(query.text)
    assert query.start_s < query.end_s


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), min_size=1))
def test_a_cluster_is_asked_for_whatever_its_name(cluster):
    """Quotes, bars, slashes and backslashes end neither the text nor the query."""
    query = query_of(IDLE_CORES, cluster, GROUPS, RANG_S)
    assert [] == unknown_names(query.text)
    shell, _ = query.shell("us-east-1")
    assert query.text == shlex.split(shell)[-1].replace(" | ", "\n| ")


def test_a_query_looks_where_its_subject_was():
    """Cost since midnight, silence since before it began, anything else in the last hour."""
    hour = RANG_S + 60 - 3600
    assert hour == query_of(IDLE_CORES, "training", GROUPS, RANG_S).start_s
    assert MIDNIGHT * 60 == query_of(IDLE_COST, "training", GROUPS, RANG_S).start_s
    assert hour == query_of(SILENCE, "training", GROUPS, RANG_S).start_s
    for ago_s, expected in ((120, hour), (7200, RANG_S - 7800), (10**6, RANG_S + 60 - 86_400)):
        query = query_of(SILENCE, "training", GROUPS, RANG_S, silent("host-1", ago_s=ago_s))
        assert expected == query.start_s


def test_only_ids_that_ec2_gave_stand_in_a_command():
    """Anything else is a name that somebody chose."""
    named = ["i-0c3f5a7b9d1e2f4a6", "host-1", "i-1;reboot", "$(reboot)", "i-0abcdef1"]
    (line,) = commands.owners(named, "us-east-1")
    assert "Values=i-0c3f5a7b9d1e2f4a6,i-0abcdef1 " in line
    assert () == commands.owners(["host-1"], "us-east-1")
    assert () == commands.shell_on(["host-1", "i-0abcdef1"], "us-east-1")
    assert () == commands.states([], "us-east-1")


def test_a_command_names_at_most_five_instances():
    """A command that fills the screen is not typed."""
    (line,) = commands.states([f"i-{number:08x}" for number in range(9)], "")
    assert 5 == line.count(" i-")
    assert "--region" not in line
