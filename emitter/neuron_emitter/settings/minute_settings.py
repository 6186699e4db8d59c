"""
The declaration of a setting, and the settings of `run` and `replay`.

Names must be valid CloudWatch dimensions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

import click

from neuron_accounts.instance_types import is_instance_type
from neuron_emitter import VARIABLE_PREFIX
from neuron_emitter.errors import SettingsError
from neuron_wire.minute_record import MAX_CLUSTER_CHARS, MAX_INSTANCE_CHARS
from neuron_wire.names import RECORD_NAMESPACE

LONGEST_INTERVAL_S: Final = 3600.0

_SettingsT = TypeVar("_SettingsT")


def setting(default: _SettingsT, help_text: str, **form: Any) -> _SettingsT:  # noqa: ANN401 - as click has them
    """
    Declare one setting: its default, its help, and click's attributes of the option.

    `short` is a flag of one letter. A setting whose default is a tuple takes several values: the
    flag several times, or values separated by commas; an array in the file.
    """
    return field(default=default, metadata={"help": help_text, **form})


def advanced(default: _SettingsT, help_text: str, **form: Any) -> _SettingsT:  # noqa: ANN401 - as above
    """Declare a `setting` that only `--help-all` shows."""
    return setting(default, help_text, is_advanced=True, **form)


class Amount(click.FloatRange):
    """A number within bounds, never `nan`, which would pass any comparison with them."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click declares it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Convert *value* to a number."""
        found = float(super().convert(value, param, ctx))
        if isnan(found):
            self.fail(f"{value} is not a number", param, ctx)
        return found


FOLDER_TYPE: Final = click.Path(file_okay=False, path_type=Path)


class Texts(click.types.StringParamType):
    """Texts in one variable, separated by commas."""

    envvar_list_splitter = ","


NO_CLUSTER: Final = (
    f"No cluster name is set. Use --cluster NAME, {VARIABLE_PREFIX}_CLUSTER, "
    'or cluster = "NAME" in the configuration file.'
)
_SETTABLE_NAMESPACE: Final = re.compile(r"(?!AWS/|:)[A-Za-z0-9._#:/-]{1,255}")


def require_cluster(cluster: str) -> str:
    """
    Return *cluster* if it can be the key of rollups.

    Raises:
        SettingsError: If *cluster* is empty or cannot be a CloudWatch dimension.
    """
    if not cluster.strip():
        raise SettingsError(NO_CLUSTER)
    if not is_printable(cluster, MAX_CLUSTER_CHARS):
        msg = (
            f"Invalid cluster name. Use --cluster with 1 to {MAX_CLUSTER_CHARS} "
            "printable ASCII characters, as for CloudWatch dimensions."
        )
        raise SettingsError(msg)
    return cluster


def is_printable(text: str, longest: int) -> bool:
    """Return True if *text* can be the value of a dimension."""
    return bool(text.strip()) and len(text) <= longest and text.isascii() and text.isprintable()


TIERS: Final = ("none", "cluster", "instance", "core", "legacy")
"""The choices of --metrics; `core` has the most series."""
NONE, CLUSTER, INSTANCE, CORE, LEGACY = TIERS

RUNTIME_LINES: Final = ("changes", "all", "none")


