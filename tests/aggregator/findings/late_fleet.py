"""Random fleets whose lines come late, in halves or never, and whose runs of close die anywhere."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from operator import itemgetter

from aggregator.environment import Rules
from neuron_wire.owners import Owner
from proof.factories.records import MINUTE, record
from tests.aggregator.cluster_world import ClusterWorld

LATE_FLEET_RULES = Rules(idle_after_minutes=5)
LATE_FLEET_MINUTES = 40
RESTART = 20
LAST_RUNS = 12
LATE = 0.02
TWICE = 0.02
HALVES = 0.05
FAULTY = 0.05
MISSING = 0.01
KILLED = 0.3
MEETS = 0.05


@dataclass
class History:
    """
    The deliveries to a fleet and the findings about it.

    Attributes:
        world: The table, the clock and the sent events.

        faults: Faults in delivered lines, by cluster and instance.

        sent: Faults in events, by cluster and instance.

        owners: Number of findings of each owner; all owners hold idle cores to the end.
    """

    world: ClusterWorld
    faults: Counter = field(default_factory=Counter)
    sent: Counter = field(default_factory=Counter)
    owners: Counter = field(default_factory=Counter)


def lived(seed: int) -> History:
    """
    Run two clusters of working instances and of instances whose owners hold idle cores to the end.

    Close runs at a second at which it reads a minute twice before its grace is over.
    """
    draw = random.Random(seed)
    history = History(ClusterWorld(MINUTE * 60 + draw.uniform(45, 60), LATE_FLEET_RULES))
    world = history.world
    world.close()
    deliveries = sorted(_deliveries(draw, history), key=lambda delivery: -delivery[0])
    for now_s in [world.now_s + 60 * number for number in range(1, LATE_FLEET_MINUTES + LAST_RUNS)]:
        while deliveries and deliveries[-1][0] <= now_s:
            world.now_s, line = deliveries.pop()
            world.deliver([line])
        world.now_s = now_s
        _run(world, draw)
    world.settle()
    last = {event["Id"]: event for event in sorted(world.sent, key=itemgetter("Step"))}
    for last_event in last.values():
        if last_event["Kind"] == "hardware-fault":
            history.sent[last_event["ClusterName"], last_event["InstanceId"]] += last_event[
                "Faults"
            ]
        elif "Owner" in last_event:
            history.owners[last_event["ClusterName"], last_event["Owner"]] += 1
    return history


def _deliveries(draw, history):
    """Yield each line with the time of its delivery."""
    for number in range(draw.randint(4, 20)):
        is_alone = number == 0  # A cluster of one idle instance: in its gaps no instance reports.
        cluster = "alone" if is_alone else f"c{number % 2}"
        is_idle = is_alone or draw.random() < 0.5
        silent_until = -1
        for minute in range(LATE_FLEET_MINUTES):
            if draw.random() < MISSING:  # for at most 4 minutes, which is less than silence
                silent_until = minute + draw.randint(0, 3)
            is_restarting = is_alone and minute == RESTART + 1
            if (is_idle and minute <= silent_until) or is_restarting:
                continue
            is_clean_shutdown = is_alone and minute == RESTART
            for line in _lines(
                draw,
                cluster,
                f"i-{number}",
                minute,
                is_idle=is_idle,
                is_clean_shutdown=is_clean_shutdown,
            ):
                is_late = draw.random() < LATE
                delay_s = draw.uniform(60, 600) if is_late else draw.uniform(5, 35)
                faults = line.readings["HardwareFaults"] + line.ecc_uncorrected_rise
                if faults:
                    history.faults[line.cluster, line.instance_id] += faults
                for copy in range(1 + (draw.random() < TWICE)):
                    yield (MINUTE + minute + 1) * 60 + delay_s + 30 * copy, line


def _lines(draw, cluster, instance_id, minute, *, is_idle, is_clean_shutdown):
    """Yield the line of one minute, or both lines if the emitter restarted in it."""
    halves = 1 + (draw.random() < HALVES)
    for half in range(halves):
        faults = draw.randint(1, 3) if draw.random() < FAULTY else 0
        kernels = draw.choice((0, faults))
        yield record(
            cluster=cluster,
            instance_id=instance_id,
            minute=MINUTE + minute,
            is_clean_shutdown=is_clean_shutdown,
            boot=f"{halves}{half}{minute if halves > 1 else 0}",
            seq=minute + 1,
            covered_seconds=60.0 / halves,
            core_state="aa" if is_idle else "bb",
            utilization_percent=(0.0, 0.0) if is_idle else (80.0, 80.0),
            idle_minutes=(minute + 3,) * 2 if is_idle else (0, 0),
            executions=None,
            execution_errors=None,
            owners=(Owner("0-1", instance_id if is_idle else "works"),),
            readings={"HardwareFaults": kernels},
            ecc_uncorrected_rise=faults - kernels,
        )


def _run(world, draw):
    """Run close once; it may die at any call, or lose its lease to another run."""

    def meets():
        world.table.lease = None
        world.close()

    fate = draw.random()
    if fate < KILLED:
        world.close(killed_at=draw.randint(1, 250), after=draw.random() < 0.5)
    elif fate < KILLED + MEETS:
        world.close(meets_at=draw.randint(2, 250), meets=meets)
    else:
        world.close()
