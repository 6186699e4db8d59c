"""What the page says of an account is what its lines say, asked for once for every tab."""

from __future__ import annotations

import json
import threading

import pytest

from emitter.errors import SettingsError
from neuron_emf.page.view import UnknownClusterError
from tests.neuron_emf.page.looked_at import view_of
from tests.neuron_emf.page.rollup_lines import START_MS
from tests.neuron_emf.page.rollup_lines import line as rollup_line


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
        assert told[one["instance"]]["CoreState"] == one["states"].lower().replace("r", "u")
        assert [round(value) for value in told[one["instance"]]["NeuronCoreUtilization"]] == [
            value for value in one["utilization"] if value is not None
        ]
    assert 60 == sum(one["idle_cores"] for one in shown["instances"])
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
