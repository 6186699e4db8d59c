"""
The acceptance on the embedded AWS with real kills: its journal, steps and ledger check.

A run's resources are removed after it, or by `--clean` after a kill. Everything else stays as it
was, also a resource that has only a name of the journal or only the tag.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from typing import Any

import pytest

from aggregator.settle.ledger_hour import BucketHour
from local.alarms.template import load
from local.embedded_aws.clients import EMBEDDED_REGION
from neuron_accounts.core_time import CostRules
from neuron_accounts.prices import Prices
from neuron_accounts.teams import TeamRules
from neuron_emf.report.collection import then_by_days
from neuron_wire import MinuteRecord, parse
from neuron_wire.names import MINUTE_MS, OF_A_CONTRIBUTOR, OF_AN_ALARM, UNKNOWN_OWNER
from proof import reference
from proof.accept.accept_steps import ACCEPT_STEPS, FRAME
from proof.accept.checks import against_lines, against_report
from proof.accept.context import (
    ACCEPT_IDLE_AFTER_MINUTES,
    ACCEPT_MINUTES,
    AcceptContext,
    two_clusters,
)
from proof.accept.queries import against_totals, expected_totals
from proof.accept.resources import ACCEPT_TAG, LOG_GROUP_KIND, STACK_KIND_OF_RESOURCE, Journal
from proof.emitter_process import HUNG_AFTER_S
from proof.factories.records import message
from proof.rollup_differences import LIST_PRICES
from tests.neuron_emf.report.report_faces import document_of, report_of, then_of_lines
from tests.stack.stack_template import carry_release

CHEAP = "frame,deploy,to-kinesis"
WITH_FRAME = 4  # the first row of the journal after the frame exists
FIRST_GONE = 10
POINTS = ((4, 0.6), (9, 0.0))  # a row of the journal, and the delay of the kill after it

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel")
]


@pytest.fixture(scope="module")
def release(built, tmp_path_factory):
    """Return the content of a wheel of this tree."""
    return carry_release(built / "IngestFunction", tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module")
def aws(aws):
    """Return the emulator, with resources of others in it."""
    body = json.dumps({"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}})
    aws.client("cloudformation").create_stack(
        StackName="aws-sam-cli-managed-default", TemplateBody=body
    )
    logs = aws.client("logs")
    logs.create_log_group(logGroupName="/neuron-emf/records", tags={"team": "others"})
    logs.put_subscription_filter(
        logGroupName="/neuron-emf/records",
        filterName="of-others",
        filterPattern="",
        destinationArn=f"arn:aws:lambda:{EMBEDDED_REGION}:000000000000:function:others",
    )
    aws.client("s3").create_bucket(
        Bucket="aws-sam-cli-managed-default-bucket",
        CreateBucketConfiguration={"LocationConstraint": EMBEDDED_REGION},
    )
    aws.client("sqs").create_queue(QueueName="neuron-accept-of-others")
    return aws


@pytest.fixture
def begin(aws, release, repository):
    """Return a function that starts the program on the emulator."""

    def started(folder, *words):
        command = [
            sys.executable,
            "-m",
            "proof.accept",
            "--region",
            EMBEDDED_REGION,
            "--folder",
            folder,
        ]
        return subprocess.Popen(
            [*map(str, command), "--release", str(release), *words],
            cwd=repository,
            env={**aws.environment(), "PYTHONPATH": f"{repository}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return started


def inventory(aws):
    """Return all resources that an acceptance could create or change, by service."""
    call = aws.client
    stacks = call("cloudformation").describe_stacks()["Stacks"]
    groups = {group["logGroupName"] for group in call("logs").describe_log_groups()["logGroups"]}
    return {
        "stacks": {(stack["StackName"], stack["StackStatus"]) for stack in stacks},
        # The emulator recreates a group without a tag for a tick that was in progress.
        "groups": {
            group for group in groups if "/aws/lambda/" not in group and "/rollups" not in group
        },
        "filters": {
            subscription["filterName"]
            for group in groups
            for subscription in call("logs").describe_subscription_filters(logGroupName=group)[
                "subscriptionFilters"
            ]
        },
        "buckets": {bucket["Name"] for bucket in call("s3").list_buckets()["Buckets"]},
        "queues": set(call("sqs").list_queues().get("QueueUrls", ())),
        "functions": {
            function["FunctionName"] for function in call("lambda").list_functions()["Functions"]
        },
        "tables": set(call("dynamodb").list_tables()["TableNames"]),
        "streams": set(call("kinesis").list_streams()["StreamNames"]),
        "topics": {topic["TopicArn"] for topic in call("sns").list_topics()["Topics"]},
        "rules": {rule["Name"] for rule in call("events").list_rules()["Rules"]},
        "alarms": {
            alarm["AlarmName"] for alarm in call("cloudwatch").describe_alarms()["MetricAlarms"]
        },
        "roles": {role["RoleName"] for role in call("iam").list_roles()["Roles"]},
    }


def ended(process, code):
    """Return the output of a program, which ended with this code."""
    output, _ = process.communicate(timeout=HUNG_AFTER_S)
    assert code == process.returncode, output
    return output


@pytest.mark.embedded
@pytest.mark.proof
def test_each_step_is_judged_or_named(aws, begin, tmp_path):
    """
    Each step of the whole program is right, or named with the reason why it is not judged here.
    """
    before = inventory(aws)
    output = ended(begin(tmp_path), 0)
    for step in ACCEPT_STEPS:
        assert f"{'not tried' if step.not_here else 'ok':<10}  {step.name:<8}  " in output, output
    assert before == inventory(aws)
    assert "Nothing is left." in ended(begin(tmp_path, "--clean"), 0)


@pytest.mark.embedded
@pytest.mark.proof
@pytest.mark.parametrize("point", POINTS, ids="row {0[0]} and {0[1]} s".format)
def test_a_killed_run_is_removed_by_its_journal(aws, begin, tmp_path, point):
    """
    After SIGKILL at a row of the journal, at once or a moment later, `--clean` removes the whole
    run.
    """
    row, delay_s = point
    before = inventory(aws)
    with begin(tmp_path, "--steps", CHEAP) as process:
        deadline = time.monotonic() + HUNG_AFTER_S
        while (
            sum(path.read_bytes().count(b"\n") for path in tmp_path.glob("*/journal.jsonl")) < row
        ):
            assert process.poll() is None, process.stdout.read()
            assert time.monotonic() < deadline
            time.sleep(0.002)
        time.sleep(delay_s)
        os.kill(process.pid, signal.SIGKILL)
        assert -signal.SIGKILL == process.wait()
    if WITH_FRAME <= row < FIRST_GONE:
        assert before["buckets"] < inventory(aws)["buckets"]
    assert "Nothing is left." in ended(begin(tmp_path, "--clean"), 0)
    assert before == inventory(aws)


@pytest.mark.embedded
def test_what_journal_or_tag_alone_name_is_not_touched(aws, begin, tmp_path):
    """
    A resource named in the journal without the tag stays and is reported; a tagged one that is not
    named stays.
    """
    logs = aws.client("logs")
    logs.create_log_group(logGroupName="/only/tag", tags={ACCEPT_TAG: "run"})
    where = {"account": "000000000000", "region": EMBEDDED_REGION, "endpoint": aws.endpoint_url}
    journal = Journal.begin(tmp_path / "run", "run", where)
    journal.will_make(LOG_GROUP_KIND, "/neuron-emf/records")
    journal.will_make(STACK_KIND_OF_RESOURCE, "aws-sam-cli-managed-default")
    other = Journal.begin(tmp_path / "other", "other", {**where, "account": "111122223333"})
    other.will_make(LOG_GROUP_KIND, "/only/tag")
    before = inventory(aws)
    output = ended(begin(tmp_path, "--clean"), 1)
    assert 2 == output.count("it does not have the tag of this run and was not touched")
    assert "of another account or region" in output
    assert before == inventory(aws)


ACCEPTED_HOUR = 500_000
ACCEPTED_FROM_MINUTE = ACCEPTED_HOUR * 60 - 5  # so that the lines are in two hours


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Return the lines of an acceptance."""
    folder = tmp_path_factory.mktemp("lines")
    parsed = [
        parse(record.line)
        for instance in two_clusters("run")
        for record in instance.records(folder, ACCEPTED_FROM_MINUTE * 60, ACCEPT_MINUTES)
    ]
    return [record for record in parsed if isinstance(record, MinuteRecord)]


