"""What is asked, and how settings come to it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final, cast

from emitter.errors import SettingsError
from emitter.lines import LineSettings, check_settings, parse_choice, parse_tags
from neuron_emf.cost.assumptions import RUNTIMES, Mode
from neuron_emf.cost.fleet import FleetSpec, Setup
from neuron_emf.cost.tariff import listed, with_file
from neuron_emf.prices import prices
from neuron_wire.instance_types import INSTANCE_TYPES
from neuron_wire.prices import PriceBasis

if TYPE_CHECKING:
    from neuron_emf.cost.settings import CostSettings
    from neuron_emf.cost.tariff import Tariff

_INSTANCE_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9.\-]{0,63}")


@dataclass(frozen=True, slots=True)
class Question:
    """
    What is asked.

    Attributes:
        fleet: See `FleetSpec`.

        instance_type: Of its instances.

        setup: See `Setup`.

        tariff: What AWS charges.

        usd_per_hour: For one instance; None if nobody knows.

        price_basis: What that price is based on.
    """

    fleet: FleetSpec
    instance_type: str
    setup: Setup
    tariff: Tariff
    usd_per_hour: float | None
    price_basis: PriceBasis = field(default_factory=PriceBasis)


def question(settings: CostSettings) -> Question:
    """
    What *settings* ask.

    Raises:
        SettingsError: If something is missing, contradicts, or is not known.
    """
    tariff = listed()
    if settings.prices is not None:
        tariff = with_file(settings.prices, datetime.now(tz=timezone.utc).date().isoformat())
    basis = PriceBasis()
    usd_per_hour = basis.usd_per_core_hour(
        prices(settings.price_overrides), settings.instance_type, 1, tariff.region
    )
    return Question(
        fleet=_fleet(settings),
        instance_type=settings.instance_type,
        setup=_setup(settings),
        tariff=tariff,
        usd_per_hour=usd_per_hour,
        price_basis=basis,
    )


def _fleet(settings: CostSettings) -> FleetSpec:
    if settings.instances is None:
        msg = "No number of instances is given. Use for example --instances 1000."
        raise SettingsError(msg)
    if settings.clusters > settings.instances:
        msg = (
            f"There are more clusters ({settings.clusters:,}) than instances "
            f"({settings.instances:,}). Correct --clusters or --instances."
        )
        raise SettingsError(msg)
    if settings.types_per_cluster * settings.clusters > settings.instances:
        msg = (
            f"{settings.instances:,} instances are too few for one of each type in each cluster. "
            "Correct --types-per-cluster."
        )
        raise SettingsError(msg)
    return FleetSpec(
        instances=settings.instances,
        clusters=settings.clusters,
        cores=_cores(settings),
        types=settings.types_per_cluster,
    )


def _cores(settings: CostSettings) -> int:
    if not _INSTANCE_TYPE.fullmatch(settings.instance_type):
        msg = (
            f"Not an instance type: {settings.instance_type[:40]!a}. "
            "Write for example --instance-type trn1.32xlarge."
        )
        raise SettingsError(msg)
    if settings.cores is not None:
        return settings.cores
    known = INSTANCE_TYPES.get(settings.instance_type)
    if known is None:
        msg = (
            f"Unknown instance type: {settings.instance_type[:40]!a}. "
            f"Add --cores, or use one of {', '.join(INSTANCE_TYPES)}."
        )
        raise SettingsError(msg)
    return known.cores


def _setup(settings: CostSettings) -> Setup:
    tags, choice = parse_tags(settings.tag), parse_choice(settings.metric)
    metrics = settings.metrics or ("cluster" if settings.no_stack else "none")
    check_settings(
        LineSettings(
            tier=metrics,
            tags=tags,
            tag_dimensions=settings.tag_dimension,
            common_dims=settings.common_dims,
            high_resolution=settings.high_resolution_metrics,
            choice=choice,
        )
    )
    if settings.stream_shards is not None and (settings.mode != "kinesis" or settings.no_stack):
        msg = "--stream-shards applies to --mode kinesis only. Add --mode kinesis, or omit it."
        raise SettingsError(msg)
    runtimes = settings.runtimes
    return Setup(
        mode=cast("Mode", settings.mode),
        has_stack=not settings.no_stack,
        stream_shards=settings.stream_shards,
        retention_days=settings.retention_days,
        metrics=metrics,
        runtime_lines=settings.runtime_lines,
        runtimes=min(RUNTIMES, _cores(settings)) if runtimes is None else runtimes,
        is_high_resolution=settings.high_resolution_metrics,
        period_s=settings.period,
        tags=tuple(tags.items()),
        tag_dimensions=settings.tag_dimension,
        tag_values=settings.tag_values,
        common_dims=settings.common_dims,
        choice=choice,
        raw_reports=settings.raw_reports,
        raw_report_bytes=settings.raw_report_bytes,
        finding_steps=settings.finding_steps,
    )
