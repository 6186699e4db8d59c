"""
deploy/grafana/: it asks for what there is.

No Grafana has loaded it here.
"""

from __future__ import annotations

import json
import re

import pytest

from neuron_wire.catalogue import ROLLUP
from tests.stack.query_names import kinds, unknown_names

SEARCH = re.compile(
    r"SEARCH\('\{Neuron/Cluster,ClusterName\} MetricName=\"(\w+)\"', '(\w+)', (60|300)\)"
)


@pytest.fixture(scope="module")
def committed(repository):
    """The file that people import."""
    return (repository / "deploy" / "grafana" / "neuron-emf.json").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def panels(committed):
    """Its panels, by their titles."""
    return {one["title"]: one for one in json.loads(committed)["panels"]}


def test_every_metric_is_read_with_the_statistic_that_is_true_for_it(panels):
    """A restated gauge must not double: each search has the statistic of the catalogue."""
    for title, panel in panels.items():
        if panel["targets"][0]["queryMode"] == "Logs":
            continue
        for text in [one["expression"] for one in panel["targets"]]:
            found = SEARCH.findall(text)
            assert found, title
            rest = SEARCH.sub("", text)
            assert re.fullmatch(r"|(SUM|MIN)\(\)( - SUM\(\))?", rest), text
            for metric, statistic, _ in found:
                assert ROLLUP[metric].statistic == statistic, metric


def test_the_table_of_owners_asks_for_fields_that_rollups_have(panels):
    """In the log group of the rollups of the stack that is chosen."""
    (query,) = panels["Who holds idle cores"]["targets"]
    assert ["/neuron-emf/${stack}/rollups"] == query["logGroupNames"]
    assert {"rollup"} == kinds(query["expression"])
    assert [] == unknown_names(query["expression"])


def test_what_is_not_known_is_not_shown_as_nothing(panels):
    """Dead data must not look cheap: no data is said, and a number of an hour ago is not now's."""
    for title, panel in panels.items():
        assert "no data" == panel["fieldConfig"]["defaults"]["noValue"], title
        if panel["type"] == "stat":
            assert ("15m", "5m") == (panel["timeFrom"], panel["timeShift"])
            assert ["lastNotNull"] == panel["options"]["reduceOptions"]["calcs"]


def test_nothing_in_it_names_an_account_or_a_data_source(committed):
    """Whoever imports it chooses: the data source, the region and the stack are variables."""
    variables = json.loads(committed)["templating"]["list"]
    assert ["datasource", "region", "stack"] == [one["name"] for one in variables]
    assert {"${datasource}"} == set(re.findall(r'"uid": "(\$\{\w+\})"', committed))
    assert not re.search(r"arn:aws|[0-9]{12}", committed)