@pytest.fixture
def totals(records, expected):
    """Return the totals of the saved queries' answers about the lines, with a copy of each line."""
    context: Any = AcceptContext(None, Journal(None, [{"run": "run", "where": {}}]), None, None)
    context.records = lambda _stack: records * 2
    context.messages = lambda _stack: []
    context.expected = lambda _stack: expected
    return expected_totals(context, records[0].instance_id)


@pytest.fixture(scope="module")
def settled(records):
    """Return the ledger rows of the lines."""
    minutes = defaultdict(lambda: defaultdict(list))
    for record in records:
        minutes[record.minute_ms // MINUTE_MS][record.cluster, record.instance_id].append(record)
    rules = CostRules(Prices(), ACCEPT_IDLE_AFTER_MINUTES)
    rows = []
    for hour in (ACCEPTED_HOUR - 1, ACCEPTED_HOUR):
        bucket_hour = BucketHour(hour, rules, {}, {})
        works = {}
        read = ((at, minutes.get(at, {})) for at in bucket_hour.minutes())
        for cluster, instance_hour in bucket_hour.instance_hours(read, works):
            rows += instance_hour.rows(works[cluster])
    return rows


@pytest.fixture(scope="module")
def expected(records):
    """Return the reference's rollups of the lines."""
    return reference.rollups(records, ACCEPT_IDLE_AFTER_MINUTES, LIST_PRICES)


def report(then, ledger_rows=0):
    """Return the report in its form for programs."""
    return document_of(report_of(then, ledger_rows=ledger_rows))


def by_lines(records):
    """Return the report of lines."""
    rules = CostRules(Prices(), ACCEPT_IDLE_AFTER_MINUTES)
    return report(then_of_lines(map(message, records), rules))


def by_ledger(rows):
    """Return the report of ledger rows."""
    return report(*then_by_days(rows, TeamRules()))


def test_a_ledger_that_is_right_has_no_problem(records, settled, expected):
    """A right ledger has no problem: lines of two hours with silent instances and a restart."""
    assert {ACCEPTED_HOUR - 1, ACCEPTED_HOUR} == {row.hour for row in settled}
    assert any(row.owner == UNKNOWN_OWNER for row in settled)
    assert [] == against_lines(settled, expected)
    assert [] == against_report(settled, by_ledger(settled), by_lines(records))


def first_idle(settled):
    """Return a row with a cost of idle cores."""
    return next(row for row in settled if row.idle_cost)


def changed(**by):
    """Return a function that adds to some numbers of that row."""

    def rows(settled):
        row = first_idle(settled)
        more = row._replace(**{name: getattr(row, name) + more for name, more in by.items()})
        return [more if settled_row is row else settled_row for settled_row in settled]

    return rows


@pytest.mark.parametrize(
    "planted",
    [
        lambda settled: [row for row in settled if row is not first_idle(settled)],
        lambda settled: [*settled, first_idle(settled)],
        changed(allocated=-1, idle=-1),
        changed(idle_cost=1_000_000),
    ],
    ids=["lost", "twice", "idle", "cost"],
)
def test_a_planted_fault_is_found(records, settled, expected, planted):
    """A lost or doubled row, and a changed micro-core-minute or a thousandth of a USD, is found."""
    faulty = planted(settled)
    assert against_lines(faulty, expected)
    assert against_report(faulty, by_ledger(faulty), by_lines(records))


def test_totals_of_queries_count_each_line_once(totals):
    """
    Totals of queries count each line once: two cores of four instances. One instance restarts
    within a minute.
    """
    names = "cores-of-instance", "emitters-that-dropped-or-restarted", "cores-by-owner"
    expected = [2 * ACCEPT_MINUTES, 1, 2 * (4 * ACCEPT_MINUTES + 1) / 60]
    assert expected == [totals[name][1] for name in names]
    column, idle_usd = totals["idle-cost-by-cluster"]
    rows = [{column: f"{idle_usd}"}]
    assert [] == against_totals("run/idle-cost-by-cluster", rows, totals)
    assert against_totals("run/idle-cost-by-cluster", rows * 2, totals)
    assert against_totals("run/idle-cost-by-cluster", [], totals)


def test_no_two_stacks_of_a_run_publish_metrics_of_one_cluster():
    """
    Two stacks of a run never publish the same cluster, because CloudWatch adds up their metrics.
    """
    context: Any = AcceptContext(None, Journal(None, [{"run": "run", "where": {}}]), None, None)
    stacks = context.watched, context.changed
    clusters = [instance.cluster for stack in stacks for instance in two_clusters(stack)]
    assert 2 * len(stacks) == len(set(clusters))


def test_the_queue_of_alarms_gets_only_what_explain_can_read():
    """
    The queue of alarms gets only alarm events that explain reads, and no event about a new alarm.
    """
    rule = load(FRAME.read_text("utf-8"))["Resources"]["AlarmEventsRule"]["Properties"]
    assert {OF_AN_ALARM, OF_A_CONTRIBUTOR} == set(rule["EventPattern"]["detail-type"])


def test_the_key_of_a_run_has_the_documented_policy(repository):
    """The key of a run permits the actions that docs/how-to/restricted.md documents."""
    page = (repository / "docs" / "how-to" / "restricted.md").read_text("utf-8")
    documented = json.loads(page.partition("```json\n")[2].partition("```")[0])["Statement"]
    key = load(FRAME.read_text("utf-8"))["Resources"]["Key"]["Properties"]
    actions = {row["Sid"]: row["Action"] for row in key["KeyPolicy"]["Statement"]}
    assert {row["Sid"]: row["Action"] for row in documented} == actions
