"""
What `neuron-emf cost` is asked: a fleet, the emitters' settings, the stack's parameters.

Settings that `run` has too are named alike, so that its variables and its
configuration file answer for themselves here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from emitter.settings.declaration import Texts, setting
from emitter.settings.minutes import RUNTIME_LINES, TIERS
from neuron_emf.cost.assumptions import MODES, RETENTION_DAYS, RUNTIMES
from neuron_emf.prices import OVERRIDES_FORM, OVERRIDES_HELP

MOST_INSTANCES: Final = 100_000
MOST_CORES: Final = 128
"""Nothing larger was measured, and nothing is guessed."""


@dataclass(frozen=True, kw_only=True)
class CostSettings:
    """The fleet need not be there, nor an account."""

    instances: int | None = setting(
        None, f"Instances, 1 to {MOST_INSTANCES}; required.", kind=click.IntRange(1, MOST_INSTANCES)
    )
    instance_type: str = setting(
        "trn1.32xlarge", "Instance type, which gives the number of cores.", metavar="TYPE"
    )
    cores: int | None = setting(
        None,
        f"Logical NeuronCores of an instance, 1 to {MOST_CORES}; by default those of its type.",
        kind=click.IntRange(1, MOST_CORES),
    )
    clusters: int = setting(
        1,
        "Clusters that the instances are in, 1 to 1000; each has metrics and alarms of its own.",
        kind=click.IntRange(1, 1_000),
    )
    types_per_cluster: int = setting(
        1,
        "Instance types of each cluster, 1 to 20; each has six metrics.",
        kind=click.IntRange(1, 20),
    )
    metrics: str | None = setting(
        None,
        "Metrics the emitters' lines define, as in run; by default none beside a stack, which has "
        "them exactly, else cluster.",
        kind=click.Choice(TIERS),
    )
    metric: tuple[str, ...] = setting(
        (),
        "Gauge or tally of the minute lines that is a metric too, NAME or NAME@instance, as run "
        "has it; by default none.",
        kind=Texts(),
        metavar="NAME[@instance]",
    )
    raw_reports: int | None = setting(
        None,
        "Minutes between raw reports, as in run, 1 to 1440; by default none.",
        kind=click.IntRange(1, 1_440),
        metavar="MINUTES",
    )
    raw_report_bytes: int | None = setting(
        None,
        "Bytes of a report of your instances, 1 or more; by default the usual size for so "
        "many runtimes and cores.",
        kind=click.IntRange(min=1),
    )
    runtime_lines: str = setting(
        "changes",
        "Lines about single runtimes, as in run: an hourly one ('changes'), each minute "
        "('all'), or never ('none').",
        kind=click.Choice(RUNTIME_LINES),
    )
    runtimes: int | None = setting(
        None,
        f"Runtimes of an instance, 0 to 1024; by default {RUNTIMES}, or as many as it has cores.",
        kind=click.IntRange(0, 1_024),
    )
    high_resolution_metrics: bool = setting(
        default=False, help_text="A line with one-second metrics for every report."
    )
    period: int = setting(5, "Seconds between reports, 1 to 15.", kind=click.IntRange(1, 15))
    tag: tuple[str, ...] = setting(
        (),
        "Extra member KEY=VALUE of every line; several with commas or by repeating; by default "
        "none.",
        kind=Texts(),
        metavar="KEY=VALUE",
    )
    tag_dimension: tuple[str, ...] = setting(
        (), "Tag that metrics are also counted by; by default none.", kind=Texts(), metavar="KEY"
    )
    tag_values: int = setting(
        1,
        "Distinct values of each --tag-dimension in a cluster, 1 to 10000.",
        kind=click.IntRange(1, 10_000),
    )
    common_dims: tuple[str, ...] = setting(
        (),
        "Dimensions of every metric, as in neuron-monitor-cloudwatch.py; by default none.",
        kind=Texts(),
        metavar="DIMENSION",
    )
    no_stack: bool = setting(
        default=False, help_text="The emitters alone: no rollups, no alarms, no dashboard."
    )
    mode: str = setting(
        "direct", "The stack's parameter Mode.", kind=click.Choice(MODES), metavar="direct|kinesis"
    )
    stream_shards: int | None = setting(
        None,
        "The stack's parameter StreamShards with --mode kinesis, 0 to 500: 0 is a stream on "
        "demand; by default as many as the fleet needs.",
        kind=click.IntRange(0, 500),
    )
    finding_steps: int = setting(
        0,
        "Steps of findings in a day, of the whole fleet, 0 to 300000: what opens, worsens and "
        "closes; at 0 nothing changes.",
        kind=click.IntRange(0, 300_000),
    )
    retention_days: int = setting(
        RETENTION_DAYS,
        "Days that log groups keep lines, 1 to 3653; the stack's parameter RetentionDays.",
        kind=click.IntRange(1, 3_653),
    )
    prices: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "TOML file that replaces list prices, such as log-ingestion = 0.45.",
        kind=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
    )
    price_overrides: str = setting("", OVERRIDES_HELP, metavar=OVERRIDES_FORM)
    json: bool = setting(default=False, help_text="Print one JSON document, for a program.")
