"""
Write the dashboard for Grafana's Prometheus data source: the first screen, as far as it goes.

    .venv-grafana/bin/python deploy/grafana/prometheus.py > deploy/grafana/prometheus.json

Knows only names of the page of `neuron-emf run --prometheus`; what they mean is in
docs/reference/prometheus.md. What idle cores cost is the stack's, and on its dashboard.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common as display
from grafana_foundation_sdk.models.dashboard import DataSourceRef
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

if TYPE_CHECKING:
    from grafana_foundation_sdk.models.dashboard import Dashboard

SOURCE: Final = DataSourceRef(type_val="prometheus", uid="${datasource}")
NOTHING: Final = "no data"  # never 0: what is not known is not idle
CORE: Final = "on (cluster, instance_id, neuroncore)"
IS_IDLE: Final = "neuron_emf_core_idle_seconds >= bool 900"
HELD: Final = f"neuron_emf_core_holder and {CORE} (neuron_emf_core_idle_seconds >= 900)"
UNHELD: Final = f'neuron_emf_core_state{{state="unattached"}} * {CORE} ({IS_IDLE})'
KNOWN: Final = 'neuron_emf_cores{state!="unknown"}'
BUSY: Final = 'neuron_emf_cores{state="busy"}'
REPORT_AT: Final = "neuron_emf_report_timestamp_seconds"
LATE: Final = "time() - 300"


def target(ref: str, expression: str, label: str) -> prometheus.Dataquery:
    """A query."""
    return (
        prometheus.Dataquery().ref_id(ref).expr(expression).legend_format(label).datasource(SOURCE)
    )


def value(title: str, says: str, *sums: tuple[str, str]) -> stat.Panel:
    """What all clusters come to now: expressions, each with its label."""
    panel = (
        stat.Panel()
        .title(title)
        .description(says)
        .datasource(SOURCE)
        .height(5)
        .span(8)
        .no_value(NOTHING)
        .graph_mode(display.BigValueGraphMode.NONE)
        .text_mode(display.BigValueTextMode.VALUE_AND_NAME)
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))  # noqa: FBT003
    )
    for ref, (label, expression) in zip("ABC", sums, strict=False):
        panel = panel.with_target(target(ref, expression, label).instant())
    return panel


def lines(title: str, expression: str, *, unit: str, says: str) -> timeseries.Panel:
    """A number by cluster, over time."""
    return (
        timeseries.Panel()
        .title(title)
        .description(says)
        .datasource(SOURCE)
        .height(8)
        .span(12)
        .unit(unit)
        .min(0)
        .no_value(NOTHING)
        .span_nulls(False)  # noqa: FBT003
        .with_target(target("A", expression, "{{cluster}}"))
    )


def owners() -> table.Panel:
    """Who holds idle cores now."""
    query = target("A", f"count by (cluster, owner) ({HELD})", "")
    return (
        table.Panel()
        .title("Who holds idle cores")
        .description("Cores not busy for 15 minutes by owner, in the last minute of each emitter.")
        .datasource(SOURCE)
        .height(8)
        .span(24)
        .no_value(NOTHING)
        .with_target(query.instant().format(PromQueryFormat.TABLE))
    )


def first_screen() -> Dashboard:
    """The panels in the order of the product's own page: status, numbers, who, over time."""
    return (
        dashboard.Dashboard("neuron-emf, by Prometheus")
        .uid("neuron-emf-prometheus")
        .tags(["neuron", "trainium", "inferentia"])
        .time("now-3h", "now")
        .refresh("1m")
        .with_variable(
            dashboard.DatasourceVariable("datasource").label("Prometheus").type("prometheus")
        )
        .with_panel(
            value(
                "Status",
                "Least coverage of the last minute; instances with a report in 5 minutes, without.",
                ("% coverage", "100 * min(neuron_emf_covered_seconds) / 60"),
                ("with reports", f"sum({REPORT_AT} > bool {LATE})"),
                ("without", f"sum({REPORT_AT} <= bool {LATE})"),
            )
        )
        .with_panel(
            value(
                "Idle cores", "Cores not busy for 15 minutes, of those with telemetry.",
                ("idle", f"sum({IS_IDLE})"),
                ("known", f"sum({KNOWN})"),
            )
        )
        .with_panel(
            value(
                "Idle and unheld cores", "Idle cores that nobody holds.",
                ("unheld", f"sum({UNHELD})"),
            )
        )
        .with_panel(owners())
        .with_panel(
            lines("Idle cores by cluster", f"sum by (cluster) ({IS_IDLE})", unit="short",
                  says="Cores not busy for 15 minutes.")
        )
        .with_panel(
            lines("Busy cores by cluster, percent",
                  f"100 * sum by (cluster) ({BUSY}) / sum by (cluster) ({KNOWN})", unit="percent",
                  says="Of the known cores, in the last minute.")
        )
        .build()
    )  # fmt: skip


if __name__ == "__main__":
    sys.stdout.write(json.dumps(first_screen(), cls=JSONEncoder, indent=2, sort_keys=True) + "\n")
