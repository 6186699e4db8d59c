"""Alarms and their rollups: a scene for each golden file of a message."""

from __future__ import annotations

import copy
import json

from neuron_wire.line_members import iso_minute
from tests.aggregator.explain.alarm_events import (
    ALARM_MINUTE,
    OVER_AT,
    of_a_contributor,
    of_an_alarm,
    rollup,
    state,
    table_with,
)

FIRST = "i-0c3f5a7b9d1e2f4a6"
SECOND = "i-0a1b2c3d4e5f60718"
BIG = "trn1.32xlarge"
SMALL = "inf2.xlarge"
FILLED_REASON = (
    "Threshold Crossed: 2 out of the last 15 datapoints were greater than or equal to the threshold"
    " (20.0) and 13 missing datapoints were treated as [NonBreaching]."
)
GONE_REASON = "No data was returned for this contributor"
ENDED_STATES = {
    "now": state("OK", OVER_AT, "Threshold Crossed: 6 of 15."),
    "before": state("ALARM"),
}
NO_DATA_STATES = {"now": state("INSUFFICIENT_DATA", OVER_AT, "No data."), "before": state("ALARM")}


HOUR_AGO = iso_minute(ALARM_MINUTE - 64)


def row(owner, cores, usd, **members):
    """Return idle cores of an owner that is fully idle for an hour, unless *members* differ."""
    quiet = {"FullyIdleMinutes": 61, "Executions": 0, "BusyCores": 0, "AllocatedCores": cores}
    own = {} if owner.startswith("[") else quiet
    usual = {"Cores": cores, "Instances": 1, "IdleMinutes": 62, "UsdPerHour": usd}
    return {"Owner": owner, **usual, **own, "UnpricedCores": 0, **members}


def entry(states, usd, instance_id=FIRST, instance_type=BIG, **members):
    """
    Return an instance with cores in these states; cores that are not busy are idle for an hour.
    """
    idle = [core for core, letter in enumerate(states) if letter in "au"]
    attached = [core for core in idle if states[core] == "a"]
    return {
        "InstanceId": instance_id,
        "InstanceType": instance_type,
        "NeuronCores": len(states),
        "BusyCores": states.count("b"),
        "Executions": 0,
        "IdleCores": len(idle),
        "Cores": ranges(idle),
        "IdleMinutes": 62,
        "UsdPerHour": usd,
        "CoreState": states,
        "HostCpuPercent": 0.2,
        **({"AttachedCores": ranges(attached)} if attached else {}),
        **members,
    }


def held(cores, name, **holder):
    """Return an owner of *cores* that executes nothing, and its process *holder*."""
    return {
        "Owners": [{"Cores": cores, "Name": name, "Executions": 0}],
        "Holders": [{"Cores": cores, "Name": name, **holder}],
    }


def stoppable(usd, allocated_usd):
    """Return members of a rollup with an instance that costs *usd* and can be released."""
    return {
        "AvoidableCostPerHour": usd,
        "AvoidableAllocatedCostPerHour": allocated_usd,
        "FullyIdleInstances": 1,
    }


def ranges(cores):
    """Return one range of cores without a gap."""
    return f"{cores[0]}-{cores[-1]}" if len(cores) > 1 else f"{cores[0]}"


def of(rows, *entries, **members):
    """Return a rollup with these idle cores."""
    idle, usd = (sum(row.get(name, 0) for row in rows) for name in ("Cores", "UsdPerHour"))
    return rollup(
        IdleCores=idle,
        IdleCorePercent=100 * idle / 128,
        IdleCostPerHour=usd,
        SharedCostPerHour=usd,
        TopIdleOwners=rows,
        TopIdleInstances=list(entries),
        IdleInstanceCount=len(entries),
        **members,
    )


def waiting(*, gone):
    """Return a core reserved for `ml/trainer-b-0` that a process of `ml/trainer-a-0` holds."""
    process = {
        "Pid": 4242,
        "Tag": "1",
        "Started": iso_minute(ALARM_MINUTE - 300),
        "Command": "python3",
        "LastExecution": HOUR_AGO,
        "AssignedTo": "ml/trainer-b-0/train",
        **({"Gone": True} if gone else {}),
    }
    return of(
        [row("ml/trainer-a-0/train", 2, 0.76, Team="ml"), row("slurm:4711 ada", 32, 21.5)],
        entry("a" * 32, 21.5, SECOND),
        entry(
            "aa",
            0.76,
            FIRST,
            SMALL,
            **held("0-1", "ml/trainer-a-0/train", **process),
        ),
    )


