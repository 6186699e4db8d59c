"""
Every setting, declared once: flag, variable, key of the TOML file and help follow.

A field of a settings class is an option of its command. `cluster` is the flag
`--cluster`, the variable `NEURON_EMF_CLUSTER` and the key `cluster` of the
configuration file, looked up in this order; the help ends with the default.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from emitter.errors import SettingsError
from neuron_wire.minute import MAX_CLUSTER_CHARS, MAX_INSTANCE_CHARS

VARIABLE_PREFIX: Final = "NEURON_EMF"
LOG_GROUP: Final = "/neuron-emf/records"
TIERS: Final = ("none", "cluster")
"""Which metrics a line defines: none, or the eight of the cluster."""

LONGEST_INTERVAL_S: Final = 3600.0

_T = TypeVar("_T")


def setting(
    default: _T,
    help_text: str,
    *,
    kind: click.ParamType[Any] | type | None = None,
    metavar: str | None = None,
) -> _T:
    """
    Declare one setting: its default, what it is for, and what values it takes.
    """
    metadata = {"help": help_text, "kind": kind, "metavar": metavar}
    return field(default=default, metadata=metadata)


class Amount(click.FloatRange):
    """
    A number within bounds; `nan` is within none, though it compares as if.
    """

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click declares it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """
        The number that *value* says.
        """
        found = float(super().convert(value, param, ctx))
        if math.isnan(found):
            self.fail(f"{value} is not a number", param, ctx)
        return found


@dataclass(frozen=True, kw_only=True)
class MinuteSettings:
    """
    What every command that makes minutes must know, and names alike.
    """

    cluster: str = setting(
        "", "Cluster the instance belongs to, the key of all rollups; required.", metavar="NAME"
    )
    idle_below_percent: float = setting(
        1.0,
        "A core is busy from this utilization of the minute on, in percent, 0 to 100.",
        kind=Amount(0, 100),
    )
    metrics: str = setting(
        "cluster",
        "Metrics the lines define: 'cluster' has eight by ClusterName, 'none' leaves them to the "
        "stack.",
        kind=click.Choice(TIERS),
    )
    instance_id: str | None = setting(
        None,
        "Instance id to use when no report names one; by default host- and a hash of the "
        "machine id, in replay of the input, marked as guessed.",
        metavar="ID",
    )

    def __post_init__(self) -> None:
        """
        Refuse what no option type can.
        """
        _require_instance_id(self.instance_id)


@dataclass(frozen=True, kw_only=True)
class RunSettings(MinuteSettings):
    """
    The settings of `neuron-emf run`.
    """

    input: str = setting(
        "monitor",
        "Where reports come from: 'monitor' starts and supervises neuron-monitor, "
        "'-' reads them from standard input, anything else is a file or named pipe.",
        metavar="monitor|-|FILE",
    )
    output: str = setting(
        "logs",
        "Where lines go: 'logs' to CloudWatch Logs through the spool, 'stdout' to standard output.",
        kind=click.Choice(["logs", "stdout"]),
    )
    log_group: str = setting(
        LOG_GROUP,
        "Log group of the lines; the stack's output LogGroupName.",
        metavar="NAME",
    )
    region: str | None = setting(
        None, "AWS region of the log group; by default what the AWS SDK finds.", metavar="NAME"
    )
    spool_dir: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "Directory that keeps records until they are delivered; by default "
        "/var/lib/neuron-emf where it is writable, else the user's state folder, "
        "and memory with --output stdout.",
        kind=click.Path(file_okay=False, path_type=Path),
    )
    spool_max_mib: int = setting(
        256,
        "Size of the spool in MiB, 1 or more; when it is full the oldest records are dropped, "
        "and counted.",
        kind=click.IntRange(min=1),
    )
    period: int = setting(
        5,
        "Seconds between reports that neuron-monitor is asked for, 1 to 15.",
        kind=click.IntRange(1, 15),
    )
    interval: float | None = setting(
        None,
        "Seconds between the reports of an input we did not start, at most 3600; by default the "
        "median of the last five.",
        kind=Amount(min=0.0, min_open=True, max=LONGEST_INTERVAL_S),
    )
    monitor_command: str = setting(
        "neuron-monitor", "Name or path of neuron-monitor.", metavar="COMMAND"
    )
    spread_seconds: float = setting(
        30.0,
        "Sends are spread over this many seconds after each minute, by instance; 0 sends at once.",
        kind=Amount(0, 55),
    )
    verbose: bool = setting(default=False, help_text="Say more on standard error.")


@dataclass(frozen=True, kw_only=True)
class ReplaySettings(MinuteSettings):
    """
    The settings of `neuron-emf replay`.
    """

    interval: float | None = setting(
        None,
        "Seconds between two reports, at most 3600; required.",
        kind=Amount(min=0.0, min_open=True, max=LONGEST_INTERVAL_S),
    )
    start: str | None = setting(
        None,
        "Time of the first report, ISO 8601, UTC unless it says otherwise; required.",
        metavar="TIME",
    )


def require_cluster(cluster: str) -> str:
    """
    Give *cluster* back if it can be the key of rollups.

    Raises:
        SettingsError: If *cluster* is empty or cannot be a CloudWatch dimension.
    """
    if not cluster.strip():
        msg = (
            "a cluster name was expected and none was given: use --cluster NAME, the variable "
            f'{VARIABLE_PREFIX}_CLUSTER, or cluster = "NAME" in the configuration file'
        )
        raise SettingsError(msg)
    if not _is_printable(cluster, MAX_CLUSTER_CHARS):
        msg = (
            f"the cluster name was expected to be 1 to {MAX_CLUSTER_CHARS} printable ASCII "
            "characters, as CloudWatch dimensions are, and it is not: choose another name"
        )
        raise SettingsError(msg)
    return cluster


def _require_instance_id(instance_id: str | None) -> None:
    if instance_id is None or _is_printable(instance_id, MAX_INSTANCE_CHARS):
        return
    msg = (
        f"the instance id was expected to be 1 to {MAX_INSTANCE_CHARS} printable ASCII "
        "characters and it is not: choose another with --instance-id, or leave it out"
    )
    raise SettingsError(msg)


def _is_printable(text: str, longest: int) -> bool:
    return bool(text.strip()) and len(text) <= longest and text.isascii() and text.isprintable()
