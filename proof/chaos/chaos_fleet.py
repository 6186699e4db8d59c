"""
An invented fleet: accepted lines from a seed.

In every second cluster the instances are ranks of one job: in one cluster the first rank works and
the others wait for it, in another all of them wait. Instances restart within a minute, shut down
cleanly, disappear for minutes or forever, report twice under two Boots. Some have a second emitter
with another cluster name. A network fails and lines come minutes late. An answer is lost and a line
is accepted twice.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from aggregator.storage.record_items import bucket_of
from neuron_wire.core_members import core_ranges
from neuron_wire.names import MINUTE_S, UNATTACHED_STATE
from neuron_wire.owners import Owner
from proof.factories.records import full_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuron_wire import MinuteRecord

CHAOS_START_MINUTE = 30_000_000
CHAOS_BUCKETS = 3  # out of 32
WORKING_RANK = 1
CHAOS_TYPES = ("trn1.2xlarge", "inf2.8xlarge", "trn1.32xlarge", "trn2.48xlarge", "inf1.6xlarge")


class Accepted(NamedTuple):
    """A record, and when the service accepted its line: seconds since the epoch."""

    at_s: float
    record: MinuteRecord


def fleet(seed: int, hosts: int, minutes: int) -> list[Accepted]:
    """Return lines of *hosts* in four clusters for *minutes*, in the order of acceptance."""
    rng = random.Random(f"fleet/{seed}")
    lines = [line for host in range(hosts) for line in _host(rng, host, minutes)]
    return sorted(lines, key=lambda line: line.at_s)


def _host(rng: random.Random, host: int, minutes: int) -> Iterator[Accepted]:
    like = replace(
        full_record(rng.choice([2, 8, 32]), host),
        cluster=f"cluster-{host % 4}",
        instance_id=_instance_id(host),
        instance_type=rng.choice(CHAOS_TYPES),
        reservations=rng.choice([None, "none", "known", "unknown"]),
    )
    lost_from = rng.randrange(minutes) if rng.random() < 0.3 else minutes
    found_again = lost_from + rng.randint(2, 12)
    other_cluster = f"cluster-{(host + 1) % 4}" if host % 5 == 1 else None
    boot = away = 0
    seq = 0
    for offset in range(minutes):
        if away:
            away -= 1
            boot = boot + (away == 0)
            seq = 0
            continue
        parts = 2 if rng.random() < 0.1 else 1
        for part in range(parts):
            boot, seq = (boot + 1, 1) if part else (boot, seq + 1)
            # in every fleet one instance shuts down cleanly and does not return
            for_good = (host, offset) == (1, 2)
            is_clean_shutdown = for_good or rng.random() < 0.03
            minute_record = replace(
                _minute(rng, like, CHAOS_START_MINUTE + offset),
                boot=f"{boot:020d}",
                seq=seq,
                is_clean_shutdown=is_clean_shutdown,
                covered_seconds=60.0 / parts if rng.random() < 0.8 else 60.0,
            )
            closed_s = (CHAOS_START_MINUTE + offset + 1) * MINUTE_S
            at_s = closed_s + rng.uniform(0.0, 32.0)
            if lost_from <= offset < found_again:
                at_s = (CHAOS_START_MINUTE + found_again + 1) * MINUTE_S + offset
            yield Accepted(at_s, minute_record)
            # the second emitter reports for a minute, or for three seconds
            if other_cluster and part == parts - 1:
                yield Accepted(at_s, _beside(minute_record, other_cluster, rng.choice([60.0, 3.0])))
            if rng.random() < 0.05:
                yield Accepted(at_s + 9, minute_record)
            away = max(away, 3 * is_clean_shutdown, minutes * for_good)
        if rng.random() < 0.05:
            away = rng.choice([2, 8, minutes])


def _beside(own: MinuteRecord, cluster: str, covered_seconds: float) -> MinuteRecord:
    """Return the record of a second emitter of *own*'s instance, in another *cluster*."""
    boot = f"9{own.boot[1:]}"
    return replace(own, cluster=cluster, boot=boot, covered_seconds=covered_seconds)


def _instance_id(host: int) -> str:
    """Return an ID in one of a few buckets, so that packs have records of several instances."""
    names = (f"i-{host:05x}{number:012x}" for number in itertools.count())
    return next(name for name in names if bucket_of(name) < CHAOS_BUCKETS)


def _minute(rng: random.Random, like: MinuteRecord, minute: int) -> MinuteRecord:
    made = full_record(len(like.core_state), rng.randrange(1 << 20))
    names = "cluster", "instance_id", "instance_type", "reservations"
    who = {name: getattr(like, name) for name in names}
    made = replace(made, **who, minute_ms=minute * 60_000)
    host = int(like.instance_id[2:7], 16)
    return _rank(made, host, minute) if host % 2 else made


def _rank(made: MinuteRecord, host: int, minute: int) -> MinuteRecord:
    """Return *made* as the record of a rank of its cluster's job."""
    width = len(made.core_state)
    if host == WORKING_RANK:
        held = [core for core, letter in enumerate(made.core_state) if letter != UNATTACHED_STATE]
        owner = Owner(core_ranges(held), f"ml/train-{host}")
        return replace(made, owners=(owner,) if held else (), holders=())
    idle = 60 + minute - CHAOS_START_MINUTE
    owner = Owner(core_ranges(range(width)), f"ml/train-{host}", None, "", 0, idle)
    return replace(
        made,
        owners=(owner,),
        holders=(),
        core_state="a" * width,
        executions=0,
        execution_errors=0,
        utilization_percent=(0.0,) * width,
        idle_minutes=(idle,) * width,
    )
