"""The findings about what fails: silent instances, memory errors, hardware faults, executions."""

from __future__ import annotations

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
from neuron_wire.phrases import amount, counted, moment

if TYPE_CHECKING:
    from collections.abc import Callable

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
        instances=silent,
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
    minute_s = one.minute_s("LastSeen")
    return "at an unknown time" if minute_s is None else moment(1000 * minute_s)


def memory_errors(case: Case) -> AlarmFinding:
    """Which instances had uncorrectable memory errors."""
    listed, hit = _most(case, "EccInstances", lambda count: counted(count, "new error"))
    rise, in_hour = _amounts(case, "EccUncorrectedRise")
    sentence = f"{counted(rise, 'new uncorrectable memory error')} in one minute{in_hour}."
    return AlarmFinding(
        figure=counted(rise, "uncorrectable memory error"),
        worst=f"On {hit[0]}" if hit else "",
        sentences=(sentence, "Results computed on these devices since then may be wrong."),
        list_title="Most errors in that minute first:",
        listed=listed,
        instances=hit,
        steps=_set_aside(case, hit, commands.ECC),
        brief=(f"Last occurrence: {sentence}",),
    )


def hardware_faults(case: Case) -> AlarmFinding:
    """Which instances have devices that their kernel log calls broken."""
    listed, hit = _most(case, "FaultyInstances", lambda count: counted(count, "fault"))
    count, in_hour = _amounts(case, "HardwareFaults")
    sentence = f"Kernel logs reported {counted(count, 'hardware fault')} in one minute{in_hour}."
    return AlarmFinding(
        figure=counted(count, "hardware fault"),
        worst=f"On {hit[0]}" if hit else "",
        sentences=(
            sentence,
            "The query below shows the device and the action that the driver recommends.",
        ),
        list_title="Most faults in that minute first:",
        listed=listed,
        instances=hit,
        steps=(
            *_set_aside(case, hit, commands.FAULTS),
            Step(
                "If it recommends TERMINATE_INSTANCE, replace the instance: stopping and "
                "starting it moves it to other hardware."
            ),
        ),
        brief=(f"Last occurrence: {sentence}",),
    )


def failed_executions(case: Case) -> AlarmFinding:
    """Which instances had executions that failed."""
    listed, hit = _most(case, "ErrorInstances", lambda count: f"{amount(count)} failed")
    failed, in_hour = _amounts(case, "ExecutionErrors")
    sentence = f"{counted(failed, 'execution')} failed in one minute{in_hour}."
    return AlarmFinding(
        figure=f"{counted(failed, 'failed execution')} in a minute",
        worst=f"Most: {hit[0]}" if hit else "",
        sentences=(sentence,),
        list_title="Most failures in that minute first:",
        listed=listed,
        instances=hit,
        steps=(
            Step(
                "The query below shows how they failed. To find the process:",
                (*commands.shell_on(hit, case.region), *commands.RUNTIMES),
            ),
        ),
        brief=(f"Last occurrence: {sentence}",),
    )


def _set_aside(case: Case, hit: tuple[str, ...], look: tuple[str, ...]) -> tuple[Step, Step]:
    """No new work for the instances that were *hit*; *look* are the commands on one of them."""
    return (
        Step(
            "Schedule no new work on the instance, and check its driver:",
            (*commands.shell_on(hit, case.region), *look),
        ),
        Step("Tell the owner of the instance:", commands.owners(hit, case.region)),
    )


def _most(
    case: Case, name: str, say: Callable[[float], str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The list *name* of the rollup, a line an instance, and the names it begins with."""
    entries = case.rollup.entries(name)
    listed = tuple(
        f"{instance(one)}: {say(one.number(FAILING[name]) or 0)}" for one in entries[:MAX_INSTANCES]
    )
    return and_more(listed, len(entries) - len(listed)), instances_of(entries)


def _amounts(case: Case, metric: str) -> tuple[float, str]:
    """How many in the minute of the rollup, and as text how many in the last hour."""
    published = case.evidence.published
    if published is None:
        return case.rollup.number(metric) or 0, ""
    return published.in_minute, f", {amount(published.in_hour)} in the last hour"
