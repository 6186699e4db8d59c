"""A log stream through a real SDK client: calls, answers and failures."""

from __future__ import annotations

import socket
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter import __version__
from neuron_emitter.delivery import cloudwatch_logs
from neuron_emitter.delivery.aws_failures import Failure, bounded, cause_of, outcome_of, sdk_outcome
from neuron_emitter.delivery.cloudwatch_logs import LogStream
from neuron_emitter.delivery.delivery import Delivery
from neuron_emitter.delivery.destination import (
    Delivered,
    Refused,
    Retry,
)
from neuron_emitter.spool import NewRecord, Spool
from neuron_wire.names import HOUR_MS
from proof.factories.records import RECORDS_GROUP
from proof.logs import service_faults
from proof.logs.rules import NOT_FOUND, ServiceError
from tests.neuron_emitter.delivery.fake_destinations import (
    DELIVERED_STREAM,
    DELIVERY_REGION,
    batch_of,
    now_ms,
)


def test_one_put_is_one_call(service, log_stream):
    """Sending is one PutLogEvents call, with the version in its header and no retry by the SDK."""
    service.rules.groups[RECORDS_GROUP].add(DELIVERED_STREAM)
    assert Delivered() == log_stream.send(batch_of("a"))
    assert ["PutLogEvents"] == service.operations
    assert f"neuron-emf/{__version__}" in service.calls[0].user_agent


def test_a_new_stream_is_retried(service, log_stream):
    """After CreateLogStream, an unknown stream is a retry, not a missing log group."""
    service.next_faults["PutLogEvents"] += [
        ServiceError(NOT_FOUND, "The specified log stream does not exist.")
    ] * 2
    assert "stream_not_ready" == log_stream.send(batch_of("a")).reason
    assert Delivered() == log_stream.send(batch_of("a"))


@pytest.mark.parametrize(
    ("region", "variable", "expected"),
    [
        (None, None, "eu-west-3"),
        (None, "us-west-2", "us-west-2"),
        ("eu-north-1", "us-west-2", "eu-north-1"),
    ],
)
def test_the_region_of_the_instance_is_the_last_source(aws, service, region, variable, expected):
    """The instance's region is used only if no region is configured."""
    if variable:
        aws.setenv("AWS_DEFAULT_REGION", variable)
    log_stream = LogStream(
        RECORDS_GROUP, DELIVERED_STREAM, region=region, instance_region="eu-west-3"
    )
    assert Delivered() == log_stream.send(batch_of("a"))
    assert {expected} == {call.region for call in service.calls if call.status == 200}
    log_stream.close()


@pytest.mark.parametrize(
    "fault", [service_faults.CUT, service_faults.GARBLED, service_faults.SIGN_IN]
)
def test_an_unreadable_answer_is_requested_again(fault, service, log_stream):
    """
    An unreadable answer with HTTP 200 is requested again, because it may have rejections.

    The service's clock is three hours behind, so it rejects a record of now.
    """
    service.rules.clock = lambda: time.time() - 3 * HOUR_MS / 1000
    service.rules.groups[RECORDS_GROUP].add(DELIVERED_STREAM)
    service.next_faults["PutLogEvents"].append(fault)
    with Spool(None) as spool:
        spool.append([NewRecord(now_ms(), "a"), NewRecord(now_ms() - 2 * HOUR_MS, "b")])
        Delivery(spool, log_stream, sleep=lambda _: None).flush(60)
        health = spool.health()
    assert 1 == health.delivered
    assert {"too_new": 1} == dict(health.dropped)
    assert {"b"} == {event.message for event in service.rules.applied}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (service_faults.THROTTLED, "throttled"),
        (ServiceError("TooManyRequestsException", "", 429), "throttled"),
        (service_faults.INTERNAL, "service"), (service_faults.UNAVAILABLE, "service"),
        (service_faults.GATEWAY_TIMEOUT, "service"),
        (service_faults.RESET, "connection_lost"), (service_faults.ANSWER_LOST, "connection_lost"),
        (service_faults.CUT, "connection_lost"), (service_faults.GARBLED, "connection_lost"),
        (service_faults.SIGN_IN, "connection_lost"),
    ],
    ids=str,
)  # fmt: skip
def test_a_temporary_failure_is_a_retry(service, log_stream, answer, expected):
    """A temporary failure is a Retry after one call: delivery waits, not the SDK."""
    service.rules.groups[RECORDS_GROUP].add(DELIVERED_STREAM)
    service.next_faults["PutLogEvents"].append(answer)
    outcome = log_stream.send(batch_of("a"))
    assert isinstance(outcome, Retry)
    assert expected == outcome.reason
    assert ["PutLogEvents"] == service.operations
    assert Delivered() == log_stream.send(batch_of("a"))


