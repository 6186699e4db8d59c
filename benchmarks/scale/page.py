"""docs/explanation/scale.md: the words are in `page.md`, the numbers are put in here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.scale import switch, tables
from benchmarks.scale.fleets import LARGE, MIDDLE, PROMISED_SHARE
from benchmarks.scale.quotas import QUOTAS, stream_creation_s
from neuron_emf.cost import assumptions
from neuron_emf.cost.alternatives import counterfactual_usd
from neuron_emf.cost.assumptions import INGEST_MB, MODES
from neuron_emf.cost.bill import bill, on_demand_usd, shards_usd, usd
from neuron_emf.cost.fleet import FleetSpec, Setup
from neuron_emf.cost.functions import ingest_of, shard_load, shards_of
from neuron_emf.cost.quantities import amount, dollars, percent
from neuron_emf.cost.tariff import HOURS, listed

if TYPE_CHECKING:
    from neuron_emf.cost.measurements import Measurements

WORDS: Final = Path(__file__).with_name("page.md")


def page(found: Measurements) -> str:
    """The whole page, from what was measured."""
    return WORDS.read_text(encoding="utf-8").format_map(
        {
            **_settings(found),
            **_assumptions(),
            **_tables(found),
            **_account(),
            **_money(found),
            **_streams(found),
            **{name: f"{quota.most:,.0f}" for name, quota in QUOTAS.items()},
            **_concurrency(found),
        }
    )


def _settings(found: Measurements) -> dict[str, str]:
    return {
        "as_of": found.as_of,
        "machine": found.machine,
        "counterfactual_metrics": f"{assumptions.COUNTERFACTUAL_METRICS}",
        "ingest_direct_mb": f"{INGEST_MB['direct']:,}",
        "ingest_kinesis_mb": f"{INGEST_MB['kinesis']:,}",
        "close_mb": f"{assumptions.CLOSE_MB:,}",
        "first_close_s": f"{assumptions.FIRST_CLOSE_S}",
        "late_share": percent(assumptions.LATE_SHARE),
        "batch_deliveries": f"{assumptions.BATCH_DELIVERIES:,}",
        "batch_window_s": f"{assumptions.BATCH_WINDOW_S}",
        "hours": f"{HOURS}",
        "region": listed().region,
        "prices_as_of": listed().as_of,
        "middle": f"{MIDDLE.instances:,}",
        "large": f"{LARGE.instances:,}",
        "promised_share": f"{100 * PROMISED_SHARE:.0f} %",
        "cluster_alarms": f"{assumptions.CLUSTER_ALARMS}",
    }


def _assumptions() -> dict[str, str]:
    return {
        "spread_s": f"{assumptions.SPREAD_S}",
        "runtimes": f"{assumptions.RUNTIMES}",
        "raw_report": f"{assumptions.RAW_REPORT_BYTES:,}",
        "raw_runtime": f"{assumptions.RAW_RUNTIME_BYTES:,}",
        "raw_core": f"{assumptions.RAW_CORE_BYTES:,}",
        "physical": f"{assumptions.PHYSICAL_PER_CORE}",
        "readings": f"{assumptions.READINGS}",
        "slowness": f"{assumptions.LAMBDA_SLOWNESS}",
        "whole_processor_mb": f"{assumptions.WHOLE_PROCESSOR_MB:,}",
        "runtime_cpu_ms": f"{1_000 * assumptions.RUNTIME_CPU_S:g}",
        "call_ms": f"{1_000 * assumptions.CALL_S:g}",
        "record_hours": f"{assumptions.RECORD_HOURS}",
        "shard_use": f"{100 * assumptions.SHARD_USE:.0f} %",
    }


def _tables(found: Measurements) -> dict[str, str]:
    return {
        "measured": tables.measured(found),
        "requests": tables.requests(found),
        "close_memory": tables.close_memory(found),
        "limits": tables.limits(found),
        "month": tables.month(found),
        "prices": tables.prices(),
        "quotas": tables.quotas(),
    }


def _account() -> dict[str, str]:
    put_log_events = QUOTAS["put_log_events"].most * assumptions.SPREAD_S
    return {
        "put_log_events_instances": f"{put_log_events:,.0f}",
        "stream_creation_minutes": f"{stream_creation_s(LARGE) / 60:,.0f}",
    }


def _concurrency(found: Measurements) -> dict[str, str]:
    per_instance = ingest_of(found, FleetSpec(1, 1), Setup("direct")).busiest_at_a_time
    return {
        f"{name}_instances": f"{amount((QUOTAS[name].most - 1) / per_instance, digits=2)}"
        for name in ("concurrency", "new_concurrency")
    }


def _money(found: Measurements) -> dict[str, str]:
    further = FleetSpec(MIDDLE.instances, MIDDLE.clusters + 1)
    direct, more = (usd(bill(found, fleet, Setup("direct"))) for fleet in (MIDDLE, further))
    of_stack = found.close["items"][MIDDLE.instances].metrics / MIDDLE.clusters
    values = {
        "counterfactual": dollars(counterfactual_usd(MIDDLE.instances)),
        "further_cluster": dollars(more - direct),
        "cluster_metrics": f"{found.emitter_metrics + of_stack:.0f}",
        "emitter_metrics_usd": dollars(listed().metrics_usd(found.emitter_metrics)),
        "switch_at": amount(switch.switch_at(found), digits=2),
        "switch_on_demand_at": amount(switch.switch_at(found, on_demand=True), digits=2),
    }
    for mode in MODES:
        values[f"middle_{mode}"] = dollars(usd(bill(found, MIDDLE, Setup(mode))))
        values[f"middle_{mode}_share"] = percent(
            switch.share_of_counterfactual(found, MIDDLE, mode)
        )
        values[f"{mode}_clusters"] = f"{switch.clusters_within_promise(found, MIDDLE, mode)}"
    return values


def _streams(found: Measurements) -> dict[str, str]:
    until = switch.on_demand_until(found)
    load = shard_load(found, LARGE)
    return {
        "on_demand": (
            f"From {until:,} instances on provisioned shards (`StreamShards`) are cheaper than a"
            " stream on demand (`StreamShards=0`)"
            if until
            else "At every size provisioned shards (`StreamShards`) are cheaper than a stream on"
            " demand (`StreamShards=0`)"
        ),
        "large_shards": dollars(shards_usd(found, LARGE)),
        "large_on_demand": dollars(on_demand_usd(found, LARGE)),
        "shards_for_large": f"{shards_of(found, LARGE)}",
        "shard_load": f"{load:.2f}",
        "shard_load_small": f"{load * INGEST_MB['kinesis'] / INGEST_MB['direct']:.2f}",
    }
