"""
The two log groups: the emitters' and the rollups'.

Only class STANDARD has both metric extraction and subscriptions, and the class
of a group cannot be changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neuron_emf.check.asking import ACCESS, NOBODY, UNREACHABLE, Answer, Asking
from neuron_emf.check.finding import Finding, failed, not_tried, ok, warning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuron_emf.check.place import Place

CLASS: Final = "class"
STANDARD: Final = "STANDARD"
PAGE: Final = 50


@dataclass(frozen=True, slots=True)
class Group:
    """
    What was seen of one log group.

    Attributes:
        findings: That it is there, and its class.

        reason: Why AWS did not say; empty when it did.

        is_missing: AWS was asked and has none of this name.
    """

    findings: tuple[Finding, Finding]
    reason: str = ""
    is_missing: bool = False


def check_group(asking: Asking, place: Place, name: str, check: str, *, deploys: str) -> Group:
    """
    Look at log group *name*.

    Args:
        asking: The way to AWS.

        place: Where that is, for the advice.

        name: Of the group.

        check: Of the finding that it is there; its class is another one.

        deploys: What to do when it is not there.
    """
    answer, groups = asking.ask_all(
        "logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name, limit=PAGE
    )
    klass = f"{check} {CLASS}"
    if answer.reason:
        untold = not_tried(klass, f"{answer.action} was not answered")
        return Group((_untold(check, answer, place), untold), reason=answer.reason)
    found = next((one for one in groups if one.get("logGroupName") == name), None)
    if found is None:
        missing = failed(check, f"there is no log group {name} in {place.region}", deploys)
        return Group((missing, not_tried(klass, "there is no log group")), is_missing=True)
    return Group((ok(check, f"{name}, {_kept(found)}"), _class(klass, found)))


def _untold(check: str, answer: Answer, place: Place) -> Finding:
    if answer.reason == ACCESS:
        resource = place.every_group
        return warning(
            check,
            f"not known: {answer.action} on {resource} is denied",
            f"allow {answer.action} to whoever checks; emitters do without",
        )
    if answer.reason == UNREACHABLE:
        return failed(
            check,
            f"CloudWatch Logs in {place.region} cannot be reached: {answer.words}",
            f"let this machine reach logs.{place.region}.amazonaws.com at port 443: a route, an "
            "endpoint of its VPC, or HTTPS_PROXY",
        )
    if answer.reason in NOBODY:
        return failed(
            check,
            f"CloudWatch Logs does not know who asks: {answer.words}",
            "give the instance a role with the stack's emitter policy, or renew the credentials",
        )
    return warning(
        check, f"not known: {answer.action} was not answered ({answer.words})", "try again"
    )


def _class(check: str, group: Mapping[str, object]) -> Finding:
    found = str(group.get("logGroupClass", STANDARD))  # older regions have no classes
    if found == STANDARD:
        return ok(check, f"{STANDARD}: metrics are extracted, subscriptions deliver")
    return failed(
        check,
        f"{found}, where lines are kept but no metric is extracted and nothing is subscribed",
        f"make a group of class {STANDARD} under another name: a class cannot be changed",
    )


def _kept(group: Mapping[str, object]) -> str:
    days = group.get("retentionInDays")
    return f"kept {days} days" if days else "kept for ever"
