"""
What lines say where only teams are named (`--attribution team`): nothing that names a person.

Names of pods, jobs, units and processes, tags of runtimes, the instance's tag Name and texts of
other programs are other people's words, and often their names. A namespace, a Slurm account and
the tag `team` of an ECS task name a team. What the operator gave, such as `--tag`, stays.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from msgspec import structs

from neuron_wire.owners import TEAM_OWNER

if TYPE_CHECKING:
    from emitter.events import Event
    from emitter.reports.report import Report

_ERROR: Final = "Error"
_TEXTS: Final = frozenset({_ERROR, "KernelMessage", "Stderr"})
"""Details of events that other programs wrote."""


def team_name(team: str | None) -> str | None:
    """The name that stands for an owner: `team:ml`; None where it has no *team*."""
    return f"{TEAM_OWNER}{team}" if team else None


def without_names(report: Report) -> Report:
    """*report* without tags of runtimes and the instance's name; its pods the fold needs."""
    runtimes, info = report.neuron_runtime_data, report.instance_info
    if runtimes is not None:
        runtimes = [structs.replace(runtime, neuron_runtime_tag=None) for runtime in runtimes]
    if info is not None:
        info = structs.replace(info, instance_name=None)
    return structs.replace(report, neuron_runtime_data=runtimes, instance_info=info)


def without_texts(event: Event) -> Event:
    """*event* without what other programs wrote, which the log on the instance has."""
    details = {name: detail for name, detail in event.details.items() if name not in _TEXTS}
    message = event.message
    if error := event.details.get(_ERROR):
        message = message.removesuffix(f": {error}")
    return replace(event, message=message, details=details)
