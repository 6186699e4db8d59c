"""What each saved query says of lines, run as the documentation says that Logs Insights runs it."""

from __future__ import annotations

from tests.stack.insights.lines import (
    START_MS,
    emitted,
    health,
    idle,
    iso,
    minute_line,
    profile,
    rollup,
)


def test_idle_cores_are_told_by_instance_the_longest_idle_first(run):
    """
    Over the time range: the longest stretch, the most cores, in how many minutes, and the last.
    """
    lines = [
        rollup(0, IdleInstanceCount=1, TopIdleInstances=[idle("i-0a", 2, 15)]),
        rollup(
            1,
            IdleInstanceCount=2,
            TopIdleInstances=[idle("i-0b", 4, 90, UsdPerHour=1.5), idle("i-0a", 1, 16)],
        ),
        rollup(2, IdleCores=0),
    ]
    shared = {"ClusterName": "training", "InstanceType": "trn1.2xlarge", "LastMinute": iso(1)}
    expected = [
        shared
        | {"InstanceId": "i-0b", "LongestIdleMinutes": 90, "MostIdleCores": 4}
        | {"LastIdleCores": "0-3", "MostUsdPerHour": 1.5, "MinutesWithIdleCores": 1},
        shared
        | {"InstanceId": "i-0a", "LongestIdleMinutes": 16, "MostIdleCores": 2}
        | {"LastIdleCores": "0-0", "MinutesWithIdleCores": 2},
    ]
    assert expected == run("IdleCoresQuery", lines)


def test_idle_cost_counts_each_rollup_once(run):
    """
    A restated minute adds its difference; a line that was repeated after a crash adds nothing.
    """
    lines = [
        *[rollup(0, IdleCost=0.5, IdleCoreMinutes=30, UnpricedCores=0)] * 2,
        rollup(0, number=2, IdleCost=0.25, IdleCoreMinutes=30, UnpricedCores=8),
        rollup(1, cluster="serving", UnpricedCores=4),
    ]
    told = {"IdleCostUsd": 0.75, "IdleCoreHours": 1, "MostUnpricedCores": 8}
    assert [
        {"ClusterName": "training", **told},
        {"ClusterName": "serving", "MostUnpricedCores": 4},
    ] == run("IdleCostQuery", lines)


def test_utilization_is_that_of_every_core_of_one_instance(run):
    """Of 128 cores the values after the first 100 too, although they are a member of their own."""
    wide = {"NeuronCoreUtilization": [50] * 100, "NeuronCoreUtilizationMore": [100] * 27}
    lines = [
        minute_line(0, 1, BusyCores=2, NeuronCoreUtilization=[10, 30]),
        minute_line(1, 2, BusyCores=127, CoreState="b" * 127 + "?", **wide),
        minute_line(2, 3, CoreState="??"),
        minute_line(0, 1, instance="i-0b", BusyCores=1, NeuronCoreUtilization=[99]),
    ]
    mean = (50 * 100 + 100 * 27) / 127
    assert [
        {"Minute": START_MS, "MeanCore": 20, "BusiestCore": 30, "IdlestCore": 10},
        {"Minute": START_MS + 60_000, "MeanCore": mean, "BusiestCore": 100, "IdlestCore": 50},
    ] == run("UtilizationQuery", lines)


def test_the_cores_of_an_instance_are_told_one_by_one(run):
    """
    In how many minutes each was in which state; 128 cores, the most that an instance has today.
    """
    lines = [
        minute_line(0, 1, CoreState="ba"),
        minute_line(1, 2, CoreState="bb"),
        minute_line(2, 3, CoreState="u?"),
    ]
    at = [START_MS + minute * 60_000 for minute in range(3)]
    assert [
        {"Core": 0, "State": "b", "Minutes": 2, "LastMinute": at[1]},
        {"Core": 0, "State": "u", "Minutes": 1, "LastMinute": at[2]},
    ] == run("CoresQuery", lines)[:2]
    states = {(row["Core"], row["State"]) for row in run("CoresQuery", lines)}
    assert {(0, "b"), (0, "u"), (1, "a"), (1, "b"), (1, "?")} == states
    assert list(range(128)) == [
        row["Core"] for row in run("CoresQuery", [minute_line(0, 1, CoreState="b" * 128)])
    ]