JOB_ROLLUP = of(
    [
        row("slurm:4711 ml-user", 32, 21.5, Team="ml"),
        row("[unallocated]", 10, 6.71875),
        row("unit:jupyter-ada", 8, 5.375, AllocatedCores=24, BusyCores=16, FullyIdleMinutes=None),
    ],
    entry(
        "a" * 32,
        21.5,
        HostCpuPercent=19.5,
        **held(
            "0-31",
            "slurm:4711 ml-user",
            Pid=4711,
            Tag="1",
            LastExecution=iso_minute(ALARM_MINUTE - 62),
        ),
    ),
    **stoppable(21.5, 21.5),
)
PART_ROLLUP = of(
    [
        row(
            "unit:jupyter-ada",
            8,
            5.375,
            AllocatedCores=24,
            BusyCores=16,
            Executions=52_076,
            FullyIdleMinutes=None,
        )
    ],
    entry(
        "b" * 16 + "a" * 16,
        5.375,
        Executions=52_076,
        BusyUtilization=77.2,
        Cores="16-23",
        AttachedCores="16-23",
        IdleCores=8,
        Owners=[{"Cores": "0-23", "Name": "unit:jupyter-ada", "Executions": 52_076}],
        Holders=[
            {
                "Cores": "16-23",
                "Name": "unit:jupyter-ada",
                "Pid": 4242,
                "LastExecution": iso_minute(ALARM_MINUTE - 100),
            }
        ],
    ),
)
RESERVED_ROLLUP = of(
    [row("ml/trainer-0/train", 2, 0.7582, Team="ml", ReservedCores=2)],
    entry("uu", 0.7582, FIRST, SMALL, Owners=[{"Reserved": "0-1", "Name": "ml/trainer-0/train"}]),
    **stoppable(0.7582, 0.7582),
)
FREE_ROLLUP = of(
    [row("[unallocated]", 32, 21.5)],
    entry("u" * 32, 21.5, HostCpuPercent=0.82),
    **stoppable(21.5, 0),
)
ALLOCATION_UNKNOWN_ROLLUP = of(
    [row("[not reported]", 2, 0.7582, AllocatedCores=0)],
    entry("uu", 0.7582, FIRST, SMALL, Reservations="unknown"),
)
UNNAMED = of(
    [row("[unnamed]", 4, 2.6875)],
    entry(
        "a" * 4 + "b" * 28,
        2.6875,
        Executions=7,
        Owners=[{"Cores": "0-3", "Name": "[unnamed]", "Executions": 0}],
        Holders=[
            {
                "Cores": "0-3",
                "Pid": 777,
                "Tag": "eval",
                "Command": "python3",
                "Started": iso_minute(ALARM_MINUTE - 1500),
            }
        ],
    ),
)
PROCESS = of(
    [row("process:python3 ada", 32, 21.5)],
    entry(
        "a" * 32,
        21.5,
        Region="us-west-2",
        **held(
            "0-31",
            "process:python3 ada",
            Pid=777,
            Command="python3",
            Started=iso_minute(ALARM_MINUTE - 500),
            LastExecution=iso_minute(ALARM_MINUTE - 62),
        ),
    ),
    **stoppable(21.5, 21.5),
)
"""A process that no scheduler started, on an instance of another region than the alarm's."""
LEFT = of(
    [row("ml/eval-0/run", 4, 2.6875, Team="ml")],
    entry(
        "a" * 4 + "b" * 28,
        2.6875,
        **held(
            "0-3",
            "ml/eval-0/run",
            Pid=777,
            Gone=True,
            LastExecution=iso_minute(ALARM_MINUTE - 180),
        ),
    ),
)
UNPRICED_ROLLUP = rollup(
    UnknownCores=12,
    UnpricedCores=64,
    UnpricedIdleCores=4,
    UnpricedTypes=["us-east-2/trn2.48xlarge"],
    PricesOverridden=["trn1.32xlarge"],
    AvoidableCostPerHour=10.75,
    SharedCostPerHour=8.0625,
    CommittedCostPerHour=5.375,
    FullyIdleInstances=1,
    TopIdleOwners=[
        row("ml/llama-70b-0", 16, 10.75, Team="ml"),
        row("[unallocated]", 16, 10.75),
        row("[unnamed]", 4, 2.6875, UnpricedCores=4),
    ],
)
OLDER = rollup(
    TopIdleInstances=[{"InstanceId": SECOND, "IdleCores": 1, "Cores": "7", "IdleMinutes": 15}],
    IdleCostPerHour=None,
    PricesAsOf=None,
    PriceRegions=None,
    TopIdleOwners=None,
    AvoidableCostPerHour=None,
    AvoidableAllocatedCostPerHour=None,
    SharedCostPerHour=None,
    CommittedCostPerHour=None,
    FullyIdleInstances=None,
)
"""An alarm of a stack whose rollups had neither owners nor prices."""
ALL_BUSY = rollup(
    NeuronCoreUtilization=5.2,
    IdleCores=0,
    IdleCorePercent=0,
    IdleCostPerHour=0,
    BusyCores=128,
    AttachedIdleCores=0,
    UnattachedCores=0,
    TopIdleOwners=None,
    TopIdleInstances=None,
    IdleInstanceCount=0,
    SharedCostPerHour=0,
    Stragglers=1,
    StragglerInstances=[
        {"InstanceId": SECOND, "InstanceType": BIG, "BusyUtilization": 1.5, "TypeMedian": 6.25}
    ],
)
SILENT_ROLLUP = rollup(
    Instances=2,
    SilentInstances=10,
    TopIdleInstances=None,
    SilentInstanceNames=[
        *(
            {
                "InstanceId": f"i-0{minutes - 6:016x}",
                "InstanceType": BIG,
                "LastSeen": iso_minute(ALARM_MINUTE - minutes),
            }
            for minutes in range(6, 15)
        ),
        {"InstanceId": "host-7c9e6679", "LastSeen": iso_minute(ALARM_MINUTE - 20)},
    ],
)
FORGOTTEN = rollup(
    Instances=0,
    SilentInstances=1,
    TopIdleInstances=None,
    SilentInstanceNames=[
        {"InstanceId": FIRST, "InstanceType": BIG, "LastSeen": iso_minute(ALARM_MINUTE - 60)}
    ],
)
"""The last minute in which the stack counts an instance that stopped reporting."""
CAME_BACK = rollup(
    SilentInstances=1,
    SilentInstanceNames=[
        {"InstanceId": SECOND, "InstanceType": BIG, "LastSeen": iso_minute(ALARM_MINUTE - 9)}
    ],
)
ECC_ROLLUP = rollup(
    minute=ALARM_MINUTE - 1,
    EccUncorrectedRise=3,
    EccInstances=[
        {"InstanceId": SECOND, "EccUncorrectedRise": 2},
        {"InstanceId": "i-0d4e6f8091a2b3c4d", "EccUncorrectedRise": 1},
    ],
)
TWO_PODS = ["ml/train-0/main", "ml/train-1/main"]
HARDWARE_ROLLUP = {
    **ECC_ROLLUP,
    "HardwareErrors": 7,
    "HardwareFaults": 5,
    "FaultyInstances": [
        {"InstanceId": FIRST, "HardwareFaults": 4, "Owners": TWO_PODS},
        {"InstanceId": SECOND, "HardwareFaults": 1},
    ],
}
FAILED_INSTANCE = {
    "InstanceId": FIRST,
    "ExecutionErrors": 1_204,
    "Executions": 80,
    "ExecutionsTimedOut": 1_180,
    "ExecutionsIncorrectInput": 24,
    "Owners": ["ecs:search/live/server"],
}
ERRORS = rollup(ExecutionErrors=1_204, ErrorInstances=[FAILED_INSTANCE])
SOME_ERRORS = rollup(
    ExecutionErrors=24,
    ErrorInstances=[
        {
            "InstanceId": FIRST,
            "ExecutionErrors": 24,
            "Executions": 9_976,
            "ExecutionsIncorrectInput": 24,
            "Owners": ["ml/a-0/run", "ml/b-0/run"],
        }
    ],
)
NUMERICAL_ROLLUP = rollup(
    ExecutionErrors=26,
    ErrorInstances=[
        {
            "InstanceId": FIRST,
            "ExecutionErrors": 26,
            "Executions": 10_000,
            "ExecutionsCompletedWithNumErr": 13,
            "ExecutionsTimedOut": 13,
            "Owners": ["ecs:search/live/server"],
        }
    ],
)
"""An inference service with 0.26 % failures, half of them numerical errors."""
LATER = ALARM_MINUTE + 47
ALMOST_NONE = rollup(minute=LATER, IdleCores=2, IdleCorePercent=1.5625)
UNKNOWN_ROLLUP = rollup(IdleCores=None, IdleCorePercent=None)
MUTED = {"mutedByArn": "arn:aws:cloudwatch:us-east-1:123456789012:alarm-mute-rule:load-test"}
OVER_AND_FILLED = {**ENDED_STATES, "now": state("OK", OVER_AT, FILLED_REASON)}

