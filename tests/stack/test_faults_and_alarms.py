"""For each fault of the pipeline: the alarms that fire, and after how many minutes."""

from __future__ import annotations

import pytest

from tests.recorded_history import RecordedHistory
from tests.stack.metric_points import (
    POINTS_CLUSTER,
    POINTS_LATE_S,
    minutes_in_alarm,
    put_value,
)
from tests.stack.stack_template import STACK_ALARMS, SUBJECTS

BREAKS_AT = 40
LAST_MINUTE = 170
FLEET_INSTANCES = 4
OF_STACK = {"StackName": "neuron-emf"}
OF_CLUSTER = {"ClusterName": POINTS_CLUSTER}
OF_FILTER = {
    "DestinationType": "any",
    "FilterName": "neuron-emf-minutes",
    "LogGroupName": "/neuron-emf/records",
}
SILENT_AFTER = 5
FORGET_AFTER = 60
IDLE_AFTER = 15
JOINED = {"IdleCores", "IdleCost", "LowUtilization"}
JOINED_MINUTES = 15
"""Explain joins alarms of one cluster that fire within this number of minutes into one message."""
LINES_S = 75.0  # seconds until a minute's lines have arrived, and until AWS has counted
SOON_S = 60.0

# One minute of a healthy fleet.
WELL_MINUTE = {
    "lines": FLEET_INSTANCES,
    "invocations": FLEET_INSTANCES,
    "closed": 1,
    "rejected": 0,
    "waiting": 0,
    "silent": 0,
    "ingest_errors": 0,
    "close_errors": 0,
    "explain_errors": 0,
    "hardware": 0,
}
HISTORY_METRICS = {
    "lines": ("Neuron/Lines", "neuron-emf-MinuteLines", {}),
    "invocations": ("AWS/Lambda", "Invocations", {"FunctionName": "<IngestFunction>"}),
    "rejected": ("Neuron/Stack", "RecordsRejected", OF_STACK),
    "closed": ("Neuron/Stack", "MinutesClosed", OF_STACK),
    "waiting": ("Neuron/Stack", "MinutesWaiting", OF_STACK),
    "hours_waiting": ("Neuron/Stack", "HoursWaiting", OF_STACK),
    "silent": ("Neuron/Cluster", "SilentInstances", OF_CLUSTER),
    "hardware": ("Neuron/Cluster", "HardwareErrors", OF_CLUSTER),
    "idle_percent": ("Neuron/Cluster", "IdleCorePercent", OF_CLUSTER),
    "idle_usd": ("Neuron/Cluster", "IdleCostPerHour", OF_CLUSTER),
    "utilization": ("Neuron/Cluster", "NeuronCoreUtilization", OF_CLUSTER),
    "ingest_errors": ("AWS/Lambda", "Errors", {"FunctionName": "<IngestFunction>"}),
    "close_errors": ("AWS/Lambda", "Errors", {"FunctionName": "<CloseFunction>"}),
    "explain_errors": ("AWS/Lambda", "Errors", {"FunctionName": "<ExplainFunction>"}),
    "age_ms": ("AWS/Lambda", "IteratorAge", {"FunctionName": "<IngestFunction>"}),
    "delivery": ("AWS/Logs", "DeliveryErrors", OF_FILTER),
    "disabled": ("AWS/Logs", "EMFDisabledErrors", {"LogGroupName": "/neuron-emf/records"}),
    "disabled_rollups": ("AWS/Logs", "EMFDisabledErrors", {"LogGroupName": "<RollupsLogGroup>"}),
    "dead": ("AWS/SQS", "NumberOfMessagesSent", {"QueueName": "<UndeliveredQueue.QueueName>"}),
}
NOT_INVOKED = dict.fromkeys(("invocations", "ingest_errors"))
NO_CLOSE = dict.fromkeys(("closed", "rejected", "waiting", "silent", "hardware"))


