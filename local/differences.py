"""
What of AWS is played on this machine, what is not as on AWS, and how that is known.

The rehearsal lists its rows at its start, at its end and on its page; the reference
has all of them. A recording is one of calls to real AWS, by others: `tests/recorded`
restates them and holds the code to them.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Basis = Literal["recording", "document", "report", "guess", "not played"]

BASES: Final[dict[Basis, str]] = {
    "recording": "a recording of calls to real AWS",
    "document": "AWS's documentation; nobody has recorded it",
    "report": "what others say they saw, without a recording",
    "guess": "our own reading, where both are silent",
    "not played": "nothing here does it",
}


class Difference(NamedTuple):
    """
    One thing of AWS.

    Attributes:
        part: The service, and what of it.

        here: What plays it, and what is not as on AWS; one sentence.

        basis: How it is known that AWS does so.

        is_rehearsed: Whether the rehearsal plays it; else tests and `make` targets do.
    """

    part: str
    here: str
    basis: Basis
    is_rehearsed: bool = True


DIFFERENCES: Final = (
    Difference("NeuronCores, neuron-monitor",
        "a simulator makes the reports and writes down what it made", "document"),
    Difference("EC2, processes on an instance",
        "a folder has a /proc and the files of Kubernetes, Docker and Slurm; no kubelet and no ECS "
        "agent answers, so a task is named without its service", "document"),
    Difference("CloudWatch, extraction",
        "a pump extracts metrics and calls PutMetricData, which nothing does on AWS", "document"),
    Difference("CloudWatch, blank or missing dimensions",
        "the metric is extracted without dimensions", "report"),
    Difference("CloudWatch, a set with one blank dimension of several",
        "the metric is extracted without any of them", "guess"),
    Difference("CloudWatch alarms on one metric",
        "an evaluator of ours judges the template's; nobody is told", "recording"),
    Difference("CloudWatch alarms, how far back from 60 s on",
        "N + 2 periods decide; where N + 6 would decide otherwise, the reason says so", "guess"),
    Difference("CloudWatch alarms, one evaluation",
        "up to 10 s before now, each 10 s; on AWS at a second of its own each minute", "guess"),
    Difference("CloudWatch alarms, warm-up", "while it lasts none fires", "document"),
    Difference("CloudWatch alarms on mathematics and percentiles",
        "they are named and not evaluated", "not played"),
    Difference("CloudWatch alarms on a query with groups",
        "contributors, those that vanish, and an alarm that finds no series", "recording"),
    Difference("CloudWatch Metrics Insights",
        "one family of queries, without LIMIT and without the group Other", "document"),
    Difference("CloudWatch, events of alarms",
        "none, so explain sends no message", "not played"),
    Difference("CloudWatch, dashboards",
        "the template's is not drawn; a test compares it with the catalogue", "not played"),
    Difference("CloudWatch, metrics of AWS services",
        "few, so alarms on them are not evaluated", "not played"),
    Difference("CloudWatch Logs, limits",
        "no limits, throttling or retention; subscriptions deliver at once", "not played"),
    Difference("CloudWatch Logs, lastIngestionTime",
        "it is always fresh, which the pump relies on; on AWS it stood for 100 s", "recording"),
    Difference("CloudWatch Logs Insights",
        "no query is answered; the names in the saved ones are held against the catalogue",
        "not played"),
    Difference("Lambda",
        "the functions run under {python}, without memory limits, retries or dead letters",
        "not played"),
    Difference("Lambda, standard output",
        "a line is kept byte for byte with its line end", "recording"),
    Difference("EventBridge Scheduler",
        "minutes count from the deployment; close is also asked after each minute", "not played"),
    Difference("DynamoDB", "no throttling, and nothing expires", "not played"),
    Difference("IAM", "every call is allowed", "not played"),
    Difference("CloudWatch Logs, writing",
        "sizes, order, span, age and the words of refusals", "recording", is_rehearsed=False),
    Difference("CloudWatch Logs, 10,000 events and calls a second",
        "a double refuses more", "document", is_rehearsed=False),
    Difference("CloudWatch Logs, reading",
        "empty pages, tokens after the last event, lines that appear late", "recording",
        is_rehearsed=False),
    Difference("CloudWatch Logs, filter patterns of terms",
        "required, optional and excluded terms and phrases", "recording", is_rehearsed=False),
    Difference("CloudWatch Logs, other filter patterns",
        "those for JSON, columns and regular expressions are refused", "not played",
        is_rehearsed=False),
    Difference("CloudWatch Logs, subscriptions",
        "envelopes and control messages; one filter of the five that a log group may have",
        "recording", is_rehearsed=False),
    Difference("CloudWatch Logs, size of a delivery",
        "cut anywhere", "guess", is_rehearsed=False),
)  # fmt: skip


def limits(template: Mapping[str, Any]) -> list[str]:
    """
    One sentence per thing that is not as on AWS in a rehearsal, for this *template*.

    What the deployment leaves out is read from the template, which knows; resources that are
    left out for the same reason share a sentence.
    """
    python = f"Python {platform.python_version()}"
    sentences = [
        f"{one.part}: {one.here.format(python=python)} ({one.basis})."
        for one in DIFFERENCES
        if one.is_rehearsed
    ]
    sentences.extend(
        f"Not deployed, because {row['Why']}: {', '.join(row['Resources'])}."
        for row in template.get("Metadata", {}).get("Rehearsal", {}).get("NotEmulated", [])
    )
    return sentences
