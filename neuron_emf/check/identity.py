"""
Which cluster the records will belong to, and which instance they will be of.

Asked as `run` asks: the orchestrators for the cluster, the report and the
metadata service for the instance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.errors import SettingsError
from emitter.instance.cluster import find_cluster
from emitter.instance.machine import guessed_instance_id
from neuron_emf.check.result import CheckResult, failed, ok, warning

if TYPE_CHECKING:
    from emitter.instance.facts import InstanceFacts
    from emitter.reports.report import Report
    from neuron_emf.check.settings import CheckSettings

CLUSTER: Final = "cluster"
INSTANCE: Final = "instance"

_NAME_IT: Final = "use --cluster NAME"


def check_cluster(settings: CheckSettings, origin: str) -> tuple[CheckResult, str]:
    """
    The result, and the name; an empty one when there is none.

    *origin* says where the setting came from.
    """
    try:
        cluster = find_cluster(settings.cluster, region=settings.region)
    except SettingsError as error:
        said, _, tried = str(error).partition(" Tried, in this order:")
        if not tried:
            return failed(CLUSTER, said, _NAME_IT), ""
        sources = "; ".join(line.strip() for line in tried.splitlines() if line.strip())
        return failed(CLUSTER, f"no cluster name: {sources}", _NAME_IT), ""
    where = origin if settings.cluster.strip() else cluster.where
    return ok(CLUSTER, f"{cluster.name}, from {where}"), cluster.name


def check_instance(
    settings: CheckSettings, facts: InstanceFacts, report: Report | None
) -> tuple[CheckResult, str]:
    """The result, and the id that records will have."""
    info = report.instance_info if report is not None else None
    reported = (info.instance_id or "").strip() if info is not None else ""
    if reported and reported.isascii() and reported.isprintable():
        if facts.instance_id and facts.instance_id != reported:
            return warning(
                INSTANCE,
                f"{reported} by neuron-monitor, {facts.instance_id} by the instance metadata",
                "records will use the first: check that the reports of neuron-monitor are of this "
                "instance",
            ), reported
        return ok(INSTANCE, f"{_with_type(reported, facts)}, from neuron-monitor"), reported
    if facts.instance_id:
        where = "the instance metadata or the instance's board"
        return ok(INSTANCE, f"{_with_type(facts.instance_id, facts)}, from {where}"), (
            facts.instance_id
        )
    if settings.instance_id:
        return ok(INSTANCE, f"{settings.instance_id}, from --instance-id"), settings.instance_id
    guessed = guessed_instance_id()
    return warning(
        INSTANCE,
        f"{guessed}, a guess: neither neuron-monitor nor the instance metadata has one",
        "allow two hops to the instance metadata, or use --instance-id",
    ), guessed


def _with_type(instance_id: str, facts: InstanceFacts) -> str:
    return f"{instance_id} ({facts.instance_type})" if facts.instance_type else instance_id
