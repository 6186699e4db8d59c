"""Minute records for tests, and their log lines."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from aggregator.arrivals import LogLine
from neuron_wire import MinuteRecord, encode
from neuron_wire.catalogue import READING_MEMBERS
from neuron_wire.core_members import core_ranges
from neuron_wire.holders import MAX_HOLDERS, Holder

MINUTE = 29_400_000  # an epoch minute, in November 2025
RECORDS_GROUP = "/neuron-emf/records"
AN_INSTANCE = "i-0123456789abcdef0"
SAMPLE_BOOT = "019a00000000aaaaaaaa"
LATER_BOOT = "019a00000001aaaaaaaa"


def record(**changes: Any) -> MinuteRecord:
    """Return a whole minute of a trn1.2xlarge: one core busy, one attached idle for 20 minutes."""
    made = MinuteRecord(
        cluster="training",
        instance_id="i-0aaaaaaaaaaaaaaa1",
        boot=SAMPLE_BOOT,
        seq=1,
        minute_ms=MINUTE * 60_000,
        covered_seconds=60.0,
        reports=12,
        core_state="ba",
        utilization_percent=(80.0, 0.0),
        idle_minutes=(0, 20),
        instance_type="trn1.2xlarge",
        executions=100,
        execution_errors=2,
        latency_p50_mean_s=0.01,
        latency_p99_max_s=0.05,
        tera_flops=1.5,
        device_memory_used_bytes=1 << 30,
        device_memory_total_bytes=32 << 30,
        ecc_corrected_rise=0,
        ecc_uncorrected_rise=0,
        readings=dict.fromkeys(READING_MEMBERS, 0),
        reservations="none",
    )
    if "minute" in changes:
        changes["minute_ms"] = changes.pop("minute") * 60_000
    return replace(made, **changes)


def significant(amount: float) -> float:
    """Return *amount* with the digits of an amount in a line."""
    return float(f"{amount:.6g}")


def full_record(cores: int, seed: int) -> MinuteRecord:
    """Return a record with every member and random numbers: the worst case for a compressor."""
    draw = random.Random(seed)
    state = "".join(draw.choice("bau") for _ in range(cores))
    return MinuteRecord(
        cluster=f"llama-pretraining-{draw.randrange(100)}",
        instance_id=f"i-0{draw.getrandbits(64):016x}",
        boot=f"{draw.getrandbits(48):012x}{draw.getrandbits(32):08x}",
        seq=draw.randrange(1, 10_000_000),
        minute_ms=MINUTE * 60_000,
        covered_seconds=round(draw.uniform(45, 60), 2),
        reports=draw.randrange(1, 61),
        core_state=state,
        utilization_percent=tuple(round(draw.uniform(0, 100), 2) for _ in state),
        idle_minutes=tuple(0 if letter == "b" else draw.randrange(5000) for letter in state),
        instance_type="trn1n.32xlarge",
        region="ap-southeast-2",
        availability_zone="ap-southeast-2b",
        ultraserver_id=f"us-{draw.getrandbits(64):016x}",
        executions=draw.randrange(10**7),
        execution_errors=draw.randrange(10**4),
        latency_p50_mean_s=significant(draw.random()),
        latency_p99_max_s=significant(draw.random()),
        tera_flops=significant(draw.uniform(0, 3000)),
        device_memory_used_bytes=draw.getrandbits(39),
        device_memory_total_bytes=512 << 30,
        ecc_corrected_rise=draw.randrange(1000),
        ecc_uncorrected_rise=draw.randrange(10),
        readings={name: _reading(draw, reading.unit) for name, reading in READING_MEMBERS.items()},
    )


def _reading(draw: random.Random, unit: str) -> float:
    """Return a reading of usual length; hardware faults and other counts are few."""
    if unit == "Seconds":
        return significant(draw.random())
    if unit == "Bytes":
        return draw.getrandbits(39)
    return draw.randrange(10) if unit == "Count" else round(draw.uniform(0, 100), 2)


def some_holders(cores: int, seed: int) -> tuple[Holder, ...]:
    """Return as many holders as a line names, with scattered cores and long, random names."""
    draw = random.Random(seed)
    return tuple(
        Holder(
            cores=core_ranges(draw.sample(range(cores), cores // MAX_HOLDERS)),
            name=f"ml-team-{draw.randrange(9)}/llama-{draw.getrandbits(52):013x}",
            pid=draw.randrange(1, 1 << 22),
            tag=str(draw.randrange(100_000)),
        )
        for _ in range(MAX_HOLDERS)
    )


def message(made: MinuteRecord) -> str:
    """Return the log line that an emitter writes for the record."""
    metadata = {"Timestamp": made.minute_ms, "CloudWatchMetrics": []}
    return encode({"_aws": metadata, **made.members()})


def lines(*made: MinuteRecord) -> list[LogLine]:
    """Return the records as one delivery of CloudWatch Logs."""
    return [LogLine(f"event-{index}", message(record)) for index, record in enumerate(made)]
