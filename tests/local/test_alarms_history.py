"""Both histories say the same about the same values."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timezone
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from local.alarms.history import CloudWatchHistory
from tests.recorded_history import RecordedHistory

START_S = 1_799_999_400


class CloudWatch:
    """ListMetrics and GetMetricStatistics over values in memory."""

    def __init__(self):
        self.values = defaultdict(list)

    def put(self, namespace, metric, dimensions, at_s, values):
        """As `RecordedHistory.put`."""
        key = (namespace, metric, tuple(dimensions.items()))
        self.values[key].extend((at_s, value) for value in values)

    def get_paginator(self, name):
        """A paginator of ListMetrics, in pages of two."""
        assert "list_metrics" == name
        return SimpleNamespace(paginate=self._list)

    def _list(self, Namespace, MetricName):  # noqa: N803  # boto3's own spelling
        rows = [
            {"Dimensions": [{"Name": name, "Value": value} for name, value in dimensions]}
            for namespace, metric, dimensions in self.values
            if (namespace, metric) == (Namespace, MetricName)
        ]
        return [{"Metrics": rows[start : start + 2]} for start in range(0, len(rows), 2)]

    def get_metric_statistics(self, Dimensions, StartTime, EndTime, Period, Statistics, **metric):  # noqa: N803
        """Every period with a value."""
        pairs = tuple((row["Name"], row["Value"]) for row in Dimensions)
        periods = defaultdict(list)
        for at_s, value in self.values[metric["Namespace"], metric["MetricName"], pairs]:
            if StartTime <= at_s < EndTime:
                periods[int(at_s // Period) * Period].append(value)
        functions = {"SampleCount": len, "Sum": sum, "Maximum": max}
        return {
            "Datapoints": [
                {"Timestamp": datetime.fromtimestamp(start, timezone.utc)}
                | {name: float(functions[name](values)) for name in Statistics}
                for start, values in periods.items()
            ]
        }


POINTS = st.lists(
    st.tuples(
        st.sampled_from([{"ClusterName": "a"}, {"ClusterName": "b"}, {"Z": "1", "A": "2"}]),
        st.integers(START_S - 120, START_S + 300),
        st.lists(st.integers(-5, 5), min_size=1, max_size=3),
    ),
    max_size=12,
)


@given(points=POINTS, period_s=st.sampled_from([60, 300]))
def test_the_services_answer_is_read_as_recorded_values_are(points, period_s):
    """Every metric of the name, every period with a value, every statistic."""
    recorded, service = RecordedHistory(), CloudWatch()
    for dimensions, at_s, values in points:
        for history in (recorded, service):
            history.put("N", "M", dimensions, at_s, values)
            history.put("N", "Other", dimensions, at_s, [99])
    span = ("N", "M", period_s, START_S, START_S + 240)
    assert recorded.read(*span) == CloudWatchHistory(service).read(*span)
