"""The steps about what people see: states of alarms, events of alarms, saved queries."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Final

from aggregator.explain.event import EventError, read_transition
from local.alarms.definition import read_alarms
from local.alarms.evaluation import State, evaluate
from local.alarms.history import CloudWatchHistory
from local.alarms.template import Template, load
from neuron_wire import CLUSTER_NAMESPACE
from proof.accept.path import parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proof.accept.scene import Scene

ALARM_MINUTES: Final = 20.0
EVENT_MINUTES: Final = 5.0
QUERY_MINUTES: Final = 10.0  # a line is found up to minutes after it was taken
AWAITED_S: Final = 30 * 60  # an alarm that looks further back is not waited for
EXAMPLE: Final = "i-0123456789abcdef0"  # the value that a query is saved with


def alarms(scene: Scene) -> list[str]:
    """The alarms on clusters are in the states that the evaluator gives for the same metrics."""
    given = {**parameters(scene, scene.watched), "AWS::StackName": scene.watched}
    template = Template(load(scene.package.source), given)
    known = [alarm for alarm in read_alarms(template) if alarm.namespace == CLUSTER_NAMESPACE]
    awaited = [alarm for alarm in known if alarm.period_s * alarm.evaluation_periods <= AWAITED_S]
    scene.notes += [f"not awaited: {alarm.logical_id}" for alarm in known if alarm not in awaited]
    client = scene.place.client("cloudwatch")

    def problems() -> list[str]:
        prefix = f"{scene.watched}-"
        pages = client.get_paginator("describe_alarms").paginate(AlarmNamePrefix=prefix)
        states = {  # a name is made of the stack's, the logical id and what chance gave
            row["AlarmName"].removeprefix(prefix).partition("-")[0]: row["StateValue"]
            for page in pages
            for row in page["MetricAlarms"]
        }
        found, wanted = [], set()
        for alarm in awaited:
            said = {
                state.state for state in evaluate(alarm, CloudWatchHistory(client), time.time())
            }
            expected = State.ALARM if State.ALARM in said else State.OK
            wanted.add(expected)
            actual = states.get(alarm.logical_id)
            if actual != expected.value:
                found.append(f"{alarm.logical_id}: expected {expected.value}, found {actual}")
        return found or ([] if State.ALARM in wanted else ["none is in ALARM, with idle cores"])

    return scene.settle(problems, ALARM_MINUTES)


def events(scene: Scene) -> list[str]:
    """What EventBridge says of these alarms can be read by explain."""
    queue = scene.stacks[scene.frame].outputs["QueueUrl"]
    sqs = scene.place.client("sqs")
    found: list[dict[str, Any]] = []

    def none_yet() -> list[str]:
        answer = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=1)
        found.extend(json.loads(message["Body"]) for message in answer.get("Messages", ()))
        kinds = {body["detail-type"] for body in found if "detail-type" in body}
        return [] if len(kinds) > 1 else [f"events of one kind at most: {kinds or 'none'}"]

    problems = scene.settle(none_yet, EVENT_MINUTES)
    return problems + [text for event in found if (text := unreadable(event))]


def unreadable(event: Mapping[str, Any]) -> str:
    """Why explain cannot read an event; empty when it can."""
    try:
        read_transition(event)
    except EventError as error:
        return str(error)
    return ""


def queries(scene: Scene) -> list[str]:
    """AWS takes every saved query."""
    logs = scene.place.client("logs")
    saved = logs.describe_query_definitions(queryDefinitionNamePrefix=f"{scene.watched}/")
    instance = scene.records(scene.watched)[0].instance_id
    end_s = int(time.time())

    def differing(definition: Mapping[str, Any]) -> list[str]:
        text = definition["queryString"].replace("{{InstanceId}}", f'"{instance}"')
        started = logs.start_query(
            logGroupNames=definition["logGroupNames"], startTime=scene.start_s, endTime=end_s,
            queryString=text.replace(EXAMPLE, instance), limit=10_000,
        )  # fmt: skip
        while True:
            answer = logs.get_query_results(queryId=started["queryId"])
            if answer["status"] not in {"Scheduled", "Running"}:
                break
            time.sleep(1)
        done = answer["status"] == "Complete"
        return [] if done else [f"{definition['name']}: {answer['status']}"]

    definitions = saved["queryDefinitions"]
    if not definitions:
        return ["no query is saved"]
    return [
        problem
        for definition in definitions
        for problem in scene.settle(
            lambda definition=definition: differing(definition), QUERY_MINUTES
        )
    ]
