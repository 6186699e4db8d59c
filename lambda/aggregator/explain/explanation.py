"""Everything that a message is made of, found once and written in several forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aggregator.explain import failures, idle
from aggregator.explain.event import NO_DATA
from aggregator.explain.finding import AlarmFinding, Case
from aggregator.explain.foreign_text import name
from aggregator.explain.queries import InsightsQuery, query_of
from aggregator.explain.subject import (
    ERRORS,
    HARDWARE,
    IDLE_CORES,
    IDLE_COST,
    SILENCE,
    UTILIZATION,
    subject_of,
)
from aggregator.query_text import StackLogGroups
from neuron_wire.now import cluster_now
from neuron_wire.phrases import duration, printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from aggregator.environment import Environment
    from aggregator.explain.event import Transition
    from aggregator.explain.evidence import ClusterEvidence
    from aggregator.explain.subject import AlarmSubject

LONGEST_CLUSTER: Final = 40  # characters of a cluster's name in a subject line

_FINDERS: Final[dict[str, Callable[[Case], AlarmFinding]]] = {
    IDLE_CORES.metric: idle.idle_cores,
    IDLE_COST.metric: idle.idle_cost,
    UTILIZATION.metric: idle.utilization,
    SILENCE.metric: failures.silence,
    HARDWARE.metric: failures.hardware_errors,
    ERRORS.metric: failures.failed_executions,
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """
    One transition, and what is known about it.

    Attributes:
        transition: What happened.

        subject: What the alarm is about; None when it is none of ours.

        evidence: What the table says of the cluster.

        finding: The same in sentences.

        query: What shows more; None when nothing would.

        runbook: Where its meaning is described; may be empty.

        dashboard: The name of the stack's dashboard.

        dashboard_address: Where the console shows it; may be empty.
    """

    transition: Transition
    subject: AlarmSubject | None
    evidence: ClusterEvidence
    finding: AlarmFinding
    query: InsightsQuery | None
    runbook: str
    dashboard: str
    dashboard_address: str

    @property
    def title(self) -> str:
        """The one line that tells most; it begins with the state as CloudWatch writes it."""
        transition = self.transition
        cluster = name(transition.cluster or "", LONGEST_CLUSTER)
        muted = "(muted)" if transition.muted_by else ""
        what = self.subject.title if self.subject else printable(transition.alarm, LONGEST_CLUSTER)
        if transition.state == "ALARM":
            what = self.finding.figure or what
        elif transition.word == NO_DATA:
            what = f"no data, was in ALARM: {what}"
        elif transition.lasted_minutes is not None:
            what = f"{what}, after {duration(transition.lasted_minutes)}"
        about = " ".join(filter(None, (cluster, muted)))
        return ": ".join(filter(None, (transition.state, about, what)))

    @property
    def metric(self) -> str:
        """What the alarm watches; empty when it does not say so."""
        if self.subject is not None:
            return self.subject.metric
        return next(iter((*self.transition.metrics, *self.transition.other_metrics)), "")

    @property
    def told_metrics(self) -> tuple[str, ...]:
        """All metrics whose alarms the message tells, where it does not tell one alone."""
        return self.subject.tells if self.subject else ()


def explain(
    transition: Transition, evidence: ClusterEvidence, environment: Environment, now_s: float
) -> Explanation:
    """What *transition* means, by what *evidence* says of its cluster."""
    subject = subject_of(transition.metrics)
    finding = _finding(transition, subject, evidence, environment)
    runbook = environment.runbook
    if runbook and subject is not None:
        runbook = f"{runbook}#{subject.anchor}"
    dashboard, address = _dashboard(transition.region, environment.stack_name)
    groups = StackLogGroups(environment.records_log_group, environment.rollups_log_group)
    query = None
    if subject is not None and transition.cluster is not None:
        cluster = printable(transition.cluster, 256)
        query = query_of(subject, cluster, groups, now_s, evidence.rollup)
    return Explanation(
        transition=transition,
        subject=subject,
        evidence=evidence,
        finding=finding,
        query=query if query and query.log_group else None,
        runbook=runbook,
        dashboard=dashboard,
        dashboard_address=address,
    )


def _finding(
    transition: Transition,
    subject: AlarmSubject | None,
    evidence: ClusterEvidence,
    environment: Environment,
) -> AlarmFinding:
    if subject is None:
        watched = printable(", ".join((*transition.metrics, *transition.other_metrics)), 200)
        of_what = "does not name its metric" if watched else "does not say what it watches"
        return _only("", f"This alarm {of_what}, which neuron-emf does not know.")
    if transition.cluster is None:
        return _only(subject.title, "The event names no cluster, so there are no details.")
    if evidence.rollup is None:
        missing = evidence.trouble or (
            "The table has no rollup of this cluster"
            f"{'.' if subject.about == 'minute' else ' with such errors.'}"
        )
        return _only(subject.title, missing, *idle.cost_today(evidence))
    now, idle_after = cluster_now(evidence.rollup.given), environment.rules.idle_after_minutes
    case = Case(evidence.rollup, now, evidence, transition.region, idle_after)
    found = _FINDERS[subject.metric](case)
    return found.dated(evidence, is_last_minute=subject.about == "minute")


def _only(figure: str, *sentences: str) -> AlarmFinding:
    return AlarmFinding(figure, sentences=sentences, brief=sentences)


def _dashboard(region: str, stack_name: str) -> tuple[str, str]:
    """The name of the stack's dashboard, and its address in the console."""
    if not region:
        return stack_name, ""
    name = f"{stack_name}-{region}"
    console = "console.aws.amazon.com"
    if region.startswith("cn-"):
        console = "console.amazonaws.cn"
    elif region.startswith("us-gov-"):
        console = "console.amazonaws-us-gov.com"
    home = f"https://{region}.{console}/cloudwatch/home?region={region}"
    return name, f"{home}#dashboards/dashboard/{name}"
