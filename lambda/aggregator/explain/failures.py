"""Summaries of failures: silent instances, hardware, executions."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeAlias

from aggregator.explain.alarm_summary import (
    MESSAGE_WORDS,
    PROCESSES,
    AlarmSummary,
    commands_about,
    commands_there,
    describe_owner,
    instance_region,
    instance_words,
    owners_words,
)
from aggregator.explain.event import EXECUTION_ERRORS, HARDWARE, SILENCE
from aggregator.rollups.sums import FAILING
from neuron_wire.catalogue import FAILURES, ROLLUP_NUMBERS
from neuron_wire.line_members import (
    NOTHING,
    Amounts,
    Entries,
    JsonObject,
    entries_in,
    minute_in,
    number_in,
    text_in,
    texts_in,
)
from neuron_words.name_words import safe_name
from neuron_words.now_words import CAN_WAIT, NOW, TODAY
from neuron_words.owner_commands import (
    Commands,
    ShownCommand,
    instance_commands,
    placement_commands,
)
from neuron_words.quantity_words import amount, clock, counted, joined, share_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aggregator.explain.evidence import Evidence
    from neuron_words.now_words import Urgency

_MAX_INSTANCES_IN_MESSAGE: Final = 3
_MOST_IDS: Final = 5  # instances in one command
_LITTLE_PERCENT: Final = 10
_PERSISTENT_MINUTES: Final = 30  # failures in more minutes of the last hour are persistent
_MAX_COMMANDS_OF_FAILURE: Final = 4
_EMITTER: Final = ShownCommand("There, what runs", "pgrep -af neuron-")
_KERNEL: Final = ShownCommand("There, the driver", "sudo dmesg --ctime | grep NEURON_HW_ERR")
_NOT_ENDED: Final = ("ExecutionsTimedOut", "ExecutionsIncorrectInput", "ExecutionsFailedToQueue")
_NUMERICAL: Final = "ExecutionsCompletedWithNumErr"
_Failing: TypeAlias = "list[tuple[JsonObject, float, str]]"
"""Instances with failures: the members of each, its number of failures, and both in words."""

_LOOK_AT: Final = MESSAGE_WORDS["look_at"]
"""Next steps for the owner of failing executions, by how most of them failed."""


def find_silence(evidence: Evidence) -> AlarmSummary:
    """Find the instances that stopped reporting."""
    rollup = evidence.rollup
    now = evidence.now.minute
    count = number_in(rollup, "SilentInstances")
    reporting = number_in(rollup, "Instances")
    if not count:
        return AlarmSummary(
            evidence.subject.title, facts=("No instance is silent in the last rollup.",)
        )
    entries = entries_in(rollup, "SilentInstanceNames")
    first = entries[0] if entries else NOTHING
    others = (
        "" if reporting is None else f"{counted(reporting, 'other instance')} still reporting. "
    )
    return AlarmSummary(
        headline=f"{counted(count, 'instance')} stopped reporting without a clean shutdown",
        short=counted(count, "silent instance"),
        facts=(
            f"{listed([last_seen_words(entry, now) for entry in entries], int(count))}.",
            f"{others}Cores of silent instances are unknown, and not counted as idle or as cost.",
        ),
        reason="if a host died, its jobs died with it. If every host runs, it can wait.",
        commands=(
            *silent_commands(evidence, entries),
            *commands_there(evidence, first, _EMITTER),
        ),
        next_step="replace a dead host. A dead emitter can wait: it sends its stored lines later.",
    )


def last_seen_words(entry: JsonObject, now: int | None) -> str:
    """Return `i-0abc (trn1.32xlarge) last seen 03:07 UTC`."""
    minute = minute_in(entry, "LastSeen")
    seen = "at an unknown time" if minute is None else clock(minute, now)
    return f"{instance_words(entry)} last seen {seen}"


def silent_commands(evidence: Evidence, entries: Entries) -> Commands:
    """Return the command that shows whether the instances of *entries* run."""
    region, ids = _instances(evidence, entries)
    return instance_commands("states", ids, region)


def _instances(evidence: Evidence, entries: Entries) -> tuple[str, list[str]]:
    """Return the region of the first of *entries*, and the first instances in that region."""
    region = instance_region(evidence, entries[0] if entries else NOTHING)
    near = [entry for entry in entries if instance_region(evidence, entry) == region]
    return region, [text_in(entry, "InstanceId") for entry in near[:_MOST_IDS]]


def find_hardware_errors(evidence: Evidence) -> AlarmSummary:
    """Find the instances with faults in their kernel log, or uncorrectable memory errors."""
    lists = {"FaultyInstances": "kernel fault", "EccInstances": "memory error"}
    total, when, failing = _failing(evidence, lists)
    minute = evidence.now.minute
    before = "" if minute is None else f" from before {clock(minute, None)}"
    is_memory = entries_in(evidence.rollup, "EccInstances")
    harm = "its results may be wrong" if is_memory else "it may fail or hang"
    entry = failing[0][0] if failing else NOTHING
    owners = texts_in(entry, "Owners")
    region, ids = _instances(evidence, [entry for entry, _, _ in failing])
    steps = placement_commands(owners[0] if owners else "", evidence.now.cluster, region, ids[:1])
    shown = safe_name(text_in(entry, "InstanceId")) or "the instance"
    return AlarmSummary(
        headline=f"{counted(total, 'hardware error')} in one minute{_most_on(failing, total)}",
        facts=(
            f"{listed([words for _, _, words in failing], len(failing))}. {when}",
            _owners_sentence(entry),
        ),
        reason=f"work on such a device continues, and {harm}.",
        commands=(
            *(steps or instance_commands("tags", ids, region)),
            *commands_there(evidence, entry, _KERNEL),
        )[:_MAX_COMMANDS_OF_FAILURE],
        next_step=f"keep new work off {shown} (cordon or drain), then ask {owners_words(owners)}"
        f" whether to go back to a checkpoint{before}. Replace the instance if the driver reports"
        " TERMINATE_INSTANCE.",
    )


def find_failed_executions(evidence: Evidence) -> AlarmSummary:
    """Find the failed executions, how they failed, and their owner."""
    total, when, failing = _failing(evidence, {"ErrorInstances": "failed execution"})
    entry = failing[0][0] if failing else NOTHING
    failed = {kind: number_in(entry, kind) or 0 for kind in FAILURES}
    kinds = sorted(filter(failed.get, failed), key=lambda kind: -failed[kind])
    how = joined([f"{amount(failed[kind])} {FAILURES[kind]}" for kind in kinds])
    words = f"{counted(total, 'failed execution')} in one minute"
    shown_kinds = kinds[:2]
    if kinds and 2 * failed[kinds[0]] > total:
        shown_kinds = kinds[:1]
        words += f", most {FAILURES[kinds[0]]}"
    owners = texts_in(entry, "Owners")
    alone = describe_owner(owners[0]) if len(owners) == 1 else None
    commands = commands_about(evidence, entry, owners[0] if alone else "")
    urgency, reason = _urgency(evidence, entry, failed)
    look = joined([_LOOK_AT[kind] for kind in shown_kinds], separator="; then ")
    return AlarmSummary(
        headline=f"{words}, of {alone.words}" if alone else f"{words}{_most_on(failing, total)}",
        short=f"{words}, of {alone.short}" if alone else "",
        facts=(
            f"On {instance_words(entry)}: {how or 'the kind of failure is unknown'}. {when}",
            _owners_sentence(entry, "The saved query execution-errors-by-runtime shows each."),
        ),
        urgency=urgency,
        reason=reason,
        commands=(*commands, *commands_there(evidence, entry, PROCESSES))[
            :_MAX_COMMANDS_OF_FAILURE
        ],
        next_step=f"ask {owners_words(owners)} to check {look or 'the log of the process'}.",
    )


def _find_number(evidence: Evidence) -> AlarmSummary:
    alarm = evidence.subject
    value = number_in(evidence.rollup, alarm.metric)
    shown = "unknown" if value is None else amount(value)
    return AlarmSummary(
        headline=f"{alarm.title}: {alarm.metric} is {shown}",
        facts=(ROLLUP_NUMBERS[alarm.metric].meaning,),
        urgency=alarm.urgency,
    )


_FINDERS: Final = {
    SILENCE.metric: find_silence,
    HARDWARE.metric: find_hardware_errors,
    EXECUTION_ERRORS.metric: find_failed_executions,
}
"""Finders for alarms about failures, by metric. For any other metric, its value is the finding."""


def find_failure(evidence: Evidence) -> AlarmSummary:
    """Find what an alarm that is not about idle cores watches."""
    return _FINDERS.get(evidence.subject.metric, _find_number)(evidence)


def _urgency(evidence: Evidence, entry: JsonObject, failed: Amounts) -> tuple[Urgency, str]:
    """Return the urgency by share, kind and persistence of the failures, and the reason."""
    ended = number_in(entry, "Executions")
    errors = number_in(entry, "ExecutionErrors") or 0
    tried = sum(failed[kind] for kind in _NOT_ENDED) + (ended or 0)
    if ended is None or not tried or not any(failed.values()):
        return NOW, "the share of failed executions is unknown."
    share = min(100.0, 100 * errors / tried)
    reason = f"{share_words(share)} of the executions on this instance failed"
    if share >= _LITTLE_PERCENT:
        return NOW, f"{reason}."
    if failed[_NUMERICAL]:
        return TODAY, f"{reason}. Results with numerical errors may be in use."
    if evidence.published.minutes > _PERSISTENT_MINUTES:
        return TODAY, f"{reason}, and failures continue."
    return CAN_WAIT, f"{reason}. Callers can retry."


def _failing(evidence: Evidence, lists: Mapping[str, str]) -> tuple[float, str, _Failing]:
    """Return how much failed in the minute, in the hour, and on each instance, most first."""
    counts: dict[str, dict[str, float]] = defaultdict(dict)
    entries: dict[str, JsonObject] = {}
    for list_name, what in lists.items():
        for entry in entries_in(evidence.rollup, list_name):
            instance_id = text_in(entry, "InstanceId")
            entries.setdefault(instance_id, entry)
            counts[instance_id][what] = number_in(entry, FAILING[list_name]) or 0
    failing = []
    for instance_id, by_kind in counts.items():
        words = joined([counted(count, what) for what, count in by_kind.items()])
        entry = entries[instance_id]
        failing.append((entry, max(by_kind.values()), f"{instance_words(entry)}: {words}"))
    failing.sort(key=lambda item: -item[1])
    listed_total = sum(count for _, count, _ in failing)
    published = evidence.published
    total = max(listed_total, published.in_minute)
    in_hour = max(listed_total, published.in_hour)
    minutes = f" in {counted(published.minutes, 'minute')}" if published.minutes else ""
    return total, f"In the last hour: {amount(in_hour)}{minutes}.", failing


def _most_on(failing: _Failing, total: float) -> str:
    if not failing:
        return ""
    entry, count, _ = failing[0]
    if len(failing) > 1 and 2 * count <= total:
        return f", on {len(failing):,} instances"
    most = "most " if count < total else ""
    return f", {most}on {safe_name(text_in(entry, 'InstanceId')) or 'an instance'}"


def listed(words: Sequence[str], count: int) -> str:
    """Return the first of *words*, and how many more of *count* there are."""
    shown = words[:_MAX_INSTANCES_IN_MESSAGE]
    return joined(shown, count - len(shown), "; ") or "No instance is named"


def _owners_sentence(entry: JsonObject, several: str = "") -> str:
    """Return the owners on the first instance; *several* follows if it is unknown which failed."""
    owners = texts_in(entry, "Owners")
    shown = safe_name(text_in(entry, "InstanceId")) or "the instance"
    if not owners:
        return f"The owners on {shown} are unknown."
    words = joined([describe_owner(owner).words for owner in owners])
    if len(owners) == 1:
        return f"The only owner on {shown}: {words}."
    return f"Owners on {shown}: {words}. {several}".rstrip()
