"""The saved queries: that Logs Insights would take each, and what each says of lines."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.insights.fields import MAX_DISCOVERED, discovered
from local.insights.parser import parse
from local.insights.tree import Operation
from neuron_wire.catalogue import ROLLUP
from tests.stack.insights.lines import emitted, health, idle, iso, minute_line, profile, rollup
from tests.stack.insights.reading import kinds, placeholders, problems

QUERY = "AWS::Logs::QueryDefinition"
NAMES = {
    "IdleCoresQuery": "idle-cores-by-instance",
    "IdleCostQuery": "idle-cost-by-cluster",
    "UtilizationQuery": "utilization-of-instance",
    "CoresQuery": "cores-of-instance",
    "ExecutionErrorsQuery": "execution-errors-by-runtime",
    "LatencyGapQuery": "latency-gap",
    "EccRisesQuery": "ecc-rises",
    "HardwareFaultsQuery": "hardware-faults",
    "EmittersQuery": "emitters-that-dropped-or-restarted",
    "SilentInstancesQuery": "silent-instances",
    "IdleTimeMinutesQuery": "idle-time-minutes",
    "IdleTimeRollupsQuery": "idle-time-rollups",
    "ProfilesQuery": "profiles-beside-the-fleet",
}
OF_ROLLUPS = {"IdleCoresQuery", "IdleCostQuery", "SilentInstancesQuery", "IdleTimeRollupsQuery"}
OF_BOTH = {"ProfilesQuery"}  # what an hour's profiles are beside is in the rollups

# --- what is deployed ---


def test_the_saved_queries_are_in_a_folder_of_the_stack(queries):
    """A slash in the name makes a folder, so two stacks do not mix theirs."""
    found = {name: properties["Name"] for name, properties in queries.items()}
    assert {name: f"neuron-emf/{rest}" for name, rest in NAMES.items()} == found


@pytest.mark.parametrize("name", NAMES)
def test_a_query_reads_well(queries, name):
    """
    Its order is one that Logs Insights takes, its fields are in the lines that it reads, and no
    number is made of a family that does not allow it.
    """
    assert [] == problems(queries[name]["QueryString"])


@pytest.mark.parametrize("name", NAMES)
def test_a_query_asks_the_log_group_that_has_its_lines(queries, name):
    """Rollups are in a group of their own."""
    read = kinds(queries[name]["QueryString"])
    assert (name in OF_ROLLUPS | OF_BOTH) is ("rollup" in read)
    assert (len(read) > 1) is (name in OF_BOTH)
    records = [] if name in OF_ROLLUPS else ["/neuron-emf/records"]
    rollups = ["<RollupsLogGroup>"] if name in OF_ROLLUPS | OF_BOTH else []
    assert records + rollups == queries[name]["LogGroupNames"]


@pytest.mark.parametrize("name", NAMES)
def test_a_query_reads_only_the_lines_that_it_is_about(queries, deployed, name):
    """
    It begins with a field that the log group has an index of: CloudWatch bills by what it reads.
    """
    group = "RollupsLogGroup" if name in OF_ROLLUPS else "RecordsLogGroup"
    (policy,) = deployed()[group]["Properties"]["FieldIndexPolicies"]
    condition = parse(queries[name]["QueryString"])[0].expressions[0]
    terms = condition.operands if condition.operator == "and" else (condition,)
    compared = [one for one in terms if isinstance(one, Operation)]
    equal = {one.operands[0].path for one in compared if one.operator in {"=", "in"}}
    assert {"Kind"} <= equal <= set(policy["Fields"])


@pytest.mark.parametrize("name", NAMES)
def test_what_a_query_asks_its_reader_for_is_declared(queries, name):
    """With a default that shows the form: a text is given in quotes."""
    parameters = queries[name].get("Parameters", [])
    assert placeholders(queries[name]["QueryString"]) == {one["Name"] for one in parameters}
    for one in parameters:
        assert re.fullmatch(r'"[^"]+"', one["DefaultValue"])
        assert one["Description"].endswith(".")


# --- laws ---

HISTORY = [
    line
    for minute in range(4)
    for line in (
        rollup(
            minute,
            IdleCores=3,
            IdleCost=0.5,
            IdleCoreMinutes=3,
            UnpricedCores=minute,
            SilentInstances=1,
            IdleInstanceCount=1,
            TopIdleInstances=[idle("i-0a", 1 + minute, 20 + minute)],
            SilentInstanceNames=[{"InstanceId": "i-0b", "LastSeen": iso(0)}],
        ),
        rollup(minute, number=2, IdleCost=0.25, IdleCoreMinutes=1, SilentInstances=0),
        minute_line(
            minute,
            minute * 3 + 1,
            BusyCores=1,
            CoreState="ba",
            NeuronCoreUtilization=[64, 0],
            LatencyP50Mean=0.5,
            DeviceLatencyP50Mean=0.25,
            LatencyGapP50=0.25,
            EccUncorrectedRise=minute,
            EccCorrectedRise=1,
            **health(dropped=minute),
        ),
        emitted(
            "event", minute, 100 + minute, Event="HardwareFault", Fault="DMA_ERROR", Device=minute
        ),
        emitted("runtime", minute, minute * 3 + 2, Pid=1, RuntimeTag="t", ExecutionErrors=2),
        profile(minute, mfu_estimated_percent=minute / 8, nc_idx=minute % 2),
    )
]


@pytest.mark.parametrize("name", NAMES)
@given(lines=st.permutations(HISTORY), copies=st.lists(st.sampled_from(HISTORY)))
def test_copies_and_the_order_of_lines_change_nothing(run, name, lines, copies):
    """A line may come twice, and nothing says in which order lines are read."""
    expected = run(name, HISTORY)
    assert expected
    assert sorted(map(str, expected)) == sorted(map(str, run(name, [*copies, *lines])))


def test_fields_are_found_in_the_longest_rollup():
    """Logs Insights discovers 200 fields of a line, and a rollup with 20 instances has more."""
    _, text = rollup(
        0,
        **dict.fromkeys(ROLLUP, 1.5),
        IdleInstanceCount=500,
        TopIdleInstances=[idle(f"i-{n:017x}", 32, 90, UsdPerHour=1.25) for n in range(20)],
    )
    found = discovered(text)
    assert len(found) == MAX_DISCOVERED
    for name in ("Kind", "RollupId", "IdleInstanceCount", *ROLLUP):
        assert name in found
