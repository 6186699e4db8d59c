"""
What findings add to closing a minute: `python -m benchmarks.stack.findings [INSTANCES]`.

One process, without the table: a minute of a fleet at work, the minute in which half of it is
idle at once, the next in which nothing changes, and those in which it works again.
"""

from __future__ import annotations

import random
import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from aggregator.environment import Rules
from aggregator.findings.bucket_findings import BucketFindings
from aggregator.findings.cluster_findings import ClusterFindings
from aggregator.findings.detail import EvidenceGroups, RollupFacts
from aggregator.storage.item import BUCKETS
from benchmarks.figure import Figure, table
from benchmarks.stack.fleet import CORES, MINUTE
from neuron_wire.findings import FindingsState
from neuron_wire.merging import InstanceMinute, merge
from neuron_wire.minute import MinuteRecord
from neuron_wire.prices import Prices

if TYPE_CHECKING:
    from collections.abc import Sequence

CLUSTERS: Final = 20
INSTANCES: Final = 100_000
_GROUPS: Final = EvidenceGroups("records", "rollups")
_FACTS: Final = RollupFacts("rollup", 100.0, is_all_known=True)


@dataclass(frozen=True, slots=True)
class MinuteOfFindings:
    """
    What one minute took.

    Attributes:
        seconds: Processor time of seeing, keeping and packing it.

        events: That became due.

        packed_bytes: Of all items that it changed.

        open_findings: After it.
    """

    seconds: float
    events: int
    packed_bytes: int
    open_findings: int


def turned_idle(instances: int = INSTANCES) -> dict[str, MinuteOfFindings]:
    """Each minute by its name."""
    rules = Rules()
    states = {bucket: FindingsState() for bucket in range(BUCKETS)}
    of_buckets = BucketFindings(states, rules, Prices(), _GROUPS)
    of_clusters = ClusterFindings({}, rules, _GROUPS)
    plan = {
        "all at work": 0, "half turn idle": 20, "half stay idle": 21,
        "work again, 1": 0, "work again, 2": 0, "work again, 3": 0,
    }  # fmt: skip
    found = {}
    for after, (name, idle_minutes) in enumerate(plan.items()):
        minutes = _minutes(instances, idle_minutes)
        begun = time.process_time()
        minute = MINUTE + after
        of_buckets.begin(minute)
        for one in minutes:
            of_buckets.see(one)
        facts = dict.fromkeys({cluster for cluster, _, _ in of_buckets.counts}, _FACTS)
        fleets = of_clusters.step(minute, {}, {}, of_buckets.counts, facts)
        of_buckets.keep(fleets.told, fleets.waiting, facts)
        packed = [
            (len(state.due), len(state.packed()))
            for state in (*states.values(), *of_clusters.states.values())
            if state.minute == minute
        ]
        found[name] = MinuteOfFindings(
            seconds=time.process_time() - begun,
            events=sum(due for due, _ in packed),
            packed_bytes=sum(size for _, size in packed),
            open_findings=sum(len(state.findings) for state in states.values()),
        )
        for state in (*states.values(), *of_clusters.states.values()):
            state.due = []
    return found


def figures(instances: int = INSTANCES) -> list[Figure]:
    """As rows of the table."""
    minutes = turned_idle(instances)
    half = minutes["half turn idle"]
    of = f"findings: {{}}, {instances:,} instances"
    return [
        Figure(of.format("a minute at work"), minutes["all at work"].seconds, "s", 1.0),
        Figure(of.format("half turn idle at once"), half.seconds, "s", 5.0,
               f"{half.events} events, {half.open_findings:,} open"),
        Figure(of.format("state of a finding"), half.packed_bytes / half.open_findings, "bytes",
               100.0, f"{half.packed_bytes:,} in all"),
        Figure(of.format("half stay idle"), minutes["half stay idle"].seconds, "s", 5.0,
               f"{minutes['half stay idle'].events} events"),
    ]  # fmt: skip


def _minutes(instances: int, idle_minutes: int) -> Sequence[InstanceMinute]:
    """Every second instance idle for so long, if at all."""
    work = MinuteRecord(
        cluster="", instance_id="", boot="0", seq=1, minute_ms=MINUTE * 60_000,
        covered_seconds=60.0, reports=12, core_state="b" * CORES,
        utilization_percent=(80.0,) * CORES, idle_minutes=(0,) * CORES,
        instance_type="trn1.32xlarge", ecc_uncorrected_rise=0, readings={"HardwareFaults": 0},
    )  # fmt: skip
    idle = replace(
        work, core_state="u" * CORES, utilization_percent=(0.0,) * CORES,
        idle_minutes=(idle_minutes,) * CORES,
    )  # fmt: skip
    return [
        merge(
            [
                replace(
                    idle if idle_minutes and number % 2 else work,
                    cluster=f"training-{number // 2 % CLUSTERS:03d}",
                    instance_id=f"i-0{random.Random(number).getrandbits(64):016x}",
                )
            ]
        )
        for number in range(instances)
    ]


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else INSTANCES
    sys.stdout.write(f"{table(figures(count))}\n")
