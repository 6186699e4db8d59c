"""
What the account must say of an instance before it may be given back.

Tags that others set: https://docs.aws.amazon.com/eks/latest/userguide/eks-using-tags.html,
https://karpenter.sh/docs/concepts/nodeclasses/, https://docs.aws.amazon.com/parallelcluster/latest/ug/tags-v3.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from neuron_emf.checks import Check, CheckResult, failed, judged, ok, unknown
from neuron_emf.findings.facts import AccountFacts, Ec2Facts, GroupFacts, LineFacts, Told, Untold
from neuron_wire.payment import SPOT
from neuron_wire.phrases import counted, moment

if TYPE_CHECKING:
    from collections.abc import Callable

    Judge = Callable[[LineFacts, AccountFacts], CheckResult]

KEEP_TAG: Final = "neuron-emf:keep"
GROUP_TAG: Final = "aws:autoscaling:groupName"
EKS_TAGS: Final = (":eks:", "kubernetes", "k8s.io/", "eksctl.io/")
KARPENTER_TAGS: Final = ("karpenter.",)
PARALLELCLUSTER_TAGS: Final = ("parallelcluster:",)
ULTRASERVER_TYPES: Final = ("trn2u.", "trn3")
"""How types begin that are sold as members of an UltraServer, or may be."""

_RUNNING: Final = "running"
_IN_SERVICE: Final = "InService"
_Value = TypeVar("_Value")


def _told(value: Told[_Value], judge: Callable[[_Value], CheckResult]) -> CheckResult:
    return unknown(value.why) if isinstance(value, Untold) else judge(value)


def _of_ec2(judge: Callable[[Ec2Facts], CheckResult]) -> Judge:
    return lambda _, account: _told(account.ec2, judge)


def _without_tags(fragments: tuple[str, ...]) -> Judge:
    def judge(ec2: Ec2Facts) -> CheckResult:
        keys = {key: f":{key}".lower() for key in sorted(ec2.tags)}  # eks: and aws:eks: alike
        tags = [key for key, text in keys.items() if any(one in text for one in fragments)]
        return judged(not tags, f"tag {tags[0]}" if tags else "no tag")

    return _of_ec2(judge)


def _same_instance(lines: LineFacts, account: AccountFacts) -> CheckResult:
    def judge(ec2: Ec2Facts) -> CheckResult:
        if any(one.identity_guessed for one in lines.records):
            return failed("the emitter guessed its InstanceId")
        for name in ("instance_type", "availability_zone", "account_id"):
            said = {getattr(one, name) for one in lines.records} - {None}
            described = getattr(ec2, name)
            if not said and name == "account_id":
                continue  # older emitters tell none
            if said != {described}:
                other = min(said - {described}, default="nothing")
                return failed(f"lines say {other}, EC2 {described}")
        return ok(f"{ec2.instance_type} in {ec2.availability_zone}")

    return _told(account.ec2, judge)


def _launched(lines: LineFacts, account: AccountFacts) -> CheckResult:
    return _told(
        account.ec2, lambda ec2: judged(ec2.launched_ms <= lines.start_ms, moment(ec2.launched_ms))
    )


def _purchase(ec2: Ec2Facts) -> CheckResult:
    if ec2.capacity_reservation_id:
        return failed(f"in reservation {ec2.capacity_reservation_id}")
    return judged(ec2.lifecycle in (None, SPOT), ec2.lifecycle or "on-demand")


def _keep_tag(ec2: Ec2Facts) -> CheckResult:
    value = ec2.tags.get(KEEP_TAG)
    return judged(value is None, "no tag" if value is None else f"tag {KEEP_TAG}={value}")


def _is_off(value: Told[bool]) -> CheckResult:
    return _told(value, lambda is_on: judged(not is_on, "on" if is_on else "off"))


def _instance_store(_: LineFacts, account: AccountFacts) -> CheckResult:
    return _told(
        account.has_instance_store,
        lambda has: judged(not has, "disks that a stop erases" if has else "none"),
    )


def _of_group(judge: Callable[[GroupFacts], CheckResult]) -> Judge:
    def judge_group(_: LineFacts, account: AccountFacts) -> CheckResult:
        tags = {} if isinstance(account.ec2, Untold) else account.ec2.tags

        def judge_or_pass(group: GroupFacts | None) -> CheckResult:
            name = group.name if group else None
            if tags.get(GROUP_TAG, name) != name:
                return unknown(f"tag {GROUP_TAG}={tags[GROUP_TAG]}, Auto Scaling {name or 'none'}")
            return judge(group) if group else ok("in no group")

        return _told(account.group, judge_or_pass)

    return judge_group


def _group_minimum(group: GroupFacts) -> CheckResult:
    sizes = f"{group.name}: desired {group.desired}, minimum {group.minimum}"
    if group.state != _IN_SERVICE:
        return failed(f"{group.name}: {group.state}")
    return judged(group.desired > group.minimum, sizes)


def _ecs(_: LineFacts, account: AccountFacts) -> CheckResult:
    return _told(
        account.ecs_clusters,
        lambda clusters: judged(not clusters, f"in {clusters[0]}" if clusters else "in no cluster"),
    )


def _ultraserver(lines: LineFacts, account: AccountFacts) -> CheckResult:
    def judge(ec2: Ec2Facts) -> CheckResult:
        name = next(filter(None, (one.ultraserver_id for one in lines.records)), None)
        is_member = ec2.instance_type.startswith(ULTRASERVER_TYPES)
        return judged(not (name or is_member), name or (ec2.instance_type if is_member else "none"))

    return _told(account.ec2, judge)


def _sessions(_: LineFacts, account: AccountFacts) -> CheckResult:
    return _told(account.sessions, lambda count: judged(not count, counted(count, "session")))


ACCOUNT_GUARDS: Final = (
    Check("running", "EC2 says that it is running.",
          _of_ec2(lambda ec2: judged(ec2.state == _RUNNING, ec2.state))),
    Check("same-instance", "EC2 describes the instance of which the lines tell.", _same_instance),
    Check("launched", "It was launched before that hour.", _launched),
    Check("keep-tag", f"It has no tag {KEEP_TAG}.", _of_ec2(_keep_tag)),
    Check("purchase", "It is on-demand or spot, in no capacity reservation.", _of_ec2(_purchase)),
    Check("stop-protection", "Stop protection is off.",
          lambda _, account: _is_off(account.has_stop_protection)),
    Check("termination-protection", "Termination protection is off.",
          lambda _, account: _is_off(account.has_termination_protection)),
    Check("group-minimum", "Its auto-scaling group is above its minimum.",
          _of_group(_group_minimum)),
    Check("group-protection", "Its auto-scaling group may choose it when it shrinks.",
          _of_group(lambda group: judged(
              not group.is_protected, "protected" if group.is_protected else "not protected"))),
    Check("eks", "It is no node of Kubernetes.", _without_tags(EKS_TAGS)),
    Check("karpenter", "It is no node of Karpenter.", _without_tags(KARPENTER_TAGS)),
    Check("parallelcluster", "It is no node of ParallelCluster.",
          _without_tags(PARALLELCLUSTER_TAGS)),
    Check("ecs", "It is registered in no ECS cluster.", _ecs),
    Check("operator", "No AWS service operates it.",
          _of_ec2(lambda ec2: judged(not ec2.managed_by, ec2.managed_by or "none"))),
    Check("instance-store", "Its type has no instance store.", _instance_store),
    Check("placement-group", "It is in no placement group.",
          _of_ec2(lambda ec2: judged(not ec2.placement_group, ec2.placement_group or "none"))),
    Check("ultraserver", "It is no member of an UltraServer.", _ultraserver),
    Check("sessions", "Nobody has a Session Manager session on it.", _sessions),
)  # fmt: skip
