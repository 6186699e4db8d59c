"""What every command that makes minutes must know, and names alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import click

from emitter.settings.declaration import Amount, Texts, setting
from emitter.settings.names import require_instance_id, require_namespace
from neuron_wire.names import NAMESPACE

TIERS: Final = ("none", "cluster", "instance", "core", "legacy")
"""Which metrics the lines define; `core` has the most series."""

RUNTIME_LINES: Final = ("changes", "all", "none")


@dataclass(frozen=True, kw_only=True)
class MinuteSettings:
    """What the records say, and which of it CloudWatch makes metrics of."""

    cluster: str = setting(
        "",
        "Cluster the instance belongs to, the key of all rollups; by default what ECS, EKS, "
        "ParallelCluster, Slurm or the auto-scaling group say.",
        metavar="NAME",
    )
    instance_id: str | None = setting(
        None,
        "Instance id to use when neither a report, the instance metadata service nor the "
        "instance's board names one; by default host- and a hash of the machine id, in replay of "
        "the input, marked as guessed.",
        metavar="ID",
    )
    idle_below_percent: float = setting(
        1.0,
        "A core is busy from this utilization of the minute on, in percent, 0 to 100.",
        kind=Amount(0, 100),
    )
    metrics: str = setting(
        "cluster",
        "Metrics the lines define: 'none' leaves them to the stack, 'cluster' has eight by "
        "ClusterName, 'instance' also by InstanceId, 'core' also one per core, 'legacy' those of "
        "neuron-monitor-cloudwatch.py.",
        kind=click.Choice(TIERS),
    )
    metric: tuple[str, ...] = setting(
        (),
        "Gauge or tally of the minute lines that is a metric too, such as DeviceMemoryUsed: NAME "
        "by the dimensions of --metrics (ClusterName at 'none'), NAME@instance by ClusterName and "
        "InstanceId, each a price of its own; several with commas or by repeating, at most 100; "
        "by default none.",
        kind=Texts(),
        metavar="NAME[@instance]",
    )
    runtime_lines: str = setting(
        "changes",
        "Lines about single runtimes: at start, on change, on error and hourly ('changes'), each "
        "minute ('all'), or never ('none').",
        kind=click.Choice(RUNTIME_LINES),
    )
    raw_reports: int | None = setting(
        None,
        "A line with the last report of every so-many-th minute as neuron-monitor wrote it, 1 to "
        "1440 minutes, for people and not for the stack; one longer than a log event is not "
        "written, and counted; by default none.",
        kind=click.IntRange(1, 1_440),
        metavar="MINUTES",
    )
    tag: tuple[str, ...] = setting(
        (),
        "Extra member KEY=VALUE of every line, such as team=search; several with commas or by "
        "repeating; by default none.",
        kind=Texts(),
        metavar="KEY=VALUE",
    )
    tag_dimension: tuple[str, ...] = setting(
        (),
        "Tag that CloudWatch also counts metrics by, beside the cluster; each "
        "value costs as many metrics as the cluster does; by default none.",
        kind=Texts(),
        metavar="KEY",
    )
    namespace: str = setting(
        NAMESPACE, "CloudWatch namespace of the metrics.", metavar="NAME", short="-n"
    )
    common_dims: tuple[str, ...] = setting(
        (),
        "Dimensions of every metric, as neuron-monitor-cloudwatch.py has them: instance_id, "
        "instance_type, ami_id, neuron_runtime_tag; by default none.",
        kind=Texts(),
        metavar="DIMENSION",
        short="-d",
    )
    high_resolution_metrics: bool = setting(
        default=False,
        help_text="A line with one-second metrics for every report, sent within five seconds.",
    )

    def __post_init__(self) -> None:
        """Refuse what no option type can."""
        require_instance_id(self.instance_id)
        require_namespace(self.namespace)
