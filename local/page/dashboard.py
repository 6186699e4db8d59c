"""
The body of the template's dashboard, with a cluster chosen.

Pure. Knows the structure that the template uses of
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
and refuses the rest by name. The one variable is a text that the choice
replaces wherever it stands.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from local.page.series import DashboardError, MetricRequest, search

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from local.alarms import Template

_RELATIVE: Final = re.compile(
    r"-P(?:(?P<days>[0-9]+)D)?(?:T(?:(?P<hours>[0-9]+)H)?(?:(?P<minutes>[0-9]+)M)?)?"
)
_MEMBERS: Final = frozenset({"start", "variables", "widgets"})
_TYPES: Final = frozenset({"alarm", "log", "metric", "text"})
_FIRST: Final = "__FIRST"  # the default of a variable: the first in the alphabet
_UNQUOTABLE: Final = frozenset("\"'\\")


@dataclass(frozen=True, slots=True)
class Widget:
    """
    One widget with a cluster chosen.

    Attributes:
        type: `alarm`, `log`, `metric` or `text`.

        place: `x`, `y`, `width` and `height`, in 24 columns.

        refused: Why its texts cannot hold the chosen name, empty when they can.
    """

    type: str
    place: Mapping[str, int]
    properties: Mapping[str, Any]
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Dashboard:
    """
    One dashboard.

    Attributes:
        name: Of the dashboard, unique in an account.

        range_s: How far back it shows, in seconds.

        clusters: Finds the metrics whose `populates` dimension is offered as choice.

        pattern: The text that the choice replaces.

        default: What is chosen at first, empty for the first in the alphabet.
    """

    name: str
    range_s: int
    clusters: MetricRequest
    populates: str
    pattern: str
    default: str
    _widgets: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, template: Template) -> Dashboard:
        """
        Read the dashboards of *template* as one, each below the one before.

        Raises:
            DashboardError: If it has none, or one that the page does not know.
        """
        stated = [one for _, one in template.resources("AWS::CloudWatch::Dashboard")]
        if not stated:
            msg = "the template has no dashboard"
            raise DashboardError(msg)
        first, *others = (json.loads(one["DashboardBody"]) for one in stated)
        for other in others:
            below = max(one["y"] + one["height"] for one in first["widgets"])
            first["widgets"] += [{**one, "y": below + one["y"]} for one in other["widgets"]]
        first["widgets"] = [
            one for one in first["widgets"] if one["properties"].get("view") != "singleValue"
        ]  # the page has numbers of its own
        return read(stated[0]["DashboardName"], json.dumps(first))

    def widgets(self, cluster: str) -> list[Widget]:
        """Every widget, with *cluster* where the pattern stands."""
        return [self._chosen(widget, cluster) for widget in self._widgets]

    def _chosen(self, widget: Mapping[str, Any], cluster: str) -> Widget:
        properties = widget["properties"]
        refused = ""
        if _UNQUOTABLE & set(cluster) and self._is_in_a_quoted_text(properties):
            refused = (
                "The name of the cluster holds a quote or a backslash, which no query can say."
            )
        return Widget(
            type=widget["type"],
            place={name: int(widget[name]) for name in ("x", "y", "width", "height")},
            properties=_replaced(properties, self.pattern, cluster),
            refused=refused,
        )

    def _is_in_a_quoted_text(self, properties: Mapping[str, Any]) -> bool:
        texts = [properties.get("query", "")]
        texts += [
            row[-1].get("expression", "")
            for row in properties.get("metrics", [])
            if isinstance(row[-1], dict)
        ]
        return any(self.pattern in text for text in texts)


def read(name: str, text: str) -> Dashboard:
    """
    The dashboard *name* with the body *text*.

    Raises:
        DashboardError: If the page does not know what it uses.
    """
    try:
        body = json.loads(text)
        (variable,) = body["variables"]
        _refuse_unknown(body, variable)
        return Dashboard(
            name=name,
            range_s=_range_s(body["start"]),
            clusters=search(f"SEARCH('{variable['search']}', 'Average', 60)"),
            populates=variable["populateFrom"],
            pattern=variable["pattern"],
            default="" if variable["defaultValue"] == _FIRST else variable["defaultValue"],
            _widgets=body["widgets"],
        )
    except DashboardError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        msg = f"the body of the dashboard {name} is not of the known structure: {error!r}"
        raise DashboardError(msg) from error


def _refuse_unknown(body: Mapping[str, Any], variable: Mapping[str, Any]) -> None:
    for what, strangers in (
        ("a member", body.keys() - _MEMBERS),
        ("a variable of type", {variable["type"]} - {"pattern"}),
        ("a widget of type", {widget["type"] for widget in body["widgets"]} - _TYPES),
    ):
        if strangers:
            msg = f"the dashboard has {what} {min(strangers)}, which the page does not know"
            raise DashboardError(msg)


def _range_s(start: str) -> int:
    match = _RELATIVE.fullmatch(start)
    parts = {name: int(found) for name, found in match.groupdict("0").items()} if match else {}
    range_s = (
        parts.get("days", 0) * 86_400 + parts.get("hours", 0) * 3_600 + parts.get("minutes", 0) * 60
    )
    if not range_s:
        msg = f"the dashboard starts at {start}, expected a time before now such as -PT3H"
        raise DashboardError(msg)
    return range_s


def _replaced(value: Any, pattern: str, cluster: str) -> Any:  # noqa: ANN401  # the body is JSON
    if isinstance(value, str):
        return value.replace(pattern, cluster)
    if isinstance(value, list):
        return [_replaced(one, pattern, cluster) for one in value]
    if isinstance(value, dict):
        return {name: _replaced(one, pattern, cluster) for name, one in value.items()}
    return value
