"""Failures of AWS: which words mean a retry, a refusal, or a poison record."""

from __future__ import annotations

import pytest
from fake_destinations import GROUP, REGION
from hypothesis import given
from hypothesis import strategies as st

from emitter.delivery.aws_failures import Failure, bounded, cause_of, outcome_of, sdk_outcome
from emitter.delivery.destination import Refused, Retry


def test_quoted_values_are_cut_from_the_words():
    """A validation message quotes the events; the member's name is what is worth keeping."""
    words = "1 validation error detected: Value '[{message=secret}]' at 'logEvents' failed"
    failure = Failure("PutLogEvents", "InvalidParameterException", 400, words + " x" * 500)
    outcome = outcome_of(failure, group=GROUP, region=REGION)
    assert outcome.reason.startswith("1 validation error detected: value at 'logEvents' failed")
    assert "secret" not in outcome.reason
    assert len(outcome.reason) <= 303
    assert "one two" == bounded("one\n  two")


@given(st.text(), st.integers(0, 599), st.text())
def test_no_answer_of_the_service_drops_records_by_mistake(code, status, words):
    """
    Whatever is unknown is a retry or a refusal: only what the service calls invalid is halved.
    """
    outcome = outcome_of(Failure("PutLogEvents", code, status, words), group="g", region="r")
    assert isinstance(outcome, Retry | Refused) or 413 == status or "invalid" == cause_of(code)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("NoRegionError", "no_region"), ("LoginError", "credentials"),
        ("ConnectTimeoutError", "no_connection"), ("SSLError", "no_connection"),
        ("ResponseParserError", "connection_lost"), ("SomethingNewError", "client"),
    ],
)  # fmt: skip
def test_errors_of_the_sdk_are_known_by_name(kind, expected):
    """Some exist only in newer versions of it; what is unknown keeps the records."""
    assert expected == sdk_outcome({kind, "BotoCoreError", "Exception"}, "words").reason


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
    """A pod's role is asked for by the SDK itself: its failure says nothing of the records."""
    failure = Failure(operation, code, status, "some words")
    outcome = outcome_of(failure, group=GROUP, region=REGION)
    assert expected == outcome.reason
    assert operation in outcome.sentence or isinstance(outcome, Retry)
