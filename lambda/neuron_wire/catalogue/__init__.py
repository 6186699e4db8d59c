"""
Every metric and every property by name: unit, family, source, meaning.

The one place where a name means something. What writes lines writes no other
(`undocumented` tells), and docs/reference/metrics.md is made from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from neuron_wire import names
from neuron_wire.catalogue import stack
from neuron_wire.catalogue.cores import CORE_COUNTS, EACH_CORE, HOLDERS, OWNERS
from neuron_wire.catalogue.events import EVENT_NAMES, EVENTS
from neuron_wire.catalogue.executions import EXECUTIONS, FAILURES, LATENCY
from neuron_wire.catalogue.health import HEALTH
from neuron_wire.catalogue.identity import IDENTITY
from neuron_wire.catalogue.member import EMITTED, INSTANCE_TIER, Family, Member, metrics
from neuron_wire.catalogue.messages import MESSAGES
from neuron_wire.catalogue.profiles import PROFILES
from neuron_wire.catalogue.reports import RAW_REPORTS, REPORTS
from neuron_wire.catalogue.resources import COMPUTE, ECC, FAULTS, HOST, MEMORY
from neuron_wire.catalogue.rollup_properties import ROLLUP_PROPERTIES
from neuron_wire.catalogue.rollups import (
    ALARMED,
    ROLLUP,
    ROLLUP_CHOICES,
    ROLLUP_METRICS,
    ROLLUP_NUMBERS,
    rollup_metrics,
)
from neuron_wire.catalogue.runtimes import RUNTIMES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = [
    "ALARMED",
    "CHOOSABLE",
    "ECC",
    "EMITTED",
    "EVENT_NAMES",
    "EXECUTIONS",
    "FAILURES",
    "HEALTH",
    "MEMBERS",
    "MINUTE",
    "MINUTE_BY_INSTANCE",
    "PROFILE",
    "READINGS",
    "ROLLUP",
    "ROLLUP_NUMBERS",
    "STACK",
    "SUBJECTS",
    "TAKEN",
    "Family",
    "Member",
    "members_of",
    "rollup_metrics",
    "undocumented",
]

SUBJECTS: Final[dict[str, tuple[Member, ...]]] = {
    "Identity": IDENTITY,
    "Cores": CORE_COUNTS,
    "Executions": EXECUTIONS,
    "Latency": LATENCY,
    "Compute": COMPUTE,
    "Memory": MEMORY,
    "Host and processes": HOST,
    "Memory errors (ECC)": ECC,
    "Hardware faults": FAULTS,
    "Emitter health": HEALTH,
    "Core by core": EACH_CORE,
    "Holders of idle cores": HOLDERS,
    "Owners of held cores": OWNERS,
    "Runtimes": RUNTIMES,
    "Events": EVENTS,
    "High-resolution reports": REPORTS,
    "Raw reports": RAW_REPORTS,
    "Rollups: metrics": ROLLUP_METRICS,
    "Rollups: other numbers": ROLLUP_CHOICES,
    "Rollups: properties": ROLLUP_PROPERTIES,
    "The stack on itself": stack.STACK_MEMBERS,
    "Profiles": PROFILES,
    "Messages": MESSAGES,
}
"""Every member, by what it is about."""

MEMBERS: Final = tuple(one for members in SUBJECTS.values() for one in members)

MINUTE: Final = metrics(MEMBERS, names.MINUTE)
"""The metrics of a minute line at `--metrics cluster`, dimension ClusterName."""

MINUTE_BY_INSTANCE: Final = {
    one.name: one for one in MEMBERS if names.MINUTE in one.kinds and one.tier == INSTANCE_TIER
}
"""Those that a minute line has besides at `--metrics instance` and `core`."""

_NO_CHOICE: Final = frozenset(
    {
        "ErrorsGeneric",  # junk in reports of 2023, absent in those of 2026
        "NeuronCoreUtilizationMore",  # the rest of NeuronCoreUtilization, for the stack
        "NeuronCoreUtilizationNC0",  # one name for the many of a tier of their own
    }
)

CHOOSABLE: Final = {
    one.name: one
    for one in MEMBERS
    if names.MINUTE in one.kinds
    and one.family in ("gauge", "tally")
    and "." not in one.name
    and one.name not in _NO_CHOICE
}
"""The gauges and tallies of a minute line, of which `--metric` makes metrics."""

READINGS: Final = {one.name: one for one in MEMBERS if one.merges}
"""The numbers of a minute line that need no field of a record, by name."""

STACK: Final = metrics(MEMBERS, "stack")
"""The metrics of what the stack says about itself: Neuron/Stack, dimension StackName."""

PROFILE: Final = metrics(MEMBERS, names.PROFILE)
"""What a profile says of one core: Neuron/Profile, by ClusterName and Model, and by Core."""

TAKEN: Final = frozenset(
    one.name for one in MEMBERS if "." not in one.name and set(one.kinds) & set(EMITTED)
) | {"_aws"}
"""Names at the root of the lines of an emitter: nobody else's member may have one of them."""

_NUMBERED: Final = re.compile(r"(NeuronCoreUtilizationNC)[0-9]+")


def members_of(kind: str) -> dict[str, Member]:
    """The members that may stand in lines of *kind*, by name."""
    return {one.name: one for one in MEMBERS if kind in one.kinds}


def undocumented(line: Mapping[str, object], tags: Collection[str] = ()) -> list[str]:
    """
    Members of *line* that the catalogue does not know for its Kind, in their order.

    *tags* are those that the operator adds. Members of objects in an array
    are named like `Holders.Pid`, at whatever depth.
    """
    known = members_of(str(line.get("Kind"))).keys() | set(tags) | {"_aws"}
    return [name for name in _paths(line) if _NUMBERED.sub(r"\g<1>0", name) not in known]


def _paths(line: Mapping[str, object]) -> Iterator[str]:
    for name, value in line.items():
        yield name
        if isinstance(value, list):
            inner = (one for one in value if isinstance(one, Mapping))
            yield from dict.fromkeys(f"{name}.{path}" for one in inner for path in _paths(one))
