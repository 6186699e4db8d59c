"""The embedded AWS answers on 127.0.0.1 only, runs a template, and leaves no process behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from botocore.exceptions import ClientError

from local.embedded_aws import emulator as server_module
from local.embedded_aws.child_processes import (
    ChildProcess,
    EmbeddedAwsError,
    group_members,
    is_loopback,
    listening,
)
from local.embedded_aws.clients import environment
from local.embedded_aws.emulator import EmbeddedAws
from proof.emitter_process import wait_until
from tests.neuron_emitter.fake_monitor import alive

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel")


@pytest.fixture
def start(tmp_path):
    """Yield a function that starts Python code as a child, which is stopped after the test."""
    children = []

    def starter(code):
        child = ChildProcess(
            f"child {len(children)}",
            [sys.executable, "-c", code],
            output=tmp_path / f"{len(children)}.log",
            environment=os.environ,
            folder=tmp_path,
        )
        children.append(child)
        return child

    yield starter
    for child in children:
        child.stop(0)


@pytest.mark.proof
@LINUX
def test_stopping_takes_the_grandchildren_along(start):
    """Stop ends grandchildren too, even those of a child that ignores signals."""
    child = start(
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid)\n"
        "sys.stdout.flush()\n"
        "time.sleep(60)"
    )
    wait_until(child.tail)
    grandchild = int(child.tail())
    assert {child.pid, grandchild} == set(group_members(child.pid))
    assert -signal.SIGKILL == child.stop(0.05)
    wait_until(lambda: not alive(grandchild))
    assert [] == [pid for pid in group_members(child.pid) if alive(pid)]


KILLED_PARENT = """
import os, signal, sys, time
from pathlib import Path
from local.embedded_aws.child_processes import ChildProcess
child = ChildProcess("c", [sys.executable, "-c", "import time; time.sleep(60)"],
    output=Path(sys.argv[1]), environment=os.environ, folder=Path("."))
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.proof
@LINUX
def test_a_child_dies_with_a_parent_that_was_killed(tmp_path, repository):
    """After kill -9 of a parent, the kernel ends its child."""
    command = [sys.executable, "-c", KILLED_PARENT, str(tmp_path / "log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=repository, text=True) as parent:
        child = int(parent.stdout.readline())
        wait_until(lambda: alive(child))
        parent.kill()
    wait_until(lambda: not alive(child))


def test_an_address_that_others_can_reach_is_not_loopback():
    """The address of all interfaces is not loopback, in IPv4 and IPv6."""
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "::ffff:10.0.0.1", "10.0.0.1")))


@pytest.mark.embedded
@LINUX
def test_no_other_machine_can_reach_it(aws):
    """Every socket of the embedded AWS and its workers listens on 127.0.0.1."""
    addresses = listening(group_members(aws._child.pid))
    assert {"127.0.0.1"} == {address for address, _ in addresses}


