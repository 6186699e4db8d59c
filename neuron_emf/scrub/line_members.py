"""
What may stay of a log line: the members of the catalogue.

Numbers stay. Text stays where the table below says so, and then only in the form
it says; every other text, and every member that the catalogue will gain, gets
another name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from neuron_emf.scrub.report_members import (
    INSTANCE_TYPE,
    REGION,
    REPORT,
    TAG,
    VERSION,
    ZONE,
)
from neuron_emf.scrub.shapes import MESSAGE, NAME, NUMBER, Each, Keyed, Members, Shape, Text
from neuron_wire.catalogue import EVENT_NAMES, MEMBERS
from neuron_wire.names import MAX_CORES

if TYPE_CHECKING:
    from collections.abc import Iterable

_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]{5,15}(?:Z|[+-][0-9:]{4,6})?)?")
_WORD: Final = re.compile(r"[a-z-]{1,24}")
_CODE: Final = re.compile(r"[A-Z_0-9]{1,64}")
_PLACE: Final = re.compile(r"[a-z_0-9.\[\]]{1,80}")
_PRICED: Final = re.compile(
    rf"(?:(?:{REGION.kept.pattern})/)?(?:{INSTANCE_TYPE.kept.pattern}|unknown type)"
)

_TEXTS: Final[dict[str, Shape]] = {
    "Action": Text(_CODE),
    "AvailabilityZone": ZONE,
    "Boot": Text(re.compile(r"[0-9A-Za-z.-]{1,64}")),
    "Cause": Text(_WORD),
    "CoreState": Text(re.compile(r"[bau?]{1,1024}")),
    "Cores": Text(re.compile(r"[0-9,-]{1,4000}")),
    "Counter": Text(_PLACE),
    "Error": MESSAGE,
    "Event": Text(re.compile("|".join(map(re.escape, EVENT_NAMES)))),
    "Fault": Text(_CODE),
    "Group": Text(_PLACE),
    "InstanceType": INSTANCE_TYPE,
    "KernelMessage": MESSAGE,
    "Kind": Text(_WORD),
    "LastSeen": Text(_TIME),
    "Lifecycle": Text(_WORD),
    "Message": MESSAGE,
    "Minute": Text(_TIME),
    "NeuronCoreVersion": VERSION,
    "NeuronDeviceVersion": VERSION,
    "Paid": Text(_WORD),
    "PhysicalCores": Text(re.compile(r"[0-9,-]{1,4000}")),
    "PriceRegions": REGION,
    "PricesAsOf": Text(_TIME),
    "PricesOverridden": Text(_PRICED),
    "Reason": Text(re.compile(r"start|change|error|hourly|all")),
    "Region": REGION,
    "Report": REPORT,
    "RollupId": Text(tail=re.compile(r"@[0-9T:Z-]{16,25}#[0-9]+(?:/[a-z0-9.-]+)?$")),
    "RuntimeTag": TAG,
    "Stderr": MESSAGE,
    "Tag": TAG,
    "TalliesOverstated": Keyed(NUMBER, re.compile(r"[A-Za-z]{1,40}")),
    "UnpricedTypes": Text(_PRICED),
    "instance_type": INSTANCE_TYPE,
}
"""Texts that say nothing about anybody, by the last part of the member's name."""

_TEXTS["AttachedCores"] = _TEXTS["OwnersMore"] = _TEXTS["Cores"]
_TEXTS["LastExecution"] = _TEXTS["Minute"]


def _shape(path: str, families: dict[str, str]) -> Shape:
    children = [name for name in families if name.rpartition(".")[0] == path]
    if children:
        return Each(_members(children, families))
    name = path.rpartition(".")[2]
    return _TEXTS.get(name, NAME) if families[path] == "label" else NUMBER


def _members(paths: Iterable[str], families: dict[str, str]) -> Members:
    return Members({path.rpartition(".")[2]: _shape(path, families) for path in paths})


def _line() -> Members:
    families: dict[str, str] = {}
    for member in MEMBERS:
        # Of a name with two meanings the text decides: a number is kept as text's place, too.
        if families.get(member.name) != "label":
            families[member.name] = member.family
    shapes = dict(_members([name for name in families if "." not in name], families).by_name)
    shapes |= {f"NeuronCoreUtilizationNC{index}": NUMBER for index in range(MAX_CORES)}
    known = Text(re.compile("|".join(map(re.escape, shapes))))
    metric = Members(
        {"Name": known, "Unit": Text(re.compile(r"[A-Za-z/]{1,20}")), "StorageResolution": NUMBER}
    )
    directive = Members(
        {
            "Namespace": Text(re.compile(r"Neuron(?:/[A-Z][a-z]+)?")),
            "Dimensions": Each(Each(known)),
            "Metrics": Each(metric),
        }
    )
    shapes["_aws"] = Members({"Timestamp": NUMBER, "CloudWatchMetrics": Each(directive)})
    return Members(shapes)


LINE: Final = _line()
