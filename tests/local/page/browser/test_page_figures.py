"""The numbers on the page are the metrics, and what has none is red."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import plotly.colors
import pytest

from local.alarms import RecordedHistory
from local.page import DashboardView, LogLines, PageServer
from neuron_emf.deploy.package import read_template
from neuron_wire import parse
from tests.local.page.browser.drawn import cell, legends, tables, traces, widget
from tests.local.page.recording import NOW_S, PLACE, history_of, lines_of, template_of, view_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

START_S = int(NOW_S) - 3 * 3600
RESEARCH = {"ClusterName": "research"}
WHAT_IS_DRAWN = {  # typed from the template: the metric, its statistic, its dimensions
    "Idle cores by cluster": [
        ("research", "IdleCores", "Average", RESEARCH),
        ("serving", "IdleCores", "Average", {"ClusterName": "serving"}),
    ],
    "Execution errors by cluster": [
        ("research", "ExecutionErrors", "Sum", RESEARCH),
        ("serving", "ExecutionErrors", "Sum", {"ClusterName": "serving"}),
    ],
    "Cores by state": [
        (name, name, "Average", RESEARCH)
        for name in ("BusyCores", "AttachedIdleCores", "UnattachedCores", "UnknownCores")
    ],
    "Utilization and coverage, percent": [
        (name, name, "Average", RESEARCH) for name in ("NeuronCoreUtilization", "CoveragePercent")
    ],
    "Utilization by instance type, percent": [
        (of_type, "NeuronCoreUtilization", "Average", {**RESEARCH, "InstanceType": of_type})
        for of_type in ("trn1.2xlarge", "trn1.32xlarge")
    ],
    "Latency, seconds: mean of the medians, and the greatest 99th percentile": [
        ("LatencyP50Mean", "LatencyP50Mean", "Average", RESEARCH),
        ("LatencyP99Max", "LatencyP99Max", "Maximum", RESEARCH),
    ],
    "Cost of idle cores, USD: per hour, and in each hour": [
        ("IdleCostPerHour", "IdleCostPerHour", "Average", RESEARCH),
        ("IdleCost", "IdleCost", "Sum", RESEARCH, 3600),
    ],
}


@pytest.fixture(scope="module")
def history(hour):
    return history_of([*hour.lines, *hour.rollups])


def points(history, metric, statistic, dimensions, period_s=60):
    """Milliseconds and values of one metric, read past the page."""
    found = history.read("Neuron/Cluster", metric, period_s, START_S, int(NOW_S))
    periods = found[tuple(sorted(dimensions.items()))]
    return [[at_s * 1000, periods[at_s].value(statistic)] for at_s in sorted(periods)]


def test_a_chart_and_the_table_behind_it_have_the_values_of_the_metrics(shown, history):
    """Every value in full, at its minute in UTC also where the browser's clock is in Tokyo."""
    found, drawn = tables(shown), traces(shown)
    for title, series in WHAT_IS_DRAWN.items():
        assert [f"{label} {one[1]}" for label, *one in series] == found[title]["heads"]
        for column, (_, *one) in enumerate(series):
            expected = points(history, *one)
            assert expected == [*map(list, zip(*drawn[title][column], strict=True))], (title, one)
            rows = [(minute, values[column]) for minute, values in found[title]["rows"]]
            assert [
                (f"{datetime.fromtimestamp(ms / 1000, timezone.utc):%H:%M}", value)
                for ms, value in reversed(expected)
            ] == [(minute, float(value)) for minute, value in rows if value is not None]
            assert 60 == len(expected) or one[0].startswith("Idle")


def test_a_minute_without_a_value_is_a_gap(open_page, hour, repository):
    """The line is interrupted, and the table says no data: nothing is drawn as zero or across."""
    missing = {"T08:20", "T08:21"}
    kept = [
        line
        for line in hour.rollups
        if not any(one in json.loads(line)["Minute"] for one in missing)
    ]
    view = view_of(hour, repository, history=history_of(kept))
    with PageServer(("127.0.0.1", 0), view) as server:
        page = open_page(server.url)
        x, y = traces(page)["Utilization by cluster, percent"][0]
    at = y.index(None)
    assert 1 == y.count(None)
    assert ["08:19", "08:22"] == [
        f"{datetime.fromtimestamp(x[one] / 1000, timezone.utc):%H:%M}" for one in (at - 1, at + 1)
    ]


