"""The check *credentials*, by the answer of the SDK or of AWS."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError, NoCredentialsError, UnauthorizedSSOTokenError

from neuron_emf.check.aws_client import AwsClient, check_caller


def refusal(code):
    return ClientError({"Error": {"Code": code, "Message": "no."}}, "GetCallerIdentity")


@pytest.mark.parametrize(
    ("error", "state", "sentence"),
    [
        (NoCredentialsError(), "failed", "no AWS credentials are found (Unable to locate"),
        (UnauthorizedSSOTokenError(), "failed", "the AWS credentials expired (The SSO session"),
        (refusal("ExpiredToken"), "failed", "the AWS credentials expired (ExpiredToken"),
        (refusal("InvalidClientTokenId"), "failed", "AWS rejects the credentials (InvalidC"),
        (refusal("SignatureDoesNotMatch"), "failed", "AWS rejects the signature (Signature"),
        (refusal("AccessDenied"), "warning", "caller unknown: sts:GetCallerIdentity is denied"),
    ],
)
def test_each_reason_for_an_unknown_caller_has_its_own_sentence(error, state, sentence):
    """Each reason for an unknown caller has its own state and sentence."""

    def get_caller_identity():
        raise error

    client = SimpleNamespace(get_caller_identity=get_caller_identity)
    account: Any = SimpleNamespace(client=lambda _service: client)
    result, _ = check_caller(AwsClient(account))
    assert state == result.state
    assert result.found.startswith(sentence)
