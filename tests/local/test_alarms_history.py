"""Both histories say the same about the same values."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timezone

from hypothesis import given
from hypothesis import strategies as st

from local.alarms import CloudWatchHistory
from tests.recorded_history import RecordedHistory

START_S = 1_799_999_400


class CloudWatch:
    """ListMetrics and GetMetricData over values in memory, in pages of two."""

    def __init__(self):
        self.values = defaultdict(list)
        self.asked = []

    def put(self, namespace, metric, dimensions, at_s, values):
        """As `RecordedHistory.put`."""
        key = (namespace, metric, tuple(dimensions.items()))
        self.values[key].extend((at_s, value) for value in values)

    def get_paginator(self, name):
        """A paginator of one of the two calls."""
        return {"list_metrics": _Pages(self._list), "get_metric_data": _Pages(self._data)}[name]

    def _list(self, Namespace, MetricName):  # noqa: N803  # boto3's own spelling
        rows = [
            {"Dimensions": [{"Name": name, "Value": value} for name, value in dimensions]}
            for namespace, metric, dimensions in self.values
            if (namespace, metric) == (Namespace, MetricName)
        ]
        return [{"Metrics": rows[start : start + 2]} for start in range(0, len(rows), 2)]

    def _data(self, StartTime, EndTime, ScanBy, MetricDataQueries):  # noqa: N803
        assert "TimestampAscending" == ScanBy
        self.asked.append(len(MetricDataQueries))
        rows = [self._answer(query, StartTime, EndTime) for query in MetricDataQueries]
        return [{"MetricDataResults": rows[start : start + 2]} for start in range(0, len(rows), 2)]

    def _answer(self, query, start_s, end_s):
        stat = query["MetricStat"]
        metric = stat["Metric"]
        dimensions = tuple((row["Name"], row["Value"]) for row in metric["Dimensions"])
        periods = defaultdict(list)
        for key, rows in self.values.items():
            if (*key[:2], tuple(sorted(key[2]))) == (
                metric["Namespace"],
                metric["MetricName"],
                dimensions,
            ):
                for at_s, value in rows:
                    if start_s <= at_s < end_s:
                        periods[int(at_s // stat["Period"]) * stat["Period"]].append(value)
        function = {"SampleCount": len, "Sum": sum, "Minimum": min, "Maximum": max}[stat["Stat"]]
        return {
            "Id": query["Id"],
            "Timestamps": [datetime.fromtimestamp(one, timezone.utc) for one in sorted(periods)],
            "Values": [float(function(periods[one])) for one in sorted(periods)],
        }


class _Pages:
    def __init__(self, paginate):
        self.paginate = paginate


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
