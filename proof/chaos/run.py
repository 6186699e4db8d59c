"""
One run: hosts and their troubles, the weather, the stack behind the service, and the findings.

The main thread is the stack's, and the weather's; each host has one of its own.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

from proof.chaos.findings import findings
from proof.chaos.hosts.doors import Door, change
from proof.chaos.hosts.host import REPORT_BYTES, SPEED, ChaosHost
from proof.chaos.stack.fleet import instance_id
from proof.chaos.stack.stack import ChaosStack
from proof.chaos.troubles import ALL_LOST, KINDS, STORM
from proof.kills.lives import SimulatedHost
from proof.logs.faults import FAULTS
from proof.logs.rules import LogRules
from proof.wall_clock import WallClock

if TYPE_CHECKING:
    from pathlib import Path

    from proof.chaos.findings import Findings
    from proof.chaos.troubles import Plan

START_S = 1_800_000_000.0
CLUSTERS = ("amber", "birch", "cedar", "dune")
PLAYED = (
    ("trn1.32xlarge", "multi-runtime"), ("inf2.xlarge", "busy"), ("trn1.2xlarge", "half-idle"),
    ("inf2.8xlarge", "errors"), ("trn2.3xlarge", "low"), ("inf1.6xlarge", "faulty"),
    ("inf2.24xlarge", "idle"), ("trn1.2xlarge", "ecc"), ("inf2.xlarge", "empty"),
    ("trn2.48xlarge", "busy"), ("inf2.8xlarge", "half-idle"),
)  # fmt: skip
BUCKETS = 4
TICK_S = 0.1
LATE_BY_MINUTES = 10.0
ENDED_WITHIN_S = 90.0


def run(plan: Plan, folder: Path) -> Findings:
    """Do what *plan* says, in *folder*."""
    with contextlib.ExitStack() as stack:
        clock = stack.enter_context(WallClock(folder / "clock"))
        rules = LogRules(clock)
        doors = [Door(clock, plan.seed + place, rules) for place in range(len(plan.hosts))]
        for door in doors:
            stack.enter_context(door.service)
        hosts = [_host(plan, place, folder, door, clock) for place, door in enumerate(doors)]
        functions = ChaosStack(plan.seed, _clusters(plan))
        clock.set(START_S, SPEED)
        for host in hosts:
            stack.callback(host.close)
            host.start()
        follower = _Follower(functions, rules, clock)
        weather = _live(plan, hosts, doors, follower)
        for door in doors:
            door.calm()
        for host in hosts:
            host.is_over.set()
        deadline_s = time.monotonic() + ENDED_WITHIN_S
        while any(host.thread.is_alive() for host in hosts) and time.monotonic() < deadline_s:
            follower.follow()
        follower.follow()
        late = [host for host in hosts if host.thread.is_alive()]
        for host in late:
            host.notes.wrong.append(f"it did not end within {ENDED_WITHIN_S:.0f} s")
        ended_s = clock()
        functions.settle(ended_s)
        result = findings(plan.seed, hosts, rules.applied, functions, round(ended_s * 1000))
        result.happened += weather
        for door in doors:
            result.happened += Counter({kind: door.service.happened[kind] for kind in FAULTS})
        result.missing += [kind for kind in KINDS if not result.happened[kind]]
        return result


class _Follower:
    """Hands what the service has taken to the stack."""

    def __init__(self, functions: ChaosStack, rules: LogRules, clock: WallClock) -> None:
        self._functions = functions
        self._rules = rules
        self._clock = clock
        self._seen = 0

    def follow(self) -> None:
        """For a moment."""
        new = self._rules.applied[self._seen :]
        self._seen += len(new)
        now_s = self._clock()
        self._functions.accept(new, now_s)
        self._functions.tick(now_s)
        time.sleep(TICK_S)


def _clusters(plan: Plan) -> tuple[str, ...]:
    return CLUSTERS[: max(1, min(len(CLUSTERS), len(plan.hosts) // 2))]


def _host(plan: Plan, place: int, folder: Path, door: Door, clock: WallClock) -> ChaosHost:
    clusters = _clusters(plan)
    cluster = clusters[place % len(clusters)]
    instance_type, scenario = PLAYED[place % len(PLAYED)]
    name = instance_id(place + 1, BUCKETS)
    instance = SimulatedHost(name, cluster, instance_type, scenario, REPORT_BYTES, seed=place + 1)
    return ChaosHost(
        instance,
        folder / name,
        door,
        now=clock,
        start_s=START_S,
        plan=plan.hosts[place],
        begin_minute=plan.begins[place],
        seed=f"{plan.seed} {place}",
    )


def _live(
    plan: Plan, hosts: list[ChaosHost], doors: list[Door], follower: _Follower
) -> Counter[str]:
    """The run's time; what the weather brought."""
    happened: Counter[str] = Counter()
    weather = list(plan.weather)
    began_s = time.monotonic()
    next_minute = 0
    while True:
        minute = (time.monotonic() - began_s) * SPEED / 60.0
        while weather and weather[0].at_minute <= minute:
            kind = weather.pop(0).kind
            change(doors, kind)
            happened[kind] += kind in {ALL_LOST, STORM}
        follower.follow()
        if minute >= next_minute:
            _say(f"minute {minute:.0f} of {plan.minutes:g}")
            next_minute += 5
        if minute >= plan.minutes and all(host.is_through.is_set() for host in hosts):
            return happened
        if minute >= plan.minutes + LATE_BY_MINUTES:
            for host in hosts:
                if not host.is_through.is_set():
                    host.notes.wrong.append("it did not come to the end of its troubles")
            return happened


def _say(sentence: str) -> None:
    print(f"chaos: {sentence}", file=sys.stderr, flush=True)  # noqa: T201 - it takes minutes
