"""Settings that all lines of one emitter share: the sender's identity, and the metrics."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from neuron_emitter import VARIABLE_PREFIX
from neuron_emitter.errors import SettingsError
from neuron_emitter.settings.minute_settings import LEGACY, NONE
from neuron_wire.catalogue import CHOOSABLE, RESERVED_NAMES
from neuron_wire.extraction import (
    MAX_DIMENSION_NAME_CHARS,
    MAX_DIMENSION_VALUE_CHARS,
    MAX_METRICS_IN_DIRECTIVE,
)
from neuron_wire.names import RECORD_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from neuron_emitter.settings.minute_settings import MinuteSettings


_BY_INSTANCE: Final = "@instance"
_SHOWN_CHARS: Final = 40


@dataclass(frozen=True, slots=True)
class Choice:
    """
    Names of members of the minute line.

    Attributes:
        by_tier: Members counted by the dimension sets of the tier.

        by_instance: Members counted by cluster and instance.
    """

    by_tier: tuple[str, ...] = ()
    by_instance: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Return all chosen names, whatever their dimensions."""
        return frozenset(self.by_tier + self.by_instance)


@cache
def parse_choice(texts: tuple[str, ...]) -> Choice:
    """
    Return the choice in *texts*, each of them NAME or NAME@instance.

    >>> parse_choice(("DeviceMemoryUsed", "HostCpuPercent@instance")).by_instance
    ('HostCpuPercent',)

    Raises:
        SettingsError: If one is not a gauge or tally of a minute line, or there are too many.
    """
    given = tuple(dict.fromkeys(texts))
    if len(given) > MAX_METRICS_IN_DIRECTIVE:
        most = MAX_METRICS_IN_DIRECTIVE
        msg = f"Too many --metric values: {len(given)}, maximum {most}. Omit some."
        raise SettingsError(msg)
    for text in given:
        if (name := text.removesuffix(_BY_INSTANCE)) in CHOOSABLE:
            continue
        folded = {name.lower(): name for name in CHOOSABLE}
        close = get_close_matches(name.lower(), folded, 1)
        there_is = f"Did you mean {folded[close[0]]}?" if close else f"Use {', '.join(CHOOSABLE)}."
        msg = (
            f"Unknown --metric {_shown(text)}: not a gauge or tally of a minute line, alone or "
            f"with {_BY_INSTANCE}. {there_is}"
        )
        raise SettingsError(msg)
    return Choice(
        by_tier=tuple(text for text in given if text in CHOOSABLE),
        by_instance=tuple(
            text.removesuffix(_BY_INSTANCE) for text in given if text.endswith(_BY_INSTANCE)
        ),
    )


MAX_LINE_TAGS: Final = 50  # the limit of one EC2 resource


def parse_tags(texts: Iterable[str]) -> dict[str, str]:
    """
    Return the tags in *texts*, each of them KEY=VALUE.

    >>> parse_tags(["team=search"])
    {'team': 'search'}

    Raises:
        SettingsError: If one has no key or no value, or a key is given twice.
    """
    tags: dict[str, str] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        name = name.strip()
        value = value.strip()
        if not (separator and name and value):
            msg = f"Invalid --tag {_shown(text)}. Use KEY=VALUE, such as team=search."
            raise SettingsError(msg)
        if tags.setdefault(name, value) != value:
            msg = f"Tag {_shown(name)} has two values. Keep one --tag."
            raise SettingsError(msg)
    return tags


def _shown(text: str) -> str:
    return ascii(text[:_SHOWN_CHARS])


COMMON_DIMS: Final = ("instance_id", "instance_type", "ami_id", "neuron_runtime_tag")
"""The choices of `-d/--common-dims`, which are also the names of the dimensions."""
INSTANCE_ID, INSTANCE_TYPE, AMI_ID, RUNTIME_TAG = COMMON_DIMS

METRIC_NAME: Final = re.compile(r"NeuronCoreUtilizationNC[0-9]+")
LEGACY_UNIT: Final = "Percent"


def legacy_core_metrics(utilization_percent: Sequence[float | None]) -> dict[str, float]:
    """Return utilization by the name of its core; an unknown core has no value."""
    return {
        f"NeuronCoreUtilizationNC{core}": round(value, 2)
        for core, value in enumerate(utilization_percent)
        if value is not None
    }


def common_dimensions(common_dims: Sequence[str]) -> tuple[str, ...]:
    """
    Return the common dimensions that a line can have.

    The runtime tag is not among them: a core's value is the maximum over its runtimes, so it
    belongs to no single tag.
    """
    return tuple(dict.fromkeys(name for name in common_dims if name != RUNTIME_TAG))


def legacy_permissions(tier: str, log_group: str) -> str:
    """Return the permissions that a user of that script still needs; empty for other users."""
    if tier != LEGACY:
        return ""
    return (
        "Unlike neuron-monitor-cloudwatch.py, which needs "
        "cloudwatch:PutMetricData, this command needs logs:PutLogEvents and "
        f"logs:CreateLogStream on log group {log_group} (change it with "
        f"{VARIABLE_PREFIX}_LOG_GROUP)."
    )


