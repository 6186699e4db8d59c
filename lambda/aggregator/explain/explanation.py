"""What one transition means: the parts that every form of a message is written from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aggregator.explain.event import ERRORS, HARDWARE, NO_DATA, SILENCE, UNKNOWN
from aggregator.explain.evidence import safe_name
from aggregator.explain.failures import (
    find_failed_executions,
    find_hardware_errors,
    find_silence,
)
from aggregator.explain.finding import AlarmFinding, basis_of
from aggregator.explain.idle import find_idle_cores
from aggregator.query_text import member_is
from neuron_wire.phrases import console_address, duration, printable

if TYPE_CHECKING:
    from aggregator.environment import Environment
    from aggregator.explain.event import AlarmSubject, Transition
    from aggregator.explain.evidence import Evidence

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

        evidence: What the table says of the cluster.

        finding: The same in sentences; after an alarm only how it looks now.

        environment: Where runbook, rollups and dashboard are.
    """

    transition: Transition
    evidence: Evidence
    finding: AlarmFinding
    environment: Environment

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
        return [*filter(None, (answer, basis_of(self.evidence)))]

    @property
    def runbook(self) -> str:
        """Where the meaning of the alarm is described; may be empty."""
        page, anchor = self.environment.runbook, self.evidence.subject.anchor
        return f"{page}#{anchor}" if page and anchor else page

    @property
    def dashboard(self) -> str:
        """The name of the stack's dashboard."""
        stack, region = self.environment.stack_name, self.transition.region
        return f"{stack}-{region}" if region else stack

    @property
    def dashboard_address(self) -> str:
        """Where the console shows it; empty without a region."""
        region = self.transition.region
        shown = f"{console_address('cloudwatch', region)}dashboards/dashboard/{self.dashboard}"
        return shown if region else ""

    @property
    def places(self) -> list[str]:
        """Where to read on."""
        places = {"Evidence": self.dashboard_address or self.dashboard, "Runbook": self.runbook}
        return [f"{what}: {address}" for what, address in places.items() if address]

    @property
    def query(self) -> str:
        """The Logs Insights query for the rollups of the cluster; may be empty."""
        cluster = self.transition.cluster
        if self.evidence.subject == UNKNOWN or cluster is None:
            return ""
        wanted = member_is("ClusterName", printable(cluster, 256))
        shown = f'filter Kind = "rollup" and {wanted}\n| sort @timestamp desc\n| limit 60'
        return shown if self.environment.rollups_log_group else ""

    @property
    def metric(self) -> str:
        """The metric that the alarm watches; empty when the event names none."""
        watched = (*self.transition.metrics, *self.transition.other_metrics, "")
        return self.evidence.subject.metric or watched[0]

    def _about(self, longest: int) -> str:
        cluster = safe_name(self.transition.cluster or "", longest)
        return " ".join(filter(None, (cluster, "(muted)" if self.transition.muted_by else "")))


def explain_transition(
    transition: Transition, evidence: Evidence, environment: Environment
) -> Explanation:
    """Explain *transition* by the *evidence* about its cluster."""
    finding = _finding(transition, evidence)
    if transition.state != "ALARM":
        filled = (_FILLED,) if transition.is_filled else ()
        finding = AlarmFinding(_end(transition, evidence.subject), (finding.over, *filled))
    return Explanation(transition, evidence, finding, environment)


def _end(transition: Transition, subject: AlarmSubject) -> str:
    """The headline of an alarm that is resolved, or of which nothing is known."""
    what = subject.title or f"alarm {printable(transition.alarm)}"
    if transition.word == NO_DATA:
        return f"{what}, no data: it was in alarm; unknown, not resolved"
    lasted = transition.lasted_minutes
    return f"{what}, resolved{'' if lasted is None else f' after {duration(lasted)}'}"


def _finding(transition: Transition, evidence: Evidence) -> AlarmFinding:
    subject = evidence.subject
    if subject == UNKNOWN:
        watched = printable(", ".join((*transition.metrics, *transition.other_metrics)), 200)
        unknown = f"It watches {watched or 'nothing that its event names'}, unknown to neuron-emf."
        reason = f"CloudWatch: {printable(transition.reason, LONGEST_REASON)}"
        return AlarmFinding(f"alarm {printable(transition.alarm)}", (unknown, reason))
    if evidence.rollup.given:
        return _FINDERS.get(subject.metric, find_idle_cores)(evidence)
    such = "" if subject.about == "minute" else " with such errors"
    missing = evidence.trouble or f"The table has no rollup of this cluster{such}."
    if transition.cluster is None:
        missing = "The event names no cluster, so there are no details."
    return AlarmFinding(subject.title, (missing,), over=missing)
