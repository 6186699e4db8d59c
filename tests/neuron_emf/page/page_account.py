"""An account for the page: the recorded hour, or rollup lines that a test makes."""

from __future__ import annotations

import json
from contextlib import contextmanager
from datetime import datetime, timezone

from neuron_emf.account import account
from neuron_emf.command_options import AccountSettings
from neuron_emf.page.server import PageServer
from neuron_emf.page.view import PageView
from neuron_emf.reading.ledger_bucket import LedgerBucket
from neuron_wire.names import MINUTE_MS
from tests.hour import HOUR_END_S
from tests.neuron_emf.fake_account import FakeAccount, FakeLedgerObjects

PAGE_NOW_S = HOUR_END_S + 150.0
"""The time at which the newest minute of the hour has been closed."""

LATE_MS = 110_000  # after the start of its minute a rollup is printed
EXPLAIN_GROUP = "/neuron-emf/neuron-emf/explain"


IDLE_ALARM_METRICS = ("IdleCorePercent", "IdleCostPerHour", "NeuronCoreUtilization")


def message(account, logical_id, cluster, text, *, at_s=PAGE_NOW_S - 600, state="ALARM", **members):
    """Return a line of Kind `message` as explain prints it."""
    return json.dumps(
        {
            "Schema": 1,
            "Kind": "message",
            "Timestamp": int(at_s * 1000),
            "AlarmName": account.alarms[logical_id]["AlarmName"],
            "ClusterName": cluster,
            "State": state,
            "Metrics": IDLE_ALARM_METRICS,
            "Subject": f"{state}: {text.splitlines()[0]}"[:99],
            "Text": text,
            **members,
        }
    )


IDLE_TEXT = """\
research: Slurm job 4711 (ml-user, team ml) has used none of its 32 cores for 1 h, 21.50 USD/h
Can wait until morning: it costs 21.50 USD/h, nothing is failing.
Cluster: 52 of 100 known cores idle (52 %), 34.94 USD/h, at most 22.84 USD/h avoidable.
1. State and time left:  scontrol show job 4711
"""
BLOCKED_TEXT = """\
serving: 6 cores assigned to pod search/ranker-1 are held by a process of pod search/ranker-0 \
(team search), which is gone, 3.25 USD/h
Do not wait: pod search/ranker-1 has not opened them and may fail to start.
1. Does it fail?        kubectl describe pod ranker-1 -n search
"""
ERRORS_TEXT = """\
serving: 10 failed executions in one minute, of process python3 (grace)
Look today: <1 % of the executions on this instance failed.
1. There, by process:  neuron-top
"""

FIRING_CLUSTERS = {"IdleCoresAlarm": ("research", "serving"), "ExecutionErrorsAlarm": ("serving",)}
"""
The alarms that fire on the hour's clusters; a test compares them with the rehearsal's evaluator.
"""


def filled(double, hour):
    """Fill *double* with the hour and the firing alarms, each with its message."""
    double.put_lines(double.records_group, hour.lines)
    double.put_lines(double.rollups_group, hour.rollups, LATE_MS)
    for logical_id, clusters in FIRING_CLUSTERS.items():
        double.fire_alarm(logical_id, *clusters, reason="Threshold Crossed: 15 out of 15")
    blocked = {"Metrics": ["IdleCorePercent"], "Urgency": "now"}
    errors = {"Metrics": ["ExecutionErrors"], "Urgency": "today"}
    for text in (
        message(double, "IdleCoresAlarm", "research", IDLE_TEXT),
        message(double, "IdleCoresAlarm", "serving", BLOCKED_TEXT, **blocked),
        message(double, "ExecutionErrorsAlarm", "serving", ERRORS_TEXT, **errors),
    ):
        double.put(EXPLAIN_GROUP, "explain", [(json.loads(text)["Timestamp"], text)])
    return double


def ledger_of(hour):
    """Return a function in place of `stack_ledger`, for a stack that settled the hour."""
    return lambda account: LedgerBucket(account, "ledger", FakeLedgerObjects(hour.ledger))


def view_of(clock=lambda: PAGE_NOW_S):
    """Return the page's view of the account in the environment."""
    return PageView(account(AccountSettings()), now_ms=lambda: round(clock() * 1000))


@contextmanager
def double_of(monkeypatch, clock=lambda: PAGE_NOW_S):
    """Yield an empty double of an account, which the environment names."""
    with FakeAccount(clock) as double:
        for name, value in double.variables.items():
            monkeypatch.setenv(name, value)
        yield double


@contextmanager
def served(view):
    """Serve the page of *view* on a free port."""
    with PageServer(("127.0.0.1", 0), view) as server:
        yield server


PAGE_START_MS = 1_795_161_600_000  # 2026-11-20T08:00:00Z

EXPECTED_VALUES = {
    "Instances": 4,
    "SilentInstances": 0,
    "NeuronCores": 128,
    "UnknownCores": 28,
    "BusyCores": 60,
    "AttachedIdleCores": 30,
    "UnattachedCores": 10,
    "IdleCores": 40,
    "IdleCostPerHour": 20.5,
    "UnpricedCores": 0,
    "CoveragePercent": 100.0,
    "NeuronCoreUtilization": 50.0,
    "UnallocatedIdleCores": 10,
    "UnknownAllocationIdleCores": 0,
    "UnpricedIdleCores": 0,
    "InstancesInOtherClusters": 0,
}


def line(cluster="research", minute=0, publication=1, **changes):
    """Return the text of a rollup; a change to None omits a member."""
    at_ms = PAGE_START_MS + minute * MINUTE_MS
    iso = datetime.fromtimestamp(at_ms / 1000, timezone.utc).strftime("%Y-%m-%dT%H:%MZ")
    members = {
        "_aws": {"Timestamp": at_ms},
        "Schema": 1,
        "Kind": "rollup",
        "ClusterName": cluster,
        "RollupId": f"{cluster}@{iso}#{publication}",
        "Minute": iso,
        "Publication": publication,
        **EXPECTED_VALUES,
        **changes,
    }
    return json.dumps({name: value for name, value in members.items() if value is not None})