@pytest.mark.parametrize("fault", [service_faults.UNHEARD, service_faults.NEVER_ANSWERED])
def test_no_answer_in_time_is_a_retry(fault, service, log_stream, monkeypatch):
    """A call without an answer is a retry, because the service may have taken the records."""
    monkeypatch.setattr(cloudwatch_logs, "PUT_TIMEOUT_S", 0.2)
    service.rules.groups[RECORDS_GROUP].add(DELIVERED_STREAM)
    service.next_faults["PutLogEvents"].append(fault)
    outcome = log_stream.send(batch_of("a"))
    assert "timeout" == outcome.reason


def test_a_refused_connection_has_its_own_reason(aws, log_stream):
    """A refused connection is `no_connection`, and the sentence names the address."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    aws.setenv("AWS_ENDPOINT_URL", url)
    outcome = log_stream.send(batch_of("a"))
    assert "no_connection" == outcome.reason
    assert url in outcome.sentence


@pytest.mark.parametrize(
    ("answer", "reason", "words"),
    [
        (ServiceError(*service_faults.EXPIRED_KEY), "credentials", "Renew"),
        (ServiceError(*service_faults.UNKNOWN_KEY), "credentials", "role"),
        (ServiceError("InvalidSignatureException", "earlier", 403), "signature", "clock"),
        (service_faults.DENIED_FAULT, "access", "logs:PutLogEvents"),
        (ServiceError("NeverHeardOfException", "hm"), "refused", "NeverHeardOfException"),
        (
            ServiceError(
                "InvalidParameterException",
                "1 validation error detected: Value 'x' at 'logStreamName' failed",
            ),
            "refused",
            "logStreamName",
        ),
    ],
)
def test_a_failure_that_operators_must_fix_is_refused(service, log_stream, answer, reason, words):
    """A failure that operators must fix is Refused, in one sentence with the region and remedy."""
    service.next_faults["PutLogEvents"].append(answer)
    outcome = log_stream.send(batch_of("a"))
    assert isinstance(outcome, Refused)
    assert reason == outcome.reason
    assert words in outcome.sentence
    assert DELIVERY_REGION in outcome.sentence
    assert "\n" not in outcome.sentence


@pytest.mark.parametrize("skew_s", [-900, 900])
def test_a_wrong_clock_is_refused_and_measured(service, log_stream, skew_s, caplog):
    """
    If the clock is wrong by more than 5 minutes, the service refuses the SDK's signature.

    The records stay in the spool, and the log has the clock's error.
    """
    service.clock = service.signing_clock = lambda: time.time() - skew_s
    service.rules.groups[RECORDS_GROUP].add(DELIVERED_STREAM)
    outcome = log_stream.send(batch_of("a"))
    assert isinstance(outcome, Refused)
    assert "signature" == outcome.reason
    assert "clock" in outcome.sentence
    assert [skew_s] == [pytest.approx(record.skew_s, abs=300) for record in caplog.records]
    service.clock = service.signing_clock = time.time
    assert Delivered() == log_stream.send(batch_of("b"))
    assert [(DELIVERED_STREAM, "b")] == [
        (event.stream, event.message) for event in service.rules.applied
    ]


def test_new_credentials_are_found_without_a_restart(no_aws, service, tmp_path):
    """Credentials that appear in a file later are used without a restart."""
    no_aws.delenv("AWS_ACCESS_KEY_ID")
    no_aws.delenv("AWS_SECRET_ACCESS_KEY")
    log_stream = LogStream(RECORDS_GROUP, DELIVERED_STREAM, region=DELIVERY_REGION)
    outcome = log_stream.send(batch_of("a"))
    assert "credentials" == outcome.reason
    assert "emitter policy" in outcome.sentence
    assert [] == service.calls
    service.keys["A"] = "B"
    path = tmp_path / "credentials"
    path.write_text("[default]\naws_access_key_id = A\n")
    assert "credentials" == log_stream.send(batch_of("a")).reason
    path.write_text("[default]\naws_access_key_id = A\naws_secret_access_key = B\n")
    assert Delivered() == log_stream.send(batch_of("a"))
    log_stream.close()


@pytest.mark.parametrize(
    ("region", "where", "keys", "expected"),
    [
        (None, None, True, "no_region"),
        (DELIVERY_REGION, None, False, "credentials"),
        (None, DELIVERY_REGION, False, "credentials"),
        (DELIVERY_REGION, None, True, None),
        (None, DELIVERY_REGION, True, None),
    ],
)
def test_missing_credentials_are_known_before_the_first_call(region, where, keys, expected, no_aws):
    """A missing region or credentials are known before the first call, with the call's sentence."""
    no_aws.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY") if keys else ():
        no_aws.setenv(f"AWS_{name}", "testing")
    stream = LogStream(
        RECORDS_GROUP,
        DELIVERED_STREAM,
        region=region,
        instance_region=where,
        needed="It needs more",
    )
    lacking = stream.missing_for_call()
    assert expected == (lacking and lacking.reason)
    assert lacking is None or lacking.sentence.endswith(". It needs more")


