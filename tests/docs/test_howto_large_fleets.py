"""docs/how-to/large-fleets.md promises no alarm and no graph that is not there."""

from __future__ import annotations

import json
import re

import pytest

from local.alarms.template import Template, load_template
from tests.docs.shown_blocks import DOCS
from tests.stack.template_resources import of_type

ROW = re.compile(r"^\| `(?P<metric>\w+)`[^|]* \| [^|]+ \| (?P<alarm>[^|]+) \|$", re.MULTILINE)
PAGE = (DOCS / "how-to" / "large-fleets.md").read_text("utf-8")
LOOKED_AT = {one["metric"]: one["alarm"] for one in ROW.finditer(PAGE.partition("| look at |")[2])}


@pytest.fixture(scope="module")
def resources(repository):
    """Those of the template, as deployed with a stream."""
    template = load_template(repository / "template.yaml")
    return Template(template, {"Mode": "kinesis"}).resolve(template["Resources"])


def test_what_the_table_calls_an_alarm_watches_its_metric(resources):
    """And where it says none, no alarm watches it."""
    assert 9 == len(LOOKED_AT)
    alarms = of_type(resources, "AWS::CloudWatch::Alarm")
    for metric, cell in LOOKED_AT.items():
        assert set(re.findall(r"`(\w+)`", cell)) <= alarms.keys(), metric
        watching = {
            name
            for name, alarm in alarms.items()
            if re.search(rf'"(?:MetricName|Expression)": "[^"]*\b{metric}\b', json.dumps(alarm))
        } - {"LinesNotStoredAlarm"}  # in which records of any fate are a sign of life
        promised = set() if cell.startswith("none") else set(re.findall(r"`(\w+)`", cell))
        assert watching == promised, metric


def test_what_the_page_calls_on_a_dashboard_is_on_it(resources):
    """All but the last two on the pipeline's, duplicates on the fleet's."""
    *pipeline, duplicates, _ = LOOKED_AT
    assert "All but the last two are on the dashboard `STACK-REGION-pipeline`" in PAGE
    assert f"`{duplicates}` is on that of the fleet" in PAGE
    for name, metrics in (("PipelineDashboard", pipeline), ("Dashboard", [duplicates])):
        body = resources[name]["Properties"]["DashboardBody"]
        assert [] == [one for one in metrics if f'"{one}"' not in body]
