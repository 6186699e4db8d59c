"""Alarm events as EventBridge delivers them, and the kept rollups behind them."""

from __future__ import annotations

import json

from aggregator.environment import Environment, Rules
from aggregator.storage.values import Publication
from neuron_wire.line_members import iso_minute
from neuron_wire.names import CLUSTER_NAMESPACE
from proof.memory_table import MemoryTable

FIRED_S = 1_795_231_020.0  # 2026-11-21 03:17:00 UTC
ALARM_MINUTE = int(FIRED_S) // 60 - 4  # 03:13, the last closed minute when the alarm fired
MIDNIGHT = ALARM_MINUTE - ALARM_MINUTE % 1440
RANG_MS = "2026-11-21T03:17:00.125+0000"
OVER_AT = "2026-11-21T04:04:10.500+0000"
REASON = (
    "Threshold Crossed: 10 out of the last 15 datapoints were greater than or equal to the"
    " threshold (20.0). The most recent datapoints which crossed the threshold:"
    " [34.693878 (21/11/26 03:13:00)] (minimum 10 datapoints for OK -> ALARM transition)."
)
ALARM_ARN = "arn:aws:cloudwatch:us-east-1:123456789012:alarm:"
TOPIC_ARN = "arn:aws:sns:us-east-1:123456789012:neuron-emf-alarms"

ENVIRONMENT = Environment(
    table_name="records",
    stack_name="neuron-emf",
    rules=Rules(),
    own_log_groups=frozenset(),
    own_log_group=None,
    records_log_group="/neuron-emf/records",
    rollups_log_group="/neuron-emf/neuron-emf/rollups",
    alarm_topic_arn=TOPIC_ARN,
    runbook="https://example.org/docs/operations.md",
    dashboard="neuron-emf-us-east-1",
)


def state(value, timestamp=RANG_MS, reason=REASON):
    """Return a state of an alarm."""
    return {"value": value, "reason": reason, "timestamp": timestamp}


def _with_data(alarm_state):
    """Return a state of an alarm, whose reasonData is JSON text. A contributor's state has none."""
    return {
        **alarm_state,
        "reasonData": '{"version":"1.0","queryDate":"2026-11-21T03:17:00.125+0000"}',
    }


def of_an_alarm(metric="IdleCorePercent", *, now=None, before=None, cluster="training", **detail):
    """Return an event about a plain alarm on one cluster that changed its state."""
    stat = {
        "metric": {
            "namespace": CLUSTER_NAMESPACE,
            "name": metric,
            "dimensions": {"ClusterName": cluster},
        },
        "period": 60,
        "stat": "Average",
    }
    name = f"neuron-emf-{metric}Alarm-1A2B3C4D5E6F"
    return _event(
        "CloudWatch Alarm State Change",
        {
            "alarmName": name,
            "state": _with_data(now or state("ALARM")),
            "previousState": before or state("OK", "2026-11-20T22:01:00.000+0000"),
            "configuration": {
                "metrics": [{"id": "m1", "metricStat": stat, "returnData": True}],
                "description": "Too many idle cores.",
            },
            **detail,
        },
    )


def of_a_contributor(metric="IdleCorePercent", *, now=None, cluster="training", **detail):
    """Return an event about one cluster of an alarm on a query that changed its state."""
    expression = (
        f'SELECT AVG({metric}) FROM SCHEMA("Neuron/Cluster", ClusterName)'
        " GROUP BY ClusterName ORDER BY AVG() DESC"
    )
    return _event(
        "CloudWatch Alarm Contributor State Change",
        {
            "alarmName": f"neuron-emf-{metric}Alarm-6F5E4D3C2B1A",
            "alarmContributor": {"id": "6d442278dba546f6", "attributes": {"ClusterName": cluster}},
            "state": now or state("ALARM"),
            "configuration": {
                "metrics": [
                    {"id": "q1", "expression": expression, "returnData": True, "period": 60}
                ],
                "description": "Too many idle cores.",
            },
            **detail,
        },
    )


def _event(detail_type, detail):
    return {
        "version": "0",
        "id": "6d226bbc-07f0-9a31-3359-1736968f8ded",
        "detail-type": detail_type,
        "source": "aws.cloudwatch",
        "account": "123456789012",
        "time": "2026-11-21T03:17:01Z",
        "region": "us-east-1",
        "resources": [ALARM_ARN + detail["alarmName"]],
        "detail": detail,
    }


