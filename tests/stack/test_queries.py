"""The saved queries: what each is called, asks for and reads; AWS's answers are acceptance's."""

from __future__ import annotations

import re

import pytest

from tests.stack.query_names import kinds, unknown_names

NAMES = {
    "HeldCoresQuery": "who-held-cores",
    "IdleCoresQuery": "idle-cores-by-instance",
    "IdleCostQuery": "idle-cost-by-cluster",
    "SilentInstancesQuery": "silent-instances",
    "ExecutionErrorsQuery": "execution-errors-by-runtime",
    "HardwareErrorsQuery": "hardware-errors-by-instance",
    "LatencyGapQuery": "latency-gap",
    "EmittersQuery": "emitters-that-dropped-or-restarted",
    "CoresQuery": "cores-of-instance",
}
OF_ROLLUPS = {"IdleCoresQuery", "IdleCostQuery", "SilentInstancesQuery"}

# --- what is deployed ---


def test_the_saved_queries_are_in_a_folder_of_the_stack(queries):
    """A slash in the name makes a folder, so two stacks do not mix theirs."""
    found = {name: properties["Name"] for name, properties in queries.items()}
    assert {name: f"neuron-emf/{rest}" for name, rest in NAMES.items()} == found


@pytest.mark.parametrize("name", NAMES)
def test_every_field_that_a_query_names_is_in_the_catalogue(queries, name):
    """Logs Insights answers a name that no line has with nothing, and says no word."""
    assert [] == unknown_names(queries[name]["QueryString"])


@pytest.mark.parametrize("name", NAMES)
def test_a_query_asks_the_log_group_that_has_its_lines(queries, name):
    """Rollups are in a group of their own."""
    assert (name in OF_ROLLUPS) is ({"rollup"} == kinds(queries[name]["QueryString"]))
    group = "<RollupsLogGroup>" if name in OF_ROLLUPS else "/neuron-emf/records"
    assert [group] == queries[name]["LogGroupNames"]


@pytest.mark.parametrize("name", NAMES)
def test_a_query_reads_only_the_lines_that_it_is_about(queries, deployed, name):
    """
    It begins with a field that the log group has an index of: CloudWatch bills by what it reads.
    """
    group = "RollupsLogGroup" if name in OF_ROLLUPS else "RecordsLogGroup"
    (policy,) = deployed()[group]["Properties"]["FieldIndexPolicies"]
    condition = re.search(r"^filter (.+)$", queries[name]["QueryString"], re.MULTILINE)[1]
    terms = [] if " or " in condition and "(" not in condition else condition.split(" and ")
    equal = {found[1] for one in terms if (found := re.match(r"(\w+) (?:=|in) ", one))}
    assert {"Kind"} <= equal <= set(policy["Fields"])


@pytest.mark.parametrize("name", NAMES)
def test_what_a_query_asks_its_reader_for_is_declared(queries, name):
    """With a default that shows the form: a text is given in quotes."""
    parameters = queries[name].get("Parameters", [])
    asked = re.findall(r"{{(\w+)}}", queries[name]["QueryString"])
    assert set(asked) == {one["Name"] for one in parameters}
    for one in parameters:
        assert re.fullmatch(r'"[^"]+"', one["DefaultValue"])
        assert one["Description"].endswith(".")
