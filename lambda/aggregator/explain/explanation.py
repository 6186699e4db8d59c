"""What one transition means: the parts that every form of a message is written from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aggregator.explain.event import ERRORS, HARDWARE, NO_DATA, SILENCE, find_subject
from aggregator.explain.evidence import safe_name
from aggregator.explain.failures import (
    find_failed_executions,
    find_hardware_errors,
    find_silence,
)
from aggregator.explain.finding import AlarmFinding, Case
from aggregator.explain.idle import find_idle_cores
from aggregator.query_text import member_is
from neuron_wire.now import cluster_now
from neuron_wire.phrases import console_address, duration, printable

if TYPE_CHECKING:
    from aggregator.environment import Environment
    from aggregator.explain.event import AlarmSubject, Transition
    from aggregator.explain.evidence import ClusterEvidence

LONGEST_CLUSTER: Final = 40  # characters of a cluster's name in a subject line
LONGEST_REASON: Final = 500  # characters of what CloudWatch says
_FINDERS: Final = {
    SILENCE.metric: find_silence,
    HARDWARE.metric: find_hardware_errors,
    ERRORS.metric: find_failed_executions,
}
_FILLED: Final = (
    "Missing data points were treated as not breaching, which may be the only reason that the"
    " alarm is OK."
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """
    One transition, and what is known about it.

    Attributes:
        transition: What happened.

        subject: What the alarm is about; None for an alarm on none of our metrics.

        evidence: What the table says of the cluster.

        finding: The same in sentences; after an alarm only how it looks now.

        log_group: Where the rollups are; may be empty.

        runbook: Where its meaning is described; may be empty.

        dashboard: The name of the stack's dashboard.

        dashboard_address: Where the console shows it; may be empty.
    """

    transition: Transition
    subject: AlarmSubject | None
    evidence: ClusterEvidence
    finding: AlarmFinding
    log_group: str
    runbook: str
    dashboard: str
    dashboard_address: str

    @property
    def title(self) -> str:
        """The one line that tells most; it begins with the state as CloudWatch writes it."""
        what = self.finding.short or self.finding.headline
        return ": ".join(filter(None, (self.transition.state, self._about(LONGEST_CLUSTER), what)))

    @property
    def sentences(self) -> list[str]:
        """The sentences before the commands."""
        finding = self.finding
        headline = ": ".join(filter(None, (self._about(256), finding.headline)))
        return [*filter(None, (headline, *finding.facts, finding.urgency, *finding.total))]

    @property
    def commands(self) -> list[str]:
        """The commands to type, each behind its purpose."""
        shown = self.finding.commands
        width = 1 + max((len(command.label) for command in shown), default=0)
        return [
            f"{number}. {f'{command.label}:':<{width}}  {command.text}"
            for number, command in enumerate(shown, 1)
        ]

    @property
    def last_sentences(self) -> list[str]:
        """What to do now, and the basis of the numbers."""
        answer = f"Answer now: {self.finding.answer}" if self.finding.answer else ""
        return [*filter(None, (answer, self.finding.basis))]

    @property
    def places(self) -> list[str]:
        """Where to read on."""
        places = {"Evidence": self.dashboard_address or self.dashboard, "Runbook": self.runbook}
        return [f"{what}: {address}" for what, address in places.items() if address]

    @property
    def query(self) -> str:
        """The Logs Insights query for the rollups of the cluster; may be empty."""
        cluster = self.transition.cluster
        if self.subject is None or cluster is None or not self.log_group:
            return ""
        wanted = member_is("ClusterName", printable(cluster, 256))
        return f'filter Kind = "rollup" and {wanted}\n| sort @timestamp desc\n| limit 60'

    @property
    def metric(self) -> str:
        """The metric that the alarm watches; empty when the event names none."""
        if self.subject is not None:
            return self.subject.metric
        return next(iter((*self.transition.metrics, *self.transition.other_metrics)), "")

    @property
    def covered_metrics(self) -> tuple[str, ...]:
        """All metrics whose alarms the message covers, where it covers more than one."""
        return self.subject.tells if self.subject else ()

    def _about(self, longest: int) -> str:
        cluster = safe_name(self.transition.cluster or "", longest)
        return " ".join(filter(None, (cluster, "(muted)" if self.transition.muted_by else "")))


def explain_transition(
    transition: Transition, evidence: ClusterEvidence, environment: Environment
) -> Explanation:
    """Explain *transition* by the *evidence* about its cluster."""
    subject, region, runbook = (
        find_subject(transition.metrics),
        transition.region,
        environment.runbook,
    )
    if runbook and subject is not None:
        runbook = f"{runbook}#{subject.anchor}"
    dashboard, address = environment.stack_name, ""
    if region:
        dashboard = f"{environment.stack_name}-{region}"
        address = f"{console_address('cloudwatch', region)}dashboards/dashboard/{dashboard}"
    finding = _finding(transition, subject, evidence, environment)
    if transition.state != "ALARM":
        filled = (_FILLED,) if transition.is_filled else ()
        headline, facts = _end(transition, subject), (finding.over, *filled)
        finding = AlarmFinding(headline, facts, basis=finding.basis)
    log_group = environment.rollups_log_group
    return Explanation(
        transition, subject, evidence, finding, log_group, runbook, dashboard, address
    )


def _end(transition: Transition, subject: AlarmSubject | None) -> str:
    """The headline of an alarm that is resolved, or of which nothing is known."""
    what = subject.title if subject else f"alarm {printable(transition.alarm)}"
    if transition.word == NO_DATA:
        return f"{what}, no data: it was in alarm; unknown, not resolved"
    lasted = transition.lasted_minutes
    return f"{what}, resolved{'' if lasted is None else f' after {duration(lasted)}'}"


def _finding(
    transition: Transition,
    subject: AlarmSubject | None,
    evidence: ClusterEvidence,
    environment: Environment,
) -> AlarmFinding:
    if subject is None:
        watched = printable(", ".join((*transition.metrics, *transition.other_metrics)), 200)
        unknown = f"It watches {watched or 'nothing that its event names'}, unknown to neuron-emf."
        reason = f"CloudWatch: {printable(transition.reason, LONGEST_REASON)}"
        return AlarmFinding(f"alarm {printable(transition.alarm)}", (unknown, reason))
    if transition.cluster is None:
        missing = "The event names no cluster, so there are no details."
        return AlarmFinding(subject.title, (missing,), over=missing)
    if evidence.rollup is None:
        such = "" if subject.about == "minute" else " with such errors"
        missing = evidence.trouble or f"The table has no rollup of this cluster{such}."
        return AlarmFinding(subject.title, (missing,), over=missing)
    now, idle_after = cluster_now(evidence.rollup.given), environment.rules.idle_after_minutes
    case = Case(evidence.rollup, now, evidence, transition.region, idle_after, subject)
    return _FINDERS.get(subject.metric, find_idle_cores)(case)
