"""The page of the hour: its numbers are the rollups', and a moment's work serves every tab."""

from __future__ import annotations

import json
import threading
from collections import defaultdict

import pytest

from local.alarms import RecordedHistory
from local.page.view import UnknownClusterError
from neuron_wire.catalogue import ROLLUP
from tests.local.page.recording import NOW_S, view_of

SEEN = {"Average": lambda found: sum(found) / len(found), "Maximum": max, "Sum": sum}


def titled(page, title):
    """The one widget of that *title*."""
    (found,) = [one for one in page["widgets"] if one.get("title") == title]
    return found


@pytest.mark.parametrize("cluster", ["research", "serving"])
def test_every_number_of_a_cluster_is_what_its_rollups_say(hour, view, cluster):
    """Read from the lines without any code of the page or of the extraction."""
    told = defaultdict(lambda: defaultdict(list))
    for text in hour.rollups:
        line = json.loads(text)
        if line["ClusterName"] == cluster and line["Kind"] == "rollup":
            for name in ROLLUP:
                if name in line:
                    told[name][line["_aws"]["Timestamp"]].append(line[name])
    compared = 0
    for widget in view.page(cluster)["widgets"]:
        for series in widget.get("series", []):
            if series["dimensions"] != {"ClusterName": cluster}:
                continue
            periods = defaultdict(list)
            for at_ms, values in told[series["metric"]].items():
                length_ms = series["period_s"] * 1000
                periods[at_ms // length_ms * length_ms].extend(values)
            expected = {at: SEEN[series["statistic"]](found) for at, found in periods.items()}
            assert pytest.approx(expected) == dict(map(tuple, series["points"]))
            assert (series["missing"] is None) is bool(expected)
            compared += len(expected)
    assert compared > 1000


def test_the_choice_changes_what_is_about_one_cluster(view):
    """Texts, metrics, tables."""
    for cluster, instances in (("research", 3), ("serving", 1)):
        page = view.page(cluster)
        assert cluster == page["cluster"]
        assert f"## Cluster {cluster}" in [one.get("markdown") for one in page["widgets"]]
        states = titled(page, "Cores by state")["series"]
        assert {cluster} == {one["dimensions"]["ClusterName"] for one in states}
        assert instances == len(titled(page, "Instances with idle cores")["rows"])
        assert cluster == view.cores(cluster)["cluster"]


def test_a_cluster_that_is_not_there_is_refused(view):
    """With those that are, and without its name, which is anybody's text."""
    for ask in (view.page, view.cores):
        with pytest.raises(UnknownClusterError, match=r"there are: research, serving$") as caught:
            ask("<b>")
        assert "<b>" not in str(caught.value)


def test_a_name_that_no_query_can_say_is_kept_out_of_queries(hour, repository):
    """Its graphs are drawn all the same."""
    name = "o'clock"
    history = RecordedHistory()
    history.put("Neuron/Cluster", "NeuronCores", {"ClusterName": name}, NOW_S - 300, [4.0])
    history.put("Neuron/Cluster", "BusyCores", {"ClusterName": name}, NOW_S - 300, [1.0])
    page = view_of(hour, repository, history).page(name)
    assert [1.0] == [value for _, value in titled(page, "Cores by state")["series"][0]["points"]]
    assert "holds a quote" in titled(page, "Events, the latest first")["missing"][0]
    assert [] == titled(page, "All clusters: the last rollup of each")["missing"]


def test_every_widget_has_its_place_and_can_be_written_down(view):
    """In 24 columns; JSON without a number that JSON does not have."""
    page = view.page()
    json.dumps([page, view.cores()], allow_nan=False)
    for widget in page["widgets"]:
        assert 0 <= widget["x"] < widget["x"] + widget["width"] <= 24
        assert widget["height"] >= 1
    kinds = {one["type"] for one in page["widgets"]}
    assert {"alarm", "log", "metric", "text"} == kinds


class Counted(RecordedHistory):
    """A history that counts; its first reader waits a while for a second one to come beside it."""

    def __init__(self):
        super().__init__()
        self.reads = 0
        self.crowd = threading.Event()
        self._inside = threading.Semaphore()

    def read(self, *what):
        self.reads += 1
        if not self._inside.acquire(blocking=False):
            self.crowd.set()
            return super().read(*what)
        if self.reads == 1:
            self.crowd.wait(0.2)
        self._inside.release()
        return super().read(*what)


def test_tabs_that_ask_at_the_same_time_wait_for_one_that_makes_it(hour, repository):
    """Four tabs cost what one does."""
    alone, together = Counted(), Counted()
    view_of(hour, repository, alone, fresh_s=5.0).page()
    view = view_of(hour, repository, together, fresh_s=5.0)
    tabs = [threading.Thread(target=view.page) for _ in range(4)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert alone.reads == together.reads
    assert not together.crowd.is_set()
