"""
Every rule: what it means to break it, and what to do.

An *error* costs at least one metric of the line, or puts it where nobody looks. A
*warning* is extracted, and perhaps not as its writer thinks.
"""

from __future__ import annotations

from functools import partial
from typing import Final, Literal, NamedTuple

Level = Literal["error", "warning"]


class LintRule(NamedTuple):
    """What there is to say about a rule."""

    level: Level
    meaning: str
    advice: str


_error = partial(LintRule, "error")
_warning = partial(LintRule, "warning")

RULES: Final = {
    "json": _error(
        "The line is not one JSON value: there is text before or after it, it has NaN, or "
        "it is truncated.",
        "Write each document on one line, with nothing before or after it and no NaN or Infinity.",
    ),
    "object": _error(
        "The line is JSON, but not an object.",
        "Write one object for each log event, not an array of them.",
    ),
    "repeated": _error(
        "A member is repeated in one object, a metric in one directive, or a dimension in one set.",
        "Omit one of the two: which one counts is not documented.",
    ),
    "size": _error(
        "The line has more bytes than one log event may have.",
        "Split it into several lines with the same Timestamp.",
    ),
    "wrapped": _error(
        "The document is nested in another one, where CloudWatch does not look.",
        "Print the document itself; a logger puts what it is given into a message.",
    ),
    "metadata": _error(
        "The line has no object `_aws` at its root, though it has members that belong in one.",
        "Put CloudWatchMetrics and Timestamp in a member `_aws`, spelled like this.",
    ),
    "timestamp": _error(
        "`_aws.Timestamp` is not a whole number of milliseconds since 1970, or is more than 14 "
        "days old or 2 hours ahead.",
        "Write milliseconds, not seconds and not a string; check the writer's clock.",
    ),
    "directives": _error(
        "`_aws.CloudWatchMetrics` is not an array of at least one object.",
        "Add a directive with Namespace, Dimensions and Metrics.",
    ),
    "namespace": _error(
        "The namespace is missing, too long, has a character that is not allowed, or is AWS's own.",
        "Use 1 to 255 of A-Z a-z 0-9 . _ # : / - and space, not beginning with AWS/ or a colon.",
    ),
    "dimensions": _error(
        "Dimensions is not an array of arrays of at most 30 names.",
        'Write [[]] for a metric without dimensions, [["Name"]] for one with one.',
    ),
    "dimension_name": _error(
        "A dimension's name is not 1 to 250 printable ASCII characters without a leading colon.",
        "Choose another name.",
    ),
    "dimension_value": _error(
        "A dimension has no string of 1 to 1,024 printable ASCII characters at the root.",
        "Write its value as a string at the root, a number in quotes; replace what is not ASCII.",
    ),
    "dimension_blank": _error(
        "A dimension is blank. CloudWatch extracts its metrics without dimensions: stray series "
        "that mix unrelated values, worse than none.",
        "Write its value, or omit the line while there is none.",
    ),
    "metrics": _error(
        "A directive has no array Metrics of 1 to 100 definitions.",
        "Use several directives, or several lines, for more than 100.",
    ),
    "metric_name": _error(
        "A metric's name is not 1 to 255 characters.",
        "Choose a shorter name that is not blank.",
    ),
    "unit": _error(
        "A metric's unit is not one of CloudWatch's 27.",
        "Use one of them, spelled exactly, such as Milliseconds, Percent, Count/Second or None.",
    ),
    "resolution": _error(
        "A metric's StorageResolution is neither 1 nor 60, or differs within the line.",
        "Use 1 or 60, the same wherever the line defines the metric.",
    ),
    "collision": _error(
        "A name is both a metric and a dimension, and the root has one member of that name.",
        "Rename one of them.",
    ),
    "value": _error(
        "A metric has no number, or no array of numbers, at the root of the line.",
        "Write a number within 2^360 at the root; omit the definition where there is none.",
    ),
    "values": _error(
        "A metric has an array of no values or of more than 100.",
        "Split it over several lines with the same Timestamp.",
    ),
    "prefixed": _warning(
        "A timestamp precedes the document. CloudWatch accepts that from Lambda only.",
        "Nothing, if the line is from Lambda or from an export, which add it.",
    ),
    "long": _warning(
        "The line has more than 256 KB. CloudWatch accepts up to 1 MB, many shippers less.",
        "Split it, unless it is sent by PutLogEvents itself.",
    ),
    "late": _warning(
        "The line is more than 3 hours old: its points can take 2 hours to appear, and 48 hours "
        "when they are more than a day old.",
        "Expect graphs to be filled in later; alarms do not notice.",
    ),
    "unknown_member": _warning(
        "A member of the metadata is not in the specification and is ignored.",
        "Correct its spelling and capitals, or omit it.",
    ),
    "no_dimensions": _warning(
        "A directive has no dimension set, so its metrics have no dimensions.",
        "Write [[]] if that is intended; every EMF reader accepts it.",
    ),
    "unit_missing": _warning(
        "A metric has no Unit and gets None. With another unit it is another series.",
        "Write the unit.",
    ),
    "counted_twice": _warning(
        "A metric is defined twice for the same namespace and dimensions, so each value counts "
        "twice.",
        "Omit one of the two.",
    ),
    "precision": _warning(
        "A whole number is beyond 2^53; CloudWatch keeps numbers as doubles.",
        "Use a larger unit, or a difference.",
    ),
    "cardinality": _warning(
        "A dimension looks like the id of a request: each value is a metric of its own, and "
        "each metric is billed.",
        "Keep it as a member of the root that no dimension set names; Logs Insights finds it.",
    ),
}
"""Every rule by its name: of the whole line, of its directives, and what only surprises."""
