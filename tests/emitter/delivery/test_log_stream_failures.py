"""
A log stream: what each failure means, through a real SDK client.
"""

from __future__ import annotations

import socket

import pytest
from logs_double import GROUP, HANG, REGION, RESET, STREAM, THROTTLED, Answer, batch_of

from emitter.delivery import cloudwatch_logs
from emitter.delivery.cloudwatch_logs import LogStream
from emitter.delivery.destination import Delivered, Invalid, Refused, Retry


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (THROTTLED, ("throttled", True, False)),
        (Answer(429, "TooManyRequestsException"), ("throttled", True, False)),
        (Answer(500, "InternalFailure"), ("service", False, False)),
        (Answer(503, "ServiceUnavailableException"), ("service", False, False)),
        (Answer(502, "what a proxy says"), ("service", False, False)),
        (RESET, ("connection_lost", False, True)),
    ],
)
def test_what_passes_is_a_retry(double, log_stream, answer, expected):
    """
    After one call: the waiting is ours, not the SDK's.
    """
    double.script["PutLogEvents"] = [answer]
    outcome = log_stream.send(batch_of("a"))
    assert isinstance(outcome, Retry)
    assert expected == (outcome.reason, outcome.throttled, outcome.ambiguous)
    assert ["PutLogEvents"] == double.calls
    assert Delivered() == log_stream.send(batch_of("a"))


def test_throttled_while_the_stream_is_made_is_a_retry(double, log_stream):
    """
    CreateLogStream has 50 a second for the whole account.
    """
    double.script["CreateLogStream"] = [THROTTLED]
    assert "throttled" == log_stream.send(batch_of("a")).reason


def test_no_answer_in_time_is_ambiguous(double, log_stream, monkeypatch):
    """
    The records may have been taken.
    """
    monkeypatch.setattr(cloudwatch_logs, "READ_TIMEOUT_S", 0.2)
    double.script["PutLogEvents"] = [HANG]
    outcome = log_stream.send(batch_of("a"))
    assert ("timeout", True) == (outcome.reason, outcome.ambiguous)


def test_nobody_listening_is_no_connection(aws, log_stream):
    """
    A subnet without a way to CloudWatch: the sentence names the address.
    """
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    aws.setenv("AWS_ENDPOINT_URL", url)
    outcome = log_stream.send(batch_of("a"))
    assert ("no_connection", False) == (outcome.reason, outcome.ambiguous)
    assert url in outcome.sentence


@pytest.mark.parametrize(
    ("answer", "reason", "words"),
    [
        (Answer(400, "ExpiredTokenException", "expired"), "credentials", "renew"),
        (Answer(400, "UnrecognizedClientException", "token"), "credentials", "role"),
        (Answer(403, "InvalidSignatureException", "earlier"), "signature", "clock"),
        (
            Answer(400, "AccessDeniedException", "User: arn:aws:iam::1:user/a is not authorized"),
            "access",
            "logs:PutLogEvents",
        ),
        (Answer(400, "NeverHeardOfException", "hm"), "refused", "NeverHeardOfException"),
        (
            Answer(
                400,
                "InvalidParameterException",
                "1 validation error detected: Value 'x' at 'logStreamName' failed",
            ),
            "refused",
            "logStreamName",
        ),
    ],
)
def test_what_somebody_must_change_is_refused(double, log_stream, answer, reason, words):
    """
    One sentence with the region and what to do; never a dropped record.
    """
    double.script["PutLogEvents"] = [answer]
    outcome = log_stream.send(batch_of("a"))
    assert isinstance(outcome, Refused)
    assert reason == outcome.reason
    assert words in outcome.sentence
    assert REGION in outcome.sentence
    assert "\n" not in outcome.sentence


def test_new_credentials_are_found_without_a_restart(no_aws, double, tmp_path):
    """
    None at first; then somebody writes the file.
    """
    no_aws.delenv("AWS_ACCESS_KEY_ID")
    no_aws.delenv("AWS_SECRET_ACCESS_KEY")
    log_stream = LogStream(GROUP, STREAM, region=REGION)
    outcome = log_stream.send(batch_of("a"))
    assert "credentials" == outcome.reason
    assert "emitter policy" in outcome.sentence
    assert [] == double.calls
    path = tmp_path / "credentials"
    path.write_text("[default]\naws_access_key_id = A\n")
    assert "credentials" == log_stream.send(batch_of("a")).reason
    path.write_text("[default]\naws_access_key_id = A\naws_secret_access_key = B\n")
    assert Delivered() == log_stream.send(batch_of("a"))
    log_stream.close()


@pytest.mark.usefixtures("aws")
def test_no_region_is_refused():
    """
    With the option to pass.
    """
    outcome = LogStream(GROUP, STREAM).send(batch_of("a"))
    assert "no_region" == outcome.reason
    assert "--region" in outcome.sentence


def test_an_endpoint_that_is_no_address_is_refused(aws, log_stream):
    """
    The SDK's own words.
    """
    aws.setenv("AWS_ENDPOINT_URL", "not an address")
    assert "client" == log_stream.send(batch_of("a")).reason


def test_an_empty_message_is_invalid(double, log_stream):
    """
    The SDK finds it before the service does.
    """
    assert isinstance(log_stream.send(batch_of("")), Invalid)
    assert [] == double.calls
