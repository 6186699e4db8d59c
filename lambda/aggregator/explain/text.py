"""
An explanation as people read it, at three in the morning and on a telephone.

What it is, how much, where, since when; then what to type; then where to read
on. Of an alarm that is over only how long it was, and how it looks now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aggregator.explain.event import NO_DATA, WORDS
from aggregator.explain.foreign_text import name
from neuron_wire.phrases import duration, moment, printable

if TYPE_CHECKING:
    from aggregator.explain.explanation import Explanation
    from aggregator.explain.finding import AlarmFinding
    from aggregator.explain.queries import InsightsQuery

LONGEST_REASON: Final = 500  # characters of what CloudWatch says


def text_of(explanation: Explanation) -> str:
    """The whole message, with a newline at its end."""
    if explanation.transition.state == "ALARM":
        parts = [
            *_found(explanation.finding),
            *_typed(explanation.query, explanation.transition.region),
        ]
    else:
        parts = ["", *over(explanation)]
    return "\n".join([_headline(explanation), *parts, "", *_places(explanation)]) + "\n"


def _headline(explanation: Explanation) -> str:
    transition, subject = explanation.transition, explanation.subject
    what = subject.title if subject else f"alarm {printable(transition.alarm, 256)}"
    where = f" in cluster {name(transition.cluster, 256)}" if transition.cluster else ""
    muted = " (muted)" if transition.muted_by else ""
    return f"{transition.word}{muted}: {what}{where}"


def _found(finding: AlarmFinding) -> list[str]:
    lines = ["", *finding.sentences]
    if finding.owners:
        lines += [
            "",
            "Idle cores by owner, highest cost first:",
            *(f"  {one}" for one in finding.owners),
        ]
    if finding.listed:
        lines += ["", finding.list_title, *(f"  {one}" for one in finding.listed)]
    for number, step in enumerate(finding.steps, 1):
        lines += ["", f"{number}. {step.what}", *(f"   {one}" for one in step.commands)]
        if step.note:
            lines.append(f"   {step.note}")
    return lines


def _typed(query: InsightsQuery | None, region: str) -> list[str]:
    if query is None:
        return []
    return [
        "",
        f"Logs Insights, {query.log_group}: {query.shows}.",
        *(f"   {one}" for one in query.text.split("\n")),
        "With the AWS CLI:",
        *(f"   {one}" for one in query.shell(region)),
    ]


def over(explanation: Explanation) -> list[str]:
    """What to say when an alarm is no longer In alarm."""
    transition = explanation.transition
    if transition.word == NO_DATA:
        first = (
            "The alarm was In alarm. CloudWatch now has insufficient data: the state "
            "is unknown, not resolved."
        )
    elif transition.lasted_minutes is None:
        first = "Resolved."
    else:
        first = f"Resolved after {duration(transition.lasted_minutes)}."
    lines = [first, *explanation.finding.brief]
    if transition.is_filled:
        lines.append(
            "Missing data points were treated as not breaching, which may be the "
            "only reason that the alarm is OK."
        )
    return lines


def _places(explanation: Explanation) -> list[str]:
    """Where to read on, and what CloudWatch says."""
    transition = explanation.transition
    lines = [f"Runbook: {explanation.runbook}"] if explanation.runbook else []
    address = explanation.dashboard_address
    lines.append(f"Dashboard: {explanation.dashboard}{', ' if address else ''}{address}")
    lines.append(
        f"Alarm: {printable(transition.alarm, 256)}, {WORDS[transition.state]} since"
        f" {moment(1000 * transition.at_s)}"
    )
    if transition.muted_by:
        lines.append(
            f"Muted by {printable(transition.muted_by, 512)}; this message is sent anyway."
        )
    if transition.reason:
        lines.append(f"CloudWatch: {printable(transition.reason, LONGEST_REASON)}")
    return lines
