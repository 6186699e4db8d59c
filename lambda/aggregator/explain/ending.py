"""
The end of an alarm: CloudWatch's measurement, which does not show that the problem ended.

An alarm becomes OK if its numbers are within its threshold, if its window has passed, or if data is
missing. None of these repairs anything, so no message calls an alarm resolved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aggregator.explain.alarm_summary import AlarmSummary, instance_words
from aggregator.explain.event import HARDWARE, SILENCE, UNKNOWN_SUBJECT
from aggregator.explain.failures import (
    find_failure,
    last_seen_words,
    listed,
    silent_commands,
)
from aggregator.explain.idle import total_words
from aggregator.minutes import SILENT_FORGET_MINUTES
from neuron_wire.line_members import Entries, entries_in, minute_in, number_in
from neuron_words.name_words import safe_name
from neuron_words.now_words import CAN_WAIT, TODAY
from neuron_words.quantity_words import clock, counted, duration

if TYPE_CHECKING:
    from aggregator.explain.event import Transition
    from aggregator.explain.evidence import Evidence
    from neuron_wire.line_members import JsonObject

HARDWARE_WINDOW_MINUTES: Final = 60
"""Minutes without a hardware error after which CloudWatch calls the alarm OK."""

_SILENT_NAMES_MEMBER: Final = "SilentInstanceNames"


def find_ending(transition: Transition, evidence: Evidence) -> AlarmSummary:
    """Find what CloudWatch measured when the alarm ended, or lost its data."""
    subject = evidence.subject
    title = subject.title or f"alarm {safe_name(transition.alarm)}"
    lasted = transition.lasted_minutes
    after = "" if lasted is None else f" after {duration(lasted)} in ALARM"
    missing = _missing_data(transition)
    forgotten = _forgotten(evidence, lacks_data=bool(missing))
    facts = tuple(filter(None, (missing, *_last_known(evidence, forgotten))))
    if forgotten:
        return _no_longer_counted(evidence, forgotten, facts)
    if transition.state == "INSUFFICIENT_DATA":
        return AlarmSummary(f"{title}, no data{after}: the state is unknown", facts, TODAY)
    if missing:
        return AlarmSummary(f"{title}, OK for lack of data{after}", facts, TODAY)
    if subject == HARDWARE:
        return AlarmSummary(
            f"no new hardware error for {HARDWARE_WINDOW_MINUTES} min; nothing was replaced",
            (*facts, "An instance that you have not replaced has the same hardware."),
            TODAY,
        )
    return AlarmSummary(f"{title}, within the alarm's threshold again{after}", facts, CAN_WAIT)


def _missing_data(transition: Transition) -> str:
    if transition.state == "INSUFFICIENT_DATA" or transition.is_gone:
        return "CloudWatch received no data. What the alarm watches may continue."
    minutes = transition.filled_minutes
    if minutes:
        return f"CloudWatch counted {counted(minutes, 'minute')} without data as healthy."
    return ""


def _last_known(evidence: Evidence, forgotten: Entries) -> list[str]:
    """Return the last known state of what the alarm watches, without *forgotten* instances."""
    subject = evidence.subject
    rollup = evidence.rollup
    if subject == UNKNOWN_SUBJECT:
        return []
    if not rollup:
        return [evidence.trouble or "The table has no rollup of this cluster."]
    if subject == SILENCE:
        return [_silence_words(evidence, forgotten)]
    if not subject.is_idle:
        minute = evidence.now.minute
        at = "" if minute is None else f", at {clock(minute, minute)}"
        return [f"Last{at}: {find_failure(evidence).headline}."]
    total = total_words(evidence)
    return [f"Cluster: {'; '.join(total)}." if total else "No core of the cluster is known."]


def _silence_words(evidence: Evidence, forgotten: Entries) -> str:
    still = _silent_count(evidence.rollup)
    count = _silent_count(evidence.silent)
    if still and not forgotten:
        return f"Still silent: {counted(still, 'instance')}."
    entries = entries_in(evidence.silent, _SILENT_NAMES_MEMBER)
    others = [entry for entry in entries if entry not in forgotten]
    if still or not others:
        return "" if forgotten else "No instance is silent in the last rollup."
    names = listed([instance_words(entry) for entry in others], count - len(forgotten))
    seen = " Each was seen again, or its stop was reported." if count == len(entries) else ""
    return f"Silent before: {names}.{seen}"


def _silent_count(rollup: JsonObject) -> int:
    return int(number_in(rollup, "SilentInstances") or 0)


def _forgotten(evidence: Evidence, *, lacks_data: bool) -> list[JsonObject]:
    """Return the instances that the stack stopped counting after the last rollup with them."""
    minute = minute_in(evidence.silent, "Minute")
    if minute is None or (_silent_count(evidence.rollup) and not lacks_data):
        return []
    forgotten = []
    for entry in entries_in(evidence.silent, _SILENT_NAMES_MEMBER):
        last = minute_in(entry, "LastSeen")
        if last is None or minute - last >= SILENT_FORGET_MINUTES:
            forgotten.append(entry)
    return forgotten


def _no_longer_counted(
    evidence: Evidence, forgotten: Entries, facts: tuple[str, ...]
) -> AlarmSummary:
    """Find that CloudWatch is OK because the stack does not count silent instances any more."""
    count = counted(len(forgotten), "instance")
    headline = f"no longer counted: {count} without a line for {SILENT_FORGET_MINUTES} min"
    names = [last_seen_words(entry, evidence.now.minute) for entry in forgotten]
    return AlarmSummary(
        headline=f"{headline}, {listed(names, len(names))}",
        facts=(*facts, "An instance that is not counted may still run and cost money."),
        urgency=TODAY,
        commands=silent_commands(evidence, forgotten),
        next_step="replace a dead host, and start the emitter of a host that runs.",
    )
