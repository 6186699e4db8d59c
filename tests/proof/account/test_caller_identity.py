"""GetCallerIdentity of the account, on the same port and by another protocol."""

from __future__ import annotations

import boto3
import pytest

from proof.account.account_faults import break_account
from proof.account.model import model_of
from proof.logs import faults
from proof.logs.asking import error_in
from proof.logs.documentation import says

STS_ERRORS = "https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html"


@pytest.fixture
def sts(account):
    """A client of its STS."""
    made = account.client("sts")
    yield made
    made.close()


def test_who_asks_is_told(account, sts):
    """The account, and the name of whoever has the key."""
    answer = sts.get_caller_identity()
    assert "123456789012" == answer["Account"]
    assert "arn:aws:iam::123456789012:user/testing" == answer["Arn"]
    assert ["GetCallerIdentity"] == account.operations


def test_the_environment_is_enough_for_it(account, monkeypatch):
    """As a command's process finds it, and the credentials."""
    for name, value in account.variables.items():
        monkeypatch.setenv(name, value)
    for service in ("sts", "logs"):
        client = boto3.session.Session().client(service)
        answer = client.get_caller_identity() if service == "sts" else client.describe_log_groups()
        client.close()
        assert 200 == answer["ResponseMetadata"]["HTTPStatusCode"]
    assert ["GetCallerIdentity", "DescribeLogGroups"] == account.operations


@says(STS_ERRORS, "ExpiredToken ... 403", "InvalidClientTokenId ... 403")
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("credentials expired", ("ExpiredToken", 403)),
        ("credentials unknown", ("InvalidClientTokenId", 403)),
        ("credentials of another secret", ("SignatureDoesNotMatch", 403)),
    ],
)
def test_what_is_wrong_with_credentials_has_names_of_its_own(fault, expected, account, sts):
    """Other names than CloudWatch Logs has for it."""
    break_account(account, fault)
    assert expected == error_in(sts.get_caller_identity)


def test_it_cannot_be_denied(account, sts):
    """An administrator who denies it explicitly is not heard, as the model of STS says."""
    words = model_of("sts").operation_model("GetCallerIdentity").documentation
    assert "No permissions are required to perform this operation." in words
    account.denied |= {"sts:GetCallerIdentity", "logs:GetCallerIdentity"}
    assert sts.get_caller_identity()


def test_it_may_be_throttled_and_fail_like_the_others(account, sts):
    """Each by the name that it has there; anything else of STS is unknown."""
    account.troubles("GetCallerIdentity", faults.THROTTLED, faults.UNAVAILABLE, faults.BAD_GATEWAY)
    assert ("Throttling", 400) == error_in(sts.get_caller_identity)
    assert ("ServiceUnavailable", 503) == error_in(sts.get_caller_identity)
    assert 502 == error_in(sts.get_caller_identity)[1]
    assert ("InvalidAction", 400) == error_in(sts.get_session_token)
