"""neuron-monitor-emf in the pipe of neuron-monitor-cloudwatch.py, with one word changed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from proof.emitter_process import environment
from proof.factories.records import AN_INSTANCE
from tests.neuron_emitter.lines.line_records import data
from tests.neuron_emitter.neuron_reports import GOOD_REPORT

REGION_WORDS = ("--region", "us-east-1")
OLD_DIMENSIONS = (("instance_id", AN_INSTANCE), ("instance_type", "inf1.xlarge"))


def piped(tmp_path, *arguments, reports=GOOD_REPORT, **variables):
    """Run `neuron-monitor | neuron-monitor-emf ARGUMENTS` with a monitor that ends."""
    return subprocess.run(
        [sys.executable, "-m", "neuron_emitter.drop_in", *arguments],
        input=reports,
        env=environment(tmp_path, **variables),
        cwd=tmp_path,
        capture_output=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "namespace", "dimensions"),
    [
        (("--high-resolution-metrics",), "Neuron", ()),
        (("-n", "Mine", "-d", "instance_id", "instance_type"), "Mine", OLD_DIMENSIONS),
        (("--common-dims", "instance_id", "neuron_runtime_tag"), "Neuron", OLD_DIMENSIONS[:1]),
    ],
    ids=["one-second", "two dimensions", "runtime tag"],
)
def test_the_old_names_continue_in_the_old_dimensions(arguments, namespace, dimensions, tmp_path):
    """
    Lines have the script's metric names and dimensions, so existing alarms keep working.

    The cluster, which the script did not have, is `default`.
    """
    ended = piped(tmp_path, *REGION_WORDS, *arguments, NEURON_EMF_OUTPUT="stdout")
    output = ended.stderr.decode()
    assert 3 == ended.returncode, output
    lines = ended.stdout.decode().splitlines()
    assert {(namespace, f"NeuronCoreUtilizationNC{core}", dimensions) for core in range(4)} == data(
        lines
    ).keys()
    assert {"default"} == {json.loads(line)["ClusterName"] for line in lines}
    assert 1 == output.count("No cluster name found")


def test_the_first_refusal_names_the_new_permissions(tmp_path):
    """
    The first refusal names the new permissions and the log group.

    The exit code is 4, because the pipe ended and records are undelivered.
    """
    ended = piped(tmp_path, *REGION_WORDS, NEURON_EMF_CLUSTER="blue", NEURON_EMF_SPOOL_DIR="spool")
    *_, message = ended.stderr.decode().splitlines()
    assert 4 == ended.returncode
    assert "The program writing to standard input has exited" in message
    assert "No AWS credentials found" in message
    assert (
        "Unlike neuron-monitor-cloudwatch.py, which needs cloudwatch:PutMetricData, this command "
        "needs logs:PutLogEvents and logs:CreateLogStream on log group /neuron-emf/records"
    ) in message


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        ((), "required: -r/--region"),
        ((*REGION_WORDS, "-d", "instance_id", "elsewhere"), "invalid choice: 'elsewhere'"),
        ((*REGION_WORDS, "-d"), "expected at least one argument"),
        ((*REGION_WORDS, "--cluster", "blue"), "unrecognized arguments: --cluster"),
    ],
)
def test_wrong_use_is_exit_code_2(arguments, reported, tmp_path):
    """--common-dims takes only its four names; wrong use ends with exit code 2."""
    ended = piped(tmp_path, *arguments)
    assert 2 == ended.returncode
    assert b"" == ended.stdout
    assert reported in ended.stderr.decode()
