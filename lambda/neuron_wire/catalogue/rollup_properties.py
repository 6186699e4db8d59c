"""What a rollup says beside its numbers: which it is, and the names behind them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from neuron_wire.catalogue.cores import HOLDERS, OWNERS
from neuron_wire.catalogue.executions import EXECUTIONS, FAILURES
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


def _label(name: str, source: str, folds: str, meaning: str, *, is_rare: bool = True) -> Member:
    return Member(name, "", "label", source, folds, meaning, _KIND, is_rare=is_rare)


def _gauge(
    name: str, unit: str, source: str, folds: str, meaning: str, *, read_with: str = ""
) -> Member:
    return Member(
        name, unit, "gauge", source, folds, meaning, _KIND, is_rare=True, read_with=read_with
    )


def _failing(name: str, member: str, what: str) -> tuple[Member, ...]:
    """A list of instances with the most of *what*, which *member* of the minute line counts."""
    return (
        _label(name, member, "most first, at most 20", f"Instances with {what} by name."),
        _label(f"{name}.InstanceId", "InstanceId", "as is", "The instance."),
        Member(
            f"{name}.{member}", "Count", "tally", member, "as is", f"Its {what}.", _KIND,
            is_rare=True,
        ),
        _label(f"{name}.Owners", "Owners.Name", "most cores first, at most 4, then [others]",
               "Who had cores of it; with several nobody tells whose these were."),
    )  # fmt: skip


ROLLUP_PROPERTIES: Final = (
    _label("RollupId", "stack", "cluster, minute and Publication",
           "Identity of the line; one repeated after a crash has the same.", is_rare=False),
    _label("Minute", "stack", "start of the minute", "The minute as ISO 8601 in UTC.",
           is_rare=False),
    Member("Publication", "Count", "gauge", "stack", "from 1",
           "How often the minute has been published: gauges are restated, tallies are what was "
           "lacking.", _KIND, read_with="Maximum"),
    Member("Records", "Count", "gauge", _RECORDS, "count", "Distinct records behind the numbers.",
           _KIND, read_with="Maximum"),
    _label("PricesAsOf", _PRICES, "date of the list",
           "Date of the list prices; absent where every price is an override."),
    _label("PriceRegions", "Region", "regions", "Regions whose list prices are in the amounts."),
    _label("PricesOverridden", "PriceOverrides", "those that apply, as TYPE or REGION/TYPE",
           "What is priced by PriceOverrides, not by the list."),
    _label("UnpricedTypes", "Region, InstanceType", "most cores first, at most 20",
           "What has no price and is in no amount, as REGION/TYPE."),
    _label("Types", "InstanceType", "most instances first, at most 20",
           "The instance types of those that reported."),
    _label("Types.InstanceType", "InstanceType", "as is", "The type."),
    *(
        replace(
            ROLLUP_NUMBERS[name], name=f"Types.{name}", meaning="The same of the type.", tier="",
            is_rare=True,
        )
        for name in OF_A_TYPE
    ),
    _gauge("TypesMore", "Count", "InstanceType", "types beyond 20, or not EC2's",
           "Instance types that are not in Types.", read_with="Maximum"),
    _label("TopIdleOwners", "Owners, else Holders",
           "most cost first, at most 20, together all idle cores",
           "Who has the idle cores, over all instances of the cluster."),
    _label("TopIdleOwners.Owner", "Owners.Name, else Holders.Name", "as is",
           "The owner; [unallocated] is nobody, [unnamed] processes without a name, [others] whom "
           "a line or this list has no room for, [not told] where a line does not say it."),
    _label("TopIdleOwners.Team", "Teams, else Owners.Team", "first rule that matches",
           "The owner's team, where it is known."),
    _gauge("TopIdleOwners.Cores", "Count", "CoreState, CoreIdleMinutes",
           "sum; a core of several is split evenly", "Its idle cores."),
    _gauge("TopIdleOwners.Instances", "Count", "InstanceId", "count; of [others] at most",
           "On how many instances they are."),
    _gauge("TopIdleOwners.HeldCores", "Count", "CoreState, Owners",
           "sum; a core of several is split evenly",
           "All cores that it holds or has reserved in the cluster; absent where it is no single "
           "owner, or a line leaves out owners. Of [not told] its held idle cores."),
    _gauge("TopIdleOwners.BusyCores", "Count", "CoreState, Owners",
           "sum; a core of several is split evenly",
           "Those of HeldCores that are busy: above 0 it uses part of what it holds."),
    _gauge("TopIdleOwners.ReservedCores", "Count", "Owners.Reserved",
           "sum; a core of several is split evenly",
           "Those of its idle cores that no process has opened; absent where there is none."),
    _gauge("TopIdleOwners.WhollyIdleMinutes", "Count", "Owners.QuietMinutes, CoreIdleMinutes",
           "smallest over its instances",
           "For how long nothing of it, or of its siblings, has worked; absent where it works, or "
           "not all is told.", read_with="Minimum"),
    Member("TopIdleOwners.Executions", "Count", "tally", "Owners.Executions", _SUM,
           "Its executions in the minute; absent where not all is told.", _KIND, is_rare=True),
    _gauge("TopIdleOwners.Siblings", "Count", "Owners.Name",
           "owners of one pod name without its ends, or of one ECS service",
           "Owners that may be of the same job, itself among them; absent where it has none."),
    _gauge("TopIdleOwners.IdleSiblings", "Count", "CoreState, Owners", "count",
           "Those of Siblings without a busy core and without an execution in the minute."),
    _gauge("TopIdleOwners.IdleMinutes", "Count", "CoreIdleMinutes", "greatest",
           "For how long the longest idle of them has not been busy.", read_with="Maximum"),
    _gauge("TopIdleOwners.UsdPerHour", "None", _PRICES, _SUM,
           "Price of those cores, USD per hour."),
    _gauge("TopIdleOwners.UnpricedCores", "Count", _PRICES, _SUM, "Those of them without a price."),
    _gauge("IdleOwnersLeftOut", "Count", "TopIdleOwners", "beyond 10,000 of a cluster",
           "Owners' sums that were added to [others] for lack of room, so a row may be too low."),
    _label("TopIdleInstances", "minute lines", "most idle cores first, at most 20",
           "Instances with idle cores by name."),
    _label("TopIdleInstances.InstanceId", "InstanceId", "as is", "The instance."),
    _label("TopIdleInstances.InstanceType", "InstanceType", "as is", "Its type."),
    _gauge("TopIdleInstances.NeuronCores", "Count", "NeuronCores", "as is", "All its cores."),
    _gauge("TopIdleInstances.BusyCores", "Count", "BusyCores", "as is", "Those that are busy."),
    Member("TopIdleInstances.Executions", "Count", "tally", "Executions", "as is",
           "Its executions in the minute: above 0 without a busy core it is little used.", _KIND,
           is_rare=True),
    _gauge("TopIdleInstances.IdleCores", "Count", "CoreState, CoreIdleMinutes", "count",
           "Its idle cores."),
    _label("TopIdleInstances.Cores", "CoreState, CoreIdleMinutes", "as is",
           "Which cores these are, such as 0-7,12."),
    _gauge("TopIdleInstances.IdleMinutes", "Count", "CoreIdleMinutes", "greatest",
           "For how long the longest idle of them has not been busy.", read_with="Maximum"),
    _gauge("TopIdleInstances.UsdPerHour", "None", _PRICES, "sum over its idle cores",
           "Price of those cores, USD per hour."),
    _label("TopIdleInstances.AttachedCores", "CoreState, CoreIdleMinutes", "letters a",
           "Those of Cores that a runtime holds."),
    *(replace(one, name=f"TopIdleInstances.{one.name}", kinds=_KIND) for one in HOLDERS),
    _label("TopIdleInstances.Owners", "Owners", "most idle cores first, at most 4",
           "Who has its idle cores."),
    *(
        replace(one, name=f"TopIdleInstances.{one.name}", kinds=_KIND, is_rare=True)
        for one in OWNERS
        if one.name in {"Owners.Cores", "Owners.Name", "Owners.Reserved", "Owners.Executions"}
    ),
    _label("TopIdleInstances.OwnersMore", "Owners, OwnersMore", "cores of the others",
           "Those of Cores that only owners beyond Owners have."),
    _label("TopIdleInstances.Given", "Given", "only unread",
           "There where nobody knows to whom its unattached cores are given."),
    _label("TopIdleInstances.CoreState", "CoreState", "as is", "The state of all its cores."),
    _gauge("TopIdleInstances.BusyUtilization", "Percent", "NeuronCoreUtilization",
           "mean over its busy cores", "Utilization of its busy cores, absent without any."),
    _gauge("TopIdleInstances.HostCpuPercent", "Percent", "HostCpuPercent", "as is",
           "Share of its vCPU time in use: without a busy core it may be compiling."),
    _label("SilentInstanceNames", _REGISTRY, "the latest first, at most 50",
           "Instances that stopped reporting by name."),
    _label("SilentInstanceNames.InstanceId", "InstanceId", "as is", "The instance."),
    _label("SilentInstanceNames.InstanceType", "InstanceType", "as is", "Its type."),
    _label("SilentInstanceNames.LastSeen", _REGISTRY, "last minute",
           "The last minute that it reported, ISO 8601 in UTC."),
    _label("StragglerInstances", "CoreState, NeuronCoreUtilization",
           "farthest behind first, at most 20", "Stragglers by name."),
    _label("StragglerInstances.InstanceId", "InstanceId", "as is", "The instance."),
    _label("StragglerInstances.InstanceType", "InstanceType", "as is", "Its type."),
    _gauge("StragglerInstances.BusyUtilization", "Percent", "NeuronCoreUtilization",
           "mean over its busy cores", "Utilization of its busy cores."),
    _gauge("StragglerInstances.TypeMedian", "Percent", "NeuronCoreUtilization",
           "median over the busy instances of its type in the cluster",
           "What an instance of its type usually reaches."),
    _label("DuplicateEmitterInstances", "Boot", "at most 50",
           "Instances on which two emitters report by name."),
    *_failing("EccInstances", "EccUncorrectedRise", "new uncorrectable memory errors"),
    *_failing("ErrorInstances", "ExecutionErrors", "failed executions"),
    *(
        replace(one, name=f"ErrorInstances.{one.name}", kinds=_KIND, folds="as is")
        for one in EXECUTIONS
        if one.name in {"Executions", *FAILURES}
    ),
    *_failing("FaultyInstances", "HardwareFaults", "hardware faults"),
    _label("TalliesOverstated", "stack", "by tally",
           "By how much the sum of what was published is above the total, which a late record "
           "lowered."),
)  # fmt: skip
