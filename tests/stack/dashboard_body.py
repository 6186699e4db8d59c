"""
What is wrong with the body of a dashboard, in sentences.

Nothing else reads it before a person does: CloudFormation takes any text, and
CloudWatch draws a metric that does not exist as an empty graph. The structure
is that of
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
"""

from __future__ import annotations

import json
import re
from itertools import combinations

from tests.stack.catalogue_names import series, unknown_names, widget_problems

COLUMNS = 24
MAX_WIDGETS = 500
MAX_ALARMS = 100
PLACE = ("x", "y", "width", "height")
# Properties by type of widget: those needed, and those allowed beside them.
PROPERTIES = {
    "alarm": ({"alarms", "title"}, {"sortBy", "states"}),
    "log": ({"query", "region", "title", "view"}, set()),
    "metric": (
        {"metrics", "region", "title", "view"},
        {
            *("annotations", "legend", "liveData", "period", "singleValueFullPrecision"),
            *("stacked", "stat", "yAxis"),
        },
    ),
    "text": ({"markdown"}, {"background"}),
}
VIEWS = {"bar", "gauge", "pie", "singleValue", "table", "timeSeries"}
RELATIVE_START = re.compile(r"-P(T[0-9]+[MH]|[0-9]+[DWM])")


def problems(text):
    """Everything that is wrong with the body *text*, nothing when it may be deployed."""
    try:
        body = json.loads(text)
    except ValueError as error:
        return [f"it is no JSON: {error}"]
    found = [*_outside(body), *_layout(body["widgets"])]
    for widget in body["widgets"]:
        found += [f"{_name(widget)}: {problem}" for problem in _properties(widget)]
    if not found:  # else what it holds cannot be looked at
        for widget in body["widgets"]:
            found += [f"{_name(widget)}: {problem}" for problem in _contents(widget)]
    if not found:
        found += [problem for one in body.get("variables", ()) for problem in _variable(one, body)]
    return found


def log_queries(text):
    """The log groups and the query of every log widget."""
    widgets = [one for one in json.loads(text)["widgets"] if one["type"] == "log"]
    return [one["properties"]["query"] for one in widgets]


def _name(widget):
    properties = widget.get("properties", {})
    return properties.get("title") or properties.get("markdown", "a widget")[:30]


# --- structure ---


def _outside(body):
    found = []
    strangers = body.keys() - {"start", "end", "periodOverride", "variables", "widgets"}
    if strangers:
        found.append(f"the body has no member {min(strangers)}")
    if not RELATIVE_START.fullmatch(body.get("start", "")):
        found.append(f"start is no time before now: {body.get('start')}")
    if len(body["widgets"]) > MAX_WIDGETS:
        found.append(f"it has more than {MAX_WIDGETS} widgets")
    return found


def _layout(widgets):
    found = []
    for widget in widgets:
        if not all(isinstance(widget.get(name), int) for name in PLACE):
            found.append(f"{_name(widget)}: x, y, width and height are whole numbers")
        elif min(widget["x"], widget["y"]) < 0 or min(widget["width"], widget["height"]) < 1:
            found.append(f"{_name(widget)}: it is outside of the page")
        elif widget["x"] + widget["width"] > COLUMNS:
            found.append(f"{_name(widget)}: it needs more than {COLUMNS} columns")
    if not found:
        pairs = combinations(widgets, 2)
        found += [f"{_name(a)}: it lies over {_name(b)}" for a, b in pairs if _overlap(a, b)]
    return found


def _overlap(one, other):
    return all(
        one[start] < other[start] + other[size] and other[start] < one[start] + one[size]
        for start, size in (("x", "width"), ("y", "height"))
    )


def _properties(widget):
    if widget["type"] not in PROPERTIES:
        return [f"there is no widget of type {widget['type']}"]
    needed, allowed = PROPERTIES[widget["type"]]
    properties = widget["properties"]
    missing = [f"it lacks {name}" for name in sorted(needed - properties.keys())]
    strangers = properties.keys() - needed - allowed
    found = [*missing, *(f"it has no property {name}" for name in sorted(strangers))]
    if properties.get("view", "table") not in VIEWS:
        found.append(f"there is no view {properties['view']}")
    return found


# --- contents ---


def _contents(widget):
    properties = widget["properties"]
    if widget["type"] == "metric":
        return widget_problems(properties)
    if widget["type"] == "log":
        return _log(properties["query"])
    if widget["type"] == "alarm" and not 1 <= len(properties["alarms"]) <= MAX_ALARMS:
        return [f"it has {len(properties['alarms'])} alarms, 1 to {MAX_ALARMS} may be"]
    return []


def _log(query):
    found = [f"no line of its kinds has {name}" for name in unknown_names(query)]
    return found if query.startswith("SOURCE ") else [*found, "its query names no log group"]


def _variable(variable, body):
    """What is chosen from is there, and everything about one cluster follows the choice."""
    if variable["type"] != "pattern":
        return [f"a variable of type {variable['type']} does not reach into log queries"]
    found = []
    for one in series([[{"expression": f"SEARCH('{variable['search']}', 'Maximum', 60)"}]], {}):
        found += one.problems()
        if variable["populateFrom"] not in one.dimensions:
            found.append(f"{variable['populateFrom']} is no dimension of the variable's search")
    followers = {"log": 0, "metric": 0}
    for widget in body["widgets"]:
        for name in _cluster_names(widget):
            followers[widget["type"]] += 1
            if name != variable["pattern"]:
                found.append(f"{_name(widget)}: it shows {name} whatever is chosen")
    return found + [
        f"no {kind} widget follows the choice" for kind, n in followers.items() if not n
    ]


def _cluster_names(widget):
    """The clusters that a widget is about by name."""
    if widget["type"] == "metric":
        shown = series(widget["properties"]["metrics"], widget["properties"])
        return [one.values["ClusterName"] for one in shown if "ClusterName" in one.values]
    if widget["type"] == "log":
        return re.findall(r"ClusterName = ['\"]([^'\"]*)['\"]", widget["properties"]["query"])
    return []