def rollup(minute=ALARM_MINUTE, **changes):
    """Return a rollup of four instances of trn1.32xlarge, two of them with idle cores."""
    members = {
        "Schema": 1,
        "Kind": "rollup",
        "ClusterName": "training",
        "RollupId": f"training@{iso_minute(minute)}#1",
        "Minute": iso_minute(minute),
        "Publication": 1,
        "Records": 4,
        "PricesAsOf": "2026-11-22",
        "PriceRegions": ["us-east-1"],
        "Instances": 4,
        "SilentInstances": 0,
        "DuplicateEmitters": 0,
        "NeuronCores": 128,
        "BusyCores": 88,
        "AttachedIdleCores": 24,
        "UnattachedCores": 16,
        "UnknownCores": 0,
        "IdleCores": 36,
        "IdleCorePercent": 28.125,
        "IdleCostPerHour": 24.1875,
        "AvoidableCostPerHour": 0,
        "AvoidableAllocatedCostPerHour": 0,
        "SharedCostPerHour": 24.1875,
        "CommittedCostPerHour": 0,
        "FullyIdleInstances": 0,
        "IdleCost": 0.403125,
        "UnpricedCores": 0,
        "NeuronCoreUtilization": 41.37,
        "NeuronCoreUtilizationP10": 0,
        "NeuronCoreUtilizationP50": 46.2,
        "NeuronCoreUtilizationP90": 81.5,
        "NeuronCoreUtilizationP99": 97.2,
        "CoveragePercent": 99.2,
        "Executions": 61_204,
        "ExecutionErrors": 0,
        "EccUncorrectedRise": 0,
        "IdleInstanceCount": 2,
        "TopIdleOwners": [
            {
                "Owner": "ml/llama-70b-0",
                "Team": "ml",
                "Cores": 16,
                "Instances": 1,
                "AllocatedCores": 16,
                "BusyCores": 0,
                "FullyIdleMinutes": 190,
                "Executions": 0,
                "IdleMinutes": 192,
                "UsdPerHour": 10.75,
                "UnpricedCores": 0,
            },
            {
                "Owner": "[unallocated]",
                "Cores": 16,
                "Instances": 1,
                "IdleMinutes": 21,
                "UsdPerHour": 10.75,
                "UnpricedCores": 0,
            },
            {
                "Owner": "[unnamed]",
                "Cores": 4,
                "Instances": 1,
                "IdleMinutes": 180,
                "UsdPerHour": 2.6875,
                "UnpricedCores": 0,
            },
        ],
        "TopIdleInstances": [
            {
                "InstanceId": "i-0c3f5a7b9d1e2f4a6",
                "InstanceType": "trn1.32xlarge",
                "NeuronCores": 32,
                "BusyCores": 12,
                "Executions": 41_204,
                "IdleCores": 20,
                "Cores": "0-19",
                "IdleMinutes": 192,
                "UsdPerHour": 13.4375,
                "AttachedCores": "0-19",
                "CoreState": 20 * "a" + 12 * "b",
                "BusyUtilization": 61.25,
                "HostCpuPercent": 19.5,
                "Owners": [
                    {"Cores": "0-15", "Name": "ml/llama-70b-0", "Executions": 0},
                    {"Cores": "16-19", "Name": "[unnamed]", "Executions": 0},
                ],
                "Holders": [
                    {
                        "Cores": "0-15",
                        "Name": "ml/llama-70b-0",
                        "Pid": 4242,
                        "Tag": "1",
                        "Team": "ml",
                        "LastExecution": "2026-11-21T00:01Z",
                    },
                    {"Cores": "16-19", "Pid": 777, "Tag": "eval"},
                ],
            },
            {
                "InstanceId": "i-0a1b2c3d4e5f60718",
                "InstanceType": "trn1.32xlarge",
                "NeuronCores": 32,
                "BusyCores": 16,
                "Executions": 20_000,
                "IdleCores": 16,
                "Cores": "16-31",
                "IdleMinutes": 21,
                "UsdPerHour": 10.75,
                "CoreState": 16 * "b" + 16 * "u",
                "BusyUtilization": 77.0,
                "HostCpuPercent": 0.2,
            },
        ],
        "_aws": {"Timestamp": minute * 60_000, "CloudWatchMetrics": []},
    }
    return {name: value for name, value in {**members, **changes}.items() if value is not None}


def table_with(*rollups, about="minute"):
    """Return a table that keeps *rollups*, and the cost of each minute since midnight."""
    table = MemoryTable()
    for rollup in rollups:
        at = rollup["_aws"]["Timestamp"] // 60_000
        table.write_last_rollup(about, rollup["ClusterName"], at, json.dumps(rollup))
        for minute in range(MIDNIGHT, at + 1):
            published = Publication(1, {"IdleCost": 0.403125}, "digest", 4)
            table.write_publication(minute, rollup["ClusterName"], published, 0)
    return table
