"""What the account must say of an instance before it may be given back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from neuron_emf.checks import Check, CheckResult, failed, judged, ok, unknown, warning
from neuron_emf.findings.facts import (
    AccountFacts,
    Ec2Facts,
    GroupFacts,
    LineFacts,
    Told,
    TypeFacts,
    Untold,
)
from neuron_emf.findings.managers import Manager
from neuron_wire.names import GIVEN, READ
from neuron_wire.payment import SPOT
from neuron_wire.phrases import counted, moment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Judge = Callable[[LineFacts, AccountFacts], CheckResult]

KEEP_TAG: Final = "neuron-emf:keep"
GROUP_TAG: Final = "aws:autoscaling:groupName"
ULTRASERVER_TYPES: Final = ("trn2u.", "trn3")
"""How types begin that are sold as members of an UltraServer, or may be."""

_NO_SCHEDULER: Final = GIVEN[1]
_RUNNING: Final = "running"
_IN_SERVICE: Final = "InService"
_Value = TypeVar("_Value")


def _told(value: Told[_Value], judge: Callable[[_Value], CheckResult]) -> CheckResult:
    return unknown(value.why) if isinstance(value, Untold) else judge(value)


def _of_ec2(judge: Callable[[Ec2Facts], CheckResult]) -> Judge:
    return lambda _, account: _told(account.ec2, judge)


def _same_instance(lines: LineFacts, account: AccountFacts) -> CheckResult:
    def judge(ec2: Ec2Facts) -> CheckResult:
        if any(one.identity_guessed for one in lines.records):
            return failed("the emitter guessed its InstanceId")
        for name in ("instance_type", "availability_zone", "account_id"):
            said = {getattr(one, name) for one in lines.records} - {None}
            described = getattr(ec2, name)
            if name == "account_id" and not (said and described):
                continue  # older emitters tell none, and HyperPod is in one of AWS's
            if said != {described}:
                other = min(said - {described}, default="nothing")
                return failed(f"lines say {other}, EC2 {described}")
        return ok(f"{ec2.instance_type} in {ec2.availability_zone}")

    return _told(account.ec2, judge)


def _launched(lines: LineFacts, account: AccountFacts) -> CheckResult:
    def judge(ec2: Ec2Facts) -> CheckResult:
        return judged(ec2.launched_ms <= lines.start_ms, f"launched {moment(ec2.launched_ms)}")

    return _told(account.ec2, judge)


def _purchase(ec2: Ec2Facts) -> CheckResult:
    if ec2.reservation:
        return failed(f"in reservation {ec2.reservation}")
    return judged(ec2.lifecycle in (None, SPOT), ec2.lifecycle or "on-demand")


def _keep_tag(ec2: Ec2Facts) -> CheckResult:
    value = ec2.tags.get(KEEP_TAG)
    return ok("no tag") if value is None else failed(f"tag {KEEP_TAG}={value}".rstrip("="))


def _placement_group(ec2: Ec2Facts) -> CheckResult:
    if not ec2.placement_group:
        return ok("in no placement group")
    found = f"it leaves its placement group {ec2.placement_group}"
    return warning(found, "A later instance may find no room there.")


def _is_off(name: str, value: Told[bool]) -> CheckResult:
    return _told(value, lambda is_on: judged(not is_on, f"{name} is {'on' if is_on else 'off'}"))


def _instance_store(_: LineFacts, account: AccountFacts) -> CheckResult:
    def judge(type_facts: TypeFacts) -> CheckResult:
        if not type_facts.has_instance_store:
            return ok("none")
        found = "what is on its instance store is lost"
        is_alone = isinstance(account.manager, Manager) and account.manager.kind == "alone"
        return failed(found) if is_alone else warning(found, "Copy what is needed before.")

    return _told(account.type_facts, judge)


def commands_of(lines: LineFacts, account: AccountFacts) -> Sequence[str]:
    """What gives the instance back, in order; nothing where that is not known."""
    ec2, manager = account.ec2, account.manager
    if isinstance(ec2, Untold) or isinstance(manager, Untold):
        return ()
    region, zone = lines.newest.region or "", ec2.availability_zone
    return manager.commands(lines.instance_id, region, zone, is_spot=ec2.lifecycle == SPOT)


def _manager(lines: LineFacts, account: AccountFacts) -> CheckResult:
    """Whose commands give it back; what its emitter saw on it must agree."""

    def judge(manager: Manager) -> CheckResult:
        said = f"{manager.kind}, {manager.sign}".removesuffix(", ")
        if manager.leave:
            return failed(f"{said}. {manager.leave.rstrip('.')}")
        if not commands_of(lines, account):
            return failed(f"{said}, of which a name has not the form of its kind")
        given = {one.given for one in lines.records}
        if READ in given and not manager.places_work:
            return failed("a scheduler runs on it that no tag names: drain it there")
        if _NO_SCHEDULER in given and manager.places_work:
            return unknown(f"{manager.kind}, of which the emitter sees nothing on it")
        return ok(said)

    return _told(account.manager, judge)


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


def _ultraserver(lines: LineFacts, account: AccountFacts) -> CheckResult:
    def judge(ec2: Ec2Facts) -> CheckResult:
        name = next(filter(None, (one.ultraserver_id for one in lines.records)), "")
        if not name and ec2.instance_type.startswith(ULTRASERVER_TYPES):
            return failed(f"{ec2.instance_type} may be in an UltraServer")
        return judged(not name, f"in UltraServer {name}" if name else "in none")

    return _told(account.ec2, judge)


def _sessions(_: LineFacts, account: AccountFacts) -> CheckResult:
    return _told(
        account.sessions, lambda count: judged(not count, counted(count, "Session Manager session"))
    )


ACCOUNT_GUARDS: Final = (
    Check("running", "EC2 says that it is running.",
          _of_ec2(lambda ec2: judged(ec2.state == _RUNNING, f"it is {ec2.state}"))),
    Check("same-instance", "EC2 describes the instance of which the lines tell.", _same_instance),
    Check("launched", "It was launched before that hour.", _launched),
    Check("keep-tag", f"It has no tag {KEEP_TAG}.", _of_ec2(_keep_tag)),
    Check("purchase", "It is on-demand or spot, in no capacity reservation.", _of_ec2(_purchase)),
    Check("stop-protection", "Stop protection is off.",
          lambda _, account: _is_off("stop protection", account.has_stop_protection)),
    Check("termination-protection", "Termination protection is off.",
          lambda _, account: _is_off(
              "termination protection", account.has_termination_protection)),
    Check("group-minimum", "Its auto-scaling group is above its minimum.",
          _of_group(_group_minimum)),
    Check("group-protection", "Its auto-scaling group may choose it when it shrinks.",
          _of_group(lambda group: judged(
              not group.is_protected, "protected" if group.is_protected else "not protected"))),
    Check("manager", "Whoever manages it has a command that gives it back.", _manager),
    Check("instance-store", "Nothing on its disks is lost that somebody needs.", _instance_store),
    Check("placement-group", "Another instance may take its place.", _of_ec2(_placement_group)),
    Check("ultraserver", "It is no member of an UltraServer.", _ultraserver),
    Check("sessions", "Nobody has a Session Manager session on it.", _sessions),
)  # fmt: skip
