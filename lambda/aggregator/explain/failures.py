"""The findings about what fails: silent instances, hardware, executions."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeAlias

from aggregator.explain.finding import AlarmFinding, Case, basis_of, instance
from aggregator.explain.members import Members
from aggregator.explain.whose import PROCESSES, commands_of, owner_of, present, shell_and
from aggregator.rollups.amounts import FAILING
from neuron_wire.catalogue import FAILURES
from neuron_wire.checked import texts_in
from neuron_wire.owner_commands import ShownCommand, states_command, tags_command
from neuron_wire.phrases import amount, clock, counted, joined

if TYPE_CHECKING:
    from collections.abc import Mapping

_LISTED: Final = 3  # instances
_MOST_IDS: Final = 5  # in one command
_LITTLE_PERCENT: Final = 10
_EMITTER: Final = ShownCommand("There, what runs", "pgrep -af neuron-")
_KERNEL: Final = ShownCommand("There, the driver", "sudo dmesg --ctime | grep NEURON_HW_ERR")
_NOT_ENDED: Final = ("ExecutionsTimedOut", "ExecutionsIncorrectInput", "ExecutionsFailedToQueue")
_Failing: TypeAlias = "list[tuple[Members, str]]"
"""Instances, and what failed on each."""

_ADVICE: Final = {
    "ExecutionsTimedOut": "look for hardware errors of the instance, then restart the process.",
    "ExecutionsIncorrectInput": "look at what its callers deployed last.",
    "ExecutionsFailedToQueue": "look whether the process is overloaded or stuck.",
    "ExecutionsCompletedWithErr": "look for hardware errors of the instance, then at the process.",
    "ExecutionsCompletedWithNumErr": "stop the training: its numbers are wrong from here on.",
}


def silence(case: Case) -> AlarmFinding:
    """Which instances stopped reporting."""
    count, reporting = case.rollup.number("SilentInstances"), case.rollup.number("Instances")
    if not count:
        none = "No instance is silent now."
        return AlarmFinding(case.subject.title, facts=(none,), over=none, basis=basis_of(case))
    entries = case.rollup.entries("SilentInstanceNames")
    ids = [one.raw("InstanceId") for one in entries]
    others = "" if reporting is None else f"{counted(reporting, 'other')} still reporting. "
    return AlarmFinding(
        headline=f"{counted(count, 'instance')} stopped reporting without a clean shutdown",
        short=counted(count, "silent instance"),
        facts=(
            f"Last seen: {_listed([_last_seen(case, one) for one in entries], int(count))}.",
            f"{others}What the silent ones do is unknown: in no idle count, and no cost.",
        ),
        urgency="Look now: a dead host took its work along. If all run, it can wait until morning.",
        commands=present(
            states_command(ids[:_MOST_IDS], case.region), *shell_and(_EMITTER, ids, case.region)
        ),
        answer="replace a dead host. A dead emitter can wait: its spool sends what it kept.",
        over=f"Still {counted(count, 'silent instance')}.",
        basis=basis_of(case),
    )


def _last_seen(case: Case, one: Members) -> str:
    minute = one.minute("LastSeen")
    at = "at an unknown time" if minute is None else clock(minute, case.now.minute)
    return f"{instance(one)} {at}"


def hardware_errors(case: Case) -> AlarmFinding:
    """Which instances have faults in their kernel log, or uncorrectable memory errors."""
    lists = {"FaultyInstances": "kernel fault", "EccInstances": "memory error"}
    total, in_hour, most = _failing(case, "hardware error", lists)
    ids = [one.raw("InstanceId") for one, _ in most]
    minute = case.now.minute
    before = "" if minute is None else f" from before {clock(minute, None)}"
    is_memory = bool(case.rollup.entries("EccInstances"))
    harm = "its results may be wrong" if is_memory else "it may have failed, or hang"
    return AlarmFinding(
        headline=f"{total}{_on(most)}",
        facts=(
            f"{_listed([said for _, said in most], len(most))}. {in_hour}",
            _owners_said(most),
        ),
        urgency=f"Do not wait: a job on such a device goes on, and {harm}.",
        commands=present(
            *shell_and(_KERNEL, ids, case.region), tags_command(ids[:_MOST_IDS], case.region)
        ),
        answer=f"no new work for it; stop the job and go back to a checkpoint{before}. Replace the"
        " instance if the driver says TERMINATE_INSTANCE.",
        over=f"Last: {total}. {in_hour}",
        basis=basis_of(case),
    )


def failed_executions(case: Case) -> AlarmFinding:
    """Which executions failed, how, and whose."""
    total, in_hour, most = _failing(
        case, "failed execution", {"ErrorInstances": "failed execution"}
    )
    entry = most[0][0] if most else Members()
    failed = {one: entry.number(one) or 0 for one in FAILURES}
    kinds = sorted((one for one in failed if failed[one]), key=lambda one: -failed[one])
    how = joined([f"{amount(failed[one])} {FAILURES[one]}" for one in kinds])
    total += f", most {FAILURES[kinds[0]]}" if kinds else ""
    owners, ids = _owners(entry), [entry.raw("InstanceId")]
    alone = owner_of(owners[0]) if len(owners) == 1 else None
    shown = commands_of(case, ids, owners[0]) if alone else ()
    return AlarmFinding(
        headline=f"{total}, of {alone.words}" if alone else f"{total}{_on(most)}",
        short=f"{total}, of {alone.short}" if alone else "",
        facts=(
            f"On {instance(entry)}: {how or 'how they failed is not told'}. {in_hour}",
            _owners_said(most),
        ),
        urgency=_urgency(entry, failed),
        commands=present(*shown, *shell_and(PROCESSES, ids, case.region))[:_LISTED],
        answer=_ADVICE[kinds[0]] if kinds else "look at the process.",
        over=f"Last: {total}. {in_hour}",
        basis=basis_of(case),
    )


def _urgency(entry: Members, failed: Mapping[str, float]) -> str:
    """By the share of executions that failed, where it is told how they did."""
    ended, errors = entry.number("Executions"), entry.number("ExecutionErrors") or 0
    tried = sum(failed[one] for one in _NOT_ENDED) + (ended or 0)
    if ended is None or not tried or not any(failed.values()):
        return "Do not wait: which share of the executions failed is not told."
    share = min(100.0, 100 * errors / tried)
    can_wait = "Can wait if callers try again" if share < _LITTLE_PERCENT else "Do not wait"
    return f"{can_wait}: {amount(float(f'{share:.2g}'))} % of the executions there failed."


def _failing(case: Case, noun: str, lists: Mapping[str, str]) -> tuple[str, str, _Failing]:
    """How much failed in the minute, and in the hour, and by instance what: the most first."""
    counts: dict[str, dict[str, float]] = defaultdict(dict)
    entries: dict[str, Members] = {}
    for list_name, what in lists.items():
        for one in case.rollup.entries(list_name):
            entries.setdefault(one.raw("InstanceId"), one)
            counts[one.raw("InstanceId")][what] = one.number(FAILING[list_name]) or 0
    # What was published, or, by a release that did not publish this sum, what is listed.
    total = in_hour = sum(max(each.values()) for each in counts.values())
    if published := case.evidence.published:
        total, in_hour = max(total, published.in_minute), max(total, published.in_hour)
    ranked = sorted(counts.items(), key=lambda pair: -max(pair[1].values()))
    found = [
        (entries[one], joined([counted(number, what) for what, number in each.items()]))
        for one, each in ranked
    ]
    minute, hour = f"{counted(total, noun)} in one minute", f"In the last hour: {amount(in_hour)}."
    return minute, hour, [(entry, f"{instance(entry)}: {what}") for entry, what in found]


def _on(most: _Failing) -> str:
    return f", most on {most[0][0].text('InstanceId')}" if most else ""


def _listed(said: list[str], count: int) -> str:
    shown = said[:_LISTED]
    return joined(shown, count - len(shown), "; ") or "No instance is named"


def _owners(entry: Members) -> list[str]:
    return texts_in(entry.given, "Owners")


def _owners_said(most: _Failing) -> str:
    """Whose the first instance is; of several nobody tells which."""
    owners = _owners(most[0][0]) if most else []
    if not owners:
        return "Whose its cores are is not told."
    words = joined([owner_of(one).words for one in owners])
    if len(owners) == 1:
        return f"Only {words} had cores of it."
    return f"{words} had cores of it: runtime lines tell whose these were."