def test_a_wrong_metric_name_is_red(open_page, hour, repository, tmp_path):
    """A series of a name that nobody publishes says so, in its chart and at the top of the page."""
    text = read_template(repository / "template.yaml")
    wrong = text.replace('["Neuron/Cluster", "BusyCores",', '["Neuron/Cluster", "BusyCore",')
    assert text != wrong
    (tmp_path / "template.yaml").write_text(wrong, "utf-8")
    view = DashboardView(
        template_of(tmp_path), history_of(hour.rollups), lines_of(hour), PLACE, now_s=lambda: NOW_S
    )
    with PageServer(("127.0.0.1", 0), view) as server:
        page = open_page(server.url)
        chart = widget(page, "Cores by state")
        absent = chart.locator(".absent")
        assert absent.is_visible()
        assert "Not all data" == absent.locator(".word").inner_text().strip()
        assert "BusyCore of ClusterName research has no data" in absent.inner_text()
        assert ["BusyCore", "no data"] == legends(page)["Cores by state"][0]
        red = "getComputedStyle(one).color"
        assert "rgb(176, 18, 27)" == absent.evaluate(f"(one) => {red}")
        page.get_by_text("have no data, or not all of it").click()
        page.get_by_role("link", name="Cores by state").click()
        assert page.url.endswith(f"#{chart.get_attribute('id')}")


def test_every_chart_without_data_is_red(shown):
    """No chart is empty without a word, and those on AWS's own metrics say why."""
    for one in shown.locator(".widget.metric").all():
        empty = one.locator(".stage").is_hidden()
        assert empty <= one.locator(".absent").is_visible()
    told = widget(shown, "Table: units used").locator(".absent").inner_text()
    assert told.startswith("No data")
    assert "metrics of AWS's own services" in told


def test_before_the_first_line_all_is_said_to_be_missing(open_page, repository):
    """A page that is opened too early has no figure, no error, and waits for the first."""
    empty = DashboardView(
        template_of(repository), RecordedHistory(), LogLines(3600), PLACE, now_s=lambda: NOW_S
    )
    with PageServer(("127.0.0.1", 0), empty) as server:
        page = open_page(server.url)
        charts = page.locator(".widget.metric")
        assert charts.count() == page.locator(".widget.metric .absent:visible").count()
        assert 0 == page.locator(".stage:visible").count()
        assert 0 == page.get_by_role("grid").count()
        assert "No alarm rings" == page.locator("#now").get_by_role("heading").inner_text()


def test_alarms_are_words_and_shapes(shown):
    """What rings is at the top and in its widget, with its cluster and its reason."""
    top = shown.locator("#now")
    assert "2 alarms ring" == top.get_by_role("heading").inner_text()
    assert "Idle cores in research: 15 of 15 data points at or above 20" in top.inner_text()
    assert "Execution errors in serving:" in top.inner_text()
    for badge in shown.locator(".badge:visible").all():
        assert badge.inner_text() in {"ALARM", "OK", "INSUFFICIENT DATA", "not evaluated"}
        assert badge.locator("svg path, svg circle").count()
    assert shown.title().startswith("(!) research")
    pipeline = widget(shown, "Alarms on the pipeline")
    assert "not evaluated 9" == pipeline.locator("summary").last.inner_text()


def test_the_heat_map_has_every_core_and_minute(shown, hour):
    """What a cell says is what the emitter's line says, and its colour is viridis at that value."""
    records = [parse(line) for line in hour.lines if '"Kind":"minute"' in line]
    newest = [one for one in records if one.minute_ms == max(row.minute_ms for row in records)]
    words = {"b": "busy", "a": "attached idle", "u": "unattached", "?": "unknown"}
    research = [one for one in newest if one.cluster == "research"]
    assert len(research) == shown.locator(".instance").count()
    for record in research:
        last = len(record.core_state) - 1
        one = cell(shown, record.instance_id)
        one.focus()
        shown.keyboard.press("Control+End")
        told = cell(shown, record.instance_id).get_attribute("aria-label")
        assert told.startswith(f"core {last}, 08:59 UTC: {words[record.core_state[last]]}, ")
        utilization = float(told.split(", ")[2].removesuffix(" % utilization"))
        assert pytest.approx(record.utilization_percent[last], abs=0.006) == utilization
        assert _shade(utilization) == pytest.approx(_pixel(shown, record.instance_id), abs=2)


def test_every_utilization_has_its_colour(shown):
    """The scale of the page is Plotly's viridis from 0 to 100 percent, and clipped beyond."""
    asked = [-5, *range(101), 105]
    shades = shown.evaluate(
        "async (asked) => asked.map((await import('/static/scale.js')).shade)", asked
    )
    for percent, actual in zip(asked, shades, strict=True):
        assert pytest.approx(_shade(min(100, max(0, percent))), abs=0.51) == actual


def _shade(percent):
    """Red, green and blue of Plotly's own viridis."""
    scale = [plotly.colors.hex_to_rgb(one) for one in plotly.colors.sequential.Viridis]
    at = percent / 100 * (len(scale) - 1)
    low = min(int(at), len(scale) - 2)
    return [a + (at - low) * (b - a) for a, b in zip(scale[low], scale[low + 1], strict=True)]


def _pixel(page, instance_id):
    """Red, green and blue at the lower left of the cell in the order of Tab."""
    return cell(page, instance_id).evaluate("""(one) => {
      const canvas = one.closest('.map').querySelector('canvas');
      const ratio = canvas.width / canvas.clientWidth;
      const place = [one.offsetLeft, one.offsetTop + 4];
      const [x, y] = place.map((at) => Math.round((at + 0.5) * ratio));
      return [...canvas.getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3);
    }""")
