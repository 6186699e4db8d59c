"""The command `neuron-emf cost`, and its settings: a fleet, and the stack's parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from neuron_accounts.instance_types import INSTANCE_TYPES
from neuron_emf.command_options import AnswerSettings, PriceSettings, flag, prices
from neuron_emf.command_output import show_answer
from neuron_emf.cost.listing import estimate, for_people
from neuron_emf.cost.quantities import MODES, RETENTION_DAYS, Fleet
from neuron_emf.cost.tariff import tariff_of
from neuron_emitter.command_line import Command
from neuron_emitter.errors import SettingsError
from neuron_emitter.settings.minute_settings import TIERS, setting
from neuron_emitter.settings.options import options

MAX_INSTANCES_PRICED: Final = 100_000
MOST_CORES: Final = 128
"""The largest measured number of cores; a larger one is rejected, not estimated."""

_INSTANCE_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9.\-]{0,63}")


@dataclass(frozen=True, kw_only=True)
class CostSettings(AnswerSettings, PriceSettings):
    """The settings of a fleet, which does not have to exist."""

    instances: int | None = setting(
        None,
        f"Instances, 1 to {MAX_INSTANCES_PRICED}; required.",
        kind=click.IntRange(1, MAX_INSTANCES_PRICED),
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
    metrics: str | None = setting(
        None,
        "Metrics the emitters' lines define, as in run; by default none with a stack, which has "
        "them exactly, else cluster.",
        kind=click.Choice(TIERS),
    )
    no_stack: bool = flag("The emitters and the alarms of emitters.yaml alone.")
    mode: str = setting(
        "direct", "The stack's parameter Mode.", kind=click.Choice(MODES), metavar="direct|kinesis"
    )
    stream_shards: int | None = setting(
        None,
        "The stack's parameter StreamShards with --mode kinesis, 0 to 500: 0 is a stream on "
        "demand; by default as many as the fleet needs.",
        kind=click.IntRange(0, 500),
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
    )


@click.command(
    name="cost",
    cls=Command,
    epilog=(
        "No account is read: sizes and times were measured, prices are from a dated list. "
        "Exit codes: 0 success, 2 usage error."
    ),
)
@options(CostSettings)
def command(**values: object) -> int:
    """
    Estimate a fleet's monthly bill, and the cost of the alternatives.

    Every entry of the bill: the emitters' lines, the rollups, functions, table,
    stream, metrics, alarms, dashboard. Next to it: PutMetricData with 27 metrics
    an instance, metrics of every core as in Container Insights, and the price
    of the instances themselves.
    """
    settings = CostSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    tariff = tariff_of(settings.prices)
    overrides = prices(settings.price_overrides)
    document = estimate(_fleet(settings), settings.instance_type, tariff, overrides)
    show_answer(document, dict, for_people, as_json=settings.json)
    return 0


def _fleet(settings: CostSettings) -> Fleet:
    """
    Return the fleet of *settings*.

    Raises:
        SettingsError: If something is missing, contradicts, or is not known.
    """
    name = settings.instance_type
    instances = settings.instances
    if instances is None:
        msg = "No number of instances is set. Use --instances, such as --instances 1000."
        raise SettingsError(msg)
    known_type = INSTANCE_TYPES.get(name)
    shown = ascii(name[:40])
    is_streaming = settings.mode == "kinesis" and not settings.no_stack
    refusals = {
        f"There are more clusters ({settings.clusters:,}) than instances ({instances:,}). "
        "Correct --clusters or --instances.": settings.clusters > instances,
        "--stream-shards applies to --mode kinesis only. Add --mode kinesis, or omit it.": (
            settings.stream_shards is not None and not is_streaming
        ),
        f"Invalid --instance-type {shown}. Use a type, such as trn1.32xlarge.": (
            not _INSTANCE_TYPE.fullmatch(name)
        ),
        f"Unknown instance type: {shown}. Add --cores, or use one of "
        f"{', '.join(INSTANCE_TYPES)}.": known_type is None and settings.cores is None,
    }
    for msg, is_refused in refusals.items():
        if is_refused:
            raise SettingsError(msg)
    return Fleet(
        instances,
        settings.clusters,
        settings.cores or (known_type.cores if known_type else 0),
        mode=settings.mode,
        shards=settings.stream_shards,
        metrics=settings.metrics or ("cluster" if settings.no_stack else "none"),
        has_stack=not settings.no_stack,
        retention_days=settings.retention_days,
    )
