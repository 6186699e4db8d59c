"""Everything that a message is made of, found once and written in several forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aggregator.explain import failures
from aggregator.explain.event import NO_DATA
from aggregator.explain.finding import AlarmFinding, Case
from aggregator.explain.foreign_text import name
from aggregator.explain.idle import idle
from aggregator.explain.subject import ERRORS, HARDWARE, SILENCE, subject_of
from aggregator.query_text import member_is
from neuron_wire.now import cluster_now
from neuron_wire.phrases import duration, printable

if TYPE_CHECKING:
    from aggregator.environment import Environment
    from aggregator.explain.event import Transition
    from aggregator.explain.evidence import ClusterEvidence
    from aggregator.explain.subject import AlarmSubject

LONGEST_CLUSTER: Final = 40  # characters of a cluster's name in a subject line
LONGEST_REASON: Final = 500  # characters of what CloudWatch says
_FINDERS: Final = {
    SILENCE.metric: failures.silence,
    HARDWARE.metric: failures.hardware_errors,
    ERRORS.metric: failures.failed_executions,
}
_CONSOLES: Final = {"cn-": "amazonaws.cn", "us-gov-": "amazonaws-us-gov.com"}
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

        subject: What the alarm is about; None when it is none of ours.

        evidence: What the table says of the cluster.

        finding: The same in sentences; of an alarm that is over only how it looks now.

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
        """What is said before what there is to type."""
        found = self.finding
        headline = ": ".join(filter(None, (self._about(256), found.headline)))
        return [*filter(None, (headline, *found.facts, found.urgency, *found.total))]

    @property
    def commands(self) -> list[str]:
        """What there is to type, each behind what it is for."""
        shown = self.finding.commands
        width = 1 + max((len(one.label) for one in shown), default=0)
        return [
            f"{number}. {f'{one.label}:':<{width}}  {one.text}"
            for number, one in enumerate(shown, 1)
        ]

    @property
    def last_sentences(self) -> list[str]:
        """What to do now, and by which numbers."""
        answer = f"Answer now: {self.finding.answer}" if self.finding.answer else ""
        return [*filter(None, (answer, self.finding.basis))]

    @property
    def places(self) -> list[str]:
        """Where to read on."""
        found = {"Evidence": self.dashboard_address or self.dashboard, "Runbook": self.runbook}
        return [f"{what}: {address}" for what, address in found.items() if address]

    @property
    def query(self) -> str:
        """What shows the rollups of the cluster in Logs Insights; may be empty."""
        cluster = self.transition.cluster
        if self.subject is None or cluster is None or not self.log_group:
            return ""
        wanted = member_is("ClusterName", printable(cluster, 256))
        return f'filter Kind = "rollup" and {wanted}\n| sort @timestamp desc\n| limit 60'

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

    def _about(self, longest: int) -> str:
        cluster = name(self.transition.cluster or "", longest)
        return " ".join(filter(None, (cluster, "(muted)" if self.transition.muted_by else "")))


def explain(
    transition: Transition, evidence: ClusterEvidence, environment: Environment
) -> Explanation:
    """What *transition* means, by what *evidence* says of its cluster."""
    subject, region, runbook = (
        subject_of(transition.metrics),
        transition.region,
        environment.runbook,
    )
    if runbook and subject is not None:
        runbook = f"{runbook}#{subject.anchor}"
    dashboard, address = environment.stack_name, ""
    if region:
        dashboard = f"{environment.stack_name}-{region}"
        ends = (end for start, end in _CONSOLES.items() if region.startswith(start))
        console = f"https://{region}.console.{next(ends, 'aws.amazon.com')}/cloudwatch/home"
        address = f"{console}?region={region}#dashboards/dashboard/{dashboard}"
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
    """That it is over, or that nobody knows."""
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
        said = f"It watches {watched or 'nothing that its event names'}, unknown to neuron-emf."
        reason = f"CloudWatch: {printable(transition.reason, LONGEST_REASON)}"
        return AlarmFinding(f"alarm {printable(transition.alarm)}", (said, reason))
    if transition.cluster is None:
        missing = "The event names no cluster, so there are no details."
        return AlarmFinding(subject.title, (missing,), over=missing)
    if evidence.rollup is None:
        such = "" if subject.about == "minute" else " with such errors"
        missing = evidence.trouble or f"The table has no rollup of this cluster{such}."
        return AlarmFinding(subject.title, (missing,), over=missing)
    now, idle_after = cluster_now(evidence.rollup.given), environment.rules.idle_after_minutes
    case = Case(evidence.rollup, now, evidence, transition.region, idle_after, subject)
    return _FINDERS.get(subject.metric, idle)(case)