def test_execution_errors_are_told_by_runtime(run):
    """By process and tag, with the pod where it is known; each kind of failure beside the sum."""
    one = {"Pid": 41, "RuntimeTag": "serve", "Owner": "ml/llama-0", "Executions": 100}
    lines = [
        emitted("runtime", 0, 7, **one, ExecutionErrors=3, ExecutionsTimedOut=3),
        emitted("runtime", 1, 9, **one, ExecutionErrors=2, ExecutionsIncorrectInput=2),
        emitted("runtime", 1, 10, Pid=42, RuntimeTag="1", Executions=5, ExecutionErrors=0),
        minute_line(1, 8, Executions=105, ExecutionErrors=2),
    ]
    del one["Executions"]
    told = {
        "ExecutionErrors": 5,
        "TimedOut": 3,
        "IncorrectInput": 2,
        "LastError": START_MS + 60_000,
    }
    assert [{"ClusterName": "training", "InstanceId": "i-0a", **one, **told}] == run(
        "ExecutionErrorsQuery", lines
    )


def test_the_latency_gap_is_told_in_milliseconds_the_widest_first(run):
    """Total against device; minutes in which nothing ran have no latency and no part."""

    def latency(total, device):
        most = {"LatencyP99Max": total * 2, "DeviceLatencyP99Max": device * 2}
        means = {"LatencyP50Mean": total, "DeviceLatencyP50Mean": device}
        return {**means, **most, "LatencyGapP50": total - device}

    lines = [
        minute_line(0, 1, **latency(0.25, 0.125)),
        minute_line(1, 2, **latency(0.5, 0.125)),
        minute_line(2, 3, Executions=0),
        minute_line(0, 1, instance="i-0b", **latency(1, 0.25)),
    ]
    found = run("LatencyGapQuery", lines)
    assert ["i-0b", "i-0a"] == [row["InstanceId"] for row in found]
    assert {"TotalP50Ms": 375, "DeviceP50Ms": 125, "GapP50Ms": 250, "TotalP99Ms": 1000} | {
        "ClusterName": "training",
        "InstanceId": "i-0a",
        "DeviceP99Ms": 250,
    } == found[1]


def test_ecc_rises_are_told_uncorrectable_ones_first(run):
    """Summed over the time range, with the last minute in which there was one."""
    lines = [
        minute_line(0, 1, EccUncorrectedRise=0, EccCorrectedRise=900),
        minute_line(0, 1, instance="i-0b", EccUncorrectedRise=1, EccCorrectedRise=0),
        minute_line(3, 4, instance="i-0b", EccUncorrectedRise=1, EccCorrectedRise=2),
        minute_line(3, 4, instance="i-0c", EccUncorrectedRise=0, EccCorrectedRise=0),
    ]
    found = run("EccRisesQuery", lines)
    assert ["i-0b", "i-0a"] == [row["InstanceId"] for row in found]
    told = {"EccUncorrectedRise": 2, "EccCorrectedRise": 2, "LastRise": START_MS + 3 * 60_000}
    assert told.items() <= found[0].items()


def test_hardware_faults_are_told_by_device(run):
    """
    An event that stands for several counts as so many, and one that tells no device has a row.
    """

    def fault(minute, seq, code, **members):
        return emitted("event", minute, seq, Event="HardwareFault", Fault=code, **members)

    lines = [
        fault(0, 1, "DMA_ERROR", Device=3, SerialNumber="19fc", Action="TERMINATE_INSTANCE"),
        fault(1, 2, "DMA_ERROR", Device=3, SerialNumber="19fc", Count=90),
        fault(2, 3, "HANG_ON_COLLECTIVES"),
        emitted("event", 3, 4, Event="EccRise", Device=3),
    ]
    found = run("HardwareFaultsQuery", [*lines, lines[1]])
    assert ["HANG_ON_COLLECTIVES", "DMA_ERROR"] == [row["FaultCode"] for row in found]
    assert [1, 91] == [row["Faults"] for row in found]
    told = {"DeviceNumber": 3, "Serial": "19fc", "AdvisedAction": "TERMINATE_INSTANCE"}
    assert {**told, "LastFault": START_MS + 60_000}.items() <= found[1].items()


def test_emitters_that_dropped_or_restarted_are_told(run):
    """By how much their totals rose within the time range, since each Boot; the others are not."""
    lines = [
        minute_line(0, 1, **health(dropped=5)),
        minute_line(1, 2, **health(dropped=7, waiting=3)),
        minute_line(2, 1, boot="b2", **health(dropped=0)),
        minute_line(3, 2, boot="b2", **health(dropped=1)),
        minute_line(0, 1, instance="i-0b", **health(dropped=9, restarts=2)),
        minute_line(1, 2, instance="i-0b", **health(dropped=9, restarts=2)),
        minute_line(0, 1, instance="i-0c", **health()),
        minute_line(1, 2, instance="i-0c", **health(restarts=1)),
    ]
    shared = {"ClusterName": "training", "ReportsMalformed": 0}
    assert [
        shared
        | {"InstanceId": "i-0a", "RecordsDropped": 3, "MonitorRestarts": 0}
        | {"EmitterRestarts": 1, "MostRecordsWaiting": 3},
        shared
        | {"InstanceId": "i-0c", "RecordsDropped": 0, "MonitorRestarts": 1}
        | {"EmitterRestarts": 0, "MostRecordsWaiting": 0},
    ] == run("EmittersQuery", lines)


