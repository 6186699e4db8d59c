"""
Write the dashboard for Grafana: the first screen of neuron-emf over the CloudWatch data source.

    .venv-grafana/bin/python deploy/grafana/dashboard.py > deploy/grafana/neuron-emf.json

Knows only names of metrics, members and log groups; what they mean is in
docs/reference/metrics.md. Texts of queries that the CloudWatch dashboard has too are
the same there, and a test compares them.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

from grafana_foundation_sdk.builders import (
    cloudwatch,
    common,
    dashboard,
    stat,
    table,
    timeseries,
)
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import cloudwatch as queries
from grafana_foundation_sdk.models import common as display
from grafana_foundation_sdk.models.dashboard import DataSourceRef

if TYPE_CHECKING:
    from grafana_foundation_sdk.models.dashboard import Dashboard

SOURCE: Final = DataSourceRef(type_val="cloudwatch", uid="${datasource}")
ROLLUPS: Final = "/neuron-emf/${stack}/rollups"
NOTHING: Final = "no data"  # never 0: what is not known is not idle and not free
IS_LATE: Final = "5m"  # rollups come 2 to 4 minutes late: a sum over a newer bucket lacks clusters
NOW: Final = "15m"  # what is older is not now, and is not shown as if it were

OWNERS: Final = """\
filter Kind = 'rollup' and IdleCores > 0
| fields jsonParse(@message) as line
| unnest line.TopIdleOwners into owner
| fields owner.Owner as Owner
| stats latest(owner.Cores) as Cores, latest(owner.IdleMinutes) as IdleMinutes,
latest(owner.UsdPerHour) as UsdPerHour, sortsLast(Minute) as LastMinute by Owner, ClusterName
| sort UsdPerHour desc, Cores desc | limit 20"""


def search(metric: str, statistic: str = "Average", period_s: int = 60) -> str:
    """A metric of every cluster, in CloudWatch's words."""
    schema = f'{{Neuron/Cluster,ClusterName}} MetricName="{metric}"'
    return f"SEARCH('{schema}', '{statistic}', {period_s})"


def total(metric: str, statistic: str = "Average") -> str:
    """The same, all clusters together; of a minute that was restated still one value."""
    return f"SUM({search(metric, statistic, 300)})"


def target(
    ref: str, expression: str, label: str, period_s: int = 60
) -> cloudwatch.CloudWatchMetricsQuery:
    """A query of metrics."""
    return (
        cloudwatch.CloudWatchMetricsQuery()
        .query_mode(queries.CloudWatchQueryMode.METRICS)
        .metric_query_type(queries.MetricQueryType.SEARCH)
        .metric_editor_mode(queries.MetricEditorMode.CODE)
        .id(ref.lower())
        .ref_id(ref)
        .region("${region}")
        .namespace("")
        .expression(expression)
        .label(label)
        .period(str(period_s))
        .datasource(SOURCE)
    )


def value(title: str, width: int, says: str, *sums: tuple[str, str]) -> stat.Panel:
    """What all clusters come to now: expressions, each with its label."""
    panel = (
        stat.Panel()
        .title(title)
        .description(f"{says} Five minutes old at least; nothing older than 20 minutes.")
        .datasource(SOURCE)
        .height(5)
        .span(width)
        .time_from(NOW)
        .time_shift(IS_LATE)
        .no_value(NOTHING)
        .graph_mode(display.BigValueGraphMode.NONE)
        .text_mode(display.BigValueTextMode.VALUE_AND_NAME)
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))  # noqa: FBT003
    )
    for ref, (label, expression) in zip("ABC", sums, strict=False):
        panel = panel.with_target(target(ref, expression, label, 300))
    return panel


def lines(title: str, metric: str, *, unit: str, says: str, most: float | None) -> timeseries.Panel:
    """A metric by cluster, over time."""
    panel = (
        timeseries.Panel()
        .title(title)
        .description(says)
        .datasource(SOURCE)
        .height(8)
        .span(8)
        .unit(unit)
        .min(0)
        .no_value(NOTHING)
        .span_nulls(False)  # noqa: FBT003
        .with_target(target("A", search(metric), "${PROP('Dim.ClusterName')}"))
    )
    return panel if most is None else panel.max(most)


def owners() -> table.Panel:
    """Who holds idle cores, by the rollups' lines."""
    query = (
        cloudwatch.CloudWatchLogsQuery()
        .query_mode(queries.CloudWatchQueryMode.LOGS)
        .id("a")
        .ref_id("A")
        .region("${region}")
        .log_group_names([ROLLUPS])
        .expression(OWNERS)
        .datasource(SOURCE)
    )
    return (
        table.Panel()
        .title("Who holds idle cores")
        .description(
            "Of each owner the last rollup within 20 minutes in which it held idle cores, most cost"
            " first. Each refresh runs a Logs Insights query, which AWS bills by the bytes read."
        )
        .datasource(SOURCE)
        .height(8)
        .span(24)
        .time_from("20m")
        .no_value(NOTHING)
        .with_target(query)
    )


def usd(panel: stat.Panel) -> stat.Panel:
    """Money: two decimals."""
    return panel.unit("currencyUSD").decimals(2)


def first_screen() -> Dashboard:
    """The panels in the order of the product's own page: status, three numbers, who, over time."""
    return (
        dashboard.Dashboard("neuron-emf")
        .uid("neuron-emf")
        .tags(["neuron", "trainium", "inferentia"])
        .time("now-3h", "now")
        .refresh("5m")
        .with_variable(
            dashboard.DatasourceVariable("datasource").label("CloudWatch").type("cloudwatch")
        )
        .with_variable(dashboard.TextBoxVariable("region").label("Region").default_value("default"))
        .with_variable(
            dashboard.TextBoxVariable("stack").label("Stack").default_value("neuron-emf")
        )
        .with_panel(
            value(
                "Status", 6, "Least coverage of a cluster in percent, and silent instances.",
                ("% coverage", f"MIN({search('CoveragePercent', 'Average', 300)})"),
                ("silent instances", total("SilentInstances", "Maximum")),
            )
        )
        .with_panel(
            value(
                "Idle cores", 6, "Cores not busy for IdleAfterMinutes, of those with telemetry.",
                ("idle", total("IdleCores")),
                ("known", f"{total('NeuronCores')} - {total('UnknownCores')}"),
            )
        )
        .with_panel(
            usd(
                value(
                    "Cost of idle cores, USD per hour", 6,
                    "At the list price of each region or PriceOverrides, without unpriced cores.",
                    ("USD per hour", total("IdleCostPerHour")),
                )
            )
        )
        .with_panel(
            usd(
                value(
                    "Avoidable, USD per hour", 6,
                    "At most this ends when wholly idle instances stop that are paid by the hour.",
                    ("USD per hour", total("AvoidableCostPerHour")),
                )
            )
        )
        .with_panel(owners())
        .with_panel(
            lines("Idle cores by cluster", "IdleCores", unit="short", most=None,
                  says="Cores not busy for IdleAfterMinutes.")
        )
        .with_panel(
            lines("Cost of idle cores by cluster, USD per hour", "IdleCostPerHour",
                  unit="currencyUSD", most=None, says="At list price or PriceOverrides.")
        )
        .with_panel(
            lines("Utilization by cluster, percent", "NeuronCoreUtilization", unit="percent",
                  most=100, says="Mean over the known cores.")
        )
        .build()
    )  # fmt: skip


if __name__ == "__main__":
    sys.stdout.write(json.dumps(first_screen(), cls=JSONEncoder, indent=2, sort_keys=True) + "\n")
