"""
The members that CloudWatch gives its own message about an alarm, for who reads those.

PagerDuty and other receivers of CloudWatch's messages parse them. Their names and
shapes are CloudWatch's, as its messages to SNS were recorded; an event of an alarm
says less, and what it does not say (threshold, periods) is absent here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from neuron_wire.phrases import printable

if TYPE_CHECKING:
    from aggregator.explain.event import Transition

LONGEST_REASON: Final = 1023  # characters, says CloudWatch
_LONGEST_TEXT: Final = 2048
_MAX_BYTES: Final = 6000  # of a Trigger or of attributes: more is left out


def cloudwatch_members(transition: Transition) -> dict[str, object]:
    """What CloudWatch would say of *transition*; what is not known is None."""
    contributor = transition.contributor
    attributes = contributor.get("attributes")
    return {
        "AlarmName": printable(transition.alarm, 256),
        "NewStateValue": transition.state,
        "OldStateValue": transition.before or _other(transition),
        "NewStateReason": printable(transition.reason, LONGEST_REASON),
        "StateChangeTime": printable(transition.changed_at),
        "AlarmContributorId": _bounded(contributor.get("id")),
        "AlarmContributorAttributes": _bounded(attributes) if attributes else None,
        "Trigger": _bounded({"Metrics": [_metric(one) for one in transition.queries]}),
    }


def _other(transition: Transition) -> str | None:
    """What a contributor was before: it is in ALARM or OK, and its event names only the new."""
    return {"ALARM": "OK", "OK": "ALARM"}.get(transition.state) if transition.contributor else None


def _metric(query: Mapping[str, object]) -> dict[str, object]:
    """One of an alarm's metrics, whose members an event begins with small letters."""
    named = {_capital(name): value for name, value in query.items()}
    stat = named.get("MetricStat")
    if isinstance(stat, Mapping):
        inner = {_capital(name): value for name, value in stat.items()}
        metric = inner.get("Metric")
        if isinstance(metric, Mapping):
            inner["Metric"] = _series(metric)
        named["MetricStat"] = inner
    return named


def _series(metric: Mapping[str, object]) -> dict[str, object]:
    dimensions = metric.get("dimensions")
    found = dimensions if isinstance(dimensions, Mapping) else {}
    return {
        "Dimensions": [{"value": value, "name": name} for name, value in found.items()],
        "MetricName": metric.get("name"),
        "Namespace": metric.get("namespace"),
    }


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _bounded(value: object) -> object:
    """*value* with every text on one line; None when it is too long or no JSON."""
    try:
        plain = _plain(value)
        fits = len(json.dumps(plain, allow_nan=False).encode()) <= _MAX_BYTES
    except (ValueError, RecursionError):
        return None
    return plain if fits else None


def _plain(value: object) -> object:
    if isinstance(value, str):
        return printable(value, _LONGEST_TEXT)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {printable(str(name), _LONGEST_TEXT): _plain(one) for name, one in value.items()}
    return value
