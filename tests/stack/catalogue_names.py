"""
Names in queries and graphs, compared with the catalogue of lines and metrics.

This module knows the words of a query and no grammar: the acceptance asks AWS whether it accepts
the query and what it answers. The project's metrics must be in the catalogue, by namespace,
dimensions and statistic; AWS's metrics are in the table below, from

https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CloudWatch-Logs-Monitoring-CloudWatch-Metrics.html
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from local.alarms.definition import parse_query
from neuron_wire import CLUSTER_NAMESPACE, RECORD_NAMESPACE
from neuron_wire.catalogue import (
    CATALOGUE_MEMBERS,
    DEFAULT_ROLLUP_METRICS,
    MINUTE_METRICS,
    PROFILE_METRICS,
    STACK_METRICS,
    members_of,
)
from neuron_wire.names import PROFILE_NAMESPACE, STACK_NAMESPACE

SYSTEM_FIELDS = {"@timestamp", "@message", "@logStream", "@log", "@ingestionTime"}
WORDS = {
    *(
        "SOURCE",
        "dedup",
        "display",
        "fields",
        "filter",
        "limit",
        "parse",
        "sort",
        "stats",
        "unnest",
    ),
    *("and", "as", "asc", "by", "desc", "in", "into", "like", "not", "or"),
}
MAX_QUERY_CHARS = 10_000
_NO_NAME = re.compile(
    r"""\#[^\n]*|"[^"\\]*"|'[^'\\]*'|(?<=like)\s*/(?:[^/\\\n]|\\.)+/|\{\{\w+\}\}|(?<![\[.\w])[0-9]\w*"""
)
_FIELD_NAME = re.compile(r"@?[A-Za-z_][\w.]*(?:\[[0-9]+\][\w.]*)*(?!\w*\()")
_ALIAS = re.compile(r"\b(?:as|into)\s+(\w+)")
_PARSED = re.compile(r"\bparse [\w.]+\s+as ([\w, ]+)")
_KIND_TERM = re.compile(r"\bKind (?:= (\S+)|in \[([^\]]*)\])")
_MEMBER_PARTS = {part for member in CATALOGUE_MEMBERS for part in re.split(r"\W+", member.name)}


def kinds(query):
    """Return the kinds of lines that *query* reads."""
    return {
        name for pair in _KIND_TERM.findall(query) for name in re.findall(r"\w+", ",".join(pair))
    }


def unknown_names(query):
    """Return the fields of *query* that neither its lines nor the query itself define."""
    assert len(query) <= MAX_QUERY_CHARS
    text = _NO_NAME.sub(" ", query)
    given = {*_ALIAS.findall(text), *re.findall(r"\w+", ",".join(_PARSED.findall(text)))}
    members = {name for line_kind in kinds(query) for name in members_of(line_kind)}
    known = {*members, *given, *SYSTEM_FIELDS, *WORDS}
    unknown = []
    for path in _FIELD_NAME.findall(text):
        first, *rest = re.split(r"[.\[\]]+", path)
        inside = [part for part in rest if part and not part.isdigit()]
        if first not in known or not set(inside) <= _MEMBER_PARTS:
            unknown.append(path)
    return unknown


OUR_METRICS = {
    (RECORD_NAMESPACE, ("ClusterName",)): MINUTE_METRICS,
    (CLUSTER_NAMESPACE, ("ClusterName",)): DEFAULT_ROLLUP_METRICS,
    (STACK_NAMESPACE, ("StackName",)): STACK_METRICS,
    (PROFILE_NAMESPACE, ("ClusterName", "Model")): PROFILE_METRICS,
}
_GROUP = ("LogGroupName",)  # the requested groups
_FILTER = ("FilterName", "LogGroupName")
_TALLY = {"Sum"}
_GAUGE = {"Average", "Maximum"}
# By namespace and dimensions: the statistics with which each metric is read.
AWS_METRICS = {
    ("AWS/Lambda", ("FunctionName",)): {
        **dict.fromkeys(("Errors", "Invocations", "Throttles"), _TALLY),
        **dict.fromkeys(("Duration", "IteratorAge"), _GAUGE),
    },
    ("AWS/Logs", _GROUP): {
        **dict.fromkeys(
            [f"EMF{cause}Errors" for cause in ("Disabled", "Parsing", "Validation")], _TALLY
        ),
        **dict.fromkeys(("IncomingBytes", "IncomingLogEvents"), _TALLY),
    },
    ("AWS/Logs", _FILTER): dict.fromkeys(("DeliveryErrors", "DeliveryThrottling"), _TALLY),
    ("Neuron/Lines", ()): {"neuron-emf-MinuteLines": _TALLY},  # of the template's metric filter
    ("AWS/SQS", ("QueueName",)): {
        "ApproximateNumberOfMessagesVisible": _GAUGE,
        "NumberOfMessagesSent": _TALLY,
    },
    ("AWS/DynamoDB", ("TableName",)): {
        **dict.fromkeys(("ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"), _TALLY),
        **dict.fromkeys(("ReadThrottleEvents", "WriteThrottleEvents"), _TALLY),
    },
}
# Allowed around searches: numbers, names of other rows, and functions of series.
ARITHMETIC = re.compile(r"(?:FLOOR\(|MAX\(|MIN\(|SUM\(|[-+*/(),. 0-9]|[a-z]\w*)*")
RENDERING = {"color", "id", "label", "period", "stat", "visible", "yAxis"}
SEARCH_TERMS = re.compile(
    r"SEARCH\('\{(?P<schema>[^}']+)\}(?P<terms>(?: \w+=\"[^\"']+\")+)', "
    r"'(?P<stat>\w+)', (?P<period>[0-9]+)\)"
)