def test_quoted_values_are_cut_from_the_words():
    """A validation message is cut to the member's name, because it quotes events."""
    words = "1 validation error detected: Value '[{message=secret}]' at 'logEvents' failed"
    failure = Failure("PutLogEvents", "InvalidParameterException", 400, words + " x" * 500)
    outcome = outcome_of(failure, group=RECORDS_GROUP, region=DELIVERY_REGION)
    assert outcome.reason.startswith("1 validation error detected: value at 'logEvents' failed")
    assert "secret" not in outcome.reason
    assert len(outcome.reason) <= 303
    assert "one two" == bounded("one\n  two")


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ("", "Attach the stack's emitter policy to the role."),
        ("because no identity-based policy allows the action", "Attach the stack's emitter policy"),
        ("with an explicit deny in an identity-based policy", "Remove the explicit deny"),
        ("with an explicit deny in a service control policy", "your AWS organization"),
        ("with an explicit deny in a resource control policy", "your AWS organization"),
        ("because no VPC endpoint policy allows the action", "the policy of the VPC endpoint"),
        ("because no permissions boundary allows the action", "the permissions boundary"),
        ("a customer master key that does not exist", "the KMS key"),
    ],
)
@pytest.mark.parametrize("resource", ["", "x" * 400])
def test_the_remedy_of_a_denied_call_is_for_the_policy_that_denied_it(resource, words, remedy):
    """The remedy names the policy that denied the call, never a policy that the role has."""
    failure = Failure("PutLogEvents", "AccessDeniedException", 400, f"r/i-0 {resource} {words}")
    outcome = outcome_of(failure, group=RECORDS_GROUP, region=DELIVERY_REGION)
    assert "access" == outcome.reason
    assert remedy in outcome.sentence
    assert ("Attach" in outcome.sentence) == remedy.startswith("Attach")
    assert words in outcome.sentence


@pytest.mark.parametrize("code", ["403", "407"])
def test_a_proxy_that_refuses_is_named(code):
    """
    A refusing proxy is named: AWS's errors have a name, a proxy's only a status.

    This also holds for a proxy that refuses a tunnel.
    """
    outcomes = [
        outcome_of(
            Failure("PutLogEvents", code, int(code), ""),
            group=RECORDS_GROUP,
            region=DELIVERY_REGION,
        ),
        sdk_outcome({"ProxyConnectionError", "ConnectionError"}, "Failed to connect to proxy URL"),
    ]
    for outcome in outcomes:
        assert outcome.sentence.startswith("A proxy did not pass a request to AWS")
        assert "HTTPS_PROXY" in outcome.sentence
        assert "policy" not in outcome.sentence


@given(st.text(), st.integers(0, 599), st.text())
def test_no_answer_of_the_service_drops_records_by_mistake(code, status, words):
    """Only answers that call records invalid can drop records. Others are retries or refusals."""
    outcome = outcome_of(Failure("PutLogEvents", code, status, words), group="g", region="r")
    assert isinstance(outcome, Retry | Refused) or 413 == status or "invalid" == cause_of(code)


@pytest.mark.parametrize(
    ("operation", "code", "status", "expected"),
    [
        ("AssumeRoleWithWebIdentity", "AccessDenied", 403, "credentials"),
        ("AssumeRole", "ValidationError", 400, "credentials"),
        ("GetRoleCredentials", "ResourceNotFoundException", 404, "credentials"),
        ("AssumeRoleWithWebIdentity", "Throttling", 400, "throttled"),
        ("AssumeRole", "ServiceUnavailable", 503, "service"),
        ("CreateLogStream", "AccessDeniedException", 400, "access"),
    ],
)
def test_calls_on_the_way_to_credentials_drop_nothing(operation, code, status, expected):
    """A failed call for credentials drops no record: it is a retry or a refusal."""
    failure = Failure(operation, code, status, "some words")
    outcome = outcome_of(failure, group=RECORDS_GROUP, region=DELIVERY_REGION)
    assert expected == outcome.reason
    assert operation in outcome.sentence or isinstance(outcome, Retry)
