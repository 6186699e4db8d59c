"""
The steps along the way of a line: deploy, deliver, rollups, metrics, a path that breaks.

And those that change a stack: its mode, its deletion, its deployment on the lines it left.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from local.alarms.history import CloudWatchHistory
from local.alarms.template import load
from local.rehearsal.figures import read_metrics
from local.rehearsal.stack import overrides
from local.rehearsal.verdict import against_metrics
from neuron_emf.check.deployment import check_deployment
from neuron_emf.check.settings import CheckSettings
from neuron_emf.checks import failures
from neuron_emf.deploy.package import ReleaseBucket
from neuron_wire.names import NAMESPACE
from proof.accept.journal import STACK, Entry
from proof.accept.possession import change_stack, delete_stack, done, group_arn, make_stack
from proof.accept.scene import IDLE_AFTER_MINUTES, MINUTES, newer_schema

if TYPE_CHECKING:
    from proof.accept.scene import Scene

FRAME: Final = Path(__file__).with_name("frame.yaml")
LATE: Final = 3  # of which minute one instance's line comes late
FIRST_MINUTES: Final = 4  # that the changed stack is told before it is changed
ROLLUP_MINUTES: Final = 10.0
METRIC_MINUTES: Final = 20.0  # ListMetrics knows a new metric after up to 15
BREAK_MINUTES: Final = 25.0
AUDIT_MINUTES: Final = 15.0


def preflight(scene: Scene) -> list[str]:
    """What the region and the account lack for the stack; reads only."""
    settings = CheckSettings(
        stack_name=scene.watched, log_group=scene.group(scene.watched), region=scene.place.region
    )
    return [f"{failure.check}: {failure.found}" for failure in failures(check_deployment(settings))]


def frame(scene: Scene) -> list[str]:
    """Bucket, and queues of events and messages."""
    parameters = {"RunId": scene.journal.run}
    body = FRAME.read_text(encoding="utf-8")
    make_stack(scene.place, scene.journal, scene.frame, parameters, TemplateBody=body)
    scene.stacks[scene.frame] = done(scene.place, scene.frame)
    return []


def deploy(scene: Scene) -> list[str]:
    """The template and the functions of this tree, as two stacks side by side."""
    url = upload(scene)
    for name in (scene.watched, scene.changed):
        given = parameters(scene, name)
        make_stack(
            scene.place, scene.journal, name, given, keeps=scene.group(name), TemplateURL=url
        )
    for name in (scene.watched, scene.changed):
        scene.stacks[name] = done(scene.place, name)
    return []


def upload(scene: Scene) -> str:
    """Template and functions to the bucket of the run; where the template is."""
    place, outputs = scene.place, scene.stacks[scene.frame].outputs
    bucket = ReleaseBucket(outputs["BucketName"], place.account, place.client("s3"))
    return bucket.upload(scene.package)


def parameters(scene: Scene, name: str) -> dict[str, str]:
    """What a stack is deployed with."""
    given = {
        "LogGroupName": scene.group(name),
        "Mode": "direct",
        "IdleAfterMinutes": str(IDLE_AFTER_MINUTES),
        "RetentionDays": "14",
    }
    if name == scene.watched:  # the other one makes its own
        given["AlarmTopicArn"] = scene.stacks[scene.frame].outputs["TopicArn"]
    if scene.place.is_embedded:
        given.update(overrides(load(scene.package.source)))
    return given


def deliver(scene: Scene) -> list[str]:
    """Minutes of two clusters, copies, a newer schema and a restart; one minute is held back."""
    for instance in scene.instances:
        records = instance.records(scene.folder, scene.start_s, MINUTES)
        late_ms = (scene.start_s + 60 * LATE) * 1000
        kept = [
            record
            for record in records
            if instance.name != "busy" or record.timestamp_ms != late_ms
        ]
        scene.send(scene.watched, instance.name, kept)
        scene.send(scene.watched, f"{instance.name}-copy", kept[::3])
        early_ms = (scene.start_s + 60 * FIRST_MINUTES) * 1000
        scene.send(
            scene.changed,
            instance.name,
            [record for record in kept if record.timestamp_ms < early_ms],
        )
    logs = scene.place.client("logs")
    stream = {"logGroupName": scene.group(scene.watched), "logStreamName": "newer"}
    logs.create_log_stream(**stream)
    newer = {"timestamp": kept[0].timestamp_ms, "message": newer_schema(kept[0].line)}
    logs.put_log_events(**stream, logEvents=[newer])
    return scene.settle(lambda: scene.differences(scene.watched), ROLLUP_MINUTES)


def late(scene: Scene) -> list[str]:
    """The minute that was held back arrives, and its rollup is restated."""
    (busy,) = [instance for instance in scene.instances if instance.name == "busy"]
    late_ms = (scene.start_s + 60 * LATE) * 1000
    records = busy.records(scene.folder, scene.start_s, MINUTES)
    for stack in (scene.watched, scene.changed):
        scene.send(
            stack, busy.name, [record for record in records if record.timestamp_ms == late_ms]
        )
    problems = scene.settle(lambda: scene.differences(scene.watched), ROLLUP_MINUTES)
    key = busy.cluster, scene.start_s + 60 * LATE
    if len(scene.rollups(scene.watched).minutes[key].publications) < 2:
        problems.append(f"the rollup of {key} was not restated")
    return problems


def metrics(scene: Scene) -> list[str]:
    """GetMetricStatistics says what the rollup lines say."""
    history = CloudWatchHistory(scene.place.client("cloudwatch"))

    def problems() -> list[str]:
        lines = scene.rollups(scene.watched).minutes
        lines = {
            key: minute for key, minute in lines.items() if key[0].startswith(scene.journal.run)
        }
        found = read_metrics(history, scene.start_s, int(time.time()))
        return [str(problem) for problem in against_metrics(lines, found)]

    return scene.settle(problems, METRIC_MINUTES)


def broken(scene: Scene) -> list[str]:
    """Without its subscription filter a stack that has lines is not well, and an alarm says so."""
    scene.place.client("logs").delete_subscription_filter(
        logGroupName=scene.group(scene.watched), filterName=f"{scene.watched}-minutes"
    )
    instance = scene.instances[1]

    def silent() -> list[str]:
        live_s = (int(time.time()) // 60 - 1) * 60
        if live_s > scene.told_until_s[scene.watched] - 60:
            scene.send(scene.watched, "live", instance.records(scene.folder, live_s, 1))
        pages = scene.place.client("cloudwatch").get_paginator("describe_alarms")
        rows = pages.paginate(AlarmNamePrefix=f"{scene.watched}-", StateValue="ALARM")
        ringing = [
            alarm for page in rows for alarm in page["MetricAlarms"] if not _on_clusters(alarm)
        ]
        scene.notes[:] = [f"in ALARM: {alarm['AlarmName']}" for alarm in ringing]
        return [] if ringing else ["no alarm on the pipeline is in ALARM"]

    return scene.settle(silent, BREAK_MINUTES)


def next_minutes(scene: Scene, stack: str, stream: str) -> list[str]:
    """Lines of one instance for two minutes that no line was of; where they were not delivered."""
    start_s = scene.told_until_s[stack]
    time.sleep(0 if start_s + 120 < time.time() else start_s + 125 - time.time())
    records = scene.instances[1].records(scene.folder, start_s, 2)
    scene.send(stack, stream, records)
    return [] if records else [f"no lines from {start_s} on"]


def _on_clusters(alarm: dict) -> bool:
    return NAMESPACE in str(alarm.get("Namespace")) or f'"{NAMESPACE}/' in str(alarm.get("Metrics"))


# --- changes of a stack ---


def to_kinesis(scene: Scene) -> list[str]:
    """From direct to the stream; back at once is refused, and the stack stays as it is."""
    stack = change_stack(scene.place, scene.stacks[scene.changed], Mode="kinesis")
    if (stack.status, stack.parameters["Mode"]) != ("UPDATE_COMPLETE", "kinesis"):
        return [f"from direct to kinesis: {stack.status}"]
    refused = change_stack(scene.place, stack, Mode="direct")
    scene.stacks[scene.changed] = refused
    found = refused.status, refused.parameters["Mode"]
    if found != ("UPDATE_ROLLBACK_COMPLETE", "kinesis"):
        return [f"from kinesis to direct was expected to be refused, found {found}"]
    return []


def through_the_stream(scene: Scene) -> list[str]:
    """Lines that come while the filter delivers to the stream are counted once."""
    return next_minutes(scene, scene.changed, "stream") or audit(scene)


def back_to_direct(scene: Scene) -> list[str]:
    """By way of drain, with lines in each mode; every Seq counts once in the end."""
    problems = []
    for mode in ("drain", "direct"):
        stack = change_stack(scene.place, scene.stacks[scene.changed], Mode=mode)
        scene.stacks[scene.changed] = stack
        if (stack.status, stack.parameters["Mode"]) != ("UPDATE_COMPLETE", mode):
            return [f"to {mode}: {stack.status}"]
        problems += next_minutes(scene, scene.changed, mode)
        if scene.place.is_embedded:  # a change of a function ends what it has not yet begun
            problems += audit(scene)
    return problems or audit(scene)


def delete_and_adopt(scene: Scene) -> list[str]:
    """Deleted, its lines stay; deployed again on them, they are read on; deleted, they stay."""
    group, name = scene.group(scene.changed), scene.changed
    before = len(scene.events(group))
    if why := delete_stack(scene.place, scene.journal, name):
        return [why]
    scene.journal.is_gone(Entry(STACK, name))
    if before != len(scene.events(group)):
        return [f"of {before} lines {len(scene.events(group))} stayed"]
    given = {**parameters(scene, name), "AdoptLogGroup": "true"}
    make_stack(scene.place, scene.journal, name, given, TemplateURL=upload(scene))
    scene.stacks[name] = done(scene.place, name)
    since_ms = scene.told_until_s[name] * 1000
    problems = next_minutes(scene, name, "adopted")
    expected = {record.minute_ms for record in scene.records(name) if record.minute_ms >= since_ms}

    def unread() -> list[str]:
        scene.differences(name)  # asks close where nothing else does
        read = {minute_s * 1000 for _, minute_s in scene.rollups(name).minutes}
        return [f"minute {minute_ms} has no rollup" for minute_ms in sorted(expected - read)]

    problems += scene.settle(unread, AUDIT_MINUTES)
    if why := delete_stack(scene.place, scene.journal, name):
        return [*problems, why]
    scene.journal.is_gone(Entry(STACK, name))
    return problems if group_arn(scene.place, group) else [*problems, f"{group} did not stay"]


def audit(scene: Scene) -> list[str]:
    """Each Boot has every Seq from 1 on in the log group, and the rollups are what they come to."""
    return scene.settle(lambda: scene.differences(scene.changed), AUDIT_MINUTES)
