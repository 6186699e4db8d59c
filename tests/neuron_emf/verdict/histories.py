"""
Kinds of histories: each changes a world in which the instance can be released.

`OF_LINES` and `OF_STREAMS` have histories that are never released, each with the guards that must
hold it back. Histories in `CLEAN` are always released. Each is run under every manager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from neuron_wire.names import MINUTE_MS
from proof.factories.records import AN_INSTANCE
from tests.neuron_emf.verdict.instance_world import (
    WORLD_CLUSTER,
    WORLD_JOB,
    ZONE,
    InstanceWorld,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

OTHER_INSTANCE = "i-0fedcba9876543210"
SHARED_STREAM = f"{WORLD_CLUSTER}/07"
LONG_AGO = -9999
NEWER: dict[str, Any] = {"Schema": 2, "Seq": 9000}


class Kind(NamedTuple):
    """A change of a world, and the guards that then hold the instance back."""

    held_back_by: str
    spoil: Callable[[InstanceWorld], object]


def minute(w: InstanceWorld, first: int = 0, last: int = 60) -> int:
    """Return a minute of the hour."""
    return w.rng.randrange(first, last)


def _at(w: InstanceWorld, **changes: Any) -> None:
    """Change one minute of the hour."""
    at = minute(w)
    w.change(at, at + 1, **changes)


def _beside(w: InstanceWorld, own: dict[str, Any], **other: Any) -> None:
    """Change one minute of the hour, and add another line for it."""
    at = minute(w)
    w.change(at, at + 1, **own)
    w.say(at, **other)


def _cut(w: InstanceWorld, text: str, beyond: str) -> str:
    """Return the start of a line that was cut off after a word."""
    return text[: minute(w, text.index(beyond) + len(beyond) + 1, len(text))]


def _no_rollup(w: InstanceWorld, text: Callable[[str], str] = str, **changes: Any) -> None:
    """Damage a rollup of the hour so that no reader accepts it."""
    at = minute(w, 20, 58)
    w.forget_rollups(at, at + 1)
    w.publish(at, text(text_of(w.rollup(at, **changes))))


def _rollup(w: InstanceWorld, **changes: Any) -> None:
    at = minute(w, 0, 58)
    w.cluster(at, at + 1, **changes)


def _fewer_cores(w: InstanceWorld, first: int, last: int) -> None:
    count = w.cores - 1
    w.change(first, last, CoreState="u" * count, NeuronCoreUtilization=[0] * count)
    for at in range(first, last):
        w.change(at, at + 1, CoreIdleMinutes=[at - w.since + 1] * count)


def _fallen_since(w: InstanceWorld, first: int, last: int) -> None:
    w.fall(w.since + minute(w, first, last))


def _two_steps(w: InstanceWorld) -> None:
    """Let the fleet fall in two steps ten minutes apart; only the end minutes show the fall."""
    first = w.since - minute(w, 1, 10)
    w.fall(first, first + 10)


def _late_count(w: InstanceWorld, *, is_fleet: bool) -> None:
    """Make the idle time of the line longer than its whole minutes."""
    w.begin(60)
    lost = minute(w, 12, 30)
    for at in range(w.since + 1, 60):
        w.change(at, at + 1, CoreIdleMinutes=[max(1, at - w.since + 1 - lost)] * w.cores)
    w.change(w.since + 1, w.since + 1 + lost, CoveredSeconds=40)
    if is_fleet:
        w.fall(w.since)


def _reported_later(w: InstanceWorld) -> None:
    """Let the fleet's lines arrive an hour late; only rollups of that time show its work."""
    w.begin(99)
    w.fall(w.since)
    for at in range(w.since - 11, w.since):
        w.cluster(at, at + 1, BusyCores=0)
        w.publish(at, late=90, Publication=2)


def _launched_into(w: InstanceWorld) -> None:
    """Launch the instance with a new cluster: both begin with the same minute."""
    w.launch(w.since - 3)
    w.forget(LONG_AGO, w.since)
    w.forget_rollups(LONG_AGO, w.since)


def _emitter_that_sees_nothing(w: InstanceWorld) -> None:
    """Add another emitter of the same log stream whose reports have no core."""
    for at in range(60):
        w.say(at, Boot="b9", Seq=at + 1, CoveredSeconds=0, **w.core("?", w.cores))


def _dead_emitter(w: InstanceWorld) -> None:
    """Stop its emitter half an hour ago; another log stream has a whole hour up to now."""
    w.begin(99)
    w.forget(30)
    for at in range(60):
        w.say_in("forged", at, Boot="b9", Seq=at + 1)


