"""Lines to lint: one that surprises nobody, and the same with something changed."""

from __future__ import annotations

import json

from neuron_emf.lint import ERRORS, judge

NOW_MS = 1_790_000_000_000


def document(**root):
    """A document that CloudWatch extracts as it stands; *root* adds members."""
    metric = {"Name": "Latency", "Unit": "Milliseconds"}
    directive = {"Namespace": "Shop", "Dimensions": [["Service"]], "Metrics": [metric]}
    metadata = {"Timestamp": NOW_MS, "CloudWatchMetrics": [directive]}
    return {"_aws": metadata, "Service": "cart", "Latency": 12.5, **root}


def changed(path, value):
    """The same document with what stands at *path*, names and places, made *value*."""
    whole = document()
    at = whole
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return whole


DIRECTIVE = ("_aws", "CloudWatchMetrics", 0)
METRIC = (*DIRECTIVE, "Metrics", 0)


def judged(line, now_ms=NOW_MS):
    """What lint says of *line*: bytes, a text or a document."""
    text = line if isinstance(line, (str, bytes)) else json.dumps(line)
    return judge(text if isinstance(text, bytes) else text.encode(), now_ms)


def errors(line, **now):
    """The rules that cost *line* a metric."""
    return [one.rule for one in judged(line, **now).violations if one.rule in ERRORS]


def warnings(line, **now):
    """The rules by which *line* surprises."""
    return [one.rule for one in judged(line, **now).violations if one.rule not in ERRORS]
