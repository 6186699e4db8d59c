"""
The account checks that an instance must pass before its release.

A fact that the account did not provide raises `UnknownFactError`, which the verdict turns into
*unknown*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from neuron_accounts.payment import SPOT
from neuron_emf.check_results import CheckResult, checks_of, failed, judged, ok, unknown, warning
from neuron_emf.cost.tariff import TABLES
from neuron_emf.verdict.verdict_facts import Unknown, require_known
from neuron_wire.names import RESERVATIONS_KNOWN, RESERVATIONS_VALUES
from neuron_words.quantity_words import counted, moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_emf.verdict.verdict_facts import AccountFacts, LineFacts

KEEP_TAG: Final = "neuron-emf:keep"
GROUP_TAG: Final = "aws:autoscaling:groupName"
ULTRASERVER_TYPES: Final = ("trn2u.", "trn3")
"""Beginnings of types that are, or may be, sold as members of an UltraServer."""

_NO_SCHEDULER: Final = RESERVATIONS_VALUES[1]


def _running(_: LineFacts, account: AccountFacts) -> CheckResult:
    state = require_known(account.ec2).state
    return judged(state == "running", f"it is {state}")


def _same_instance(lines: LineFacts, account: AccountFacts) -> CheckResult:
    ec2 = require_known(account.ec2)
    if any(record.identity_guessed for record in lines.records):
        return failed("the emitter guessed its InstanceId")
    for name in ("instance_type", "availability_zone", "account_id"):
        values = {getattr(record, name) for record in lines.records} - {None}
        described = getattr(ec2, name)
        if name == "account_id" and not (values and described):
            continue  # older emitters report none, and HyperPod runs in an account of AWS
        if values != {described}:
            other = min(values - {described}, default="nothing")
            return failed(f"lines report {other}, EC2 reports {described}")
    return ok(f"{ec2.instance_type} in {ec2.availability_zone}")


def _launched(lines: LineFacts, account: AccountFacts) -> CheckResult:
    launched_ms = require_known(account.ec2).launched_ms
    return judged(launched_ms <= lines.start_ms, f"launched {moment(launched_ms)}")


def _keep_tag(_: LineFacts, account: AccountFacts) -> CheckResult:
    value = require_known(account.ec2).tags.get(KEEP_TAG)
    return ok("no tag") if value is None else failed(f"tag {KEEP_TAG}={value}".rstrip("="))


def _purchase(_: LineFacts, account: AccountFacts) -> CheckResult:
    ec2 = require_known(account.ec2)
    if ec2.reservation:
        return failed(f"in reservation {ec2.reservation}")
    return judged(ec2.lifecycle in (None, SPOT), ec2.lifecycle or "on-demand")


def _protections(_: LineFacts, account: AccountFacts) -> CheckResult:
    group = require_known(account.group)
    against = {
        "stop": require_known(account.has_stop_protection),
        "termination": require_known(account.has_termination_protection),
        "scale-in": group is not None and group.is_protected,
    }
    names = [name for name, is_on in against.items() if is_on]
    return judged(not names, f"protected against {', '.join(names) or 'nothing'}")


def _group_minimum(_: LineFacts, account: AccountFacts) -> CheckResult:
    group = require_known(account.group)
    tags = {} if isinstance(account.ec2, Unknown) else account.ec2.tags
    name = group.name if group else "none"
    if tags.get(GROUP_TAG, name) != name:
        return unknown(f"tag {GROUP_TAG}={tags[GROUP_TAG]}, Auto Scaling {name}")
    if group is None:
        return ok("in no group")
    if group.state != "InService":
        return failed(f"{name}: {group.state}")
    sizes = f"desired {group.desired}, minimum {group.minimum}"
    return judged(group.desired > group.minimum, f"{name}: {sizes}")


def commands_of(lines: LineFacts, account: AccountFacts) -> Sequence[str]:
    """
    Return the commands that release the instance, in order; none if a name has the wrong form.

    Raises:
        UnknownFactError: If its manager is not known.
    """
    ec2 = require_known(account.ec2)
    region = lines.newest.region or ""
    is_spot = ec2.lifecycle == SPOT
    zone = ec2.availability_zone
    return require_known(account.manager).commands(lines.instance_id, region, zone, is_spot=is_spot)


def _manager(lines: LineFacts, account: AccountFacts) -> CheckResult:
    """Check that the instance's own processes agree with its manager."""
    manager = require_known(account.manager)
    sentence = f"{manager.kind}, {manager.sign}".removesuffix(", ")
    reservations = {record.reservations for record in lines.records}
    if manager.leave:
        return failed(f"{sentence}. {manager.leave.rstrip('.')}")
    if not commands_of(lines, account):
        return failed(f"{sentence}: a name does not have the form of its kind")
    if RESERVATIONS_KNOWN in reservations and not manager.places_work:
        return failed("a scheduler that no tag names runs on it: drain it there")
    if _NO_SCHEDULER in reservations and manager.places_work:
        return unknown(f"{manager.kind}, but the emitter sees no part of it on the instance")
    return ok(sentence)


def _instance_store(_: LineFacts, account: AccountFacts) -> CheckResult:
    if not require_known(account.type_facts).has_instance_store:
        return ok("none")
    sentence = "a stop loses the data on its instance store"
    is_alone = require_known(account.manager).kind == "alone"
    return failed(sentence) if is_alone else warning(sentence, "Copy what is needed before.")


def _placement_group(_: LineFacts, account: AccountFacts) -> CheckResult:
    name = require_known(account.ec2).placement_group
    sentence = f"it leaves its placement group {name}"
    return (
        warning(sentence, "A later instance may find no capacity there.") if name else ok("in none")
    )


def _ultraserver(lines: LineFacts, account: AccountFacts) -> CheckResult:
    name = next(filter(None, (record.ultraserver_id for record in lines.records)), "")
    instance_type = require_known(account.ec2).instance_type
    if not name and instance_type.startswith(ULTRASERVER_TYPES):
        return failed(f"{instance_type} may be in an UltraServer")
    return judged(not name, f"in UltraServer {name}" if name else "in none")


def _sessions(_: LineFacts, account: AccountFacts) -> CheckResult:
    count = require_known(account.sessions)
    return judged(not count, counted(count, "Session Manager session"))


ACCOUNT_GUARDS: Final = checks_of(
    TABLES["guards"]["account"],
    {
        "running": _running,
        "same-instance": _same_instance,
        "launched": _launched,
        "keep-tag": _keep_tag,
        "purchase": _purchase,
        "protections": _protections,
        "group-minimum": _group_minimum,
        "manager": _manager,
        "instance-store": _instance_store,
        "placement-group": _placement_group,
        "ultraserver": _ultraserver,
        "sessions": _sessions,
    },
    keep_tag=KEEP_TAG,
)
