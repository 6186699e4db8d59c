"""What the page says of an account is what its lines say, asked for once for every tab."""

from __future__ import annotations

import json
import threading

import pytest

from emitter.errors import SettingsError
from neuron_emf.page.view import UnknownClusterError
from tests.neuron_emf.account_doubles import OWN_QUERY
from tests.neuron_emf.page.looked_at import view_of
from tests.neuron_emf.page.rollup_lines import START_MS
from tests.neuron_emf.page.rollup_lines import line as rollup_line


def test_every_point_of_a_graph_is_what_its_line_says(view, hour):
    """Read from the lines without any code of the page."""
    told = {}
    for text in hour.rollups:
        line = json.loads(text)
        if line["Kind"] == "rollup" and line["ClusterName"] == "research":
            told[line["_aws"]["Timestamp"]] = line
    view.now({})
    graphs = view.history({"cluster": "research", "minutes": "60"})["graphs"]
    names = {"research": "IdleCores", "Busy": "BusyCores", "Held but not busy": "AttachedIdleCores",
             "Unheld": "UnattachedCores", "Unknown": "UnknownCores",
             "Utilization": "NeuronCoreUtilization", "Coverage": "CoveragePercent"}  # fmt: skip
    compared = 0
    for graph in graphs:
        for series in graph["series"]:
            name = names[series["label"]]
            if graph["title"] == "Cost of idle cores":
                name = "IdleCostPerHour"
            if "BF16" in graph["title"]:
                name = "FlopsPercentOfBf16Peak"
            expected = {at: told[at][name] for at, _ in series["points"]}
            assert pytest.approx(expected) == dict(map(tuple, series["points"]))
            compared += len(expected)
    assert 50 * 8 < compared


def test_the_alarms_are_those_of_the_account(view, looked_at):
    """With the clusters that make them fire; asked again after ten seconds."""
    firing = {one["title"]: one for one in view.alarms({})["alarms"] if one["state"] == "ALARM"}
    assert {"Idle cores", "Low utilization"} == firing.keys()
    (contributor,) = firing["Idle cores"]["contributors"]
    assert ("research", "Threshold Crossed: 15 out of 15") == (
        contributor["name"], contributor["reason"])  # fmt: skip
    asked = looked_at.operations.count("DescribeAlarms")
    view.alarms({})
    assert asked == looked_at.operations.count("DescribeAlarms")


def test_the_cores_are_those_of_the_newest_minute(view, hour, looked_at):
    """One letter and one number for each core of every instance; read once for all tabs."""
    shown = view.cores({})
    lines = [json.loads(text) for text in hour.lines if '"Kind":"minute"' in text]
    newest_ms = max(line["_aws"]["Timestamp"] for line in lines)
    told = {line["InstanceId"]: line for line in lines
            if line["_aws"]["Timestamp"] == newest_ms}  # fmt: skip
    assert newest_ms == shown["minute_ms"]
    assert told.keys() == {one["instance"] for one in shown["instances"]}
    for one in shown["instances"]:
        assert told[one["instance"]]["CoreState"] == one["states"].lower()
        assert [round(value) for value in told[one["instance"]]["NeuronCoreUtilization"]] == [
            value for value in one["utilization"] if value is not None
        ]
    assert 56 == sum(one["idle_cores"] for one in shown["instances"])
    asked = len(looked_at.operations)
    assert shown == view.cores({})
    assert asked == len(looked_at.operations)


def test_the_cores_of_a_large_fleet_ask_for_a_cluster(double):
    """2,000 instances are read at once; more only one cluster at a time, whatever its size."""
    for instances, is_read in ((1_000, True), (1_001, False)):
        lines = [rollup_line(name, -1, Instances=instances) for name in ("research", "serving")]
        double.put_lines(double.rollups_group, lines)
        view = view_of(lambda: START_MS / 1000)
        assert [] == view.cores({"cluster": "serving"})["instances"]
        if is_read:
            assert [] == view.cores({})["instances"]
        else:
            with pytest.raises(SettingsError, match=r"2,002 instances.*Choose a cluster"):
                view.cores({})


def test_a_cluster_that_is_not_there_is_refused(view):
    """Without its name, which is anybody's text."""
    view.now({})
    for ask in (view.now, view.history, view.cores):
        with pytest.raises(UnknownClusterError, match="No cluster of that name") as caught:
            ask({"cluster": "<b>"})
        assert "<b>" not in str(caught.value)


def test_looking_asks_for_nothing_that_costs(view, looked_at):
    """Neither GetMetricData nor a query, whatever is looked at but a query's own button."""
    for path, answer in view.reads.items():
        answer({"cluster": "research", "instance": "i-0", "minutes": "720"})
        assert path.endswith(".json")
    assert {"FilterLogEvents", "DescribeAlarms", "DescribeAlarmContributors",
            "DescribeQueryDefinitions"} == set(looked_at.operations)  # fmt: skip


def test_a_query_runs_when_it_is_asked_for_and_says_what_it_scanned(view):
    """Its price beforehand is that of all lines of the time, so it is never too low."""
    (priced,) = [one for one in view.queries({"minutes": "60"})["queries"]
                 if one["name"] == OWN_QUERY]  # fmt: skip
    answer = view.query({"name": OWN_QUERY, "minutes": "60"})
    assert {"research", "serving"} == {row[answer["columns"].index("ClusterName")]
                                       for row in answer["rows"]}  # fmt: skip
    assert 0 < answer["usd"] <= priced["usd"]


def test_tabs_that_ask_at_the_same_time_read_once(view, looked_at):
    """Four tabs cost what one does."""
    tabs = [threading.Thread(target=view.now, args=({},)) for _ in range(4)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    alone = looked_at.operations.count("FilterLogEvents")
    view_of().now({})
    assert 2 * alone == looked_at.operations.count("FilterLogEvents")
