"""The program and a destination that does not take its lines: what is kept, and what is said."""

from __future__ import annotations

import subprocess

import boto3
import pytest
from neuron_reports import GOOD

from neuron_wire import parse
from neuron_wire.phrases import counted
from proof.emitter_process import environment
from tests.emitter.emitter_command import COMMAND, CREDENTIALS, neuron_emf, sentence

REGION = "us-east-1"


GROUP = "/neuron-emf/records"


@pytest.fixture
def reports(tmp_path):
    """A file with one good report."""
    path = tmp_path / "reports.jsonl"
    path.write_bytes(GOOD)
    return path


def logs(reports, home, *more, **variables):
    """A run on a file with a spool in *home* and the default output."""
    return neuron_emf(
        *("run", "--cluster", "blue", "--runtime-lines", "none", "--input", reports),
        *("--spool-dir", home / "spool", *more),
        home=home,
        variables=variables,
    )


@pytest.mark.parametrize(
    ("more", "found", "to_do"),
    [
        ((), "No AWS region is set", "Use --region or AWS_DEFAULT_REGION"),
        (("--region", REGION), "No AWS credentials found", "Attach the stack's emitter policy"),
    ],
    ids=["no region", "no credentials"],
)
def test_without_credentials_or_region_records_are_kept(more, found, to_do, reports, tmp_path):
    """Exit code 4, and the sentence says where the records are; so it does each time."""
    for count in (1, 2):
        said = sentence(logs(reports, tmp_path, *more), 4)
        kept = f"{counted(count, 'record')} could not be delivered (kept in {tmp_path / 'spool'}"
        assert [] == [words for words in (kept, found, to_do) if words not in said]


def test_without_credentials_the_first_complaint_comes_within_ten_seconds(tmp_path):
    """Long before the first minute is over and its line would be sent."""
    command = ("run", "--cluster", "blue", "--input", "-", "--region", REGION)
    process = subprocess.Popen(
        [*COMMAND, *command, "--spool-dir", "spool"],
        env=environment(tmp_path),
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert "No AWS credentials found" in process.stderr.readline()
        process.terminate()
    assert 0 == process.returncode


@pytest.fixture(scope="module")
def moto_server():
    """A CloudWatch Logs behind a socket of this machine."""
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 it takes a second to import

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def client(moto_server, monkeypatch):
    """What looks into that CloudWatch Logs, and makes groups there."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", moto_server)
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    made = boto3.client("logs", region_name=REGION)
    yield made
    made.close()


def test_a_missing_log_group_keeps_the_records_for_the_next_run(client, reports, tmp_path):
    """Exit code 4 with what to do; once that is done, the next run sends what this one kept."""
    variables = {**CREDENTIALS, "AWS_ENDPOINT_URL": client.meta.endpoint_url}
    said = sentence(logs(reports, tmp_path, "--region", REGION, **variables), 4)
    for words in (
        "1 record could",
        f"Log group {GROUP} does not exist in {REGION}",
        "Deploy the stack",
    ):
        assert words in said
    client.create_log_group(logGroupName=GROUP)
    ended = logs(reports, tmp_path, "--region", REGION, **variables)
    assert (0, "", "") == (ended.returncode, ended.stderr, ended.stdout)
    (stream,) = client.describe_log_streams(logGroupName=GROUP)["logStreams"]
    assert "i-0123456789abcdef0" == stream["logStreamName"]
    found = client.get_log_events(
        logGroupName=GROUP, logStreamName=stream["logStreamName"], startFromHead=True
    )
    records = [parse(event["message"]) for event in found["events"]]
    assert [(1, True), (1, True)] == [(one.seq, one.bye) for one in records]
    assert records[0].boot < records[1].boot
    ended = logs(reports, tmp_path, "--region", REGION, **variables)
    assert 0 == ended.returncode
