"""
The template's own alarms, evaluated as CloudWatch documents it.

The emulator's alarm states ignore dimensions, M of N and missing data, so they
are wrong and never shown. This package reads the alarms as they stand in
`template.yaml` and decides what CloudWatch would say about the same metrics.

* `template`     the alarm resources with parameters, conditions and functions
                 resolved
* `definition`   one alarm as typed values
* `insights`     the one family of Metrics Insights queries that it knows
* `mathematics`  the metric math that it knows
* `history`      where the metrics come from
* `evaluation`   OK, ALARM or INSUFFICIENT_DATA, with the reason
* `errors`       what it refuses to guess
"""

from local.alarms.definition import Alarm, LeftOut, MetricMath, MetricSource, read_alarms, survey
from local.alarms.errors import AlarmDefinitionError
from local.alarms.evaluation import AlarmState, State, evaluate
from local.alarms.history import CloudWatchHistory, MetricHistory, RecordedHistory, StatisticSet
from local.alarms.insights import MetricsInsightsQuery, parse_query
from local.alarms.template import Template

__all__ = [
    "Alarm",
    "AlarmDefinitionError",
    "AlarmState",
    "CloudWatchHistory",
    "LeftOut",
    "MetricHistory",
    "MetricMath",
    "MetricSource",
    "MetricsInsightsQuery",
    "RecordedHistory",
    "State",
    "StatisticSet",
    "Template",
    "evaluate",
    "parse_query",
    "read_alarms",
    "survey",
]
