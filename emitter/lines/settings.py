"""What the lines of one emitter have in common: who writes them, and what they define."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from emitter import VARIABLE_PREFIX
from emitter.errors import SettingsError
from neuron_wire.catalogue import CHOOSABLE, TAKEN
from neuron_wire.extraction import MAX_DIMENSION_NAME_CHARS, MAX_DIMENSION_VALUE_CHARS, MAX_METRICS
from neuron_wire.names import NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from emitter.settings.minutes import MinuteSettings


_BY_INSTANCE: Final = "@instance"
_SHOWN_CHARS: Final = 40


@dataclass(frozen=True, slots=True)
class Choice:
    """
    Names of members of the minute line.

    Attributes:
        by_tier: Counted by the sets of dimensions of the tier.

        by_instance: Counted by cluster and instance.
    """

    by_tier: tuple[str, ...] = ()
    by_instance: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """All that are chosen, by whatever they are counted."""
        return frozenset(self.by_tier + self.by_instance)


NONE: Final = "none"
CLUSTER: Final = "cluster"
INSTANCE: Final = "instance"
CORE: Final = "core"
LEGACY: Final = "legacy"


@dataclass(frozen=True, slots=True)
class LineSettings:
    """
    Which metrics the lines define, by which dimensions, and what else is in them.

    Attributes:
        tier: `none`, `cluster`, `instance`, `core` or `legacy`.

        namespace: CloudWatch namespace of the metrics.

        tags: Extra members of every line, such as `{"team": "search"}`.

        tag_dimensions: Names of tags by which CloudWatch counts the metrics too,
            each beside the cluster.

        common_dims: Dimensions as neuron-monitor-cloudwatch.py names them, see
            `emitter.lines.settings`.

        high_resolution: Report lines carry metrics of one second, so the minute
            lines leave them out.

        choice: Metrics beyond those of the tier.
    """

    tier: str = CLUSTER
    namespace: str = NAMESPACE
    tags: Mapping[str, str] = field(default_factory=dict)
    tag_dimensions: tuple[str, ...] = ()
    common_dims: tuple[str, ...] = ()
    high_resolution: bool = False
    choice: Choice = field(default_factory=Choice)


def parse_choice(texts: Iterable[str]) -> Choice:
    """
    The choice that *texts* make, each of them NAME or NAME@instance.

    Raises:
        SettingsError: If one is no gauge and no tally of a minute line, or they are too many.
    """
    given = tuple(dict.fromkeys(texts))
    if len(given) > MAX_METRICS:
        msg = f"Too many --metric values: {len(given)}, maximum {MAX_METRICS}. Omit some."
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


MAX_TAGS: Final = 50  # as many as one EC2 resource may have


def parse_tags(texts: Iterable[str]) -> dict[str, str]:
    """
    The tags that *texts* say, each of them KEY=VALUE.

    Raises:
        SettingsError: If one has no key or no value, or a key is given twice.
    """
    tags: dict[str, str] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        name, value = name.strip(), value.strip()
        if not (separator and name and value):
            msg = f"Invalid --tag {_shown(text)}. Use KEY=VALUE, such as team=search."
            raise SettingsError(msg)
        if tags.setdefault(name, value) != value:
            msg = f"Tag {_shown(name)} has two values. Keep one --tag."
            raise SettingsError(msg)
    return tags


def check_tags(tags: Mapping[str, str], tag_dimensions: Iterable[str] = ()) -> None:
    """
    Refuse tags that would damage a line, or that CloudWatch cannot count by.

    Raises:
        SettingsError: If a name is taken or too long, a value is too long, or a
            dimension is no tag or holds what no dimension may.
    """
    if len(tags) > MAX_TAGS:
        msg = f"Too many tags: {len(tags)}, maximum {MAX_TAGS}. Omit some."
        raise SettingsError(msg)
    for name, value in tags.items():
        shown = _shown(name)
        if name in TAKEN or name in COMMON_DIMS or METRIC_NAME.fullmatch(name):
            msg = f"Tag key {shown} is already a member of the lines. Use another key."
            raise SettingsError(msg)
        for text, longest, problem in (
            (name, MAX_DIMENSION_NAME_CHARS, f"Invalid tag key {shown}."),
            (
                value,
                MAX_DIMENSION_VALUE_CHARS,
                f"Tag {shown} has an invalid value: {_shown(value)}.",
            ),
        ):
            if not (text.strip() and text.isprintable() and len(text) <= longest):
                msg = f"{problem} Use 1 to {longest} printable characters."
                raise SettingsError(msg)
    for name in tag_dimensions:
        if name not in tags:
            msg = (
                f"--tag-dimension {_shown(name)} is not the key of a tag. Add --tag "
                f"{name[:_SHOWN_CHARS]}=VALUE."
            )
            raise SettingsError(msg)
        if name.startswith(":") or not name.isascii() or not tags[name].isascii():
            msg = (
                f"Tag {_shown(name)} cannot be a CloudWatch dimension, which is printable "
                "ASCII and does not begin with a colon. Use another key or value, or "
                "omit it from --tag-dimension."
            )
            raise SettingsError(msg)


def _shown(text: str) -> str:
    return ascii(text[:_SHOWN_CHARS])


INSTANCE_ID: Final = "instance_id"
INSTANCE_TYPE: Final = "instance_type"
AMI_ID: Final = "ami_id"
RUNTIME_TAG: Final = "neuron_runtime_tag"
COMMON_DIMS: Final = (INSTANCE_ID, INSTANCE_TYPE, AMI_ID, RUNTIME_TAG)
"""The choices of `-d/--common-dims`; here they are also the names of the dimensions."""

METRIC_NAME: Final = re.compile(r"NeuronCoreUtilizationNC[0-9]+")
LEGACY_UNIT: Final = "Percent"


def legacy_core_metrics(utilization_percent: Sequence[float | None]) -> dict[str, float]:
    """Utilization by the name of its core; an unknown core has no value."""
    return {
        f"NeuronCoreUtilizationNC{core}": round(value, 2)
        for core, value in enumerate(utilization_percent)
        if value is not None
    }


def common_dimensions(common_dims: Sequence[str]) -> tuple[str, ...]:
    """
    The common dimensions that a line can have.

    Not the runtime tag: a core's value is the greatest of all its runtimes, so
    there is one value, and no one tag.
    """
    return tuple(dict.fromkeys(name for name in common_dims if name != RUNTIME_TAG))


def legacy_permissions(tier: str, log_group: str) -> str:
    """What whoever comes from that script lacks where CloudWatch Logs refuses; empty for others."""
    if tier != LEGACY:
        return ""
    return (
        "Unlike neuron-monitor-cloudwatch.py, which needs "
        "cloudwatch:PutMetricData, this command needs logs:PutLogEvents and "
        f"logs:CreateLogStream on log group {log_group} (change it with "
        f"{VARIABLE_PREFIX}_LOG_GROUP)."
    )


def differences(settings: LineSettings) -> list[str]:
    """
    What whoever comes from neuron-monitor-cloudwatch.py must know, a sentence each.

    Empty where no setting was given that this script has too. To be said once,
    on standard error.
    """
    is_legacy = settings.tier == LEGACY
    is_used = settings.namespace != NAMESPACE or settings.common_dims or settings.high_resolution
    if settings.tier == NONE or not (is_legacy or is_used):
        return []
    said: list[str] = []
    if is_legacy:
        said.append(
            "The metrics are NeuronCoreUtilizationNC0, NC1 and so on, and no other "
            "metric of neuron-monitor-cloudwatch.py. The other values are in the log "
            "lines, for Logs Insights; use --metric to turn them into metrics."
        )
        if not common_dimensions(settings.common_dims):
            said.append(
                "Without --common-dims all instances share one metric per core number, "
                "as with neuron-monitor-cloudwatch.py."
            )
    else:
        said.append(
            "The metric names differ from those of neuron-monitor-cloudwatch.py, and "
            "ClusterName is a dimension. Use --metrics legacy for "
            "NeuronCoreUtilizationNC0, NC1 and so on."
        )
        if common_dimensions(settings.common_dims):
            said.append(
                "--common-dims adds one dimension set: ClusterName and the given dimensions."
            )
    if RUNTIME_TAG in settings.common_dims:
        said.append(
            "neuron_runtime_tag is not a dimension here, because a core's value is "
            "the maximum over its runtimes: alarms on this tag get no more data. "
            "Lines of Kind runtime have the tag."
        )
    if settings.high_resolution:
        carried = "" if is_legacy else " and ExecutionErrors; all others stay at one minute"
        said.append(
            "--high-resolution-metrics sends a line per report, with one-second "
            f"metrics of core utilization{carried}."
        )
    return said


def check_settings(settings: LineSettings) -> None:
    """
    Let *settings* pass only if lines can be written that do what they ask for.

    Raises:
        SettingsError: If a tag cannot be one, a common dimension is not known, or
            dimensions or one-second metrics are asked for where none are defined.
    """
    check_tags(settings.tags, settings.tag_dimensions)
    for name in settings.common_dims:
        if name not in COMMON_DIMS:
            msg = (
                f"Unknown --common-dims {name[:40]!a}. Use {', '.join(COMMON_DIMS)}, or "
                "add a --tag."
            )
            raise SettingsError(msg)
    if settings.tier == NONE:
        for flag, is_given in (
            ("--tag-dimension", bool(settings.tag_dimensions)),
            ("--common-dims", bool(settings.common_dims)),
            ("--high-resolution-metrics", settings.high_resolution),
        ):
            if is_given:
                msg = (
                    f"{flag} needs metrics, but --metrics is none. Use another --metrics, or "
                    f"omit {flag}."
                )
                raise SettingsError(msg)
    if settings.tier == LEGACY and settings.tag_dimensions:
        msg = (
            "--tag-dimension needs ClusterName, which --metrics legacy does not "
            "have. Use another --metrics, or --common-dims."
        )
        raise SettingsError(msg)


def line_settings(settings: MinuteSettings) -> LineSettings:
    """
    What *settings* say about lines.

    Raises:
        SettingsError: If a tag or a dimension cannot be used.
    """
    lines = LineSettings(
        tier=settings.metrics,
        namespace=settings.namespace,
        tags=parse_tags(settings.tag),
        tag_dimensions=settings.tag_dimension,
        common_dims=settings.common_dims,
        high_resolution=settings.high_resolution_metrics,
        choice=parse_choice(settings.metric),
    )
    check_settings(lines)
    return lines