def differences(settings: MinuteSettings) -> Iterator[str]:
    """
    Yield the differences from neuron-monitor-cloudwatch.py that its users must know, as sentences.

    Nothing is yielded unless a setting of that script is used. The caller logs the sentences once,
    on standard error.
    """
    is_legacy = settings.metrics == LEGACY
    dimensions = common_dimensions(settings.common_dims)
    is_high = settings.high_resolution_metrics
    is_used = settings.namespace != RECORD_NAMESPACE or settings.common_dims or is_high
    if settings.metrics == NONE or not (is_legacy or is_used):
        return
    if is_legacy:
        yield (
            "The metrics are NeuronCoreUtilizationNC0, NC1 and so on, and no other "
            "metric of neuron-monitor-cloudwatch.py. The other values are in the log "
            "lines, for Logs Insights; use --metric to turn them into metrics."
        )
        if not dimensions:
            yield (
                "Without --common-dims all instances share one metric per core number, "
                "as with neuron-monitor-cloudwatch.py."
            )
    else:
        yield (
            "The metric names differ from those of neuron-monitor-cloudwatch.py, and "
            "ClusterName is a dimension. Use --metrics legacy for "
            "NeuronCoreUtilizationNC0, NC1 and so on."
        )
        if dimensions:
            yield "--common-dims adds one dimension set: ClusterName and the given dimensions."
    if RUNTIME_TAG in settings.common_dims:
        yield (
            "neuron_runtime_tag is not a dimension here, because a core's value is "
            "the maximum over its runtimes: alarms on this tag get no more data. "
            "Lines of Kind runtime have the tag."
        )
    if is_high:
        carried = "" if is_legacy else " and ExecutionErrors; all others stay at one minute"
        yield (
            "--high-resolution-metrics sends a line per report, with one-second "
            f"metrics of core utilization{carried}."
        )


def require_lines(settings: MinuteSettings) -> MinuteSettings:
    """
    Return *settings* if lines with these settings can be written.

    Raises:
        SettingsError: If a tag would damage a line, CloudWatch cannot count by a dimension,
            a metric or common dimension is not known, or dimensions or one-second metrics
            are asked for where none are defined.
    """
    tags = parse_tags(settings.tag)
    parse_choice(settings.metric)
    problems = chain(_tag_problems(tags, settings.tag_dimension), _problems(settings))
    if problem := next(problems, None):
        raise SettingsError(problem)
    return settings


def _tag_problems(tags: Mapping[str, str], dimensions: Iterable[str]) -> Iterator[str]:
    """Yield reasons why *tags* would damage a line, or CloudWatch cannot use *dimensions*."""
    if len(tags) > MAX_LINE_TAGS:
        yield f"Too many tags: {len(tags)}, maximum {MAX_LINE_TAGS}. Omit some."
    for name, value in tags.items():
        shown = _shown(name)
        if name in RESERVED_NAMES or name in COMMON_DIMS or METRIC_NAME.fullmatch(name):
            yield f"Tag key {shown} is already a member of the lines. Use another key."
        found = f"Tag {shown} has an invalid value: {_shown(value)}."
        for text, longest, problem in (
            (name, MAX_DIMENSION_NAME_CHARS, f"Invalid tag key {shown}."),
            (value, MAX_DIMENSION_VALUE_CHARS, found),
        ):
            if not (text.strip() and text.isprintable() and len(text) <= longest):
                yield f"{problem} Use 1 to {longest} printable characters."
    for name in dimensions:
        if name not in tags:
            yield (
                f"--tag-dimension {_shown(name)} is not the key of a tag. Add --tag "
                f"{name[:_SHOWN_CHARS]}=VALUE."
            )
        elif name.startswith(":") or not name.isascii() or not tags[name].isascii():
            yield (
                f"Tag {_shown(name)} cannot be a CloudWatch dimension, which is printable "
                "ASCII and does not begin with a colon. Use another key or value, or "
                "omit it from --tag-dimension."
            )


def _problems(settings: MinuteSettings) -> Iterator[str]:
    """Yield the reasons why lines with *settings* cannot be written."""
    for name in settings.common_dims:
        if name not in COMMON_DIMS:
            known = ", ".join(COMMON_DIMS)
            yield f"Unknown --common-dims {_shown(name)}. Use {known}, or add a --tag."
    if settings.metrics == NONE:
        for flag, is_given in (
            ("--tag-dimension", settings.tag_dimension),
            ("--common-dims", settings.common_dims),
            ("--high-resolution-metrics", settings.high_resolution_metrics),
        ):
            if is_given:
                yield (
                    f"{flag} needs metrics, but --metrics is none. Use another --metrics, or "
                    f"omit {flag}."
                )
    if settings.metrics == LEGACY and settings.tag_dimension:
        yield (
            "--tag-dimension needs ClusterName, which --metrics legacy does not "
            "have. Use another --metrics, or --common-dims."
        )