@dataclass(frozen=True)
class Series:
    """
    A metric as a widget requests it.

    Attributes:
        dimensions: Names of dimensions, sorted.

        values: The value of each dimension that has one; a search leaves others open.

        wrong: The mistake in its form, if any.
    """

    namespace: str = ""
    metric: str = ""
    dimensions: tuple = ()
    values: dict = field(default_factory=dict)
    stat: str = ""
    period: int = 60
    axis: str = "left"
    wrong: tuple = ()

    def member(self):
        """Return the catalogue's entry, or None for a metric of AWS."""
        return OUR_METRICS.get((self.namespace, self.dimensions), {}).get(self.metric)

    def problems(self):
        """Return the problems of the metric."""
        if self.wrong:
            return list(self.wrong)
        name = f"{self.namespace} {self.metric}"
        problems = []
        if self.period < 60 or self.period % 60:
            problems.append(f"{name}: a period is a multiple of 60 seconds, not {self.period}")
        member = self.member()
        of_aws = AWS_METRICS.get((self.namespace, self.dimensions), {}).get(self.metric)
        if member is None and of_aws is None:
            return [*problems, f"{name} by {', '.join(self.dimensions)}: there is no such metric"]
        allowed = of_aws or _statistics(member)
        if self.stat not in allowed:
            problems.append(f"{name} is read with {' or '.join(sorted(allowed))}, not {self.stat}")
        return problems


def _statistics(member):
    """
    Return the allowed statistics: Average or Maximum for a gauge, only Maximum if the mean is
    meaningless, Sum for a tally.
    """
    if member.family == "gauge" and member.statistic == "Average":
        return {"Average", "Maximum"}
    return {member.statistic}


def series(metrics, properties):
    """Return the metrics that a widget with *properties* draws from its array *metrics*."""
    drawn = []
    above = []
    for row in metrics:
        rendering = row[-1] if isinstance(row[-1], dict) else {}
        strangers = rendering.keys() - RENDERING - {"expression"}
        if strangers:
            drawn.append(Series(wrong=(f"a metric has no {min(strangers)}",)))
        elif "expression" in rendering:
            drawn += _searched(rendering)
        else:
            texts = [text for text in row if isinstance(text, str)]
            texts = [above[at] if text == "." else text for at, text in enumerate(texts)]
            above = texts
            drawn.append(_named(texts, {**properties, **rendering}))
    return drawn


def _searched(rendering):
    if rendering["expression"].startswith("SELECT"):
        query = parse_query(rendering["expression"])
        values = dict(query.where)
        stat = {"AVG": "Average", "MAX": "Maximum", "SUM": "Sum"}[query.function]
        return [Series(query.namespace, query.metric, tuple(sorted(values)), values, stat)]
    around, count = SEARCH_TERMS.subn("searched", rendering["expression"])
    if not count or not ARITHMETIC.fullmatch(around):
        return [Series(wrong=(f"this search is not supported: {rendering['expression']}",))]
    matches = SEARCH_TERMS.finditer(rendering["expression"])
    return [_found(match, rendering.get("yAxis", "left")) for match in matches]


def _found(match, axis):
    namespace, *dimensions = match["schema"].split(",")
    terms = dict(term.split("=", 1) for term in match["terms"].split())
    values = {name: value.strip('"') for name, value in terms.items()}
    metric = values.pop("MetricName", "")
    strangers = values.keys() - set(dimensions)
    if strangers:
        return Series(wrong=(f"{min(strangers)} is not a dimension of the search",))
    read = (match["stat"], int(match["period"]), axis)
    return Series(namespace, metric, tuple(sorted(dimensions)), values, *read)


def _named(texts, rendering):
    namespace, metric, *pairs = texts
    if len(pairs) % 2:
        return Series(wrong=(f"{namespace} {metric}: a dimension has no value",))
    values = dict(zip(pairs[::2], pairs[1::2], strict=True))
    axis = rendering.get("yAxis", "left")
    # the widget's property yAxis is about both axes
    axis = axis if isinstance(axis, str) else "left"
    read = (rendering.get("stat", "Average"), rendering.get("period", 60), axis)
    return Series(namespace, metric, tuple(sorted(values)), values, *read)


def widget_problems(properties):
    """Return the problems of a widget's metrics, each alone and together on one axis."""
    shown = series(properties["metrics"], properties)
    problems = [problem for drawn in shown for problem in drawn.problems()]
    ids = [row[-1]["id"] for row in properties["metrics"] if "id" in _rendering(row)]
    if len(ids) > len(set(ids)) or not all(re.fullmatch(r"[a-z]\w*", name) for name in ids):
        problems.append(f"ids are different and begin with a small letter: {', '.join(ids)}")
    units = defaultdict(set)
    for drawn in shown:
        # a singleValue widget has no axes
        if drawn.member() and properties["view"] != "singleValue":
            units[drawn.axis].add(drawn.member().unit)
    problems += [
        f"the {axis} axis mixes {' and '.join(sorted(named))}"
        for axis, named in units.items()
        if len(named) > 1
    ]
    return problems


def _rendering(row):
    return row[-1] if isinstance(row[-1], dict) else {}
