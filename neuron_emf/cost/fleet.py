"""A fleet, and how it is set up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from emitter.lines import Choice
from neuron_emf.cost.assumptions import RETENTION_DAYS, RUNTIMES, Mode
from neuron_emf.cost.measurements import PAGE_CORES


@dataclass(frozen=True, slots=True)
class FleetSpec:
    """
    Instances alike.

    Attributes:
        instances: How many.

        clusters: In how many clusters of equal size.

        cores: Logical NeuronCores of an instance.

        types: Instance types of a cluster; None is as in the fleet that was
            measured: one among ten instances, two among a thousand.
    """

    instances: int
    clusters: int
    cores: int = PAGE_CORES
    types: int | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """
    The settings of the emitters and the parameters of the stack that a bill depends on.

    Attributes:
        mode: From the log group to ingest.

        has_stack: Without it, the emitters' lines and the alarms of emitters.yaml are all there is.

        stream_shards: Of `Mode=kinesis`: None is as many as the fleet needs, 0
            lets Kinesis scale by itself.

        retention_days: That the log groups keep their lines.

        metrics: That the emitters' lines define: none, cluster, instance, core
            or legacy.

        runtime_lines: When a runtime has a line: changes, all or none.

        runtimes: Of an instance.

        is_high_resolution: A line with metrics of one second for every report.

        period_s: Seconds between two reports.

        tags: Members that the operator adds to every line.

        tag_dimensions: Those by which CloudWatch counts metrics too.

        tag_values: Different values of each of them in a cluster.

        common_dims: Dimensions of every metric, as neuron-monitor-cloudwatch.py
            has them.

        choice: Metrics beyond those of `metrics`.

        raw_reports: Minutes from one raw report to the next; None for none.

        raw_report_bytes: Of a report; None is as assumed.

        finding_steps: Of findings in a day, of all instances together.
    """

    mode: Mode = "direct"
    has_stack: bool = True
    stream_shards: int | None = None
    retention_days: int = RETENTION_DAYS
    metrics: str = "none"
    runtime_lines: str = "changes"
    runtimes: int = RUNTIMES
    is_high_resolution: bool = False
    period_s: int = 5
    tags: tuple[tuple[str, str], ...] = ()
    tag_dimensions: tuple[str, ...] = ()
    tag_values: int = 1
    common_dims: tuple[str, ...] = ()
    choice: Choice = field(default_factory=Choice)
    raw_reports: int | None = None
    raw_report_bytes: int | None = None
    finding_steps: int = 0


def emitters_only(setup: Setup) -> Setup:
    """The same emitters with emitters.yaml instead of the stack."""
    metrics = "cluster" if setup.metrics == "none" else setup.metrics
    return replace(setup, mode="direct", has_stack=False, stream_shards=None, metrics=metrics)