def _changed_stream(w: InstanceWorld, first: int) -> None:
    """Put its lines before a minute into another log stream."""
    for at in range(-40, first):
        w.say_in("before", at, Boot="b0")
    w.forget(LONG_AGO, first)


COMPILING: dict[str, Callable[[InstanceWorld], object]] = {
    "one of its vCPUs compiles": lambda w: _at(w, HostCpuPercent=100 / w.vcpus),
    "half of a vCPU works": lambda w: _at(w, HostCpuPercent=50 / w.vcpus),
    "compiling before a restart": lambda w: w.restart(minute(w), {"HostCpuPercent": 104 / w.vcpus}),
    "no host CPU": lambda w: w.change(minute(w), HostCpuPercent=None),
}
"""Histories that hold the instance back unless a scheduler is stopped first."""

LINE_HISTORIES = {
    name: Kind(guards, spoil)
    for name, guards, spoil in [
        # the lines are of another time
        (
            "newest line six minutes old",
            "newest-line",
            lambda w: setattr(w, "now_ms", w.lines[-1][0] + 7 * MINUTE_MS),
        ),
        (
            "clock half an hour ahead",
            "newest-line",
            lambda w: setattr(w, "now_ms", w.now_ms - 30 * MINUTE_MS),
        ),
        ("emitter shut down", "newest-line", lambda w: w.change(59, CleanShutdown=True)),
        (
            "received ten minutes ago",
            "newest-line",
            lambda w: setattr(w, "delay_ms", w.now_ms - w.lines[-1][0] - 10 * MINUTE_MS),
        ),
        # a part of the hour is unknown
        ("44 seconds", "whole-hour", lambda w: _at(w, CoveredSeconds=44)),
        ("lines of the last twenty minutes only", "whole-hour", lambda w: w.forget(LONG_AGO, 40)),
        # a line that names the instance cannot be read
        ("line of a newer schema", "readable", lambda w: w.say(minute(w), **NEWER, **w.core("b"))),
        (
            "line cut off",
            "readable",
            lambda w: w.say(minute(w), _cut(w, text_of(w.line(0)), f'"{AN_INSTANCE}"')),
        ),
        (
            "line without a member",
            "readable",
            lambda w: w.say(
                minute(w),
                Seq=9000,
                **dict.fromkeys(w.rng.sample(["Boot", "Reports", "ClusterName"], 1)),
            ),
        ),
        ("rollup of a newer schema", "readable", lambda w: _no_rollup(w, Schema=2)),
        (
            "rollup cut off",
            "readable",
            lambda w: _no_rollup(w, lambda text: _cut(w, text, f'"{WORLD_CLUSTER}"')),
        ),
        # cores are unknown
        (
            "core unknown",
            "known-cores",
            lambda w: _at(w, **w.core("?"), UnknownReason="devices-not-seen"),
        ),
        ("emitter that sees fewer cores", "known-cores", lambda w: _fewer_cores(w, 0, 60)),
        ("minute with fewer cores", "known-cores", lambda w: _fewer_cores(w, 30, 31)),
        (
            "no number of cores",
            "idle-cores known-cores",
            lambda w: (
                w.begin(10),
                w.change(0, CoreState=None, NeuronCoreUtilization=None, CoreIdleMinutes=None),
            ),
        ),
        # cores work
        ("core busy for a minute", "idle-cores", lambda w: _at(w, **w.core("b"))),
        ("core busy before a restart", "idle-cores", lambda w: w.restart(minute(w), w.core("b"))),
        ("execution between samples", "idle-cores", lambda w: _at(w, Executions=1)),
        (
            "burst too short for the mean",
            "idle-cores",
            lambda w: (w.begin(10), w.change(59, CoreIdleMinutes=[70] * (w.cores - 1) + [0])),
        ),
        (
            "idle for 59 minutes",
            "idle-cores",
            lambda w: w.change(59, CoreIdleMinutes=[59] * w.cores),
        ),
        # a process holds cores
        ("held in a minute", "no-holder", lambda w: _at(w, **w.held())),
        ("held by a process without a name", "no-holder", lambda w: _at(w, **w.core("a"))),
        ("holders that a line leaves out", "no-holder", lambda w: _at(w, HoldersMore=1)),
        (
            "owners that a line leaves out",
            "no-holder no-reservation",
            lambda w: _at(w, OwnersMore="1"),
        ),
        (
            "owner of idle cores",
            "no-holder",
            lambda w: _at(w, Owners=[{"Cores": "0-1", "Name": WORLD_JOB}]),
        ),
        # an owner may need the cores
        (
            "reserved in a minute",
            "no-reservation",
            lambda w: _at(w, Owners=[{"Reserved": "0-1", "Name": "ml/llama-0"}]),
        ),
        (
            "reservations unknown in a minute",
            "reservations-known",
            lambda w: _at(w, Reservations="unknown"),
        ),
        ("emitter that knows none", "reservations-known", lambda w: w.change(0, Reservations=None)),
        # the host works
        *((name, "host-cpu", spoil) for name, spoil in COMPILING.items()),
        # its price is paid anyway
        (
            "capacity block by its lines",
            "not-committed",
            lambda w: w.change(0, Lifecycle="capacity-block"),
        ),
        ("run --paid committed", "not-committed", lambda w: w.change(0, Paid="committed")),
        (
            "--paid-by-type says committed",
            "not-committed",
            lambda w: w.words.extend(["--paid-by-type", f"{w.type}=committed"]),
        ),
        # another writer of its lines
        (
            "busy line after a line of the same identity",
            "idle-cores one-emitter",
            lambda w: _beside(w, w.core("b")),
        ),
        ("two lines of one identity", "one-emitter", lambda w: _beside(w, {}, Reports=5)),
        (
            "identity of a line before the hour",
            "one-emitter",
            lambda w: w.say(-5, Seq=minute(w, 500, 560)),
        ),
        (
            "two minutes of one Boot",
            "one-emitter",
            lambda w: _beside(w, {}, Seq=9000, CoveredSeconds=6.01),
        ),
        ("two emitters", "one-emitter", lambda w: _beside(w, {}, Boot="b0")),
        (
            "rollup names it",
            "one-emitter",
            lambda w: _rollup(
                w, DuplicateEmitters=2, DuplicateEmitterInstances=[AN_INSTANCE, OTHER_INSTANCE]
            ),
        ),
        (
            "rollup does not name all",
            "one-emitter",
            lambda w: _rollup(w, DuplicateEmitters=2, DuplicateEmitterInstances=[OTHER_INSTANCE]),
        ),
        ("emitter that sees nothing", "one-emitter", _emitter_that_sees_nothing),
        ("two clusters", "one-emitter", lambda w: w.change(0, minute(w, 1), ClusterName="default")),
        ("guessed InstanceId", "same-instance", lambda w: w.change(0, IdentityGuessed=True)),
        # its cluster
        (
            "fleet silent early in the hour",
            "coverage",
            lambda w: w.cluster(minute(w, 0, 30), 35, CoveragePercent=90),
        ),
        ("coverage not reported", "coverage", lambda w: _rollup(w, CoveragePercent=None)),
        ("no rollups", "coverage no-fleet-change", lambda w: w.forget_rollups(LONG_AGO)),
        ("gap of rollups", "no-fleet-change", lambda w: w.forget_rollups(20, 40)),
        ("cores without a count", "no-fleet-change", lambda w: w.cluster(0, NeuronCores=None)),
        ("fleet fell in the hour", "no-fleet-change", lambda w: w.fall(minute(w, 1, 58))),
        ("fleet fell with it", "no-fleet-change", lambda w: _fallen_since(w, 0, 1)),
        ("fleet fell just before it", "no-fleet-change", lambda w: _fallen_since(w, -10, 0)),
        ("fleet fell just after it", "no-fleet-change", lambda w: _fallen_since(w, 1, 12)),
        ("fleet fell in the first minute", "no-fleet-change", lambda w: (w.begin(99), w.fall(0))),
        ("fleet fell in two steps", "no-fleet-change", _two_steps),
        ("fleet fell, its lines came late", "no-fleet-change", _reported_later),
        (
            "fleet fell, the idle minutes are too few",
            "no-fleet-change",
            lambda w: _late_count(w, is_fleet=True),
        ),
        (
            "two that fell together",
            "no-fleet-change",
            lambda w: (w.begin(minute(w), others=1), w.fall(w.since, left=0)),
        ),
        (
            "no rollups before it fell",
            "no-fleet-change",
            lambda w: w.forget_rollups(LONG_AGO, w.since),
        ),
        (
            "a rollup missing as it fell",
            "no-fleet-change",
            lambda w: w.forget_rollups(w.since - 1, w.since + 1),
        ),
        ("UltraServer", "ultraserver", lambda w: w.change(0, UltraServerId="us-0123456789abcdef0")),
    ]
}

