"""
What must hold before an instance may be given back: of its lines, and of the account.

A guard has a name, a sentence that says what must hold, and a function that judges it by the
facts. A judgement that cannot be made is unknown, and unknown never passes. A guard of lines
looks at the whole hour up to the newest one: what was so a few minutes ago may be so again.

Tags that others set: https://docs.aws.amazon.com/eks/latest/userguide/eks-using-tags.html,
https://karpenter.sh/docs/concepts/nodeclasses/, https://docs.aws.amazon.com/parallelcluster/latest/ug/tags-v3.html
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from neuron_emf.findings.facts import (
    HOUR_MINUTES,
    AccountFacts,
    Ec2Facts,
    GroupFacts,
    LineFacts,
    Told,
    Untold,
)
from neuron_wire.findings import LEAST_COVERAGE_PERCENT, MOST_HOST_CPU_PERCENT
from neuron_wire.instance_types import INSTANCE_TYPES
from neuron_wire.names import ATTACHED_IDLE, BUSY, MINUTE_MS, WHOLE_MINUTE_S
from neuron_wire.names import UNKNOWN as UNKNOWN_CORE
from neuron_wire.payment import SPOT, is_sunk
from neuron_wire.phrases import counted, duration, moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from neuron_emf.reading.rollup_line import Rollup
    from neuron_wire import MinuteRecord

PASSED: Final = "ok"
FAILED: Final = "no"
UNKNOWN: Final = "unknown"


class Judgement(NamedTuple):
    """
    How a guard ended.

    Attributes:
        state: `ok`, `no` or `unknown`.

        value: What was found, for a person.
    """

    state: str
    value: str


Judge: TypeAlias = Callable[[LineFacts, AccountFacts], Judgement]


@dataclass(frozen=True, slots=True)
class Guard:
    """
    One thing that must hold.

    Attributes:
        name: Of the guard, such as `no-holder`.

        sentence: What must hold.

        judge: Whether it does.
    """

    name: str
    sentence: str
    judge: Judge


def judged(holds: bool, value: str) -> Judgement:  # noqa: FBT001 - what a guard is about
    """Passed if it *holds*, else failed."""
    return passed(value) if holds else failed(value)


def passed(value: str) -> Judgement:
    """It holds."""
    return Judgement(PASSED, value)


def failed(value: str) -> Judgement:
    """It does not."""
    return Judgement(FAILED, value)


def unknown(why: str) -> Judgement:
    """No judgement, because of *why*."""
    return Judgement(UNKNOWN, why)


NEWEST_MINUTES: Final = 5
"""So old may the newest line be."""

TOGETHER_MINUTES: Final = 10
"""Half of a cluster that turns idle within so many minutes waits for one thing."""

_AHEAD_MS: Final = MINUTE_MS  # clocks differ
_HALF: Final = 0.5


def _records(lines: LineFacts) -> list[MinuteRecord]:
    return [minute.record for minute in lines.minutes]


def _newest_line(lines: LineFacts, _: AccountFacts) -> Judgement:
    age_ms = lines.now_ms - lines.newest.minute_ms - MINUTE_MS
    if age_ms < -_AHEAD_MS:
        return failed(f"{duration(-age_ms / MINUTE_MS)} in the future")
    if lines.newest.bye:
        return failed("the emitter has shut down")
    return judged(
        age_ms <= NEWEST_MINUTES * MINUTE_MS, f"{duration(max(0, age_ms) / MINUTE_MS)} old"
    )


def _whole_hour(lines: LineFacts, _: AccountFacts) -> Judgement:
    whole = sum(one.covered_seconds >= WHOLE_MINUTE_S for one in _records(lines))
    return judged(whole == HOUR_MINUTES, f"{whole} of {HOUR_MINUTES}")


def _known_cores(lines: LineFacts, _: AccountFacts) -> Judgement:
    kind = INSTANCE_TYPES.get(lines.newest.instance_type or "")
    if kind is None:
        return unknown(f"instance type {lines.newest.instance_type or 'not told'}")
    least = min(len(one.core_state) - one.core_state.count(UNKNOWN_CORE) for one in _records(lines))
    most = max(kind.cores, *(len(one.core_state) for one in _records(lines)))
    return judged(least == most, f"{least} of {most}")


def _idle_cores(lines: LineFacts, _: AccountFacts) -> Judgement:
    busy = [one for one in _records(lines) if BUSY in one.core_state]
    if busy:
        return failed(f"a core busy at {moment(busy[-1].minute_ms)}")
    idle = min(lines.newest.idle_minutes, default=0)
    return judged(idle >= HOUR_MINUTES, f"all idle for {duration(idle)}")


def _no_holder(lines: LineFacts, _: AccountFacts) -> Judgement:
    for one in reversed(_records(lines)):
        names = [*filter(None, (holder.name for holder in one.holders))]
        names += [owner.name for owner in one.owners]
        if names or ATTACHED_IDLE in one.core_state or one.owners or one.owners_more:
            who = names[0] if names else "a process without a name"
            return failed(f"{who} at {moment(one.minute_ms)}")
    return passed("nobody")


def _host_cpu(lines: LineFacts, _: AccountFacts) -> Judgement:
    percents = [one.number("HostCpuPercent") for one in _records(lines)]
    told = [percent for percent in percents if percent is not None]
    if len(told) < len(percents):
        return unknown(f"not told in {counted(len(percents) - len(told), 'minute')}")
    return judged(max(told) < MOST_HOST_CPU_PERCENT, f"at most {max(told):.1f} %")


def _not_sunk(lines: LineFacts, _: AccountFacts) -> Judgement:
    record = lines.newest
    is_paid = any(is_sunk(one, lines.paid_by_type) for one in _records(lines))
    said = record.paid or record.lifecycle or record.instance_type or "not told"
    return judged(not is_paid, f"{said}: {'paid even if stopped' if is_paid else 'avoidable'}")


def _one_emitter(lines: LineFacts, _: AccountFacts) -> Judgement:
    twice = [minute for minute in lines.minutes if minute.duplicate_emitters]
    if not twice:
        return passed("one")
    return failed(f"two at {moment(twice[-1].record.minute_ms)}")


def _coverage(lines: LineFacts, _: AccountFacts) -> Judgement:
    since_ms = lines.now_ms - 2 * TOGETHER_MINUTES * MINUTE_MS
    recent = [one for one in lines.cluster_minutes if one.minute_ms >= since_ms]
    percents = [one.gauges.get("CoveragePercent") for one in recent[-TOGETHER_MINUTES:]]
    told = [percent for percent in percents if percent is not None]
    if not told or len(told) < len(percents):
        return unknown(f"no rollup of cluster {lines.newest.cluster} tells it")
    return judged(min(told) >= LEAST_COVERAGE_PERCENT, f"at least {min(told):.1f} %")


def _turned_idle(minutes: Sequence[Rollup]) -> Iterator[tuple[float, Rollup]]:
    """Share of the cores that stopped being busy within `TOGETHER_MINUTES` of each minute."""
    for index, first in enumerate(minutes):
        cores, busy = first.gauges["NeuronCores"], first.gauges["BusyCores"]
        for later in minutes[index:]:
            if later.minute_ms > first.minute_ms + TOGETHER_MINUTES * MINUTE_MS:
                break
            yield (busy - later.gauges["BusyCores"]) / cores, later


def _no_fleet_change(lines: LineFacts, _: AccountFacts) -> Judgement:
    known = [
        one
        for one in lines.cluster_minutes
        if one.gauges.get("NeuronCores") and "BusyCores" in one.gauges
    ]
    times = [lines.start_ms, *(one.minute_ms for one in known), lines.now_ms]
    longest_ms = max(after - before for before, after in pairwise(times))
    if not known or longest_ms > TOGETHER_MINUTES * MINUTE_MS:
        without = duration(max(0, longest_ms) / MINUTE_MS)
        return unknown(f"no rollup of cluster {lines.newest.cluster} for {without}")
    share, when = max(_turned_idle(known), key=lambda pair: pair[0])
    if share >= _HALF:
        return failed(f"{100 * share:.0f} % of its cores until {moment(when.minute_ms)}")
    return passed(f"at most {100 * share:.0f} % of its cores")


LINE_GUARDS: Final = (
    Guard("newest-line", f"The newest line is at most {NEWEST_MINUTES} minutes old.", _newest_line),
    Guard("whole-hour", f"Each of the {HOUR_MINUTES} minutes up to it is whole.", _whole_hour),
    Guard("known-cores", "Every core of the instance is known in each of them.", _known_cores),
    Guard("idle-cores", f"Every core has been idle for {HOUR_MINUTES} minutes.", _idle_cores),
    Guard("no-holder", "Nobody has held a core in the hour.", _no_holder),
    Guard(
        "host-cpu",
        f"HostCpuPercent is there and under {MOST_HOST_CPU_PERCENT:.0f} in each minute.",
        _host_cpu,
    ),
    Guard("not-sunk", "The instance is not paid for even if it is stopped.", _not_sunk),
    Guard("one-emitter", "One emitter alone writes its lines.", _one_emitter),
    Guard(
        "coverage",
        f"Coverage of its cluster is at least {LEAST_COVERAGE_PERCENT:.0f} %.",
        _coverage,
    ),
    Guard(
        "no-fleet-change",
        f"Not half of its cluster turned idle within {TOGETHER_MINUTES} minutes of the hour.",
        _no_fleet_change,
    ),
)


KEEP_TAG: Final = "neuron-emf:keep"
EKS_TAGS: Final = ("eks:", "kubernetes.io/cluster/", "k8s.io/")
KARPENTER_TAGS: Final = ("karpenter.",)
PARALLELCLUSTER_TAGS: Final = ("parallelcluster:",)
ULTRASERVER_TYPES: Final = ("trn2u.", "trn3")
"""How types begin that are sold as members of an UltraServer, or may be."""

_RUNNING: Final = "running"
_IN_SERVICE: Final = "InService"
_Value = TypeVar("_Value")


def _told(value: Told[_Value], judge: Callable[[_Value], Judgement]) -> Judgement:
    return unknown(value.why) if isinstance(value, Untold) else judge(value)


def _of_ec2(judge: Callable[[Ec2Facts], Judgement]) -> Judge:
    return lambda _, account: _told(account.ec2, judge)


def _without_tags(prefixes: tuple[str, ...]) -> Judge:
    def judge(ec2: Ec2Facts) -> Judgement:
        tags = sorted(key for key in ec2.tags if key.startswith(prefixes))
        return judged(not tags, f"tag {tags[0]}" if tags else "no tag")

    return _of_ec2(judge)


def _same_instance(lines: LineFacts, account: AccountFacts) -> Judgement:
    record = lines.newest

    def judge(ec2: Ec2Facts) -> Judgement:
        pairs = (
            (record.instance_type, ec2.instance_type),
            (record.availability_zone, ec2.availability_zone),
            (record.account_id or ec2.account_id, ec2.account_id),  # older emitters tell none
        )
        if record.identity_guessed:
            return failed("the emitter guessed its InstanceId")
        for said, described in pairs:
            if said != described:
                return failed(f"lines say {said or 'nothing'}, EC2 {described}")
        return passed(f"{ec2.instance_type} in {ec2.availability_zone}")

    return _told(account.ec2, judge)


def _launched(lines: LineFacts, account: AccountFacts) -> Judgement:
    return _told(
        account.ec2,
        lambda ec2: judged(ec2.launched_ms <= lines.start_ms, moment(ec2.launched_ms)),
    )


def _purchase(ec2: Ec2Facts) -> Judgement:
    if ec2.capacity_reservation_id:
        return failed(f"in reservation {ec2.capacity_reservation_id}")
    return judged(ec2.lifecycle in (None, SPOT), ec2.lifecycle or "on-demand")


def _keep_tag(ec2: Ec2Facts) -> Judgement:
    value = ec2.tags.get(KEEP_TAG)
    return judged(value is None, "no tag" if value is None else f"tag {KEEP_TAG}={value}")


def _is_off(value: Told[bool]) -> Judgement:
    return _told(value, lambda is_on: judged(not is_on, "on" if is_on else "off"))


def _instance_store(_: LineFacts, account: AccountFacts) -> Judgement:
    return _told(
        account.has_instance_store,
        lambda has: judged(not has, "disks that a stop erases" if has else "none"),
    )


def _of_group(judge: Callable[[GroupFacts], Judgement]) -> Judge:
    def judge_or_pass(group: GroupFacts | None) -> Judgement:
        return passed("in no group") if group is None else judge(group)

    return lambda _, account: _told(account.group, judge_or_pass)


def _group_minimum(group: GroupFacts) -> Judgement:
    sizes = f"{group.name}: desired {group.desired}, minimum {group.minimum}"
    if group.state != _IN_SERVICE:
        return failed(f"{group.name}: {group.state}")
    return judged(group.desired > group.minimum, sizes)


def _ecs(_: LineFacts, account: AccountFacts) -> Judgement:
    return _told(
        account.ecs_clusters,
        lambda clusters: judged(not clusters, f"in {clusters[0]}" if clusters else "in no cluster"),
    )


def _ultraserver(lines: LineFacts, account: AccountFacts) -> Judgement:
    def judge(ec2: Ec2Facts) -> Judgement:
        name = lines.newest.ultraserver_id
        is_member = ec2.instance_type.startswith(ULTRASERVER_TYPES)
        return judged(not (name or is_member), name or (ec2.instance_type if is_member else "none"))

    return _told(account.ec2, judge)


def _sessions(_: LineFacts, account: AccountFacts) -> Judgement:
    return _told(account.sessions, lambda count: judged(not count, counted(count, "session")))


ACCOUNT_GUARDS: Final = (
    Guard("running", "EC2 says that it is running.",
          _of_ec2(lambda ec2: judged(ec2.state == _RUNNING, ec2.state))),
    Guard("same-instance", "EC2 describes the instance of which the lines tell.", _same_instance),
    Guard("launched", "It was launched before that hour.", _launched),
    Guard("keep-tag", f"It has no tag {KEEP_TAG}.", _of_ec2(_keep_tag)),
    Guard("purchase", "It is on-demand or spot, in no capacity reservation.", _of_ec2(_purchase)),
    Guard("stop-protection", "Stop protection is off.",
          lambda _, account: _is_off(account.has_stop_protection)),
    Guard("termination-protection", "Termination protection is off.",
          lambda _, account: _is_off(account.has_termination_protection)),
    Guard("group-minimum", "Its auto-scaling group is above its minimum.",
          _of_group(_group_minimum)),
    Guard("group-protection", "Its auto-scaling group may choose it when it shrinks.",
          _of_group(lambda group: judged(
              not group.is_protected, "protected" if group.is_protected else "not protected"))),
    Guard("eks", "It is no node of Kubernetes.", _without_tags(EKS_TAGS)),
    Guard("karpenter", "It is no node of Karpenter.", _without_tags(KARPENTER_TAGS)),
    Guard("parallelcluster", "It is no node of ParallelCluster.",
          _without_tags(PARALLELCLUSTER_TAGS)),
    Guard("ecs", "It is registered in no ECS cluster.", _ecs),
    Guard("operator", "No AWS service operates it.",
          _of_ec2(lambda ec2: judged(not ec2.managed_by, ec2.managed_by or "none"))),
    Guard("instance-store", "Its type has no instance store.", _instance_store),
    Guard("placement-group", "It is in no placement group.",
          _of_ec2(lambda ec2: judged(not ec2.placement_group, ec2.placement_group or "none"))),
    Guard("ultraserver", "It is no member of an UltraServer.", _ultraserver),
    Guard("sessions", "Nobody has a Session Manager session on it.", _sessions),
)  # fmt: skip

GUARDS: Final = (*LINE_GUARDS, *ACCOUNT_GUARDS)
"""In the order in which they are shown."""
