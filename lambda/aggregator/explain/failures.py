"""The findings about what fails: silent instances, hardware, executions."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeAlias

from aggregator.explain.finding import (
    PROCESSES,
    AlarmFinding,
    commands_about,
    commands_there,
    describe_owner,
    instance_words,
)
from aggregator.rollups.sums import FAILING
from neuron_wire.catalogue import FAILURES
from neuron_wire.line_members import (
    NOTHING,
    JsonObject,
    entries_in,
    minute_in,
    number_in,
    text_in,
    texts_in,
)
from neuron_wire.owner_commands import ShownCommand, states_commands, tags_commands
from neuron_wire.phrases import amount, clock, counted, joined, safe_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aggregator.explain.evidence import Evidence

_LISTED: Final = 3  # instances
_MOST_IDS: Final = 5  # in one command
_LITTLE_PERCENT: Final = 10
_EMITTER: Final = ShownCommand("There, what runs", "pgrep -af neuron-")
_KERNEL: Final = ShownCommand("There, the driver", "sudo dmesg --ctime | grep NEURON_HW_ERR")
_NOT_ENDED: Final = ("ExecutionsTimedOut", "ExecutionsIncorrectInput", "ExecutionsFailedToQueue")
_Failing: TypeAlias = "list[tuple[JsonObject, str]]"
"""Instances, and what failed on each."""

_ADVICE: Final = {
    "ExecutionsTimedOut": "look for hardware errors of the instance, then restart the process.",
    "ExecutionsIncorrectInput": "look at what its callers deployed last.",
    "ExecutionsFailedToQueue": "look whether the process is overloaded or stuck.",
    "ExecutionsCompletedWithErr": "look for hardware errors of the instance, then at the process.",
    "ExecutionsCompletedWithNumErr": "stop the training: its numbers are wrong from here on.",
}


def find_silence(evidence: Evidence) -> AlarmFinding:
    """Which instances stopped reporting."""
    rollup, now = evidence.rollup, evidence.now.minute
    count, reporting = number_in(rollup, "SilentInstances"), number_in(rollup, "Instances")
    if not count:
        none = "No instance is silent now."
        return AlarmFinding(evidence.subject.title, facts=(none,), over=none)
    entries = entries_in(rollup, "SilentInstanceNames")
    ids = [text_in(entry, "InstanceId") for entry in entries]
    seen = [f"{instance_words(entry)} {_last_seen(entry, now)}" for entry in entries]
    others = "" if reporting is None else f"{counted(reporting, 'other')} still reporting. "
    return AlarmFinding(
        headline=f"{counted(count, 'instance')} stopped reporting without a clean shutdown",
        short=counted(count, "silent instance"),
        facts=(
            f"Last seen: {_listed(seen, int(count))}.",
            f"{others}What the silent ones do is unknown: in no idle count, and no cost.",
        ),
        urgency="Look now: a dead host took its work along. If all run, it can wait until morning.",
        commands=(
            *states_commands(ids[:_MOST_IDS], evidence.region),
            *commands_there(evidence, ids, _EMITTER),
        ),
        answer="replace a dead host. A dead emitter can wait: its spool sends what it kept.",
        over=f"Still {counted(count, 'silent instance')}.",
    )


def _last_seen(entry: JsonObject, now: int | None) -> str:
    minute = minute_in(entry, "LastSeen")
    return "at an unknown time" if minute is None else clock(minute, now)


def find_hardware_errors(evidence: Evidence) -> AlarmFinding:
    """Which instances have faults in their kernel log, or uncorrectable memory errors."""
    lists = {"FaultyInstances": "kernel fault", "EccInstances": "memory error"}
    total, in_hour, failing = _failing(evidence, "hardware error", lists)
    ids = [text_in(entry, "InstanceId") for entry, _ in failing]
    minute = evidence.now.minute
    before = "" if minute is None else f" from before {clock(minute, None)}"
    is_memory = bool(entries_in(evidence.rollup, "EccInstances"))
    harm = "its results may be wrong" if is_memory else "it may have failed, or hang"
    return AlarmFinding(
        headline=f"{total}{_most_on(failing)}",
        facts=(
            f"{_listed([words for _, words in failing], len(failing))}. {in_hour}",
            _owners_sentence(failing),
        ),
        urgency=f"Do not wait: a job on such a device goes on, and {harm}.",
        commands=(
            *commands_there(evidence, ids, _KERNEL),
            *tags_commands(ids[:_MOST_IDS], evidence.region),
        ),
        answer=f"no new work for it; stop the job and go back to a checkpoint{before}. Replace the"
        " instance if the driver says TERMINATE_INSTANCE.",
        over=f"Last: {total}. {in_hour}",
    )


def find_failed_executions(evidence: Evidence) -> AlarmFinding:
    """Which executions failed, how, and whose."""
    what = "failed execution"
    total, in_hour, failing = _failing(evidence, what, {"ErrorInstances": what})
    entry = failing[0][0] if failing else NOTHING
    failed = {kind: number_in(entry, kind) or 0 for kind in FAILURES}
    kinds = sorted(filter(failed.get, failed), key=lambda kind: -failed[kind])
    how = joined([f"{amount(failed[kind])} {FAILURES[kind]}" for kind in kinds])
    total += f", most {FAILURES[kinds[0]]}" if kinds else ""
    owners, ids = texts_in(entry, "Owners"), [text_in(entry, "InstanceId")]
    alone = describe_owner(owners[0]) if len(owners) == 1 else None
    commands = commands_about(evidence, ids, owners[0]) if alone else ()
    return AlarmFinding(
        headline=f"{total}, of {alone.words}" if alone else f"{total}{_most_on(failing)}",
        short=f"{total}, of {alone.short}" if alone else "",
        facts=(
            f"On {instance_words(entry)}: {how or 'how they failed is not told'}. {in_hour}",
            _owners_sentence(failing),
        ),
        urgency=_urgency(entry, failed),
        commands=(*commands, *commands_there(evidence, ids, PROCESSES))[:_LISTED],
        answer=_ADVICE[kinds[0]] if kinds else "look at the process.",
        over=f"Last: {total}. {in_hour}",
    )


def _urgency(entry: JsonObject, failed: Mapping[str, float]) -> str:
    """By the share of executions that failed, where the rollup has the kinds of failures."""
    ended, errors = number_in(entry, "Executions"), number_in(entry, "ExecutionErrors") or 0
    tried = sum(failed[kind] for kind in _NOT_ENDED) + (ended or 0)
    if ended is None or not tried or not any(failed.values()):
        return "Do not wait: which share of the executions failed is not told."
    share = min(100.0, 100 * errors / tried)
    can_wait = "Can wait if callers try again" if share < _LITTLE_PERCENT else "Do not wait"
    return f"{can_wait}: {amount(float(f'{share:.2g}'))} % of the executions there failed."


def _failing(evidence: Evidence, noun: str, lists: Mapping[str, str]) -> tuple[str, str, _Failing]:
    """How much failed in the minute and in the hour, and what on each instance, most first."""
    counts: dict[str, dict[str, float]] = defaultdict(dict)
    entries: dict[str, JsonObject] = {}
    for list_name, what in lists.items():
        for entry in entries_in(evidence.rollup, list_name):
            instance_id = text_in(entry, "InstanceId")
            entries.setdefault(instance_id, entry)
            counts[instance_id][what] = number_in(entry, FAILING[list_name]) or 0
    # What was published, or, by a release that did not publish this sum, what is listed.
    total = in_hour = sum(max(each.values()) for each in counts.values())
    if published := evidence.published:
        total, in_hour = max(total, published.in_minute), max(total, published.in_hour)
    failing = []
    for instance_id in sorted(counts, key=lambda instance_id: -max(counts[instance_id].values())):
        words = joined([counted(count, what) for what, count in counts[instance_id].items()])
        entry = entries[instance_id]
        failing.append((entry, f"{instance_words(entry)}: {words}"))
    hour = f"In the last hour: {amount(in_hour)}."
    return f"{counted(total, noun)} in one minute", hour, failing


def _most_on(failing: _Failing) -> str:
    if not failing:
        return ""
    return f", most on {safe_name(text_in(failing[0][0], 'InstanceId')) or 'an instance'}"


def _listed(words: list[str], count: int) -> str:
    shown = words[:_LISTED]
    return joined(shown, count - len(shown), "; ") or "No instance is named"


def _owners_sentence(failing: _Failing) -> str:
    """Whose the cores of the first instance are; of several owners it is not known which."""
    owners = texts_in(failing[0][0], "Owners") if failing else []
    if not owners:
        return "Whose its cores are is not told."
    words = joined([describe_owner(owner).words for owner in owners])
    if len(owners) == 1:
        return f"Only {words} had cores of it."
    return f"{words} had cores of it: runtime lines tell whose these were."