OF_STREAMS = {
    "only another is new": Kind("newest-line whole-hour", _dead_emitter),
    "changed in the hour": Kind("whole-hour", lambda w: _changed_stream(w, minute(w, 1))),
    "idle, in another log stream": Kind(
        "other-streams", lambda w: w.say_in("other", minute(w), Boot="b9", Seq=7)
    ),
}
"""Histories with a line in a log stream next to its own."""

CLEAN: dict[str, Callable[[InstanceWorld], object]] = {
    "nothing else": lambda _: None,
    "spot": lambda w: (w.instance.update(InstanceLifecycle="spot"), w.change(0, Lifecycle="spot")),
    "tags of other things": lambda w: (w.tag("team", "eks"), w.tag("weeks:left", "4")),
    "in a placement group": lambda w: w.instance["Placement"].update(GroupName="ring"),
    "in a placement group by its ID": lambda w: w.instance.update(
        Placement={"AvailabilityZone": ZONE, "GroupId": "pg-1"}
    ),
    "copies": lambda w: (w.lines.extend(w.lines[20:]), w.rollups.extend(w.rollups[20:])),
    "restart with a straddling report": lambda w: w.restart(minute(w), {}, seconds=(30, 36)),
    "restart that knew nothing yet": lambda w: w.restart(
        minute(w), {}, {**w.core("?", w.cores), "HostCpuPercent": None}, seconds=(58, 0)
    ),
    "every bound": lambda w: (
        setattr(w, "now_ms", w.lines[-1][0] + 6 * MINUTE_MS),
        w.begin(0, others=9),
        w.launch(0),
        w.change(0, CoveredSeconds=45, HostCpuPercent=49.9 / w.vcpus),
        w.cluster(0, CoveragePercent=95),
    ),
    "clock a minute behind": lambda w: setattr(w, "now_ms", w.lines[-1][0]),
    "other kinds of lines": lambda w: [
        w.say(minute(w), Kind=kind, Seq=7000 + index, CoveredSeconds=None)
        for index, kind in enumerate(("more", "runtime", "event", "of a later release"))
    ],
    "another instance's bad lines": lambda w: [
        w.say(minute(w), InstanceId=OTHER_INSTANCE, Message=AN_INSTANCE, **NEWER),
        w.say(minute(w), text_of(w.line(0, InstanceId=OTHER_INSTANCE))[:-9]),
    ],
    "another cluster's bad rollups": lambda w: [
        w.publish(minute(w), ClusterName=f"{WORLD_CLUSTER}-2", Schema=2),
        w.publish(
            minute(w), text_of(w.rollup(0, ClusterName=f"{WORLD_CLUSTER}-2", RollupId=""))[:-9]
        ),
        w.publish(30, ClusterName="dev", NeuronCores=8, BusyCores=8),
        w.publish(31, ClusterName="dev", NeuronCores=8, BusyCores=0),
    ],
    "other lines about its cluster": lambda w: [
        w.publish(minute(w), Kind="message"),
        w.publish(minute(w), Kind=None, Schema=None),
    ],
    "another instance's two emitters": lambda w: _rollup(
        w, DuplicateEmitters=1, DuplicateEmitterInstances=[OTHER_INSTANCE]
    ),
    "published again": lambda w: [
        w.cluster(30, 31, CoveragePercent=50, BusyCores=0),
        w.publish(30, Publication=2, late=9),
    ],
    "rollups missing for nine minutes": lambda w: (w.begin(40), w.forget_rollups(20, 29)),
    "less than half fell with it": lambda w: w.fall(w.since, left=0.75),
    "less than half fell in the hour": lambda w: w.fall(30, left=0.75),
    "fleet fell twelve minutes before it": lambda w: w.fall(w.since - 11),
    "fleet fell between it and the hour": lambda w: (
        w.begin(60),
        w.fall(w.since + minute(w, 12, 50)),
    ),
    "fleet began to work": lambda w: (
        w.cluster(LONG_AGO, 30, BusyCores=0) if w.since > -11 else None
    ),
    "one alone": lambda w: w.begin(minute(w), others=0),
    "one of two": lambda w: w.begin(minute(w), others=1),
    "the count is short": lambda w: _late_count(w, is_fleet=False),
    "launched into a new cluster": _launched_into,
    "log stream and cluster changed before the hour": lambda w: [
        w.change(LONG_AGO, 0, ClusterName="default"),
        w.say_in("before", -1, Boot="b0", ClusterName="default", **w.core("b")),
    ],
}
