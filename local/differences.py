"""
What of AWS is played on this machine, what is not as on AWS, and how that is known.

The rehearsal lists its rows at its start, at its end and on its page; the reference
has all of them. A recording is one of calls to real AWS, by others: `tests/recorded`
restates them and holds the code to them.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

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
    Difference("EC2 and Systems Manager, what stoppable asks",
        "the fleet is described as launched a day before, of types without instance store; stop "
        "protection and sessions are not told, so no instance may be stopped", "not played"),
    Difference("CloudWatch, extraction",
        "a pump extracts metrics and calls PutMetricData, which nothing does on AWS", "document"),
    Difference("CloudWatch, blank or missing dimensions",
        "the metric is extracted without dimensions", "report"),
    Difference("CloudWatch, a set with one blank dimension of several",
        "the metric is extracted without any of them", "guess"),
    Difference("CloudWatch alarms on one metric",
        "an evaluator runs the template's; explain is asked what it would say", "recording"),
    Difference("CloudWatch alarms, how far back from 60 s on",
        "N + 2 periods decide; where N + 6 would decide otherwise, the reason says so", "guess"),
    Difference("CloudWatch alarms, one evaluation",
        "up to 10 s before now, each 10 s; on AWS at a second of its own each minute", "guess"),
    Difference("CloudWatch alarms, warm-up",
        "it ends when every period has data", "document"),
    Difference("CloudWatch alarms on mathematics and percentiles",
        "they are named and not evaluated", "not played"),
    Difference("CloudWatch alarms on a query with groups",
        "contributors, those that vanish, and an alarm that finds no series", "recording"),
    Difference("CloudWatch Metrics Insights",
        "one family of queries, without LIMIT and without the group Other", "document"),
    Difference("CloudWatch, events of alarms",
        "they have the recorded members, the alarm's own and each contributor's", "recording"),
    Difference("CloudWatch, ids of contributors",
        "16 hex digits of the attributes alone, made in a way of our own", "guess"),
    Difference("CloudWatch, dashboards",
        "the template's is not drawn; a test compares it with the catalogue", "not played"),
    Difference("CloudWatch, metrics of AWS services",
        "few, so alarms on them are not evaluated", "not played"),
    Difference("CloudWatch Logs, limits",
        "no limits, throttling or retention; subscriptions deliver at once", "not played"),
    Difference("CloudWatch Logs, lastIngestionTime",
        "it is always fresh, which the pump relies on; on AWS it stood for 100 s", "recording"),
    Difference("CloudWatch Logs Insights",
        "an engine of ours runs the template's queries", "document"),
    Difference("Lambda",
        "the functions run under {python}, without memory limits, retries or dead letters",
        "not played"),
    Difference("Lambda, standard output",
        "a line is kept byte for byte with its line end", "recording"),
    Difference("EventBridge",
        "explain gets the events that a rule of the template chooses by their kind", "recording"),
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
    Difference("CloudWatch Logs, numbers of GetQueryResults",
        "computed ones are texts such as 15.0 and 6.7E7", "report", is_rehearsed=False),
    Difference("CloudWatch Logs, subscriptions",
        "envelopes and control messages; one filter of the five that a log group may have",
        "recording", is_rehearsed=False),
    Difference("CloudWatch Logs, size of a delivery",
        "cut anywhere", "guess", is_rehearsed=False),
)  # fmt: skip
