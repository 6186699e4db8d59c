"""
What goes wrong when and where, from the seed alone.

Pure: a number in, a plan out, in simulated minutes since the start. A host has
one trouble at a time, but for a lost network, which others may fall into. Two
things are never planned, because they lose what nobody promised to keep: a kill
while a disk is full (records that only ever were in memory), and a clock that
is hours ahead for longer than the stack waits for anybody.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proof.logs.service import FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

KILL_ANYWHERE = "kill anywhere"
KILL_IN_COMMIT = "kill in a commit"
KILL_BEFORE_TAKEN = "kill in a call, not taken"
KILL_BEFORE_ANSWER = "kill in a call, taken"
MONITOR_KILLED = "monitor killed"
MONITOR_HANGS = "monitor hangs"
PLANNED_STOP = "planned stop"
DISK_FULL = "disk full"
CLOCK_FORWARD = "clock forward"
CLOCK_BACK = "clock back"
HOURS_AHEAD = "clock hours ahead"
CREDENTIALS = "credentials refused"
NETWORK_LOST = "network lost"
NETWORK_BACK = "network back"
ALL_LOST = "network lost for all"
ALL_BACK = "network back for all"
STORM = "throttling storm"
STORM_OVER = "throttling storm over"

MINUTES: dict[str, float] = {
    KILL_ANYWHERE: 0.6, KILL_IN_COMMIT: 1.1, KILL_BEFORE_TAKEN: 1.2, KILL_BEFORE_ANSWER: 1.2,
    MONITOR_KILLED: 0.4, MONITOR_HANGS: 1.6, PLANNED_STOP: 0.7, DISK_FULL: 1.6, CLOCK_FORWARD: 0.2,
    CLOCK_BACK: 0.2, HOURS_AHEAD: 1.4, CREDENTIALS: 1.2,
}  # fmt: skip
"""Troubles of one host, and how long each needs at least."""

NEEDS_CALLS = frozenset({KILL_BEFORE_TAKEN, KILL_BEFORE_ANSWER, CREDENTIALS})
KINDS = (*MINUTES, NETWORK_LOST, ALL_LOST, STORM, *FAULTS)
"""What must happen in every run."""

FEWEST_EMITTERS = 4
FEWEST_MINUTES = 6.0
ALL_BEGUN_WITHIN = 0.06  # of the run
SHARE_IN_TROUBLE = 0.3  # of a host's time
MOST_OFF_S = 270.0  # a clock that is moved stays within what a signature allows
SHORTEST_MOVE_S, LONGEST_MOVE_S = 65.0, 200.0
HOURS_S = (7_500.0, 10_500.0)
FAULTS_UNTIL = 0.7  # of the run: each waits for the next call, behind others
FAULTS_EVERY_MINUTES = 10.0  # of a host, beside those that any call may meet
ATTEMPTS = 200


@dataclass(frozen=True, order=True)
class Trouble:
    """
    Attributes:
        at_minute: When, since the start.

        kind: What.

        amount: Of a clock that is moved, seconds; of others how long, minutes.
    """

    at_minute: float
    kind: str
    amount: float = 0.0

    def __str__(self) -> str:
        return f"{self.at_minute:6.2f}  {self.kind}" + (f" {self.amount:+.1f}" * bool(self.amount))


@dataclass(frozen=True)
class Plan:
    """
    Of one run.

    Attributes:
        begins: When each emitter is started first, minutes.

        hosts: Each host's troubles, in order.

        weather: What meets all of them.
    """

    seed: int
    minutes: float
    begins: Sequence[float]
    hosts: Sequence[Sequence[Trouble]]
    weather: Sequence[Trouble]

    def kinds(self) -> set[str]:
        """What is in it."""
        return {one.kind for each in (*self.hosts, self.weather) for one in each}

    def lines(self) -> Iterator[str]:
        """For people."""
        yield f"seed {self.seed}: {len(self.hosts)} emitters, {self.minutes:g} minutes"
        yield "host  minute  what, and for how many minutes (of a clock: by how many seconds)"
        for name, troubles in (("all", self.weather), *enumerate(self.hosts)):
            yield from (f"{name!s:>4}  {one}" for one in troubles)


def plan(seed: int, emitters: int, minutes: float) -> Plan:
    """
    The plan of that seed.

    Raises:
        ValueError: If not every kind of trouble has room in it.
    """
    if emitters < FEWEST_EMITTERS or minutes < FEWEST_MINUTES:
        msg = (
            f"expected at least {FEWEST_EMITTERS} emitters and {FEWEST_MINUTES:g} minutes, so "
            f"that every kind of trouble has room; found {emitters} and {minutes:g}; ask for more"
        )
        raise ValueError(msg)
    for attempt in range(ATTEMPTS):
        found = _drawn(seed, random.Random(f"{seed} {attempt}"), emitters, minutes)
        if found.kinds() >= set(KINDS):
            return found
    msg = (
        f"expected room for every kind of trouble and found none in {ATTEMPTS} plans of seed "
        f"{seed}; ask for more emitters or minutes"
    )
    raise ValueError(msg)


def _drawn(seed: int, rng: random.Random, emitters: int, minutes: float) -> Plan:
    begins = [minutes * ALL_BEGUN_WITHIN * number / emitters for number in range(emitters)]
    weather = _weather(rng, minutes)
    gone = _away(weather)
    loads = _loads(rng, emitters, minutes)
    cut_off = set(rng.sample(range(emitters), max(1, emitters // 6)))
    hosts: list[list[Trouble]] = []
    for number, begin in enumerate(begins):
        lost: list[Trouble] = []
        if number in cut_off:
            lasts = min(rng.uniform(11.0, 13.0), 0.4 * minutes)
            at = rng.uniform(begin + 0.8, minutes - 0.8 - lasts)
            lost = [Trouble(at, NETWORK_LOST, lasts), Trouble(at + lasts, NETWORK_BACK)]
        placed = _placed(rng, loads[number], begin + 0.9, minutes - 0.4, gone + _away(lost))
        hosts.append([*placed, *lost])
    near = rng.sample(
        [one for one in range(emitters) if one not in cut_off], emitters - len(cut_off)
    )
    times = max(1, round(emitters * minutes / FAULTS_EVERY_MINUTES / len(FAULTS)))
    for place, fault in enumerate(rng.sample(FAULTS, len(FAULTS)) * times):
        number = near[place % len(near)]
        at = rng.uniform(begins[number] + 0.5, FAULTS_UNTIL * minutes)
        hosts[number].append(Trouble(at, fault))
    return Plan(seed, minutes, tuple(begins), tuple(tuple(sorted(one)) for one in hosts), weather)


def _weather(rng: random.Random, minutes: float) -> tuple[Trouble, ...]:
    lost_for, storm_for = max(0.8, minutes / 15), max(0.7, minutes / 25)
    troubles: list[Trouble] = []
    slots = [(ALL_LOST, lost_for), *[(STORM, storm_for)] * max(1, round(minutes / 12))]
    rng.shuffle(slots)
    each = (minutes - 2.0) / len(slots)
    over = {ALL_LOST: ALL_BACK, STORM: STORM_OVER}
    for place, (kind, lasts) in enumerate(slots):
        at = 1.5 + place * each + rng.uniform(0.0, max(0.0, each - lasts - 0.3))
        troubles += [Trouble(at, kind, lasts), Trouble(at + lasts, over[kind])]
    return tuple(troubles)


def _loads(rng: random.Random, emitters: int, minutes: float) -> list[list[str]]:
    """What each host has to go through: every kind somewhere, then more of any."""
    loads: list[list[str]] = [[] for _ in range(emitters)]
    for kind in rng.sample(list(MINUTES), len(MINUTES)):
        min(loads, key=_lasts).append(kind)
    for load in loads:
        while _lasts(load) < SHARE_IN_TROUBLE * minutes:
            kind = rng.choice(list(MINUTES))
            # What the spool says of a disk is said once in a while, and is waited for.
            if kind != DISK_FULL or DISK_FULL not in load:
                load.append(kind)
        rng.shuffle(load)
    return loads


def _lasts(load: Sequence[str]) -> float:
    return sum(MINUTES[kind] for kind in load)


def _placed(
    rng: random.Random,
    load: Sequence[str],
    begin: float,
    end: float,
    away: Sequence[tuple[float, float]],
) -> list[Trouble]:
    """
    *load* in time. What needs calls is kept out of where there are none; what has no room is left.
    """
    left, placed = list(load), []
    slack = max(0.0, end - begin - _lasts(load))
    at, off_s = begin, 0.0
    while left and at < end:
        fitting = (
            kind
            for kind in left
            if at + MINUTES[kind] <= end
            and not (kind in NEEDS_CALLS and _meets(at, at + MINUTES[kind], away))
        )
        kind = next(fitting, None)
        if kind is None:
            at += 0.1
            continue
        left.remove(kind)
        amount = MINUTES[kind]
        if kind in {CLOCK_FORWARD, CLOCK_BACK}:
            sign = 1.0 if kind == CLOCK_FORWARD else -1.0
            room_s = MOST_OFF_S - sign * off_s
            if room_s < SHORTEST_MOVE_S:
                continue
            amount = sign * rng.uniform(SHORTEST_MOVE_S, min(LONGEST_MOVE_S, room_s))
            off_s += amount
        elif kind == HOURS_AHEAD:
            amount = rng.uniform(*HOURS_S)
        placed.append(Trouble(at, kind, amount))
        at += MINUTES[kind] + rng.uniform(0.0, 1.6 * slack / (len(load) + 1))
    return placed


def _away(troubles: Sequence[Trouble]) -> list[tuple[float, float]]:
    """When no call comes: a lost network, and what is waited after it before the next try."""
    return [
        (one.at_minute - 0.2, one.at_minute + one.amount * 1.3 + 0.1)
        for one in troubles
        if one.kind in {NETWORK_LOST, ALL_LOST}
    ]


def _meets(begin: float, end: float, intervals: Sequence[tuple[float, float]]) -> bool:
    return any(begin < until and since < end for since, until in intervals)
