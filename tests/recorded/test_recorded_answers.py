"""
What an acceptance recorded decides what is believed of AWS; and what it keeps names nobody.

`make accept RECORD=1` writes `answers/STEP.jsonl`. A step without one leaves its facts to the
documents, and their rows in `local/differences.py` may not say that they were recorded.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

import boto3
import pytest
from botocore.stub import Stubber

from local.differences import DIFFERENCES
from proof.accept.recording import ACCOUNT, Recorder, answers
from proof.accept.steps import FACTS, STEPS

ANSWERS = Path(__file__).parent / "answers"
BASIS = {row.part: row.basis for row in DIFFERENCES}
NUMBER, RUN = "987654321098", "neuron-accept-0123456789"
ARN = f"arn:aws:sts::{NUMBER}:assumed-role/PaulaAdmin/paula"


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact.part}: {BASIS[fact.part]}")
def test_what_is_believed_is_recorded_or_said_to_be_from_documents(fact):
    """A recording decides; without one the reference names another basis."""
    recording = ANSWERS / f"{fact.step}.jsonl"
    if recording.exists():
        assert fact.holds(answers(recording))
    else:
        assert BASIS[fact.part] in {"document", "report", "guess"}
    assert fact.step in {step.name for step in STEPS}


def call(operation, **answer):
    """A call as a recording has it."""
    return {"operation": operation, "answer": answer}


METRICS = [{"MetricName": name, "Dimensions": []} for name in ("BlankDimension", "NoDimensions")]
EVENT = '{"detail":{"alarmContributor": {"attributes":{},"id": "0123456789abcdef"}}}'
ROW = [{"field": "IdleCostUsd", "value": "15.0"}]
AGREEING = {
    "odd-lines": call("ListMetrics", Metrics=METRICS),
    "metrics": call("GetMetricData", MetricDataResults=[{"Values": [1.0]}]),
    "events": call("ReceiveMessage", Messages=[{"Body": EVENT}]),
    "queries": call("GetQueryResults", status="Complete", results=[ROW]),
}  # fmt: skip
DISAGREEING = {
    "odd-lines": call("ListMetrics", Metrics=[]),
    "metrics": call("GetMetricData", MetricDataResults=[{"Values": []}]),
    "events": call("ReceiveMessage", Messages=[{"Body": EVENT.replace("abcdef", "-x")}]),
    "queries": call("GetQueryResults", status="Failed", results=[[{**ROW[0], "value": "15"}]]),
}


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.part)
def test_a_recording_can_agree_and_disagree(fact):
    """Each fact is decided by what AWS answered, either way."""
    assert fact.holds([AGREEING[fact.step]])
    assert not fact.holds([DISAGREEING[fact.step]])


def test_an_answer_is_kept_without_account_person_run_or_key(tmp_path):
    """The same by the same, so that what was equal stays equal; a repeated answer is kept once."""
    recorder = Recorder(tmp_path)
    recorder.hide(NUMBER, "AROAEXAMPLEEXAMPLE123:paula", ARN)
    recorder.scrubber.hide(RUN, "neuron-accept-run")
    client = boto3.client(
        "sts", region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    recorder.listen(client)
    recorder.step("look")
    role = f"arn:aws:iam::{NUMBER}:role/{RUN}-role"
    uuid = "6f1d1c6e-1111-4222-8333-0123456789ab"
    answer = {
        "Credentials": {
            "AccessKeyId": "ASIAABCDEFGHIJKLMNOP", "SecretAccessKey": "sEcReT",
            "SessionToken": "tOkEn", "Expiration": datetime(2026, 11, 22, tzinfo=timezone.utc),
        },
        "AssumedRoleUser": {"AssumedRoleId": "AROAEXAMPLEEXAMPLE123:paula", "Arn": ARN},
        "SourceIdentity": f"paula@corp.example.com from 10.1.2.3 {uuid} {uuid}",
    }  # fmt: skip
    asked = {"RoleArn": role, "RoleSessionName": "paula"}
    with Stubber(client) as stubber:
        for _ in range(2):
            stubber.add_response("assume_role", answer, asked)
            client.assume_role(**asked)
        stubber.add_client_error("get_caller_identity", "AccessDenied", f"{ARN} may not")
        with pytest.raises(client.exceptions.ClientError):
            client.get_caller_identity()
    client.close()
    kept = (tmp_path / "look.jsonl").read_text(encoding="utf-8")
    for secret in (NUMBER, "paula", "Paula", RUN, "ASIA", "sEcReT", "tOkEn", "10.1.2.3", uuid):
        assert secret not in kept, secret
    first, refused = answers(tmp_path / "look.jsonl")
    assert f"arn:aws:iam::{ACCOUNT}:role/neuron-accept-run-role" == first["asked"]["RoleArn"]
    assert 2 == first["answer"]["SourceIdentity"].count("00000000-0000-4000-8000-000000000001")
    assert "AccessDenied" == refused["error"]["Code"]


def test_a_measured_number_is_no_account():
    """Twelve digits between colons or in a member of that name are one; a metric's value is not."""
    scrub = Recorder(Path()).scrubber.value
    assert {"Value": 123456789012, "Message": "123456789012 bytes"} == scrub(
        {"Value": 123456789012, "Message": "123456789012 bytes"}
    )
    assert ACCOUNT == scrub({"OwnerId": NUMBER})["OwnerId"]


@pytest.mark.parametrize("path", sorted(ANSWERS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_kept_recording_has_no_number_but_the_stand_in(path):
    """What was committed was scrubbed."""
    text = path.read_text(encoding="utf-8")
    assert all(ACCOUNT == part for part in text.split(":") if part.isdigit() and len(part) == 12)
    assert all(json.loads(line) for line in text.splitlines())
