"""The findings about what fails: silent instances, hardware, executions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from aggregator.explain import commands
from aggregator.explain.finding import (
    MAX_INSTANCES,
    AlarmFinding,
    Case,
    Step,
    and_more,
    instance,
    instances_of,
)
from aggregator.explain.subject import SILENCE
from aggregator.rollups.amounts import FAILING
from neuron_wire.phrases import amount, counted, joined, moment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aggregator.explain.members import Members


def silence(case: Case) -> AlarmFinding:
    """Which instances stopped reporting."""
    count = case.rollup.number("SilentInstances")
    if not count:
        sentence = "No instance is silent in the last rollup."
        return AlarmFinding(SILENCE.title, sentences=(sentence,), brief=(sentence,))
    entries = case.rollup.entries("SilentInstanceNames")
    reporting = case.rollup.number("Instances")
    others = "" if reporting is None else f"; {counted(reporting, 'other')} still reporting"
    listed = tuple(
        f"{instance(one)}: last seen {_last_seen(one)}" for one in entries[:MAX_INSTANCES]
    )
    silent = instances_of(entries)
    sentence = (
        f"{counted(count, 'instance')} stopped reporting and did not shut down cleanly{others}."
    )
    return AlarmFinding(
        figure=counted(count, "silent instance"),
        worst=f"Last: {silent[0]}" if silent else "",
        sentences=(
            sentence,
            "The state of their cores is unknown: they count neither as idle nor towards cost.",
        ),
        list_title="Latest first:",
        listed=and_more(listed, count - len(listed)),
        steps=(
            Step(
                "Check whether they are running. An instance stopped in EC2 drops out of "
                "the count after a few minutes.",
                commands.states(silent, case.region),
            ),
            Step(
                "If they are running, look on one of them:",
                (*commands.shell_on(silent, case.region), *commands.EMITTER),
            ),
        ),
        brief=(sentence,),
    )


def _last_seen(one: Members) -> str:
    start_ms = one.start_ms("LastSeen")
    return "at an unknown time" if start_ms is None else moment(start_ms)


def hardware_errors(case: Case) -> AlarmFinding:
    """Which instances have faults in their kernel log, or uncorrectable memory errors."""
    lists = {"FaultyInstances": "kernel fault", "EccInstances": "memory error"}
    found, hit = _failing(case, "hardware error", lists)
    doubt = "Results computed since then on devices with memory errors may be wrong."
    return replace(
        found,
        sentences=(
            *found.sentences,
            *([doubt] if case.rollup.entries("EccInstances") else []),
            "The query below shows the code and device of each fault, and the driver's advice.",
        ),
        steps=(
            Step(
                "Schedule no new work on the instance, and check its driver:",
                (*commands.shell_on(hit, case.region), *commands.HARDWARE),
            ),
            Step("Tell the owner of the instance:", commands.owners(hit, case.region)),
            Step(
                "If it advises TERMINATE_INSTANCE, replace the instance: stopping and "
                "starting it moves it to other hardware."
            ),
        ),
    )


def failed_executions(case: Case) -> AlarmFinding:
    """Which instances had executions that failed."""
    found, hit = _failing(case, "failed execution", {"ErrorInstances": "failed execution"})
    look = Step(
        "The query below shows how they failed. To find the process:",
        (*commands.shell_on(hit, case.region), *commands.RUNTIMES),
    )
    return replace(found, steps=(look,))


def _failing(
    case: Case, noun: str, lists: Mapping[str, str]
) -> tuple[AlarmFinding, tuple[str, ...]]:
    """How much failed, and on which instances: what each of *lists* of the rollup counts."""
    counts: dict[str, dict[str, float]] = defaultdict(dict)
    for name, what in lists.items():
        for one in case.rollup.entries(name):
            counts[one.text("InstanceId") or "an instance"][what] = one.number(FAILING[name]) or 0
    most = sorted(counts.items(), key=lambda one: max(one[1].values()), reverse=True)
    listed = tuple(
        f"{who}: {joined([counted(count, what) for what, count in each.items()])}"
        for who, each in most[:MAX_INSTANCES]
    )
    # What was published, or, by a release that did not publish this sum, what is listed.
    total = in_hour = sum(max(each.values()) for each in counts.values())
    if published := case.evidence.published:
        total, in_hour = max(total, published.in_minute), max(total, published.in_hour)
    hit = tuple(who for who, _ in most[:MAX_INSTANCES])
    sentence = f"{counted(total, noun)} in one minute, {amount(in_hour)} in the last hour."
    found = AlarmFinding(
        figure=f"{counted(total, noun)} in a minute",
        worst=f"Most: {hit[0]}" if hit else "",
        sentences=(sentence,),
        list_title="Most errors in that minute first:",
        listed=and_more(listed, len(most) - len(listed)),
        brief=(f"Last occurrence: {sentence}",),
    )
    return found, hit
