"""The queries that a message offers can be read, name what there is, and show what they say."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.explain import commands
from aggregator.explain.queries import StackLogGroups, query_of
from aggregator.explain.subject import IDLE_CORES, IDLE_COST, SILENCE, SUBJECTS
from local.insights.engine import run
from proof.factories.alarms import MIDNIGHT, MINUTE, RANG_S, rollup
from proof.factories.records import message, record
from tests.stack.insights.reading import problems

GROUPS = StackLogGroups("/neuron-emf/records", "/neuron-emf/neuron-emf/rollups")


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS)
@pytest.mark.parametrize("instances", [(), ("i-0c3f5a7b9d1e2f4a6", "host-1")])
def test_a_query_is_one_that_logs_insights_takes(subject, instances):
    """By the checks of the saved queries: its grammar, its names, and no amount counted twice."""
    query = query_of(subject, "training", GROUPS, RANG_S, instances=instances)
    assert [] == problems(query.text)
    assert query.start_s < query.end_s


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), min_size=1))
def test_a_cluster_is_found_whatever_its_name(cluster):
    """Quotes, bars, slashes and backslashes end neither the text nor the query."""
    query = query_of(IDLE_CORES, cluster, GROUPS, RANG_S)
    assert [] == problems(query.text)
    made = record(minute=MINUTE, cluster=cluster) if cluster.strip() else None
    rows = run(query.text, [(made.minute_ms, message(made))] if made else [])
    assert int(made is not None) == len(rows)
    shell, _ = query.shell("us-east-1")
    assert query.text == shlex.split(shell)[-1].replace(" | ", "\n| ")


def test_the_cost_query_counts_each_rollup_once():
    """A line that came twice, and one that another cluster wrote, change nothing."""
    written = [
        rollup(IdleCost=0.5),
        rollup(IdleCost=0.5),
        rollup(IdleCost=0.25, RollupId="training@2026-11-21T03:13Z#2"),
        rollup(minute=MINUTE - 60, IdleCost=2),
        rollup(ClusterName="serving", RollupId="serving#1", IdleCost=100),
    ]
    lines = [(one["_aws"]["Timestamp"], json.dumps(one)) for one in written]
    rows = run(query_of(IDLE_COST, "training", GROUPS, RANG_S).text, lines)
    assert [("2026-11-21T03", 0.75), ("2026-11-21T02", 2)] == [
        (row["Hour"], row["IdleCostUsd"]) for row in rows
    ]


def test_the_core_query_shows_the_last_minute_of_each_instance():
    """Most attached idle cores first."""
    made = [
        record(instance_id="i-1", minute=MINUTE, core_state="ba", seq=1),
        record(instance_id="i-1", minute=MINUTE + 1, core_state="bb", seq=2),
        record(instance_id="i-2", minute=MINUTE, core_state="aa", seq=1),
        record(instance_id="i-3", minute=MINUTE, cluster="serving"),
    ]
    lines = [(one.minute_ms, message(one)) for one in made]
    rows = run(query_of(IDLE_CORES, "training", GROUPS, RANG_S).text, lines)
    assert [("i-2", 2), ("i-1", 0)] == [(row["InstanceId"], row["AttachedIdle"]) for row in rows]


def test_a_query_looks_where_its_subject_was():
    """Cost since midnight, silence since before it began, anything else in the last hour."""
    hour = RANG_S + 60 - 3600
    assert hour == query_of(IDLE_CORES, "training", GROUPS, RANG_S).start_s
    assert MIDNIGHT * 60 == query_of(IDLE_COST, "training", GROUPS, RANG_S).start_s
    assert hour == query_of(SILENCE, "training", GROUPS, RANG_S).start_s
    for ago_s, expected in ((120, hour), (7200, RANG_S - 7800), (10**6, RANG_S + 60 - 86_400)):
        query = query_of(SILENCE, "training", GROUPS, RANG_S, since_s=RANG_S - ago_s)
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