def test_silent_instances_are_told_with_their_last_minute(run):
    """And for how many minutes they have been missed; the latest to fall silent stands first."""

    def silent(*pairs):
        rows = [{"InstanceId": name, "LastSeen": iso(minute)} for name, minute in pairs]
        return {"SilentInstances": len(rows), "SilentInstanceNames": rows}

    lines = [
        rollup(9, **silent(("i-0a", 4))),
        rollup(10, **silent(("i-0a", 4), ("i-0b", 5))),
        rollup(11, SilentInstances=0),
    ]
    shared = {"ClusterName": "training", "SilentUntil": iso(10)}
    assert [
        {**shared, "InstanceId": "i-0b", "LastSeen": iso(5), "MinutesSilent": 1},
        {**shared, "InstanceId": "i-0a", "LastSeen": iso(4), "MinutesSilent": 2},
    ] == run("SilentInstancesQuery", lines)


def test_the_idle_report_is_given_each_minute_line_once(run):
    """
    Whole, because arrays of cores cannot be counted by a query; lines of other kinds stay away.
    """
    lines = [
        minute_line(0, 1, CoreState="ba", CoreIdleMinutes=[0, 15]),
        minute_line(0, 2, instance="i-0b", CoreState="b"),
        emitted("runtime", 0, 3, Pid=41, RuntimeTag="serve"),
    ]
    found = run("IdleTimeMinutesQuery", [*lines, lines[0]])
    assert [lines[0][1], lines[1][1]] == [row["Line"] for row in found]


def test_the_idle_report_is_given_what_each_publication_told(run):
    """With the number of records behind it; what nobody told is absent."""
    lines = [
        rollup(0, Records=4, IdleCost=0.5, IdleCoreMinutes=30),
        rollup(0, number=2, Records=5, IdleCoreMinutes=2),
    ]
    shared = {"ClusterName": "training", "Minute": iso(0)}
    first = {"RollupId": f"training@{iso(0)}#1", "Number": 1, "RecordsCounted": 4}
    second = {"RollupId": f"training@{iso(0)}#2", "Number": 2, "RecordsCounted": 5}
    assert [
        {**shared, **first, "CoreMinutes": 30, "Usd": 0.5},
        {**shared, **second, "CoreMinutes": 2},
    ] == run("IdleTimeRollupsQuery", [*lines, lines[0]])


def test_profiles_of_an_hour_stand_beside_what_their_cluster_did_in_it(run):
    """
    Each profile once, however often it was told; an hour without a profile is there all the same.
    """
    first = profile(5, mfu_estimated_percent=0.4, tensor_engine_active_time_percent=0.6)
    lines = [
        first,
        profile(6, core=1, mfu_estimated_percent=0.2, tensor_engine_active_time_percent=0.5),
        profile(7, model="mixtral", cluster="serving", mfu_estimated_percent=0.3),
        rollup(5, NeuronCoreUtilization=10, IdleCorePercent=50),
        rollup(6, NeuronCoreUtilization=90, IdleCorePercent=70),
        rollup(6, number=2, NeuronCoreUtilization=30, IdleCorePercent=70),
        rollup(65, NeuronCoreUtilization=80, IdleCorePercent=0),
        minute_line(5, 1, BusyCores=1),
    ]
    beside = {"ClusterName": "training", "Hour": START_MS, "Profiles": 2, "Models": 1}
    assert [
        {"ClusterName": "training", "Hour": START_MS + 3_600_000, "Profiles": 0, "Models": 0}
        | {"FleetUtilizationPercent": 80, "FleetIdleCorePercent": 0},
        {"ClusterName": "serving", "Hour": START_MS, "Profiles": 1, "Models": 1}
        | {"LastModel": "mixtral", "BestMfuPercent": 30, "WorstMfuPercent": 30},
        beside
        | {"LastModel": "llama", "BestMfuPercent": 40, "WorstMfuPercent": 20}
        | {"MeanTensorActivePercent": 55}
        | {"FleetUtilizationPercent": 20, "FleetIdleCorePercent": 60},
    ] == run("ProfilesQuery", [*lines, first, first])
