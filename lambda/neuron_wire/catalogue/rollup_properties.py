"""What a rollup says beside its numbers: which it is, and the names behind them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from neuron_wire.catalogue.member import Member
from neuron_wire.catalogue.rollups import ROLLUP_NUMBERS
from neuron_wire.names import ROLLUP

OF_A_TYPE: Final = (
    "Instances", "NeuronCores", "BusyCores", "AttachedIdleCores", "UnattachedCores",
    "NeuronCoreUtilization", "FlopsPercentOfBf16Peak",
)  # fmt: skip
"""The numbers that a rollup also has of each instance type."""

_KIND: Final = (ROLLUP,)
_SUM: Final = "sum over instances"
_RECORDS: Final = "minute lines"
_REGISTRY: Final = "registry of the stack"
_PRICES: Final = "list prices"


def _label(name: str, source: str, folds: str, meaning: str, *, is_rare: bool = False) -> Member:
    return Member(name, "", "label", source, folds, meaning, _KIND, is_rare=is_rare)


def _failing(name: str, member: str, what: str) -> tuple[Member, ...]:
    """A list of instances with the most of *what*, which *member* of the minute line counts."""
    return (
        _label(
            name, member, "most first, at most 20", f"Instances with {what} by name.", is_rare=True
        ),
        _label(f"{name}.InstanceId", "InstanceId", "as is", "The instance.", is_rare=True),
        Member(
            f"{name}.{member}", "Count", "tally", member, "as is", f"Its {what}.", _KIND,
            is_rare=True,
        ),
    )  # fmt: skip


ROLLUP_PROPERTIES: Final = (
    _label("RollupId", "stack", "cluster, minute and Publication",
           "Identity of the line; one repeated after a crash has the same."),
    _label("Minute", "stack", "start of the minute", "The minute as ISO 8601 in UTC."),
    Member("Publication", "Count", "gauge", "stack", "from 1",
           "How often the minute has been published: gauges are restated, tallies are what was "
           "lacking.", _KIND, read_with="Maximum"),
    Member("Records", "Count", "gauge", _RECORDS, "count", "Distinct records behind the numbers.",
           _KIND, read_with="Maximum"),
    _label("PricesAsOf", _PRICES, "date of the list",
           "Date of the list prices; absent where every price is an override.", is_rare=True),
    _label("PriceRegions", "Region", "regions", "Regions whose list prices are in the amounts.",
           is_rare=True),
    _label("PricesOverridden", "PriceOverrides", "those that apply, as TYPE or REGION/TYPE",
           "What is priced by PriceOverrides, not by the list.", is_rare=True),
    _label("UnpricedTypes", "Region, InstanceType", "most cores first, at most 20",
           "What has no price and is in no amount, as REGION/TYPE.", is_rare=True),
    _label("Types", "InstanceType", "most instances first, at most 20",
           "The instance types of those that reported.", is_rare=True),
    _label("Types.InstanceType", "InstanceType", "as is", "The type.", is_rare=True),
    *(
        replace(
            ROLLUP_NUMBERS[name], name=f"Types.{name}", meaning="The same of the type.", tier="",
            is_rare=True,
        )
        for name in OF_A_TYPE
    ),
    Member("TypesMore", "Count", "gauge", "InstanceType", "types beyond 20, or not EC2's",
           "Instance types that are not in Types.", _KIND, is_rare=True, read_with="Maximum"),
    _label("TopIdleOwners", "Owners, else Holders",
           "most cost first, at most 20, together all idle cores",
           "Who holds the idle cores, over all instances of the cluster.", is_rare=True),
    _label("TopIdleOwners.Owner", "Owners.Name, else Holders.Name", "as is",
           "The owner; [unallocated] is nobody, [unnamed] processes without a name, [others] whom "
           "a line or this list has no room for.", is_rare=True),
    _label("TopIdleOwners.Team", "Teams, else Owners.Team", "first rule that matches",
           "The owner's team, where it is known.", is_rare=True),
    Member("TopIdleOwners.Cores", "Count", "gauge", "CoreState, CoreIdleMinutes",
           "sum; a core of several is split evenly", "Its idle cores.", _KIND, is_rare=True),
    Member("TopIdleOwners.Instances", "Count", "gauge", "InstanceId", "count; of [others] at most",
           "On how many instances they are.", _KIND, is_rare=True),
    Member("TopIdleOwners.HeldCores", "Count", "gauge", "CoreState, Owners",
           "sum; a core of several is split evenly",
           "All cores that it holds in the cluster, idle or not; absent where it is no single "
           "owner, or a line leaves out owners.", _KIND, is_rare=True),
    Member("TopIdleOwners.BusyCores", "Count", "gauge", "CoreState, Owners",
           "sum; a core of several is split evenly",
           "Those of HeldCores that are busy: above 0 it uses part of what it holds.", _KIND,
           is_rare=True),
    Member("TopIdleOwners.IdleMinutes", "Count", "gauge", "CoreIdleMinutes", "greatest",
           "For how long the longest idle of them has not been busy.", _KIND, is_rare=True,
           read_with="Maximum"),
    Member("TopIdleOwners.UsdPerHour", "None", "gauge", _PRICES, _SUM,
           "Price of those cores, USD per hour.", _KIND, is_rare=True),
    Member("TopIdleOwners.UnpricedCores", "Count", "gauge", _PRICES, _SUM,
           "Those of them without a price.", _KIND, is_rare=True),
    Member("IdleOwnersLeftOut", "Count", "gauge", "TopIdleOwners", "beyond 10,000 of a cluster",
           "Owners' sums that were added to [others] for lack of room, so a row may be too low.",
           _KIND, is_rare=True),
    _label("TopIdleInstances", "minute lines", "most idle cores first, at most 20",
           "Instances with idle cores by name.", is_rare=True),
    _label("TopIdleInstances.InstanceId", "InstanceId", "as is", "The instance.", is_rare=True),
    _label("TopIdleInstances.InstanceType", "InstanceType", "as is", "Its type.", is_rare=True),
    Member("TopIdleInstances.NeuronCores", "Count", "gauge", "NeuronCores", "as is",
           "All its cores.", _KIND, is_rare=True),
    Member("TopIdleInstances.BusyCores", "Count", "gauge", "BusyCores", "as is",
           "Those that are busy.", _KIND, is_rare=True),
    Member("TopIdleInstances.Executions", "Count", "tally", "Executions", "as is",
           "Its executions in the minute: above 0 without a busy core it is little used.", _KIND,
           is_rare=True),
    Member("TopIdleInstances.IdleCores", "Count", "gauge", "CoreState, CoreIdleMinutes", "count",
           "Its idle cores.", _KIND, is_rare=True),
    _label("TopIdleInstances.Cores", "CoreState, CoreIdleMinutes", "as is",
           "Which cores these are, such as 0-7,12.", is_rare=True),
    Member("TopIdleInstances.IdleMinutes", "Count", "gauge", "CoreIdleMinutes", "greatest",
           "For how long the longest idle of them has not been busy.", _KIND, is_rare=True,
           read_with="Maximum"),
    Member("TopIdleInstances.UsdPerHour", "None", "gauge", _PRICES, "sum over its idle cores",
           "Price of those cores, USD per hour.", _KIND, is_rare=True),
    _label("TopIdleInstances.AttachedCores", "CoreState, CoreIdleMinutes", "letters a",
           "Those of Cores that a runtime holds.", is_rare=True),
    _label("TopIdleInstances.Holders", "Holders", "those of AttachedCores",
           "Runtimes that hold them, the most idle first.", is_rare=True),
    _label("TopIdleInstances.Holders.Cores", "Holders.Cores", "those of AttachedCores",
           "Which of AttachedCores it holds.", is_rare=True),
    _label("TopIdleInstances.Holders.Name", "Holders.Name", "as is",
           "Its owner, as Owner of a runtime line.", is_rare=True),
    _label("TopIdleInstances.Holders.Pid", "Holders.Pid", "as is",
           "Process id as neuron-monitor sees it.", is_rare=True),
    _label("TopIdleInstances.Holders.Tag", "Holders.Tag", "as is", "Its neuron_runtime_tag.",
           is_rare=True),
    _label("TopIdleInstances.Holders.Team", "Holders.Team", "as is", "The owner's team.",
           is_rare=True),
    _label("TopIdleInstances.Holders.LastExecution", "Holders.LastExecution", "as is",
           "The last minute in which it completed an execution.", is_rare=True),
    _label("TopIdleInstances.Holders.Gone", "Holders.Gone", "as is",
           "True when its pod or job is no longer there.", is_rare=True),
    Member("TopIdleInstances.HoldersMore", "Count", "gauge", "HoldersMore", "as is",
           "Runtimes beyond Holders that hold attached-idle cores of the instance.", _KIND,
           is_rare=True, read_with="Maximum"),
    _label("SilentInstanceNames", _REGISTRY, "the latest first, at most 50",
           "Instances that stopped reporting by name.", is_rare=True),
    _label("SilentInstanceNames.InstanceId", "InstanceId", "as is", "The instance.", is_rare=True),
    _label("SilentInstanceNames.InstanceType", "InstanceType", "as is", "Its type.", is_rare=True),
    _label("SilentInstanceNames.LastSeen", _REGISTRY, "last minute",
           "The last minute that it reported, ISO 8601 in UTC.", is_rare=True),
    _label("StragglerInstances", "CoreState, NeuronCoreUtilization",
           "farthest behind first, at most 20", "Stragglers by name.", is_rare=True),
    _label("StragglerInstances.InstanceId", "InstanceId", "as is", "The instance.", is_rare=True),
    _label("StragglerInstances.InstanceType", "InstanceType", "as is", "Its type.", is_rare=True),
    Member("StragglerInstances.BusyUtilization", "Percent", "gauge", "NeuronCoreUtilization",
           "mean over its busy cores", "Utilization of its busy cores.", _KIND, is_rare=True),
    Member("StragglerInstances.TypeMedian", "Percent", "gauge", "NeuronCoreUtilization",
           "median over the busy instances of its type in the cluster",
           "What an instance of its type usually reaches.", _KIND, is_rare=True),
    _label("DuplicateEmitterInstances", "Boot", "at most 50",
           "Instances on which two emitters report by name.", is_rare=True),
    *_failing("EccInstances", "EccUncorrectedRise", "new uncorrectable memory errors"),
    *_failing("ErrorInstances", "ExecutionErrors", "failed executions"),
    *_failing("FaultyInstances", "HardwareFaults", "hardware faults"),
    _label("TalliesOverstated", "stack", "by tally",
           "By how much the sum of what was published is above the total, which a late record "
           "lowered.", is_rare=True),
)  # fmt: skip