def starved(minute):
    """Return a minute without input: close counts the instances as silent until it forgets them."""
    silent = FLEET_INSTANCES if minute >= SILENT_AFTER else 0
    return {**NOT_INVOKED, "silent": silent if minute < FORGET_AFTER else None}


def an_hour_at_once(minute):
    """
    Return a minute of an instance without network, whose lines later arrive with their own time.
    """
    if minute < 60:
        return {**starved(minute), "silent": int(minute >= SILENT_AFTER), "lines": None}
    return {"invocations": 60} if minute == 60 else {}


STACK_FAULTS = {
    "nothing": lambda _: {},
    "the subscription filter is deleted, or ingest is throttled": starved,
    "ingest may not be invoked": lambda minute: {**starved(minute), "delivery": FLEET_INSTANCES},
    "ingest may not write to the table": lambda minute: {
        **starved(minute),
        "invocations": 4,
        "ingest_errors": 4,
        "dead": FLEET_INSTANCES if minute >= 3 else None,
    },
    "half of the deliveries are throttled": lambda minute: {
        "invocations": FLEET_INSTANCES // 2,
        "silent": FLEET_INSTANCES // 2 * int(minute >= SILENT_AFTER),
    },
    "a poisoned delivery": lambda minute: {
        "ingest_errors": int(minute in (0, 1, 3)),
        "dead": 1 if minute == 3 else None,
    },
    "a poisoned batch of the stream": lambda minute: {"age_ms": 60_000 * minute},
    "close is not invoked or is throttled": lambda _: {**NO_CLOSE, "close_errors": None},
    "close fails or takes its whole time limit": lambda _: {**NO_CLOSE, "close_errors": 1},
    "close fails once in ten minutes": lambda minute: (
        {**NO_CLOSE, "close_errors": 1} if minute % 10 == 0 else {"closed": 1 + (minute % 10 == 1)}
    ),
    "close does not keep up": lambda _: {"waiting": 3},
    "explain fails on an event": lambda minute: {
        "explain_errors": int(minute in (0, 1, 3)),
        "dead": 1 if minute == 3 else None,
    },
    "departure fails on an event": lambda minute: {"dead": 1 if minute == 3 else None},
    "a policy disables the metrics of the emitters' group": lambda _: {"disabled": FLEET_INSTANCES},
    "a policy disables the metrics of the rollups' group": lambda _: {
        **NO_CLOSE,
        "disabled_rollups": 2,
    },
    "more clusters than MaxClusters": lambda _: {"rejected": 1},
    "a quiet fleet, or foreign lines alone in an adopted group": lambda _: {
        **NOT_INVOKED,
        "lines": None,
    },
    "events and runtime lines only": lambda _: {**NOT_INVOKED, "lines": None, "silent": None},
    "foreign lines with our term": lambda _: {"rejected": 3},
    "an instance without network for an hour": an_hour_at_once,
    "lines that are all too late": lambda minute: {
        **starved(minute),
        "invocations": FLEET_INSTANCES,
        "ingest_errors": 0,
    },
    "one memory error, which the kernel logs too": lambda minute: {"hardware": int(minute == 0)},
    "a large cluster falls idle": lambda minute: {
        "utilization": 0,
        "idle_percent": 100 * int(minute >= IDLE_AFTER - 1),
        "idle_usd": 500 * int(minute >= IDLE_AFTER - 1),
    },
}