def script(path, code):
    """Write a command that replaces a real one."""
    path.write_text(f"#!{sys.executable}\n{code}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.proof
@LINUX
@pytest.mark.parametrize("address", ["0.0.0.0", "::"])
def test_an_emulator_that_others_can_reach_is_stopped(tmp_path, monkeypatch, address):
    """An emulator that listens on another address is stopped, whatever its settings say."""
    family = "AF_INET6" if ":" in address else "AF_INET"
    code = (
        "import socket, time\n"
        f"server = socket.socket(socket.{family}); server.bind(({address!r}, 0)); server.listen()\n"
        "time.sleep(60)"
    )
    script(tmp_path / "python", code)
    started = EmbeddedAws(script(tmp_path / "ministack", ""), tmp_path)

    def answers(_url):
        return bool(listening(group_members(started._child.pid)))

    monkeypatch.setattr(server_module, "_answers", answers)
    with pytest.raises(EmbeddedAwsError, match=r"expected 127\.0\.0\.1 only: it was stopped"):
        started.start()
    assert not started.alive()


def test_children_see_no_account(monkeypatch):
    """
    A child gets neither the user's credentials nor profile, region and endpoint. It gets the user's
    package index for pip.
    """
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_LOGS", "SAM_CLI_X"):
        monkeypatch.setenv(name, "mine")
    monkeypatch.setenv("NO_PROXY", "example.com")
    variables = environment("http://127.0.0.1:4566")
    assert "mine" not in variables.values()
    assert "http://127.0.0.1:4566" == variables["AWS_ENDPOINT_URL"]
    assert "example.com,127.0.0.1,localhost" == variables["NO_PROXY"]
    assert os.devnull == variables["AWS_SHARED_CREDENTIALS_FILE"]
    assert "AWS_ENDPOINT_URL" not in environment()
    assert "http://127.0.0.1:1/simple" == variables["PIP_INDEX_URL"]


def refusal(call, **parameters):
    """Return the code of the error that a call ends with."""
    with pytest.raises(ClientError) as error:
        call(**parameters)
    return error.value.response["Error"]["Code"]


BUCKET_STACK = """
Resources:
  Bucket: {Type: AWS::S3::Bucket}
  Events: {Type: AWS::SQS::Queue}
  Rule:
    Type: AWS::Events::Rule
    Properties:
      EventPattern: {source: [aws.cloudwatch]}
      Targets: [{Id: queue, Arn: !GetAtt Events.Arn}]
"""


@pytest.mark.embedded
@LINUX
def test_a_bucket_of_a_stack_keeps_its_system_tags_and_its_objects(aws):
    """
    S3 refuses tags without CloudFormation's system tags, and CloudFormation keeps a bucket that has
    objects.
    """
    cloudformation = aws.client("cloudformation")
    cloudformation.create_stack(StackName="strict", TemplateBody=BUCKET_STACK)
    row = cloudformation.describe_stack_resource(StackName="strict", LogicalResourceId="Bucket")
    bucket = {"Bucket": row["StackResourceDetail"]["PhysicalResourceId"]}
    s3 = aws.client("s3")
    tags = s3.get_bucket_tagging(**bucket)["TagSet"]
    assert {"Key": "aws:cloudformation:stack-name", "Value": "strict"} in tags
    own_tag = {"Key": "team", "Value": "ml"}
    assert "InvalidTag" == refusal(s3.put_bucket_tagging, **bucket, Tagging={"TagSet": [own_tag]})
    s3.put_bucket_tagging(**bucket, Tagging={"TagSet": [*tags, own_tag]})
    s3.put_object(**bucket, Key="key", Body=b"body")
    cloudformation.delete_stack(StackName="strict")
    (stack,) = cloudformation.describe_stacks(StackName="strict")["Stacks"]
    assert "DELETE_FAILED" == stack["StackStatus"]


@pytest.mark.embedded
@LINUX
def test_an_alarm_sends_an_event_when_it_is_created_and_when_its_state_changes(aws):
    """
    A rule on the source alone gets an event when an alarm is created and when its state changes.
    """
    aws.client("cloudformation").create_stack(StackName="alarms", TemplateBody=BUCKET_STACK)
    cloudwatch = aws.client("cloudwatch")
    cloudwatch.put_metric_alarm(
        AlarmName="a",
        Namespace="n",
        MetricName="m",
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=1,
        ComparisonOperator="GreaterThanThreshold",
    )
    cloudwatch.set_alarm_state(AlarmName="a", StateValue="ALARM", StateReason="a trial")
    sqs = aws.client("sqs")
    (queue,) = [url for url in sqs.list_queues()["QueueUrls"] if "/alarms-" in url]
    messages = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
    expected = {"CloudWatch Alarm Configuration Change", "CloudWatch Alarm State Change"}
    assert expected == {json.loads(message["Body"])["detail-type"] for message in messages}


@pytest.mark.embedded
@LINUX
def test_a_log_group_takes_two_subscription_filters(aws):
    """CloudWatch Logs refuses a third subscription filter, and replaces an existing one."""
    logs = aws.client("logs")
    logs.create_log_group(logGroupName="/two")
    arn = "arn:aws:lambda:us-east-1:000000000000:function:f"
    filters = {"logGroupName": "/two", "filterPattern": "", "destinationArn": arn}
    for name in ("one", "two", "one"):
        logs.put_subscription_filter(filterName=name, **filters)
    code = refusal(logs.put_subscription_filter, filterName="three", **filters)
    assert "LimitExceededException" == code
