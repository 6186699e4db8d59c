"""
The steps of an acceptance, in order, and why the embedded AWS cannot judge some of them.

This module has the steps along the path of a line (deploy, deliver, rollups, metrics, a broken
path) and those that change a stack: its mode, its deletion, its deployment on existing lines. The
steps about results for people are in `checks`. A step returns its problems; an empty list means
that it passed.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from local.alarms.history import CloudWatchHistory
from local.rehearsal.comparison import against_metrics, read_metrics
from neuron_emf.check.deployment import check_deployment
from neuron_emf.check.settings import CheckSettings
from neuron_emf.check_results import CHECK_FAILED, CHECK_OK, CheckResult, failed, not_tried, ok
from neuron_emf.deploy.package import ReleaseBucket
from neuron_wire.names import RECORD_NAMESPACE
from proof.accept import checks, queries
from proof.accept.context import ACCEPT_MINUTES, deploy_parameters, two_clusters
from proof.accept.resources import (
    STACK_KIND_OF_RESOURCE,
    MadeResource,
    change_stack,
    done,
    group_arn,
    make_stack,
    remove_one,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from neuron_emitter.spool.spool_records import SpooledRecord
    from proof.accept.context import AcceptContext, Instance


FRAME: Final = Path(__file__).with_name("frame.yaml")
LATE: Final = 3  # the minute for which one instance's line comes late
FIRST_MINUTES: Final = 4  # delivered to the changed stack before the change
ROLLUP_MINUTES: Final = 10.0
METRIC_MINUTES: Final = 20.0  # ListMetrics shows a new metric after up to 15
BREAK_MINUTES: Final = 25.0
AUDIT_MINUTES: Final = 15.0


def preflight(context: AcceptContext) -> list[str]:
    """Return what the Region and the account lack; the deployment shows other problems."""
    settings = CheckSettings(
        stack_name=context.watched,
        log_group=context.group(context.watched),
        region=context.place.region,
    )
    results = check_deployment(settings)
    return [f"{result.check}: {result.found}" for result in results if result.state == CHECK_FAILED]


def frame(context: AcceptContext) -> list[str]:
    """Deploy bucket, queues of events and messages, and a key if KMS=1 requests one."""
    parameters = {"RunId": context.journal.run, "Kms": str(context.has_key).lower()}
    body = FRAME.read_text(encoding="utf-8")
    make_stack(context.place, context.journal, context.frame, parameters, TemplateBody=body)
    context.stacks[context.frame] = done(context.place, context.frame)
    return []


def deploy(context: AcceptContext) -> list[str]:
    """Deploy the template and the functions of this tree, as two stacks side by side."""
    url = upload(context)
    for name in (context.watched, context.changed):
        given = deploy_parameters(context, name)
        make_stack(
            context.place, context.journal, name, given, keeps=context.group(name), TemplateURL=url
        )
    for name in (context.watched, context.changed):
        context.stacks[name] = done(context.place, name)
    return []


def upload(context: AcceptContext) -> str:
    """Upload template and functions to the run's bucket. Return the template's address."""
    place = context.place
    outputs = context.stacks[context.frame].outputs
    bucket = ReleaseBucket(outputs["BucketName"], place.account, place.client("s3"))
    return bucket.upload_release(context.package)


def deliver(context: AcceptContext) -> list[str]:
    """
    Deliver minutes of two clusters, copies, a newer schema and a restart; hold one minute back.
    """
    early_ms = (context.start_s + 60 * FIRST_MINUTES) * 1000
    records: list[SpooledRecord] = []
    for instance in two_clusters(context.changed):
        records = _timely_records(context, instance)
        first = [record for record in records if record.timestamp_ms < early_ms]
        context.send(context.changed, instance.name, first)
    for instance in reversed(two_clusters(context.watched)):
        records = _timely_records(context, instance)
        context.send(context.watched, instance.name, records)
        context.send(context.watched, f"{instance.name}-copy", records[::3])
    template = records[0]
    logs = context.place.client("logs")
    stream = {"logGroupName": context.group(context.watched), "logStreamName": "newer"}
    logs.create_log_stream(**stream)
    # A line of a later emitter, of an instance that no other line names. Saved queries read any
    # schema, so the line adds nothing to the totals of their answers.
    instance_members = {"Boot": "f" * 20, "InstanceId": "newer", "Owners": []}
    newer = {**json.loads(template.line), "Schema": 2, **instance_members}
    events = [{"timestamp": template.timestamp_ms, "message": json.dumps(newer)}]
    logs.put_log_events(**stream, logEvents=events)
    return context.wait_until_right(lambda: context.differences(context.watched), ROLLUP_MINUTES)


def _timely_records(context: AcceptContext, instance: Instance) -> list[SpooledRecord]:
    """Return the lines of *instance*; those of the busy instance lack the held-back minute."""
    late_ms = (context.start_s + 60 * LATE) * 1000
    return [
        record
        for record in instance.records(context.folder, context.start_s, ACCEPT_MINUTES)
        if instance.name != "busy" or record.timestamp_ms != late_ms
    ]


def late(context: AcceptContext) -> list[str]:
    """Deliver the minute that was held back. Check that its rollup is published again."""
    late_ms = (context.start_s + 60 * LATE) * 1000
    for stack in (context.changed, context.watched):
        (busy,) = [each for each in two_clusters(stack) if each.name == "busy"]
        records = busy.records(context.folder, context.start_s, ACCEPT_MINUTES)
        held_back = [record for record in records if record.timestamp_ms == late_ms]
        context.send(stack, busy.name, held_back)
    problems = context.wait_until_right(
        lambda: context.differences(context.watched), ROLLUP_MINUTES
    )
    key = two_clusters(context.watched)[1].cluster, context.start_s + 60 * LATE
    if len(context.rollups(context.watched)[key].publications) < 2:
        problems.append(f"the rollup of {key} was not restated")
    return problems


def metrics(context: AcceptContext) -> list[str]:
    """Compare GetMetricStatistics with the rollup lines."""
    history = CloudWatchHistory(context.place.client("cloudwatch"))

    def problems() -> list[str]:
        if unpublished := context.differences(context.changed):  # it must not add to the metrics
            return unpublished
        context.extract_metrics()
        lines = context.rollups(context.watched)
        found = read_metrics(history, context.start_s, int(time.time()))
        return [str(problem) for problem in against_metrics(lines, found)]

    return context.wait_until_right(problems, METRIC_MINUTES)


def broken(context: AcceptContext) -> list[str]:
    """Check that a stack with lines but without its subscription filter has an alarm in ALARM."""
    context.place.client("logs").delete_subscription_filter(
        logGroupName=context.group(context.watched), filterName=f"{context.watched}-minutes"
    )
    instance = two_clusters(context.watched)[1]

    def silent() -> list[str]:
        live_s = (int(time.time()) // 60 - 1) * 60
        if live_s > context.delivered_until_s[context.watched] - 60:
            context.send(context.watched, "live", instance.records(context.folder, live_s, 1))
        pages = context.place.client("cloudwatch").get_paginator("describe_alarms")
        rows = pages.paginate(AlarmNamePrefix=f"{context.watched}-", StateValue="ALARM")
        firing = [
            alarm for page in rows for alarm in page["MetricAlarms"] if not _on_clusters(alarm)
        ]
        context.notes[:] = [f"in ALARM: {alarm['AlarmName']}" for alarm in firing]
        return [] if firing else ["no alarm on the pipeline is in ALARM"]

    return context.wait_until_right(silent, BREAK_MINUTES)


def next_minutes(context: AcceptContext, stack: str, stream: str) -> list[str]:
    """Deliver new lines of one instance for two minutes. Return the problems of the delivery."""
    start_s = context.delivered_until_s[stack]
    time.sleep(0 if start_s + 120 < time.time() else start_s + 125 - time.time())
    records = two_clusters(stack)[1].records(context.folder, start_s, 2)
    context.send(stack, stream, records)
    return [] if records else [f"no lines from {start_s} on"]


def _on_clusters(alarm: dict[str, Any]) -> bool:
    return RECORD_NAMESPACE in str(alarm.get("Namespace")) or f'"{RECORD_NAMESPACE}/' in str(
        alarm.get("Metrics")
    )


# --- changes of a stack ---


def to_kinesis(context: AcceptContext) -> list[str]:
    """Change from direct to the stream; an immediate change back is refused without effect."""
    found = _change_mode(context, "kinesis")
    if found != ("UPDATE_COMPLETE", "kinesis"):
        return [f"from direct to kinesis: {found[0]}"]
    found = _change_mode(context, "direct")
    if found != ("UPDATE_ROLLBACK_COMPLETE", "kinesis"):
        return [f"from kinesis to direct was expected to be refused, found {found}"]
    return []


def _change_mode(context: AcceptContext, mode: str) -> tuple[str, str]:
    """Ask for another mode of the changed stack. Return its status and its mode after that."""
    stack = change_stack(context.place, context.stacks[context.changed], Mode=mode)
    context.stacks[context.changed] = stack
    return stack.status, stack.parameters["Mode"]


def through_the_stream(context: AcceptContext) -> list[str]:
    """Check that lines delivered through the stream are counted once."""
    return next_minutes(context, context.changed, "stream") or audit(context)


def back_to_direct(context: AcceptContext) -> list[str]:
    """Change back by way of drain, with lines in each mode; in the end every Seq counts once."""
    problems = []
    for mode in ("drain", "direct"):
        found = _change_mode(context, mode)
        if found != ("UPDATE_COMPLETE", mode):
            return [f"to {mode}: {found[0]}"]
        problems += next_minutes(context, context.changed, mode)
        if context.place.is_embedded:  # a change of a function cancels its pending invocations
            problems += audit(context)
    return problems or audit(context)


def delete_and_adopt(context: AcceptContext) -> list[str]:
    """Delete a stack and deploy it on its lines, which stay and are read."""
    group = context.group(context.changed)
    name = context.changed
    before = len(context.events(group))
    made = MadeResource(STACK_KIND_OF_RESOURCE, name)
    if why := remove_one(context.place, context.journal, made):
        return [why]
    if before != len(context.events(group)):
        return [f"of {before} lines {len(context.events(group))} stayed"]
    given = {**deploy_parameters(context, name), "AdoptLogGroup": "true"}
    make_stack(context.place, context.journal, name, given, TemplateURL=upload(context))
    context.stacks[name] = done(context.place, name)
    since_ms = context.delivered_until_s[name] * 1000
    problems = next_minutes(context, name, "adopted")
    expected = {
        record.minute_ms for record in context.records(name) if record.minute_ms >= since_ms
    }

    def missing_rollups() -> list[str]:
        context.differences(name)  # calls close if nothing else does
        read = {minute_s * 1000 for _, minute_s in context.rollups(name)}
        return [f"minute {minute_ms} has no rollup" for minute_ms in sorted(expected - read)]

    problems += context.wait_until_right(missing_rollups, AUDIT_MINUTES)
    if why := remove_one(context.place, context.journal, made):
        return [*problems, why]
    return problems if group_arn(context.place, group) else [*problems, f"{group} did not stay"]


def audit(context: AcceptContext) -> list[str]:
    """Check that the log group has every Seq of each Boot, and that the rollups match the lines."""
    return context.wait_until_right(lambda: context.differences(context.changed), AUDIT_MINUTES)


MOST_PROBLEMS: Final = 20  # printed problems of one step


@dataclass(frozen=True)
class Step:
    """
    One step.

    Attributes:
        name: Its name, also of its recording.

        act: Runs it; returns its problems as sentences.

        needs: Names of the steps that must have passed before it.

        not_here: Why the embedded AWS cannot judge it; empty if it can.
    """

    name: str
    act: Callable[[AcceptContext], list[str]]
    needs: tuple[str, ...] = ()
    not_here: str = ""

    @property
    def sentence(self) -> str:
        """The claim of the step."""
        return str(self.act.__doc__).strip()

    def result(self, context: AcceptContext, before: Sequence[CheckResult]) -> CheckResult:
        """
        Run the step, if it can be judged and the steps that it needs have passed.

        An exception fails only this step. The context's notes have further output.
        """
        failed_steps = {result.check for result in before if result.state != CHECK_OK}
        missing = [name for name in self.needs if name in failed_steps]
        if context.place.is_embedded and self.not_here:
            result = not_tried(f"{self.not_here} (embedded AWS)")
        elif missing:
            result = not_tried(f"it needs {', '.join(missing)}")
        else:
            context.place.recorder.step(self.name)
            context.notes.clear()
            result = self._judge(context)
        return replace(result, check=self.name, must_hold=self.sentence)

    def _judge(self, context: AcceptContext) -> CheckResult:
        began_s = time.monotonic()
        try:
            problems = self.act(context)
        except Exception as error:  # noqa: BLE001 - the other steps continue after any error
            return failed(f"{type(error).__name__}: {error}")
        if problems:
            return failed("; ".join(problems[:MOST_PROBLEMS]))
        return ok(f"no difference after {time.monotonic() - began_s:.0f} s")


ACCEPT_STEPS: Final = (
    Step("preflight", preflight),
    Step("frame", frame, needs=("preflight",)),
    Step("deploy", deploy, needs=("frame",)),
    Step("deliver", deliver, needs=("deploy",)),
    Step("late", late, needs=("deliver",)),
    Step("ledger", checks.ledger, needs=("deliver",)),
    Step("metrics", metrics, needs=("deliver",)),
    Step(
        "alarms",
        checks.alarms,
        ("deliver",),
        "it refuses these alarms and evaluates none by a clock",
    ),
    Step("events", checks.events, needs=("deploy",)),
    Step("finding", checks.finding, needs=("deliver",)),
    Step("subscription", checks.subscription, needs=("deliver",)),
    Step(
        "queries",
        queries.queries,
        ("deliver",),
        "it refuses saved queries and reads no JSON in a query",
    ),
    Step("athena", queries.athena, ("ledger",), "it refuses saved queries of Athena"),
    Step("to-kinesis", to_kinesis, needs=("deploy",)),
    Step("through-the-stream", through_the_stream, needs=("deliver", "to-kinesis")),
    Step("back-to-direct", back_to_direct, needs=("deliver", "to-kinesis")),
    Step("broken-path", broken, ("deliver",), "it evaluates no alarm by a clock"),
    Step("delete-and-adopt", delete_and_adopt, needs=("deliver",)),
)