# By fault: minutes after which an alarm is in ALARM, and after which it is OK again.
STARVED = {"SilentInstances": (12, 67), "LinesNotStored": (12, None)}
ALARM_SPANS: dict[str, dict[str, tuple[int, int | None]]] = {
    "the subscription filter is deleted, or ingest is throttled": STARVED,
    "ingest may not be invoked": {**STARVED, "DeliveryErrors": (2, None)},
    "ingest may not write to the table": {
        **STARVED,
        "FunctionErrors": (4, None),
        "Undelivered": (5, None),
    },
    "half of the deliveries are throttled": {"SilentInstances": (12, None)},
    "a poisoned delivery": {"Undelivered": (5, 19)},
    "a poisoned batch of the stream": {"IteratorAge": (9, None)},
    "close is not invoked or is throttled": {"NoMinuteClosed": (12, None)},
    "close fails or takes its whole time limit": {
        "NoMinuteClosed": (12, None),
        "FunctionErrors": (4, None),
    },
    "close does not keep up": {"MinutesWaiting": (11, None)},
    "explain fails on an event": {"FunctionErrors": (5, 11), "Undelivered": (5, 19)},
    "departure fails on an event": {"Undelivered": (5, 19)},
    "a policy disables the metrics of the emitters' group": {"EmfErrors": (5, None)},
    "a policy disables the metrics of the rollups' group": {
        "NoMinuteClosed": (12, None),
        "EmfErrors": (5, None),
    },
    "more clusters than MaxClusters": {"RecordsRejected": (4, None)},
    "foreign lines with our term": {"RecordsRejected": (4, None)},
    "an instance without network for an hour": {"SilentInstances": (12, 67)},
    "lines that are all too late": {"SilentInstances": (12, 67)},
    "one memory error, which the kernel logs too": {"HardwareErrors": (3, 62)},
    "a large cluster falls idle": {
        "IdleCores": (26, None),
        "IdleCost": (26, None),
        "LowUtilization": (40, None),
    },
}


def metric_history(fault):
    """Return CloudWatch's counts, minute by minute."""
    history = RecordedHistory()
    for minute in range(-480, LAST_MINUTE, 60):  # settle runs each hour
        put_value(history, HISTORY_METRICS["hours_waiting"], minute, 0, SOON_S)
    for minute in range(LAST_MINUTE):
        since = minute - BREAKS_AT
        counts = {**WELL_MINUTE, **(fault(since) if since >= 0 else {})}
        for name, count in counts.items():
            if count is not None:
                of_rollups = HISTORY_METRICS[name][0] == "Neuron/Cluster"
                late_s = LINES_S if name == "lines" else SOON_S
                if of_rollups:
                    late_s = POINTS_LATE_S
                put_value(history, HISTORY_METRICS[name], minute, count, late_s)
    if fault is an_hour_at_once:
        for minute in range(BREAKS_AT, BREAKS_AT + 60):
            sent_s = (BREAKS_AT + 60 - minute) * 60
            put_value(history, HISTORY_METRICS["lines"], minute, 1, sent_s + SOON_S)
    return history


def spans_in_alarm(fault):
    """
    Return first and last minute in ALARM after the fault by alarm, and whether it still fires.
    """
    history = metric_history(fault)
    spans = {}
    of_clusters = {f"{subject}Alarm" for subject in SUBJECTS}
    for name, alarm in STACK_ALARMS.items():
        contributor = POINTS_CLUSTER if name in of_clusters else None
        minutes = [
            minute
            for minute in minutes_in_alarm(alarm, history, LAST_MINUTE, contributor)
            if minute >= 20
        ]
        if minutes:
            assert list(range(minutes[0], minutes[-1] + 1)) == minutes, name
            spans[name.removesuffix("Alarm")] = (
                minutes[0] + 1 - BREAKS_AT,
                None if minutes[-1] == LAST_MINUTE - 1 else minutes[-1] + 1 - BREAKS_AT,
            )
    return spans


def messages(spans):
    """Return the number of messages: one per alarm, except alarms that explain joins."""
    joined = sorted(minutes[0] for name, minutes in spans.items() if name in JOINED)
    first = None
    count = len(spans.keys() - JOINED)
    for minute in joined:
        if first is None or minute - first > JOINED_MINUTES:
            first = minute
            count = count + 1
    return count


@pytest.mark.parametrize("fault", STACK_FAULTS)
def test_a_fault_fires_its_alarms_in_time_and_no_other(fault):
    """A fault fires its alarms in time, each at most once, and no other alarm of the template."""
    assert ALARM_SPANS.get(fault, {}) == spans_in_alarm(STACK_FAULTS[fault])