@dataclass(frozen=True, kw_only=True)
class MinuteSettings:
    """Settings of the content of records, and of the metrics that CloudWatch extracts."""

    HEADING: ClassVar = "Records and metrics"

    cluster: str = setting(
        "",
        "Name of the instance's cluster; by default from ECS, EKS, "
        "ParallelCluster, Slurm or the auto-scaling group.",
        metavar="NAME",
    )
    instance_id: str | None = advanced(
        None,
        "Instance ID to use when no report, metadata service or board names one; by default host- "
        "and a hash of the machine ID (of the input in replay), marked as guessed.",
        metavar="ID",
    )
    instance_type: str | None = advanced(
        None,
        "Instance type to use when no report, metadata service or board has one, such as "
        "trn1.32xlarge; by default none, and then no amount counts the instance.",
        metavar="TYPE",
    )
    idle_below_percent: float = advanced(
        1.0,
        "Utilization of the minute from which a core counts as busy, percent, 0 to 100.",
        kind=Amount(0, 100),
    )
    metrics: str = setting(
        CLUSTER,
        "Metrics that the lines define: 'none' leaves them to the stack, 'cluster' has eight by "
        "ClusterName, 'instance' also by InstanceId, 'core' also one per core, 'legacy' those of "
        "neuron-monitor-cloudwatch.py.",
        kind=click.Choice(TIERS),
    )
    metric: tuple[str, ...] = advanced(
        (),
        "Gauge or tally of the minute lines to define as a metric too, such as "
        "DeviceMemoryUsed: NAME uses the dimensions of --metrics (ClusterName at "
        "'none'), NAME@instance uses ClusterName and InstanceId, and each is "
        "billed. Separate with commas or repeat, at most 100; by default none.",
        metavar="NAME[@instance]",
    )
    runtime_lines: str = advanced(
        "changes",
        "When to write a line per runtime: at start, on change, on error and "
        "hourly ('changes'), each minute ('all'), or never ('none').",
        kind=click.Choice(RUNTIME_LINES),
    )
    raw_reports: int | None = advanced(
        None,
        "Write the last report of every Nth minute as neuron-monitor wrote it, N "
        "from 1 to 1440, for people and not for the stack; a report larger than "
        "a log event is dropped and counted; by default none.",
        kind=click.IntRange(1, 1_440),
        metavar="MINUTES",
    )
    tag: tuple[str, ...] = setting(
        (),
        "Extra member KEY=VALUE of every line, such as team=search; separate "
        "with commas or repeat; by default none.",
        metavar="KEY=VALUE",
    )
    tag_dimension: tuple[str, ...] = advanced(
        (),
        "Tag to use as a dimension next to the cluster; each value adds as many "
        "billed metrics as the cluster has; by default none.",
        metavar="KEY",
    )
    namespace: str = advanced(
        RECORD_NAMESPACE,
        "CloudWatch namespace of the metrics.",
        metavar="NAME",
        short="-n",
    )
    common_dims: tuple[str, ...] = advanced(
        (),
        "Dimensions of every metric, as in neuron-monitor-cloudwatch.py: "
        "instance_id, instance_type, ami_id, neuron_runtime_tag; by default none.",
        metavar="DIMENSION",
        short="-d",
    )
    high_resolution_metrics: bool = advanced(
        default=False,
        help_text="Send a line with one-second metrics per report, within five seconds.",
    )

    def __post_init__(self) -> None:
        """Reject an instance ID that the stack rejects, and a namespace that CloudWatch drops."""
        if self.instance_id is not None and not is_printable(self.instance_id, MAX_INSTANCE_CHARS):
            msg = (
                f"Invalid instance ID. Use --instance-id with 1 to {MAX_INSTANCE_CHARS} "
                "printable ASCII characters, or omit it."
            )
            raise SettingsError(msg)
        if self.instance_type is not None and not is_instance_type(self.instance_type):
            msg = (
                f"Invalid --instance-type {self.instance_type[:40]!r}. Use a type as EC2 writes "
                "it, such as trn1.32xlarge, or omit it."
            )
            raise SettingsError(msg)
        if not _SETTABLE_NAMESPACE.fullmatch(self.namespace):
            msg = (
                f"Invalid --namespace {self.namespace[:40]!r}. Use 1 to 255 of A-Z a-z 0-9 . _ "
                "# : / -, not beginning with a colon or AWS/."
            )
            raise SettingsError(msg)


@dataclass(frozen=True, kw_only=True)
class ReplaySettings(MinuteSettings):
    """Settings of `replay`: saved reports have no clock, so their times must be set."""

    cluster: str = setting(
        "", "Name of the cluster that the reports belong to; required.", metavar="NAME"
    )
    interval: float | None = setting(
        None,
        "Seconds between two reports, at most 3600; required.",
        kind=Amount(min=0.0, min_open=True, max=LONGEST_INTERVAL_S),
    )
    start: str | None = setting(
        None,
        "Time of the first report, ISO 8601, in UTC if it has no offset; required.",
        metavar="TIME",
    )
    saved_proc: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "The /proc of the reports' machine, live or a copy, to name owners from; the machine's "
        "other files are read next to it; by default no owner is named.",
        kind=FOLDER_TYPE,
    )