# The event, the rollup or None, the kept rollup that it is, the last rollup with silent instances.
_SCENES_BY_NAME = {
    "idle-cores": (of_an_alarm(), JOB_ROLLUP),
    "idle-cores-of-a-contributor": (of_a_contributor(), rollup()),
    "idle-cores-in-use": (of_an_alarm(), PART_ROLLUP),
    "idle-cores-reserved": (of_an_alarm(), RESERVED_ROLLUP),
    "idle-cores-unallocated": (of_an_alarm(), FREE_ROLLUP),
    "idle-cores-allocation-unknown": (of_an_alarm(), ALLOCATION_UNKNOWN_ROLLUP),
    "idle-cores-unnamed": (of_an_alarm(), UNNAMED),
    "idle-cores-of-a-gone-pod": (of_an_alarm(), LEFT),
    "idle-cores-unpriced": (of_an_alarm(), UNPRICED_ROLLUP),
    "idle-cores-of-an-older-stack": (of_an_alarm(), OLDER),
    "idle-cores-over": (of_an_alarm(**ENDED_STATES), ALMOST_NONE),
    "idle-cores-over-without-data": (of_an_alarm(**OVER_AND_FILLED), rollup()),
    "idle-cores-of-a-process": (of_an_alarm(), PROCESS),
    "idle-cores-over-and-gone": (of_a_contributor(now=state("OK", OVER_AT, GONE_REASON)), rollup()),
    "idle-cores-no-data": (of_an_alarm(**NO_DATA_STATES), rollup()),
    "idle-cores-old": (of_an_alarm(), rollup(minute=ALARM_MINUTE - 90)),
    "idle-cores-no-rollup": (of_an_alarm(), None),
    "idle-cores-no-core-known": (of_an_alarm(), UNKNOWN_ROLLUP),
    "idle-cores-muted": (
        of_a_contributor(now=state("OK", OVER_AT), muteDetail=MUTED),
        rollup(minute=LATER),
    ),
    "low-utilization": (of_an_alarm("NeuronCoreUtilization"), ALL_BUSY),
    "silent-instances": (of_an_alarm("SilentInstances"), SILENT_ROLLUP),
    "silent-instances-over": (
        of_an_alarm("SilentInstances", **ENDED_STATES),
        rollup(minute=LATER),
        "minute",
        CAME_BACK,
    ),
    "silent-instances-over-and-forgotten": (
        of_an_alarm("SilentInstances", **ENDED_STATES),
        rollup(minute=LATER),
        "minute",
        FORGOTTEN,
    ),
    "silent-instances-over-and-gone": (
        of_a_contributor("SilentInstances", now=state("OK", OVER_AT, GONE_REASON)),
        FORGOTTEN,
        "minute",
        FORGOTTEN,
    ),
    "hardware-errors": (of_an_alarm("HardwareErrors"), HARDWARE_ROLLUP, "hardware"),
    "hardware-errors-over": (
        of_an_alarm("HardwareErrors", **ENDED_STATES),
        HARDWARE_ROLLUP,
        "hardware",
    ),
    "execution-errors": (of_an_alarm("ExecutionErrors"), ERRORS, "errors"),
    "execution-errors-over": (of_an_alarm("ExecutionErrors", **ENDED_STATES), ERRORS, "errors"),
    "execution-errors-numerical": (of_an_alarm("ExecutionErrors"), NUMERICAL_ROLLUP, "errors"),
    "execution-errors-of-two": (of_an_alarm("ExecutionErrors"), SOME_ERRORS, "errors"),
    "another-metric": (of_an_alarm("LateRecords"), rollup()),
    "no-cluster": (of_an_alarm(cluster=""), rollup()),
}
MESSAGE_SCENES = [*_SCENES_BY_NAME]


def play(name):
    """Return the event of a scene, and a table with its rollup."""
    event, line, *rest = copy.deepcopy(_SCENES_BY_NAME[name])
    about, silent = rest + ["minute", None][len(rest) :]
    table = table_with(*filter(None, [line]), about=about)
    if silent is not None:
        table.write_last_rollup("silent", silent["ClusterName"], ALARM_MINUTE, json.dumps(silent))
    return event, table
