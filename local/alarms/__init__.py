"""
The template's own alarms, evaluated as CloudWatch documents it.

The emulator's alarm states ignore dimensions, M of N and missing data, so they are wrong and
never shown: `definition` reads the alarms of `template.yaml`, `evaluation` decides.
"""

from local.alarms.definition import Alarm, MetricMath, MetricSource, read_alarms
from local.alarms.evaluation import AlarmState, State, evaluate
from local.alarms.history import CloudWatchHistory, MetricHistory, StatisticSet
from local.alarms.insights import MetricsInsightsQuery, parse_query
from local.alarms.template import AlarmDefinitionError, Template

__all__ = [
    "Alarm",
    "AlarmDefinitionError",
    "AlarmState",
    "CloudWatchHistory",
    "MetricHistory",
    "MetricMath",
    "MetricSource",
    "MetricsInsightsQuery",
    "State",
    "StatisticSet",
    "Template",
    "evaluate",
    "parse_query",
    "read_alarms",
]
