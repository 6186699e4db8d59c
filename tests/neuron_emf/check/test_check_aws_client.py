"""What an answer of AWS means: one of few words, and never an exception."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    ProfileNotFound,
    ReadTimeoutError,
)
from botocore.parsers import ResponseParserError

from neuron_emf.check.aws_client import MAX_PAGES, AwsClient

HEADERS = {"date": "Fri, 20 Nov 2026 08:00:00 GMT"}
AT_S = 1_795_161_600.0  # the same moment
GROUP = "logs:DescribeLogGroups"


def error(code, operation="DescribeLogGroups", status=400, headers=None):
    metadata = {"HTTPStatusCode": status, "HTTPHeaders": headers or {}}
    words = {"Code": code, "Message": "said"}
    return ClientError({"Error": words, "ResponseMetadata": metadata}, operation)


def account(*answers):
    """One whose client gives *answers*, one after the other; an exception is raised."""
    client = Mock()
    client.describe_log_groups.side_effect = answers
    return Mock(**{"client.return_value": client})


def asked(*answers, clock=lambda: AT_S):
    aws = AwsClient(account(*answers), clock)
    return aws, aws.ask("logs", "describe_log_groups")


@pytest.mark.parametrize(
    ("raised", "reason"),
    [
        (error("AccessDeniedException"), "access"),
        (error("ResourceNotFoundException"), "no_log_group"),
        (error("ResourceAlreadyExistsException"), "exists"),
        (error("ExpiredTokenException"), "credentials"),
        (error("SignatureDoesNotMatch", status=403), "signature"),
        (error("ThrottlingException"), "throttled"),
        (error("AccessDenied", "AssumeRoleWithWebIdentity"), "credentials"),
        (NoCredentialsError(), "credentials"),
        (ProfileNotFound(profile="none"), "credentials"),
        (EndpointConnectionError(endpoint_url="u"), "no_connection"),
        (ReadTimeoutError(endpoint_url="u"), "timeout"),
        (ResponseParserError("<html>"), "connection_lost"),
    ],
    ids=lambda one: one if isinstance(one, str) else str(one)[:60],
)
def test_each_error_is_one_word(raised, reason):
    """As the emitter itself takes it; the service's words come with it."""
    _, answer = asked(raised)
    assert (GROUP, reason) == (answer.action, answer.reason)
    assert answer.words or reason == "exists"
    assert not answer.response


def test_a_fault_of_ours_is_not_swallowed():
    """It must be seen as one, not as an answer."""
    with pytest.raises(KeyError):
        asked(KeyError("ours"))


@pytest.mark.parametrize("is_refused", [False, True])
def test_every_answer_tells_the_time(is_refused):
    """Also a refusal; ours minus theirs."""
    answer = {"ResponseMetadata": {"HTTPHeaders": HEADERS}}
    raised = error("AccessDeniedException", headers=HEADERS)
    aws, _ = asked(raised if is_refused else answer, clock=lambda: AT_S + 90)
    assert 90 == aws.skew_s


def test_pages_have_an_end():
    """A service that always has one more is not asked for ever."""
    endless = account(*[{"logGroups": [1], "nextToken": "a"}] * (MAX_PAGES + 1))
    _, found = AwsClient(endless).ask_all("logs", "describe_log_groups", "logGroups")
    assert MAX_PAGES == len(found)


def test_a_page_that_is_refused_ends_the_question():
    """What was read until then is not passed for all there is: the reason says so."""
    broken = account({"logGroups": [1], "nextToken": "a"}, error("ThrottlingException"))
    answer, _ = AwsClient(broken).ask_all("logs", "describe_log_groups", "logGroups")
    assert "throttled" == answer.reason
