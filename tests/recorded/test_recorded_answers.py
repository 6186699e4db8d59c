"""
What an acceptance keeps of AWS's answers names nobody.

`make accept RECORD=1` writes `answers/STEP.jsonl`.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

import boto3
import pytest
from botocore.stub import Stubber

from proof.accept.recording import ACCOUNT, Recorder

ANSWERS = Path(__file__).parent / "answers"
NUMBER, RUN = "987654321098", "neuron-accept-0123456789"
ARN = f"arn:aws:sts::{NUMBER}:assumed-role/PaulaAdmin/paula"


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
    lines = (tmp_path / "look.jsonl").read_text(encoding="utf-8").splitlines()
    first, refused = map(json.loads, lines)
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
